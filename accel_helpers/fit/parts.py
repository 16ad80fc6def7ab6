"""The parts of an epoch, or of a step, and which is the largest."""

from collections.abc import Mapping
from dataclasses import dataclass
from operator import truediv
from statistics import median
from typing import ClassVar

from accel_helpers._values.words import format_duration, format_seconds, percent
from accel_helpers.measure import pictures
from accel_helpers.measure.measurement import FEW_SAMPLES
from accel_helpers.measure.series import locate

# "steps" stands for the first three where these were not told apart
PARTS = ("compute", "memory", "overhead", "steps", "input", "callbacks", "validation")
NOT_TOLD = "not told apart"
NOTABLE = 0.05  # a share that is surely smaller is not said


@dataclass(frozen=True)
class Parts:
    """What an epoch, or a step, consists of, in each of some rounds of turns.

    Input is what steps wait for: what is made while the device works costs nothing. A part that is
    too small to be measured is 0.

    >>> parts = Parts((4.0, 4.1), {"compute": (3.0, 3.1), "overhead": (1.0, 1.0)}, "a step")
    >>> print(parts)
    a step takes 4 s: compute 75%, overhead 25%
    >>> parts.verdict
    'compute'
    """

    OUTCOMES: ClassVar = (*PARTS[:3], *PARTS[4:], NOT_TOLD)  # of its `verdict`

    wholes: tuple[float, ...]  # seconds, in each round
    rounds: Mapping[str, tuple[float, ...]]  # part -> seconds, in each round
    whole: str = "an epoch"  # what this is

    @property
    def shares(self) -> dict[str, float]:
        """The share of each part in the whole: the middle of all rounds, together at most 1."""
        middles = {}
        for part, seconds in self.rounds.items():
            middles[part] = median(map(truediv, seconds, self.wholes))
        # the middles of parts that vary may add to more than all
        total = max(sum(middles.values()), 1.0)
        return {part: middle / total for part, middle in middles.items()}

    def interval(self, part: str) -> tuple[float, float, float]:
        """Return the share of a part: the middle, and the ends of a 95% interval.

        In fewer than five rounds there is no interval, and the ends are the middle.
        """
        middle = self.shares[part]
        shares = list(map(truediv, self.rounds[part], self.wholes))
        if len(shares) < FEW_SAMPLES:
            return middle, middle, middle
        low, high = locate(shares).interval
        return middle, max(min(low, middle), 0.0), min(max(high, middle), 1.0)

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds by part, for a picture; without those that were 0 in each round.

        "steps" stands for three parts, so it is there only where they are not.
        """
        whole = median(self.wholes)
        seconds = {}
        for part, share in self.shares.items():
            if share or (part != "steps" and any(self.rounds[part])):
                seconds[part] = share * whole
        return seconds

    @property
    def verdict(self) -> str:
        """The largest part, or "not told apart" where another may be as large; see `OUTCOMES`."""
        largest, *others = sorted(self.shares, key=lambda part: -self.shares[part])
        if largest == "steps":
            return NOT_TOLD
        if not others:
            return largest
        gaps = []
        for first, second in zip(self.rounds[largest], self.rounds[others[0]], strict=True):
            gaps.append(first - second)
        least = min(gaps)
        if len(gaps) >= FEW_SAMPLES:
            least, _ = locate(gaps).interval
        return largest if least > 0 else NOT_TOLD

    def in_words(self) -> str:
        """Return the parts that are worth a word, the largest first, with their intervals."""
        texts = []
        for part in sorted(self.shares, key=lambda part: -self.shares[part]):
            # of one that is not told it may be the upper end alone
            if self.interval(part)[2] >= NOTABLE:
                texts.append(f"{part} {self.share_in_words(part)}")
        return ", ".join(texts)

    def share_in_words(self, part: str) -> str:
        """Return a share with its interval: "72% (70 to 75)"."""
        middle, *ends = self.interval(part)
        low, high = (round(100 * end) for end in ends)
        return percent(middle) if low == high else f"{percent(middle)} ({low} to {high})"

    @property
    def finding(self) -> str:
        """The title of its picture."""
        if self.verdict == NOT_TOLD:
            return f"Not told apart yet: the largest part of {self.whole}"
        share = percent(self.shares[self.verdict])
        return f"{share} of {self.whole} is {self.verdict}"

    def drawn(self, title: str) -> pictures.Picture:
        """Draw one bar in pieces, each in a row that begins where the last ends."""
        colours = pictures.colours_of(self.seconds)
        rows = []
        start = 0.0
        for part, seconds in self.seconds.items():
            end = start + seconds
            note = f"{format_seconds(seconds)}, {self.share_in_words(part)}"
            rows.append(pictures.Row(part, note, interval=(start, end), colour=colours[part]))
            start = end
        return pictures.rows(rows, (f"time of {self.whole}", format_seconds), title=title)

    def __str__(self) -> str:
        return f"{self.whole} takes {format_duration(median(self.wholes))}: {self.in_words()}"
