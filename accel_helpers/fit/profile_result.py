"""The answer of `profile_fit`: where an epoch goes, and a change that was measured."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from accel_helpers._values import records
from accel_helpers._values.words import format_duration, percent, spanned, times, wrapped
from accel_helpers.fit.epoch_parts import PARTS
from accel_helpers.fit.fit_call import GENERATOR, FitCall
from accel_helpers.measure import pictures
from accel_helpers.measure.measurement import FASTER, SAME, SLOWER, Measurement, Speedup

WORDS = Path(__file__).parents[1] / "data" / "profile.toml"
COMPILATION = "compilation"
LABELS = (*PARTS, COMPILATION)
NOTABLE = 0.05  # a smaller share is not said
HIDDEN = 0.3  # share of an epoch from which on input that nobody waits for is worth a sentence
UNDECIDED = "not told apart yet"  # of a gain that may be large or none
MAY_BE_LARGE = 1.5  # times as fast, where an interval ends that tells nothing yet


@dataclass(frozen=True)
class Change:
    """A change to a training, tried in turns with the training as it is."""

    name: str  # such as "jit_compile=True"
    gain: Speedup  # seconds per epoch as it is over those with the change
    note: str  # a sentence on what else it changes, or ""
    # with the change; None where it takes another process
    call: FitCall | None = field(repr=False)
    alters: bool = False  # whether it alters the training itself: batch size, precision

    def apply(self):
        """Return (make_model, fit_arguments) with the change, for ``make_model().fit(...)``.

        Raises ValueError where the change is another backend, which takes a new session.
        """
        if self.call is None:
            raise ValueError(f"{self.name} takes a new session: set it before Keras is imported.")
        arguments = dict(self.call.arguments)
        if self.call.form == GENERATOR:
            arguments["x"] = self.call.shortened(0)["x"]
            arguments["steps_per_epoch"] = self.call.steps
        return self.call.make_model, arguments

    @property
    def is_undecided(self) -> bool:
        """Whether the gain may be large or none, by what was measured."""
        return not self.gain.conclusive and self.gain.interval[1] > MAY_BE_LARGE

    @property
    def gain_in_words(self) -> str:
        """Such as "2.1 times as fast (1.95 to 2.3)", "slower" or "not told apart yet"."""
        if self.is_undecided:
            return UNDECIDED
        if not self.gain.conclusive and self.gain.interval[1] < 1:
            # slower in each of a few rounds, which make no ratio
            return SLOWER
        return gain_in_words(self.gain)

    def __str__(self) -> str:
        return f"{self.name}: {self.gain_in_words}. {self.note}".rstrip()


def fastest(tried: Iterable[Change], *, alters: bool) -> Change | None:
    """Return the change that was measurably faster, and by the most for sure; None where none was.

    Of those that alter the training, or of those that do not.
    """
    faster = [
        change for change in tried if change.alters == alters and change.gain.verdict == FASTER
    ]
    return max(faster, key=lambda change: change.gain.interval[0], default=None)


@dataclass(frozen=True, repr=False)
class Profile:
    """Where the time of a ``fit`` goes; it prints as a few sentences.

    A share is a part of an epoch, from 0 to 1. Input is what steps wait for: what is made while the
    device works costs nothing, so the shares need not add up. The share of the compilation is one
    of the whole training.
    """

    OUTCOMES: ClassVar = LABELS  # of its `verdict`

    verdict: str
    epoch: Measurement  # seconds
    steps: int  # of an epoch
    shares: Mapping[str, float]  # part -> share; without a part that cannot be told
    intervals: Mapping[str, tuple[float, float]]  # part -> low and high
    compile_seconds: float  # of the first step
    compilations: int  # how often the step was traced
    late_compilations: int  # of these, after the first moments
    input_alone: float  # seconds that the input of an epoch takes where nothing waits for it
    slowest_callback: str  # its class, or ""
    # the best that leaves the training as it is, or else the best that alters it, or else the first
    # that was tried; None where none was
    change: Change | None
    tried: tuple[Change, ...]
    not_tried: Mapping[str, str]  # change -> reason
    notes: tuple[str, ...]  # sentences

    @property
    def altering_change(self) -> Change | None:
        """The best change that was measurably faster and alters the training; or None."""
        return fastest(self.tried, alters=True)

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of an epoch by part, for a picture; without parts that there are not."""
        seconds = {}
        for part in PARTS:
            share = self.shares.get(part, 0.0)
            if share > 0:
                seconds[part] = share * self.epoch.median
        return seconds

    @property
    def finding(self) -> str:
        """The title of its picture."""
        return pictures.largest(self.seconds, "an epoch")

    def drawn(self, title: str) -> pictures.Picture:
        """Return its picture; see `pictures.plot`."""
        return pictures.bar(self.seconds, title=title, whole="an epoch")

    @property
    def advised(self) -> list[Change]:
        """The changes to make: the best that leaves the training as it is, and that alters it."""
        best = (fastest(self.tried, alters=False), self.altering_change)
        return [change for change in best if change is not None]

    @property
    def advice(self) -> str:
        """What to do, in a few sentences: what was tried, and what was not."""
        lead = records.load(WORDS, "set of sentences")["lead"]
        return "\n".join(wrapped(text, indent=2) for text in self.on_changes(lead))

    def __str__(self) -> str:
        sentences = records.load(WORDS, "set of sentences")
        fields = self._fields()
        names = [self.verdict, "shares"]
        is_long = self.input_alone > HIDDEN * self.epoch.median
        if is_long and self.shares.get("input", 0.0) < NOTABLE:
            names.append("hidden")
        if self.compilations:
            names.append("compiled")
        if self.late_compilations:
            names.append("again")
        texts = [sentences[name].format(**fields) for name in names]
        texts += self.notes
        texts += self.on_changes(sentences["lead"])
        if self.change and self.change.gain.verdict == FASTER and self.change.call is not None:
            texts.append(sentences["apply"])
        return "\n".join(wrapped(text, indent=2) for text in texts)

    __repr__ = __str__

    def _fields(self) -> dict[str, object]:
        """Return the values for the {fields} of the sentences."""
        low, high = self.epoch.interval
        return {
            "epoch": format_duration(self.epoch.median),
            "span": spanned(format_duration(low), format_duration(high)),
            "steps": f"{self.steps:,}",
            "share": self._share_in_words(self.verdict),
            "parts": self.parts_in_words(),
            "input": format_duration(self.input_alone),
            "compiling": format_duration(self.compile_seconds),
            "traces": _times(self.compilations),
            "late": self.late_compilations,
            "callback": self.slowest_callback,
        }

    def _share_in_words(self, part: str) -> str:
        """Return a share with its interval: "72 % (70 to 75)"."""
        low, high = (round(100 * share) for share in self.intervals[part])
        middle = percent(self.shares[part])
        if low == high:
            return middle
        return f"{middle} ({low} to {high})"

    def parts_in_words(self, spread: bool = True) -> str:
        """Return the parts that are worth a word, the largest first, perhaps with the intervals."""
        ordered = sorted(PARTS, key=lambda part: -self.shares.get(part, 0.0))
        texts = []
        for part in ordered:
            share = self.shares.get(part, 0.0)
            if share >= NOTABLE:
                said = self._share_in_words(part) if spread else percent(share)
                texts.append(f"{part} {said}")
        return ", ".join(texts)

    def on_changes(self, lead: str) -> list[str]:
        """Return the sentences on what was tried and what was not; `lead` stands before them."""
        sentences = records.load(WORDS, "set of sentences")
        texts = []
        advised = self.advised
        for name, change in zip(("change", "altering"), advised, strict=False):
            gain = change.gain_in_words
            texts.append(sentences[name].format(lead=lead, name=change.name, gain=gain))
            if change.note:
                texts.append(change.note)
        if not advised:
            name = self._why_nothing()
            texts.append(sentences[name].format(lead=lead, verdict=self.verdict))
        others = []
        for other in self.tried:
            if other not in advised:
                others.append(f"{other.name}: {other.gain_in_words}")
        if others:
            texts.append(sentences["tried"].format(tried="; ".join(others)))
        if self.not_tried:
            reasons = [f"{name} ({reason})" for name, reason in self.not_tried.items()]
            texts.append(sentences["not_tried"].format(not_tried="; ".join(reasons)))
        return texts

    def _why_nothing(self) -> str:
        """Return the name of the sentence on why there is no change to advise."""
        if any(change.is_undecided for change in self.tried):
            return "undecided"
        if self.tried:
            return "nothing"
        return "none" if self.not_tried else "unknown"


def _times(count: int) -> str:
    """Return how often something was done, in words."""
    return "once" if count == 1 else f"{count} times"


def gain_in_words(gain: Speedup) -> str:
    """Return "2.1 times as fast (1.95 to 2.3)", or "no measurable difference"."""
    if gain.ratio is None or not gain.conclusive:
        return SAME
    low, high = gain.interval
    # near 1 two digits would say that an interval holds it
    lower_end = f"{low:.3g}" if low < 2 else times(low)
    return f"{times(gain.ratio)} times as fast ({lower_end} to {times(high)})"
