"""The verdict of `worth_it`, and the sentences that it prints as."""

import math
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import ClassVar

from accel_helpers._values import records
from accel_helpers._values.words import format_duration, spanned, times, wrapped
from accel_helpers.measure.measurement import FASTER, SAME, Measurement, Speedup
from accel_helpers.worth.break_even import HOLDS_BOTH, NOT_WORTH_IT, WORDS, WORTH_IT

# the verdict where an accelerator was measured, and it may pay or not
TOO_CLOSE = "too close to call"
# the verdicts where there is neither an accelerator nor a forecast
NO_GPU_CAN_PAY = "no GPU can pay"
CANNOT_BE_TOLD = "cannot be told here"
LABELS = (WORTH_IT, NOT_WORTH_IT, TOO_CLOSE, HOLDS_BOTH, NO_GPU_CAN_PAY, CANNOT_BE_TOLD)

# Where the ceiling is below this, feeding and Python are a large part of an epoch, and another
# framework may need less.
MUCH_FEEDING = 5


@dataclass(frozen=True)
class Worth:
    """What `worth_it` measured, and its verdict; it prints as a few sentences.

    The factor says how many times as fast an accelerator is as the CPU, measured in turns. Without
    an accelerator it is the ceiling: an epoch over the part of it, feeding and Python, that no
    other chip would shorten. A change is a way to train faster on the same machine, by its name,
    such as "jit_compile=True".
    """

    OUTCOMES: ClassVar = LABELS  # of its `verdict`

    verdict: str  # one of `LABELS`
    epoch: Measurement  # seconds per epoch as you train now; its name is the device
    epochs: int  # of your training
    # seconds per epoch: of the CPU over the accelerator; or of the CPU over feeding and Python
    factor: Speedup
    setup_minutes: float  # that another machine takes first
    # minutes of training on the CPU from which on another chip can pay, and surely pays; or inf
    break_even: tuple[float, float]
    tried: dict[str, Speedup]  # change -> seconds per epoch as you train now over those with it
    not_tried: dict[str, str]  # change -> reason
    chip: str = ""  # name of the chip that was forecast; "" where none was
    expected: tuple[float, float] = (0.0, math.inf)  # times as fast as here, by that forecast
    notes: tuple[str, ...] = ()  # sentences on that forecast
    score: str = ""  # a sentence on how often such forecasts held
    other_backend: str = ""  # framework that Keras could run on here instead; "" where none is

    @property
    def advice(self) -> str:
        """The change that was measurably faster, and by the most for sure; "" where none was."""
        best_change = ""
        largest_gain = 0.0
        for change, gain in self.tried.items():
            sure_gain = gain.interval[0]
            if gain.verdict == FASTER and sure_gain > largest_gain:
                best_change = change
                largest_gain = sure_gain
        return best_change

    def __str__(self) -> str:
        sentences = records.load(WORDS, "set of sentences")
        fields = self._fields()
        names = self._sentence_names(sentences)
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
        """Return the values for all {fields} of the sentences, by the name of the field."""
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
        """Return the values for the {fields} that are lengths of time, as words."""
        fastest, slowest = map(format_duration, self.epoch.interval)
        early, late = (format_duration(60 * minutes) for minutes in self.break_even)
        if self.break_even[1] == math.inf:
            begins = f"at {early} of training on the CPU at the earliest, and perhaps never"
        else:
            begins = f"at {spanned(early, late)} of training on the CPU"
        # the slow side of the factor is the CPU, with an accelerator and without
        cpu_seconds = self.epochs * self.factor.slow.median
        return {
            "epoch": format_duration(self.epoch.median),
            "span": spanned(fastest, slowest),
            "total": f"about {format_duration(cpu_seconds)}",
            "rest": format_duration(self.factor.fast.median),
            "early": early,
            "late": late,
            "begins": begins,
        }

    def _changes(self) -> dict[str, str]:
        """Return the values for the {fields} on changes, tried or not; "" where there are none."""
        best_change = self.advice
        # the best change has a sentence of its own
        tried_texts = []
        for change, gain in self.tried.items():
            if change != best_change:
                tried_texts.append(f"{change}: {_in_words(gain)}")
        not_tried_texts = [f"{change} ({reason})" for change, reason in self.not_tried.items()]
        fields = {"best": best_change, "gain": ""}
        fields["tried"] = "; ".join(tried_texts)
        fields["not_tried"] = "; ".join(not_tried_texts)
        if best_change:
            fields["gain"] = _in_words(self.tried[best_change])
        return fields

    def _sentence_names(self, sentences: Container[str]) -> list[str]:
        """Return the names of the sentences to print, in their order.

        `sentences` has the names of all sentences that there are.
        """
        names = [self.verdict, "epoch", *self._factor_sentences()]
        if self.break_even[0] == math.inf:
            names = _with_suffix(names, ", ever", sentences)
        names.append(f"do: {self.verdict}")
        if self.chip:
            names = _with_suffix(names, ", by forecast", sentences)
        # where the set-up alone takes longer than the training, no forecast is needed to say no
        longest_training = self.epochs * self.epoch.interval[1] / 60
        if longest_training < self.setup_minutes:
            names[0] = self.verdict
        return names + self._change_sentences()

    def _factor_sentences(self) -> Iterator[str]:
        """Yield the names of the sentences on how many times as fast another chip is."""
        low, high = self.factor.interval
        if self.chip:
            yield "expected"
        # the lower end is 0 where fewer than five timings make no interval
        if not low:
            yield "few"
        elif self._is_alone:
            yield "ceiling"
        elif self.factor.conclusive:
            yield "measured"
        else:
            yield "tie"
        # the forecast ends at the ceiling, but for rounding
        if self.chip and self.expected[1] >= 0.999 * high:
            yield "capped"

    def _change_sentences(self) -> list[str]:
        """Return the names of the sentences on what to try next; [] where there is none."""
        names = []
        best_change = self.advice
        if best_change:
            names.append("next")
        elif self.tried:
            names.append("nothing")
        if best_change.startswith("batch"):
            names.append("bigger")
        low, _ = self.factor.interval
        if self._is_alone and self.other_backend and 0 < low < MUCH_FEEDING:
            names.append("backend")
        if set(self.tried) - {best_change}:
            names.append("tried")
        if self.not_tried:
            names.append("not_tried")
        return names


def _with_suffix(names: list[str], suffix: str, sentences: Container[str]) -> list[str]:
    """Return the names of sentences, with a suffix where `sentences` has the longer name, too.

    With the suffix ", ever": ["epoch", "expected"] -> ["epoch", "expected, ever"].
    """
    special_names = []
    for name in names:
        special_name = name + suffix
        special_names.append(special_name if special_name in sentences else name)
    return special_names


def _in_words(gain: Speedup) -> str:
    """Return "2.1 times as fast (2 to 2.3)", or "no measurable difference"."""
    if gain.ratio is None or not gain.conclusive:
        return SAME
    low, high = gain.interval
    return f"{times(gain.ratio)} times as fast ({times(low)} to {times(high)})"
