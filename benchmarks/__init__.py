"""What the course claims about speed, measured side by side; see ``run.py``."""
