"""The verdict of `worth_it`, and the sentences that it prints as."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from accel_helpers._values import records
from accel_helpers._values.words import format_duration, spanned, times, wrapped
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.train.profile_result import WORDS as PROFILE_WORDS
from accel_helpers.train.profile_result import Profile, gain_in_words
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

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        words = _Words(self)
        texts = [words.said(words.verdict()), words.said(words.factor())]
        texts += self.notes
        texts += self._on_changes(words)
        texts += [words.said("parts"), words.said(f"do: {self.verdict}")]
        return _lines(texts)

    def _on_changes(self, words: "_Words") -> Iterator[str]:
        """Yield a sentence on each change to make, or one on why there is none."""
        if not self.profile.advised:
            yield self._all_on_changes()[0]
        lead = "first"
        for change in self.profile.advised:
            name = f"{lead}, altering" if change.alters else lead
            yield words.said(name, change=change.name, gain=change.gain_in_words)
            lead = "then"

    def _all_on_changes(self) -> list[str]:
        """Return the sentences on all changes, tried or not."""
        lead = records.load(PROFILE_WORDS, "set of sentences")["lead of a verdict"]
        return self.profile.on_changes(lead)

    @property
    def details(self) -> str:
        """All that was measured and forecast, with the spread, what was tried, and each chip."""
        words = _Words(self)
        names = ["epoch", "begins", "all parts"]
        if self.is_alone and not self.is_hardly_timed:
            names.append("ceiling")
            # the forecast ends there, but for rounding
            if self.chip and self.expected[1] >= 0.999 * self.factor.interval[1]:
                names.append("capped")
        texts = [words.said(name) for name in names]
        if self.on_float16:
            texts.append(self.on_float16)
        text = _lines(texts + self._all_on_changes())
        if self.choice is not None:
            text = f"{text}\n{self.choice.table}"
        return text


def _lines(texts: list[str]) -> str:
    """Return sentences as lines, wrapped where they are long."""
    return "\n".join(wrapped(text, indent=2) for text in texts)


class _Words:
    """The sentences on a verdict of `worth_it`, with its values filled in."""

    def __init__(self, worth: Worth):
        self._worth = worth
        self._sentences = records.load(WORDS, "set of sentences")["worth"]
        self._fields = self._amounts() | self._times()

    def said(self, name: str, **more: str) -> str:
        """Return the sentence of this name, or the special one where there is one.

        A special one has a suffix, ", by forecast" or ", ever".
        """
        if self._worth.chip:
            name = self._special(name, ", by forecast")
        if self._worth.break_even[0] == math.inf:
            name = self._special(name, ", ever")
        return self._sentences[name].format(**self._fields, **more)

    def _special(self, name: str, suffix: str) -> str:
        """Return the name with the suffix, where a sentence has it."""
        special_name = name + suffix
        return special_name if special_name in self._sentences else name

    def verdict(self) -> str:
        """Return the name of the sentence on the verdict."""
        worth = self._worth
        if worth.verdict != NOT_WORTH_IT:
            return worth.verdict
        longest = worth.epochs * worth.factor.slow.interval[1] / 60
        if longest <= worth.setup_minutes:
            # whatever the factor is
            return "the set-up takes longer"
        if worth.is_alone and not worth.chip:
            return "no GPU can pay"
        return worth.verdict

    def factor(self) -> str:
        """Return the name of the sentence on how many times as fast another chip is."""
        if self._worth.is_hardly_timed:
            return "few"
        if self._worth.chip:
            return "expected"
        return "no forecast" if self._worth.is_alone else "measured"

    def _amounts(self) -> dict[str, str]:
        """Return the values for the {fields} that are numbers and names, as words."""
        worth = self._worth
        device = worth.epoch.name.upper()
        another = with_article(worth.chip) if worth.chip else "a GPU"
        low, high = worth.factor.interval
        return {
            "device": device,
            "another": another,
            # at the beginning of a sentence
            "Another": another[0].upper() + another[1:],
            "there": another if worth.is_alone else f"the {device}",
            "here": "here" if worth.is_alone else "on the CPU",
            "epochs": f"{worth.epochs} epochs" if worth.epochs > 1 else "An epoch",
            "least": times(worth.expected[0]),
            "soonest": times(worth.expected[1]),
            "factor": gain_in_words(worth.factor),
            "middle": times(math.sqrt(low * high)),
            "most": times(high),
            "score": worth.score,
            "parts": worth.profile.parts_in_words(spread=False),
            "all_parts": worth.profile.parts_in_words(),
        }

    def _times(self) -> dict[str, str]:
        """Return the values for the {fields} that are lengths of time, as words."""
        worth = self._worth
        early, late = (format_duration(60 * minutes) for minutes in worth.break_even)
        begins = f"at {spanned(early, late)} of training on the CPU"
        if worth.break_even[1] == math.inf:
            begins = f"at {early} of training on the CPU at the earliest, and perhaps never"
        # the slow side of the factor is the CPU, with an accelerator and without
        total = worth.epochs * worth.factor.slow.median
        return {
            "epoch": format_duration(worth.epoch.median),
            "span": spanned(*map(format_duration, worth.epoch.interval)),
            "total": format_duration(total),
            "elsewhere": spanned(*map(format_duration, worth.elsewhere)),
            "rest": format_duration(worth.factor.fast.median),
            "setup": format_duration(60 * worth.setup_minutes),
            "early": early,
            "begins": begins,
        }
