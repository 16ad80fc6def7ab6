"""Guess, answer, be examined, keep."""
