"""The verdict of `worth_it`, and the sentences that it prints as."""

import math
from dataclasses import dataclass
from typing import ClassVar

from accel_helpers._values import records
from accel_helpers._values.words import format_duration, spanned, times, wrapped
from accel_helpers.fit.profile_result import WORDS as PROFILE_WORDS
from accel_helpers.fit.profile_result import Profile, gain_in_words
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.worth.break_even import HOLDS_BOTH, NOT_WORTH_IT, WORDS, WORTH_IT
from accel_helpers.worth.choice import with_article
from accel_helpers.worth.choice_result import Choice

# the verdict where an accelerator was measured, and it may pay or not
TOO_CLOSE = "too close to call"
# the verdict where there is neither an accelerator nor a forecast, and one may pay
CANNOT_BE_TOLD = "cannot be told here"
LABELS = (WORTH_IT, NOT_WORTH_IT, TOO_CLOSE, HOLDS_BOTH, CANNOT_BE_TOLD)


@dataclass(frozen=True, repr=False)
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
    # seconds of your training on the other chip, or at that ceiling, set-up included
    elsewhere: tuple[float, float]
    profile: Profile  # where an epoch goes, and the changes that were tried
    chip: str = ""  # name of the chip that was forecast; "" where none was
    expected: tuple[float, float] = (0.0, math.inf)  # times as fast as here, by that forecast
    notes: tuple[str, ...] = ()  # sentences on that forecast, or on why there is none
    score: str = ""  # a sentence on how often such forecasts held
    on_float16: str = ""  # a sentence on what float16 would make of a step on that chip
    choice: Choice | None = None  # a row for each chip; None without a forecast

    @property
    def advice(self) -> str:
        """The change to try first, which was measurably faster; "" where none was."""
        advised = self.profile.advised
        return advised[0].name if advised else ""

    @property
    def is_alone(self) -> bool:
        """Whether there is no accelerator here."""
        return self.epoch.name == "cpu"

    @property
    def is_hardly_timed(self) -> bool:
        """Whether fewer than five timings make no factor."""
        return self.factor.interval[0] == 0

    def __str__(self) -> str:
        texts = self._said(self._name_of_verdict(), self._name_of_factor())
        texts += self.notes
        texts += self._on_changes()
        texts += self._said("parts", f"do: {self.verdict}")
        return _lines(texts)

    __repr__ = __str__

    @property
    def details(self) -> str:
        """All that was measured and forecast, with the spread, what was tried, and each chip."""
        names = ["epoch", "begins", "all parts"]
        if self.chip and not self.is_hardly_timed:
            names.append("ceiling")
            # the forecast ends there, but for rounding
            if self.expected[1] >= 0.999 * self.factor.interval[1]:
                names.append("capped")
        texts = self._said(*names)
        if self.on_float16:
            texts.append(self.on_float16)
        text = _lines(texts + self._all_on_changes())
        if self.choice is not None:
            text = f"{text}\n{self.choice.table}"
        return text

    def _name_of_verdict(self) -> str:
        """Return the name of the sentence on the verdict."""
        if self.verdict != NOT_WORTH_IT:
            return self.verdict
        longest = self.epochs * self.factor.slow.interval[1] / 60
        if longest <= self.setup_minutes:
            # whatever the factor is
            return "the set-up takes longer"
        if self.is_alone and not self.chip:
            return "no GPU can pay"
        return self.verdict

    def _name_of_factor(self) -> str:
        """Return the name of the sentence on how many times as fast another chip is."""
        if self.is_hardly_timed:
            return "few"
        if self.chip:
            return "expected"
        return "no forecast" if self.is_alone else "measured"

    def _on_changes(self) -> list[str]:
        """Return a sentence on each change to make, or one on why there is none."""
        sentences = records.load(WORDS, "set of sentences")["worth"]
        texts = []
        for change in self.profile.advised:
            sentence = sentences["altering" if change.alters else "change"]
            texts.append(sentence.format(change=change.name, gain=change.gain_in_words))
        return texts or [sentences["no change"]]

    def _all_on_changes(self) -> list[str]:
        """Return the sentences on all changes, tried or not."""
        lead = records.load(PROFILE_WORDS, "set of sentences")["lead of a verdict"]
        return self.profile.on_changes(lead)

    def _said(self, *names: str) -> list[str]:
        """Return the sentences of these names, or the special ones where there are.

        Special ones have a suffix, ", by forecast" or ", ever".
        """
        sentences = records.load(WORDS, "set of sentences")["worth"]
        fields = self._fields()
        never_pays = self.break_even[0] == math.inf
        texts = []
        for name in names:
            if self.chip and f"{name}, by forecast" in sentences:
                name = f"{name}, by forecast"
            if never_pays and f"{name}, ever" in sentences:
                name = f"{name}, ever"
            texts.append(sentences[name].format(**fields))
        return texts

    def _fields(self) -> dict[str, str]:
        """Return the values for all {fields} of the sentences, by the name of the field."""
        device = self.epoch.name.upper()
        there = "a GPU" if self.is_alone else f"the {device}"
        early, late = (format_duration(60 * minutes) for minutes in self.break_even)
        begins = f"at {spanned(early, late)} of training on the CPU"
        if self.break_even[1] == math.inf:
            begins = f"at {early} of training on the CPU at the earliest, and perhaps never"
        # the slow side of the factor is the CPU, with an accelerator and without
        total = self.epochs * self.factor.slow.median
        return {
            "device": device,
            "there": with_article(self.chip) if self.chip else there,
            "epochs": f"{self.epochs} epochs take" if self.epochs > 1 else "an epoch takes",
            "total": format_duration(total),
            "elsewhere": spanned(*map(format_duration, self.elsewhere)),
            "setup": format_duration(60 * self.setup_minutes),
            "least": times(self.expected[0]),
            "soonest": times(self.expected[1]),
            "factor": gain_in_words(self.factor),
            "most": times(self.factor.interval[1]),
            "rest": format_duration(self.factor.fast.median),
            "score": self.score,
            "early": early,
            "begins": begins,
            "epoch": format_duration(self.epoch.median),
            "span": spanned(*map(format_duration, self.epoch.interval)),
            "parts": self.profile.parts.in_words(spread=False),
            "all_parts": self.profile.parts.in_words(),
        }


def _lines(texts: list[str]) -> str:
    """Return sentences as lines, wrapped where they are long."""
    return "\n".join(wrapped(text, indent=2) for text in texts)
