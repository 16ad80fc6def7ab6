"""The verdict of `worth_it`, and the sentences that it prints as."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from accel_helpers._values import records
from accel_helpers._values.words import format_duration, spanned, times, wrapped
from accel_helpers.measure.measurement import FASTER, SAME, Measurement, Speedup
from accel_helpers.worth.break_even import HOLDS_BOTH, NOT_WORTH_IT, WORDS, WORTH_IT

# with an accelerator
TOO_CLOSE = "too close to call"
# without one, and without a forecast
NO_GPU_CAN_PAY = "no GPU can pay"
CANNOT_BE_TOLD = "cannot be told here"
LABELS = (WORTH_IT, NOT_WORTH_IT, TOO_CLOSE, HOLDS_BOTH, NO_GPU_CAN_PAY, CANNOT_BE_TOLD)

MUCH_FEEDING = 5  # a ceiling below this: feeding and Python are much, and frameworks differ in it


@dataclass(frozen=True)
class Worth:
    """What `worth_it` found; it prints as a few sentences."""

    OUTCOMES: ClassVar = LABELS  # of its `verdict`

    verdict: str  # one of `LABELS`
    epoch: Measurement  # seconds per epoch as you train now; its name is the device
    epochs: int
    factor: Speedup  # of CPU over accelerator; without one, of an epoch over what no chip takes
    setup_minutes: float
    break_even: tuple[float, float]  # minutes of training on the CPU: one can pay, surely pays
    tried: dict[str, Speedup]  # seconds per epoch as you train now over those of the change
    not_tried: dict[str, str]  # and why not
    chip: str = ""  # of which a forecast was made
    expected: tuple[float, float] = (0.0, math.inf)  # times as fast there
    notes: tuple[str, ...] = ()  # on that forecast
    score: str = ""  # of such forecasts, a sentence
    other_backend: str = ""  # that Keras could run on here, too

    @property
    def advice(self) -> str:
        """The change with the largest gain that is sure, or ""."""
        best, largest_gain = "", 0.0
        for change, gain in self.tried.items():
            sure_gain = gain.interval[0]
            if gain.verdict == FASTER and sure_gain > largest_gain:
                best, largest_gain = change, sure_gain
        return best

    def __str__(self) -> str:
        sentences = records.load(WORDS, "set of sentences")
        fields = self._fields()
        names = self._names(sentences)
        texts = [sentences[name].format(**fields) for name in names]
        # the notes of a forecast stand below its sentence, which is the third
        position = 3 if self.chip else len(texts)
        texts[position:position] = self.notes
        return "\n".join(wrapped(text, indent=2) for text in texts)

    @property
    def _is_alone(self) -> bool:
        """Whether there is no accelerator here."""
        return self.epoch.name == "cpu"

    def _fields(self) -> dict[str, str]:
        """Return what the sentences have in {braces}."""
        device = self.epoch.name.upper()
        fields = {"device": device, "score": self.score, "other_backend": self.other_backend}
        fields["there"] = self.chip or device
        fields["setup"] = f"{self.setup_minutes:g}"
        fields["epochs"] = f"{self.epochs} of them" if self.epochs > 1 else "one"
        fields["least"], fields["soonest"] = map(times, self.expected)
        fields["factor"] = _in_words(self.factor)
        low, high = self.factor.interval
        fields["middle"] = times(math.sqrt(low * high))
        fields["most"] = times(high)
        return fields | self._times() | self._changes()

    def _times(self) -> dict[str, str]:
        """Return the fields that are lengths of time."""
        fastest, slowest = map(format_duration, self.epoch.interval)
        early, late = (format_duration(60 * minutes) for minutes in self.break_even)
        if self.break_even[1] == math.inf:
            begins = f"at {early} of training on the CPU at the earliest, and perhaps never"
        else:
            begins = f"at {spanned(early, late)} of training on the CPU"
        # the slow side of the factor is the CPU, with an accelerator and without
        on_the_cpu = self.epochs * self.factor.slow.median
        return {
            "epoch": format_duration(self.epoch.median),
            "span": spanned(fastest, slowest),
            "total": f"about {format_duration(on_the_cpu)}",
            "rest": format_duration(self.factor.fast.median),
            "early": early,
            "late": late,
            "begins": begins,
        }

    def _changes(self) -> dict[str, str]:
        """Return the fields on the changes that were tried, and on those that were not."""
        best = self.advice
        # the best one has a sentence of its own
        tried = []
        for change, gain in self.tried.items():
            if change != best:
                tried.append(f"{change}: {_in_words(gain)}")
        not_tried = [f"{change} ({reason})" for change, reason in self.not_tried.items()]
        fields = {"best": best, "gain": ""}
        fields["tried"] = "; ".join(tried)
        fields["not_tried"] = "; ".join(not_tried)
        if best:
            fields["gain"] = _in_words(self.tried[best])
        return fields

    def _names(self, sentences) -> list[str]:
        """Return the names of the sentences that are said, in their order."""
        names = [self.verdict, "epoch", *self._on_the_factor()]
        if self.break_even[0] == math.inf:
            names = _with_suffix(names, ", ever", sentences)
        names.append(f"do: {self.verdict}")
        if self.chip:
            names = _with_suffix(names, ", by forecast", sentences)
        # where the set-up alone takes longer, no forecast is needed to say no
        longest_training = self.epochs * self.epoch.interval[1] / 60
        if longest_training < self.setup_minutes:
            names[0] = self.verdict
        return names + self._on_the_changes()

    def _on_the_factor(self) -> Iterable[str]:
        """Name the sentences on how many times as fast another chip is."""
        low, high = self.factor.interval
        if self.chip:
            yield "expected"
        # no interval, as of fewer than five timings
        if not low:
            yield "few"
        elif self._is_alone:
            yield "ceiling"
        elif self.factor.conclusive:
            yield "measured"
        else:
            yield "tie"
        # the upper end is the ceiling's, but for rounding
        if self.chip and self.expected[1] >= 0.999 * high:
            yield "capped"

    def _on_the_changes(self) -> list[str]:
        """Return the names of the sentences on what to try next."""
        names = []
        best = self.advice
        if best:
            names.append("next")
        elif self.tried:
            names.append("nothing")
        if best.startswith("batch"):
            names.append("bigger")
        low, _ = self.factor.interval
        if self._is_alone and self.other_backend and 0 < low < MUCH_FEEDING:
            names.append("backend")
        if set(self.tried) - {best}:
            names.append("tried")
        if self.not_tried:
            names.append("not_tried")
        return names


def _with_suffix(names: list[str], suffix: str, sentences) -> list[str]:
    """Return the names with a suffix, where there is a sentence of that name."""
    changed = []
    for name in names:
        special = name + suffix
        changed.append(special if special in sentences else name)
    return changed


def _in_words(gain: Speedup) -> str:
    if gain.ratio is None or not gain.conclusive:
        return SAME
    low, high = gain.interval
    return f"{times(gain.ratio)} times as fast ({times(low)} to {times(high)})"
