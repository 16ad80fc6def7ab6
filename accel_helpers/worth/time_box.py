"""How many seconds are left."""

import time


class TimeBox:
    """So many seconds, which begin when the box is made."""

    def __init__(self, seconds: float):
        self._end = time.perf_counter() + seconds

    def seconds_left(self) -> float:
        """Return the seconds until the time is up; below zero afterwards."""
        return self._end - time.perf_counter()
