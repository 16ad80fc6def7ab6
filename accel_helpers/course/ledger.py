"""The ledger, ``data/claims.toml``: what is commonly said, and what your own measurements say."""

import datetime
import functools
import math
from dataclasses import dataclass, field
from typing import Literal

from accel_helpers._values.words import format_count
from accel_helpers.course.questions import DATA, stored
from accel_helpers.course.quiz_widget import Shown
from accel_helpers.machine import hardware
from accel_helpers.measure import results, timing
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement
from accel_helpers.measure.results import Card

TICKS = 10e9  # per second: a clock faster than this is on no CPU that we know of
SEEDS = 3  # trainings with fewer beginnings say nothing about accuracy
YOURS = "your machine"
YET, PUBLISHED, UNCLEAR = "not measured yet", "by published figures", "cannot be told here"
__all__ = ["fill", "mine"]


@dataclass(frozen=True)
class Claim:
    """A claim, and how a result card is read on it; the first lines of the file say how."""

    number: int
    claim: str
    verdict: Literal["true", "true, with limits", "misleading", "too vague", "outdated", "wrong"]
    why: str
    source: tuple[str, ...]
    lesson: str
    as_of: datetime.date  # when the verdict was checked
    experiment: str
    rule: str = ""
    names: tuple[str, ...] = ()
    needs: Literal["", "a GPU", "a TPU", "a GPU or a TPU"] = ""
    supported: tuple[float, ...] = ()
    contradicted: tuple[float, ...] = ()
    say: dict[Literal["supported", "contradicted", "otherwise"], str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    in_turns: bool = False
    times: float = 1.0
    published: bool = False  # only published figures can settle it


@functools.cache
def claims() -> tuple[Claim, ...]:
    """The claims that come with the course."""
    return stored(DATA / "claims.toml", "claim", Claim)


@dataclass(frozen=True)
class Entry:
    """A claim beside what the learner's own card says about it."""

    claim: Claim
    verdict: str  # "supported here", "contradicted here", or one of the three above
    sentence: str  # what that means
    measured: str = ""  # the measurement with its interval, if there is one
    lacks_hardware: bool = False  # the claim needs a chip that is not here

    @property
    def here(self) -> str:
        """The verdict in a word or two, for a table."""
        if self.lacks_hardware:
            return f"needs {self.claim.needs}"
        return self.verdict.removesuffix(" here")

    def __str__(self) -> str:
        lines = [
            f"{self.claim.number}. {self.claim.claim}",
            f"   {self.claim.verdict} (checked {self.claim.as_of}): {self.claim.why}",
            f"   Experiment (lesson {self.claim.lesson}): {self.claim.experiment}",
            f"   Your machine: {self.verdict}.",
        ]
        return "\n".join(lines + [f"   {text}" for text in (self.measured, self.sentence) if text])


class Ledger(Shown, tuple):
    """Entries, in the order of the file: a tuple that a notebook shows as a table."""

    machine: str  # whose measurements these are
    macro = "ledger"

    def __new__(cls, entries, machine: str = YOURS):
        ledger = super().__new__(cls, entries)
        ledger.machine = machine
        return ledger

    @property
    def note(self) -> str:
        """What to know first, where these are not the learner's own measurements."""
        if self.machine == YOURS:
            return ""
        said = f"You have no result card yet, so this is {self.machine}."
        return f"{said} “Your” means that machine here."

    def __str__(self) -> str:
        rows = [("no.", "is it true?", f"on {self.machine}", "settled in")]
        for entry in self:
            claim = entry.claim
            rows.append((f"{claim.number}.", claim.verdict, entry.here, f"lesson {claim.lesson}"))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        above = [self.note, ""] if self.note else []
        return "\n".join([*above, *table, "", *map(str, self)])

    def to_dict(self) -> dict:
        same = ("number", "claim", "experiment", "source", "lesson")
        rows = [{name: getattr(entry.claim, name) for name in same} for entry in self]
        for row, entry in zip(rows, self, strict=True):
            row |= {"course_verdict": entry.claim.verdict, "verdict": entry.verdict}
        return {"claims": rows}


def fill(card: Card | None) -> Ledger:
    """Put beside every claim what a result card, if there is one, says about it.

    Examples
    --------
    >>> print(fill(None)[4].verdict)
    not measured yet
    """
    return Ledger(_entry(claim, card) for claim in claims())


def mine() -> Ledger:
    """Fill the ledger from the current result card, or from a named machine's before there is one.

    Examples
    --------
    >>> len(mine())
    19
    """
    path = results.card_path()
    if path.exists():
        return fill(results.load(path))
    # Not simply the newest: a run may be of some lessons only.
    fullest = max(results.reference_runs(), key=lambda card: len(card.measurements))
    return Ledger(fill(fullest), fullest.label)


def _entry(claim: Claim, card: Card | None) -> Entry:
    known = {} if card is None else {**card.measurements, **card.numbers}
    chip = str((card and card.machine.get("accelerator") or {}).get("kind"))
    found = ([known.get(n.format(device=one)) for n in claim.names] for one in ("gpu", "tpu"))
    values = next((each for each in found if each and None not in each), [])
    state = PUBLISHED if claim.published else UNCLEAR
    again = f"Too rough, or in between. Run lesson {claim.lesson} again with nothing else running."
    sentence = claim.say.get("otherwise", again)
    if not values and card and claim.needs and chip not in claim.needs:
        needed = f"This takes {claim.needs}, and none is here."
        return Entry(claim, state, needed, lacks_hardware=True)
    if not values and not claim.published:
        return Entry(claim, YET, f"Run lesson {claim.lesson}: it measures this.")
    try:
        (low, high), said = RULES[claim.rule](claim, card, *values) if values else ((0, 0), "")
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return Entry(claim, state, "A chip of which we have no figures, or numbers without sense.")
    few = any(len(getattr(value, "samples", range(FEW_SAMPLES))) < FEW_SAMPLES for value in values)
    for word, span in (("supported", claim.supported), ("contradicted", claim.contradicted)):
        if span and not few and span[0] <= low <= high <= (*span, math.inf)[1]:
            state, sentence = f"{word} here", claim.say[word]
    return Entry(claim, state, sentence, said)


def _ratio(claim, card, slow, fast):
    slow = Measurement.from_samples([claim.times * s for s in slow.samples])
    turns = claim.in_turns and len(slow.samples) == len(fast.samples)
    found = timing.compare(slow, fast, names=claim.labels, in_turns=turns)
    said = str(found)
    return found.interval, f"{said[0].upper()}{said[1:].rstrip('.')}."


def _rates(measured, work):
    return [work / s for s in (measured.interval[1], measured.median, measured.interval[0])]


def _over(claim, product, size, others):
    low, rate, high = _rates(product, 2 * size[0] ** 3)
    said = claim.labels[0].format(*map(format_count, (rate, low, high, others[1])))
    return (low / others[2], high / others[0]), said


def _lanes(card):
    """What a GPU's lanes can do with pairs of 16-bit numbers, at their published float32 peak."""
    return 2e12 * hardware.match(card.machine["accelerator"]["name"]).peak_fp32_tflops


def _accuracy(claim, card, small, large):
    few = min(len(small), len(large)) < SEEDS
    spans = [(100 * min(each), 100 * max(each), len(each)) for each in (large, small)]
    said = claim.labels[0].format(*spans[0], *spans[1])
    return (-1, 1) if few else (min(large) - max(small), max(large) - min(small)), said


def _number(claim, card, values):
    value = values[0] / (*values, 1)[1]
    return (value, value), claim.labels[0].format(*values, value)


# Each gives the interval of a quantity, and the measurement in words; claims.toml says of what.
RULES = {
    "ratio": _ratio,
    "one by one": lambda claim, card, *it: _over(claim, *it, [TICKS * card.machine["cores"]] * 3),
    "lanes": lambda claim, card, *it: _over(claim, *it, [_lanes(card)] * 3),
    "products": lambda claim, card, m, n, add, count: _over(claim, m, n, _rates(add, *count)),
    "accuracy": _accuracy,
    "number": _number,
    "in colab": lambda c, card, n: _number(c, card, [n[0] * (card.machine["place"] == "colab")]),
    "tensorflow": lambda c, card, _: _number(c, card, ["tensorflow" in card.machine["frameworks"]]),
}
