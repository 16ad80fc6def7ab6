"""A TPU that is not there."""
