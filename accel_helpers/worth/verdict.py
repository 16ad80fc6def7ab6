"""The verdict of `worth_it`, and the sentences that it prints as."""

import math
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import ClassVar

from accel_helpers._values import records
from accel_helpers._values.words import format_duration, spanned, times, wrapped
from accel_helpers.measure.measurement import FASTER, Measurement, Speedup
from accel_helpers.train.profile_result import WORDS as PROFILE_WORDS
from accel_helpers.train.profile_result import Profile, gain_in_words
from accel_helpers.worth.break_even import HOLDS_BOTH, NOT_WORTH_IT, WORDS, WORTH_IT
from accel_helpers.worth.choice_result import Choice

# the verdict where an accelerator was measured, and it may pay or not
TOO_CLOSE = "too close to call"
# the verdicts where there is neither an accelerator nor a forecast
NO_GPU_CAN_PAY = "no GPU can pay"
CANNOT_BE_TOLD = "cannot be told here"
LABELS = (WORTH_IT, NOT_WORTH_IT, TOO_CLOSE, HOLDS_BOTH, NO_GPU_CAN_PAY, CANNOT_BE_TOLD)


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
    profile: Profile  # where an epoch goes, and the changes that were tried
    chip: str = ""  # name of the chip that was forecast; "" where none was
    expected: tuple[float, float] = (0.0, math.inf)  # times as fast as here, by that forecast
    notes: tuple[str, ...] = ()  # sentences on that forecast
    score: str = ""  # a sentence on how often such forecasts held
    choice: Choice | None = None  # a row for each chip; None without a forecast

    @property
    def advice(self) -> str:
        """The change that was measurably faster, and by the most for sure; "" where none was."""
        change = self.profile.change
        if change is None or change.gain.verdict != FASTER:
            return ""
        return change.name

    def __str__(self) -> str:
        sentences = records.load(WORDS, "set of sentences")
        fields = self._fields()
        names = self._sentence_names(sentences)
        texts = [sentences[name].format(**fields) for name in names]
        # the notes of a forecast stand below its sentence, which is the third
        position = 3 if self.chip else len(texts)
        texts[position:position] = self.notes
        lead = records.load(PROFILE_WORDS, "set of sentences")["lead of a verdict"]
        texts += self.profile.on_changes(lead)
        lines = [wrapped(text, indent=2) for text in texts]
        if self.choice is not None:
            lines.append(self.choice.table)
        return "\n".join(lines)

    @property
    def is_alone(self) -> bool:
        """Whether there is no accelerator here."""
        return self.epoch.name == "cpu"

    def _fields(self) -> dict[str, str]:
        """Return the values for all {fields} of the sentences, by the name of the field."""
        device = self.epoch.name.upper()
        fields = {"device": device, "score": self.score, "parts": self.profile.parts_in_words}
        fields["there"] = self.chip or device
        fields["setup"] = f"{self.setup_minutes:g}"
        fields["epochs"] = f"{self.epochs} of them" if self.epochs > 1 else "one"
        fields["least"], fields["soonest"] = map(times, self.expected)
        fields["factor"] = gain_in_words(self.factor)
        low, high = self.factor.interval
        fields["middle"] = times(math.sqrt(low * high))
        fields["most"] = times(high)
        return fields | self._times()

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
        return [*names, "parts"]

    def _factor_sentences(self) -> Iterator[str]:
        """Yield the names of the sentences on how many times as fast another chip is."""
        low, high = self.factor.interval
        if self.chip:
            yield "expected"
        # the lower end is 0 where fewer than five timings make no interval
        if not low:
            yield "few"
        elif self.is_alone:
            yield "ceiling"
        elif self.factor.conclusive:
            yield "measured"
        else:
            yield "tie"
        # the forecast ends at the ceiling, but for rounding
        if self.chip and self.expected[1] >= 0.999 * high:
            yield "capped"


def _with_suffix(names: list[str], suffix: str, sentences: Container[str]) -> list[str]:
    """Return the names of sentences, with a suffix where `sentences` has the longer name, too.

    With the suffix ", ever": ["epoch", "expected"] -> ["epoch", "expected, ever"].
    """
    special_names = []
    for name in names:
        special_name = name + suffix
        special_names.append(special_name if special_name in sentences else name)
    return special_names
