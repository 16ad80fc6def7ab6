"""From which length of training on does another machine pay?"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from accel_helpers._values import records
from accel_helpers._values.records import positive, whole
from accel_helpers._values.words import format_duration, spanned, times, wrapped
from accel_helpers.measure import pictures
from accel_helpers.measure.measurement import FEW_SAMPLES

# the sentences of this folder's answers: {"break even": {"at": "The break-even is at …"}, …}
WORDS = Path(__file__).parents[1] / "data" / "worth.toml"
# the verdicts of a comparison with intervals
WORTH_IT = "worth it"
NOT_WORTH_IT = "not worth it"
HOLDS_BOTH = "the interval holds both"
LABELS = (WORTH_IT, NOT_WORTH_IT, HOLDS_BOTH)
# the verdict where too few timings make no such comparison
FEW = "cannot be told yet"


@dataclass(frozen=True)
class Plan:
    """A machine to train on, and what an epoch on it takes.

    Raises ValueError if the seconds of an epoch are not positive numbers, the lower one first.

    >>> Plan("a T4", epoch=(1.0, 2.0), setup_minutes=5).cost(60)
    (360.0, 420.0)
    """

    name: str  # of the machine, as a sentence has it, such as "a T4"
    epoch: tuple[float, float]  # seconds of an epoch, low and high
    setup_minutes: float = 0.0  # before the first epoch
    # how many timings the seconds of an epoch rest on; None for figures that were not timed. Fewer
    # than five timings make no factor.
    samples: int | None = None

    def __post_init__(self):
        name = f"epoch of {self.name}"
        low, high = (positive(seconds, name) for seconds in self.epoch)
        if low > high:
            raise ValueError(f"{name} must be low and high; got {low}, {high}.")

    def cost(self, epochs: float) -> tuple[float, float]:
        """Return the seconds of a training, low and high, set-up included."""
        setup = 60 * self.setup_minutes
        low, high = self.epoch
        return setup + epochs * low, setup + epochs * high


@dataclass(frozen=True)
class BreakEven:
    """The answer of `break_even`: two plans, and where they take equally long.

    It prints as two or three sentences. `here` is this machine, `there` is the other one. Their
    times grow with the number of epochs as straight lines do, and the crossing is where these meet.
    """

    OUTCOMES: ClassVar = (*LABELS, FEW)  # of its `verdict`

    here: Plan
    there: Plan
    epochs: int  # of the training
    # epochs from which on the other machine may pay, and surely pays; inf where it never does
    crossing: tuple[float, float]

    @property
    def verdict(self) -> str:
        """What to do, in a few words.

        "worth it", "not worth it", "the interval holds both"; or "cannot be told yet" where there
        are fewer than five timings. But where the set-up alone takes longer there than the training
        here, no factor is needed to say "not worth it".
        """
        if self.is_hardly_timed:
            _, longest = self.here.cost(self.epochs)
            return NOT_WORTH_IT if longest <= 60 * self.there.setup_minutes else FEW
        early, late = self.crossing
        if self.epochs > late:
            return WORTH_IT
        if self.epochs < early:
            return NOT_WORTH_IT
        return HOLDS_BOTH

    @property
    def is_hardly_timed(self) -> bool:
        """Whether a plan rests on fewer than five timings, which make no factor."""
        counts = (self.here.samples, self.there.samples)
        return any(count is not None and count < FEW_SAMPLES for count in counts)

    @property
    def minutes(self) -> tuple[float, float]:
        """The crossing as minutes of training here, low and high; inf where it is never reached."""
        low, high = self.here.epoch
        early, late = self.crossing
        # the other pays earliest where epochs here are longest
        return early * high / 60, late * low / 60

    @property
    def saved_seconds(self) -> tuple[float, float]:
        """Seconds by which the other machine is done earlier, low and high, set-up included.

        They are negative where it is done later.
        """
        low, high = self.here.cost(self.epochs)
        other_low, other_high = self.there.cost(self.epochs)
        # at worst this machine is at its best, and the other one at its worst
        return low - other_high, high - other_low

    @property
    def finding(self) -> str:
        """The title of its picture."""
        early, late = self.crossing
        if self.is_hardly_timed:
            return "Too few timings to say where they cross"
        if early == math.inf:
            return f"{self.there.name}: it never pays"
        shortest, longest = map(times, self.minutes)
        stay = f"Under {shortest} minutes of training here, stay"
        if late == math.inf:
            return f"{stay} where you are"
        return f"{stay}; over {longest}, change"

    def drawn(self, title: str) -> pictures.Picture:
        """Draw how long both take over the minutes of a training here; see `pictures.plot`."""
        low, high = self.here.epoch
        other_low, other_high = self.there.epoch
        training = self.epochs * (low + high) / 120
        marks = {"your training": (training, training)}
        ends = [minutes for minutes in self.minutes if minutes < math.inf]
        if ends and not self.is_hardly_timed:
            # The last crossing: from there on the other machine surely pays.
            last = ends[-1]
            marks[f"{times(last)} minutes"] = (last, last)
        most = 1.3 * max([training, *ends])
        setup = self.there.setup_minutes
        curves = {self.here.name: {0: 0, most: most}}
        # The other machine gains most where epochs here are longest.
        for name, factor in (("best", other_low / high), ("worst", other_high / low)):
            curves[f"{self.there.name}, at {name}"] = {0: setup, most: setup + factor * most}
        x = (f"minutes of training on {self.here.name}", "{:.3g}".format)
        y = ("minutes until it is done", "{:.3g}".format)
        return pictures.lines(curves, x, y, title=title, marks=marks)

    def __str__(self) -> str:
        sentences = records.load(WORDS, "set of sentences")["break even"]
        names = ["time"]
        if not self.is_hardly_timed:
            names.append(self._crossing_sentence())
        names.append(self.verdict)
        fields = self._fields()
        lines = [wrapped(sentences[name].format(**fields), indent=2) for name in names]
        return "\n".join(lines)

    def _crossing_sentence(self) -> str:
        """Return the name of the sentence on the crossing: "never", "may" or "at"."""
        early, late = self.crossing
        if early == math.inf:
            return "never"
        if late == math.inf:
            return "may"
        return "at"

    def _fields(self) -> dict[str, object]:
        """Return the values for all {fields} of the sentences, by the name of the field."""
        early, late = (format_duration(60 * minutes) for minutes in self.minutes)
        return {
            "epochs": self.epochs,
            "here": self.here.name,
            "there": self.there.name,
            "setup": f"{self.there.setup_minutes:g}",
            "early": early,
            "between": spanned(early, late),
            "costs": _written(self.here.cost(self.epochs)),
            "other": _written(self.there.cost(self.epochs)),
            "saved": _written(self.saved_seconds),
        }


def _written(seconds: tuple[float, float]) -> str:
    """Return a time, low and high, in words: (300.0, 900.0) -> "5 to 15 minutes"."""
    low, high = map(format_duration, seconds)
    return spanned(low, high)


def break_even(here: Plan, there: Plan, epochs: int) -> BreakEven:
    """Say from how many epochs on another machine pays.

    Parameters
    ----------
    here, there : Plan
        This machine, and the other one.
    epochs : int
        Of the training.

    Returns
    -------
    BreakEven
        Its `crossing` says in epochs from where on the other machine may pay, and from where on it
        surely does; `minutes` says the same in minutes of training here; and it has a `verdict`.

    Raises
    ------
    ValueError
        If `epochs` is no whole number from 1 on.

    Examples
    --------
    >>> cpu, t4 = Plan("this CPU", (60, 60)), Plan("a T4", (10, 20), setup_minutes=5)
    >>> break_even(cpu, t4, epochs=50).crossing
    (6.0, 7.5)
    """
    epochs = whole(epochs, "epochs")
    # by how much the other machine's set-up is longer, and then each of its epochs is shorter
    head_start = 60 * (there.setup_minutes - here.setup_minutes)
    low, high = here.epoch
    other_low, other_high = there.epoch
    earliest = _epochs_until(head_start, high - other_low)
    latest = _epochs_until(head_start, low - other_high)
    return BreakEven(here, there, epochs, crossing=(earliest, latest))


def _epochs_until(head_start: float, gain: float) -> float:
    """Return after how many epochs a head start is caught up, if each epoch gains `gain`.

    Both are in seconds. The number of epochs is 0 where there is nothing to catch up, and inf where
    an epoch gains nothing.
    """
    if gain <= 0:
        return math.inf
    return max(head_start / gain, 0.0)
