"""How many seconds are left."""

import time
from collections.abc import Callable


class TimeBox:
    """So many seconds of a clock, which begin when the box is made."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.perf_counter):
        self.seconds = seconds
        self.clock = clock
        self._end = clock() + seconds

    def seconds_left(self) -> float:
        """Return the seconds until the time is up; below zero afterwards."""
        return self._end - self.clock()

    def share_left(self) -> float:
        """Return the share of the box that is left, from 1 down to 0 and below."""
        return self.seconds_left() / self.seconds
