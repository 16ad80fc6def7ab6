"""The ground: files read with suspicion, values in words, code tried in a process of its own."""
