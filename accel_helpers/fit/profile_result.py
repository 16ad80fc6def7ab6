"""The answer of `profile_fit`: where an epoch goes, and the changes that were measured."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from accel_helpers._values import records
from accel_helpers._values.words import factor, format_duration, percent, spanned, times, wrapped
from accel_helpers.fit.parts import Parts
from accel_helpers.fit.training import GENERATOR, Training
from accel_helpers.measure import pictures
from accel_helpers.measure.measurement import FASTER, SAME, SLOWER, Measurement, Speedup

WORDS = Path(__file__).parents[1] / "data" / "profile.toml"
COMPILATION = "compilation"
IN_PLACE_OF_FIT = "fit_resident"  # the name of the change that is
LATE = "the time was up"  # the end of a reason for which a change was not tried
UNDECIDED = "not told apart yet"  # of a gain that may be large or none
MAY_BE_LARGE = 1.5  # times as fast, where an interval ends that tells nothing yet


def said(sentence: str, **fields: object) -> str:
    """Return the sentence of this name, such as "apply" or "own step", with its fields."""
    sentences = records.load(WORDS)
    return sentences[sentence].format(**fields)


@dataclass(frozen=True)
class Change:
    """A change to a training, tried in turns with the training as it is."""

    name: str  # such as "jit_compile=True"
    gain: Speedup  # seconds per epoch as it is over those with the change
    note: str  # a sentence on what else it changes, or ""
    # with the change; None where it takes another process
    training: Training | None = field(repr=False)
    alters: bool = False  # whether it alters the training itself: batch size, precision

    def apply(self):
        """Return (make_model, fit_arguments) with the change, for ``make_model().fit(...)``.

        Raises ValueError where the change is another backend, which takes a new session.
        """
        if self.training is None:
            raise ValueError(f"{self.name} takes a new session: set it before Keras is imported.")
        arguments = dict(self.training.arguments)
        if self.training.form == GENERATOR:
            arguments["x"] = self.training.shortened(0)["x"]
            arguments["steps_per_epoch"] = self.training.steps
        return self.training.make_model, arguments

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
    """Where the time of a ``fit`` goes; it prints as a few sentences."""

    OUTCOMES: ClassVar = (*Parts.OUTCOMES, COMPILATION)  # of its `verdict`

    verdict: str
    epoch: Measurement  # seconds
    steps: int  # of an epoch
    parts: Parts  # of an epoch
    compiling: float  # share of compiling in the whole training; 0 where its length is not known
    compile_seconds: float  # of the first step
    compilations: int  # how often the step was traced
    late_compilations: int  # of these, after the first moments
    tried: tuple[Change, ...]
    not_tried: Mapping[str, str]  # change -> reason
    notes: tuple[str, ...]  # sentences

    @property
    def change(self) -> Change | None:
        """The best change that leaves the training as it is, or else the best that alters it.

        Where none was measurably faster, the first that was tried; None where none was.
        """
        return next(iter([*self.advised, *self.tried]), None)

    @property
    def advised(self) -> list[Change]:
        """The changes to make: the best that leaves the training as it is, and that alters it.

        Where the first takes the place of ``fit``, the best that keeps ``fit`` stands between them.
        """
        keeping_fit = [change for change in self.tried if change.name != IN_PLACE_OF_FIT]
        advised = []
        for tried, alters in ((self.tried, False), (keeping_fit, False), (self.tried, True)):
            best = fastest(tried, alters=alters)
            if best is not None and best not in advised:
                advised.append(best)
        return advised

    @property
    def shares(self) -> dict[str, float]:
        """The share of each part in an epoch, from 0 to 1; of compiling in the whole training."""
        shares = self.parts.shares
        if self.compiling:
            shares[COMPILATION] = self.compiling
        return shares

    @property
    def finding(self) -> str:
        """The title of its picture."""
        return self.parts.finding

    def drawn(self, title: str) -> pictures.Picture:
        """Return its picture; see `pictures.plot`."""
        return self.parts.drawn(title)

    @property
    def advice(self) -> str:
        """What to do, in a few sentences: what was tried, and what was not."""
        return "\n".join(wrapped(text, indent=2) for text in self._on_changes())

    def __str__(self) -> str:
        names = [self.verdict, "shares"]
        if self.compilations:
            names.append("compiled")
        if self.late_compilations:
            names.append("again")
        fields = self._fields()
        texts = [said(name, **fields) for name in names]
        texts += self.notes
        texts += self._on_changes()
        if self.advised and self.advised[0].training is not None:
            texts.append(said("apply"))
        return "\n".join(wrapped(text, indent=2) for text in texts)

    __repr__ = __str__

    def _fields(self) -> dict[str, object]:
        """Return the values for the {fields} of the sentences."""
        share = percent(self.compiling)
        if self.verdict in self.parts.rounds:
            share = self.parts.share_in_words(self.verdict)
        low, high = map(format_duration, self.epoch.interval)
        return {
            "epoch": format_duration(self.epoch.median),
            "span": spanned(low, high),
            "steps": f"{self.steps:,}",
            "share": share,
            "parts": self.parts.in_words(),
            "compiling": format_duration(self.compile_seconds),
            "traces": self.compilations,
            "late": self.late_compilations,
        }

    def _on_changes(self) -> list[str]:
        """Return the sentences on what was tried and what was not."""
        texts = []
        for change in self.advised:
            sentence = "altering" if change.alters else "change"
            texts.append(said(sentence, name=change.name, gain=change.gain_in_words))
            texts.append(change.note)
        if not self.advised:
            texts.append(self.why_nothing)
        tried = []
        for change in self.tried:
            if change not in self.advised:
                tried.append(f"{change.name}: {change.gain_in_words}")
        if tried:
            texts.append(said("tried", tried="; ".join(tried)))
        if self.not_tried:
            reasons = [f"{name} ({reason})" for name, reason in self.not_tried.items()]
            texts.append(said("not_tried", not_tried="; ".join(reasons)))
        texts[0] = said("lead") + texts[0]
        # some changes need no note
        return [text for text in texts if text]

    @property
    def why_nothing(self) -> str:
        """The sentence on why there is no change to advise."""
        unsettled = [change.name for change in self.tried if change.is_undecided]
        unsettled += [name for name, reason in self.not_tried.items() if reason.endswith(LATE)]
        name = "nothing" if self.tried else "none"
        if unsettled:
            name = "unsettled"
        return said(name, unsettled=", ".join(unsettled))


def gain_in_words(gain: Speedup) -> str:
    """Return "2.1 times as fast (1.95 to 2.3)", or "no measurable difference"."""
    if gain.ratio is None or not gain.conclusive:
        return SAME
    low, high = gain.interval
    return f"{times(gain.ratio)} times as fast ({factor(low)} to {times(high)})"
