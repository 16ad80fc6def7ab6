"""The ledger, ``data/claims.toml``: common claims, and what your own measurements show."""

import datetime
import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from accel_helpers.course.claims import CONTRADICTED, RULES, SUPPORTED, UNCLEAR
from accel_helpers.course.questions import DATA, stored
from accel_helpers.course.quiz_widget import Shown
from accel_helpers.measure import results
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement
from accel_helpers.measure.results import Card

YOURS = "your machine"
NOT_MEASURED, PUBLISHED = "not measured", "published"
# What a learner reads of each outcome, and in the narrow column of a table.
VERDICTS = {
    SUPPORTED: "supported here",
    CONTRADICTED: "contradicted here",
    UNCLEAR: "cannot be told here",
    NOT_MEASURED: "not measured yet",
    PUBLISHED: "by published figures",
}
IN_A_TABLE = {
    **VERDICTS,
    SUPPORTED: "supported",
    CONTRADICTED: "contradicted",
    UNCLEAR: "cannot be told",
}
__all__ = ["fill", "mine"]


@dataclass(frozen=True)
class Claim:
    """A claim, and what a result card is asked about it.

    The first lines of the file ``data/claims.toml`` explain the fields.
    """

    number: int
    claim: str
    verdict: Literal["true", "true, with limits", "misleading", "too vague", "outdated", "wrong"]
    why: str
    source: tuple[str, ...]
    lesson: str
    as_of: datetime.date  # when the verdict was checked
    experiment: str
    names: tuple[str, ...] = ()  # what its rule in claims.py gets from the card
    needs: Literal["", "a GPU", "a TPU", "a GPU or a TPU"] = ""
    say: dict[Literal["supported", "contradicted", "otherwise"], str] = field(default_factory=dict)
    published: bool = False  # only published figures can settle it

    @property
    def if_unclear(self) -> str:
        """The sentence where the card neither supports nor contradicts the claim."""
        again = (
            f"Too rough, or in between. Run lesson {self.lesson} again with nothing else running."
        )
        return self.say.get("otherwise", again)


@functools.cache
def claims() -> tuple[Claim, ...]:
    """Return the claims that come with the course."""
    return stored(DATA / "claims.toml", "claim", Claim)


@dataclass(frozen=True)
class Entry:
    """A claim beside what the learner's own card shows about it."""

    claim: Claim
    outcome: str  # one of VERDICTS
    sentence: str  # what that means
    measured: str = ""  # the measurement with its interval, if there is one
    lacks_hardware: bool = False  # the claim needs a chip that is not here

    @property
    def verdict(self) -> str:
        """The outcome as a learner reads it."""
        return VERDICTS[self.outcome]

    @property
    def here(self) -> str:
        """The verdict in a word or two, for a table."""
        if self.lacks_hardware:
            return f"needs {self.claim.needs}"
        return IN_A_TABLE[self.outcome]

    def __str__(self) -> str:
        lines = [
            f"{self.claim.number}. {self.claim.claim}",
            f"   {self.claim.verdict} (checked {self.claim.as_of}): {self.claim.why}",
            f"   Experiment (lesson {self.claim.lesson}): {self.claim.experiment}",
            f"   Your machine: {self.verdict}.",
        ]
        if self.measured:
            lines.append(f"   {self.measured}")
        if self.sentence:
            lines.append(f"   {self.sentence}")
        return "\n".join(lines)


class Ledger(Shown, tuple):
    """A tuple of entries, in the order of the file, that a notebook shows as a table."""

    machine: str  # the machine on which the measurements were made; YOURS for the learner's
    macro = "ledger"

    def __new__(cls, entries: Iterable[Entry], machine: str = YOURS):
        ledger = super().__new__(cls, entries)
        ledger.machine = machine
        return ledger

    @property
    def note(self) -> str:
        """A warning where these are not the learner's own measurements; empty where they are."""
        if self.machine == YOURS:
            return ""
        return (
            f"You have no result card yet, so this is {self.machine}. "
            "“Your” means that machine here."
        )

    def __str__(self) -> str:
        rows = [("no.", "is it true?", f"on {self.machine}", "settled in")]
        for entry in self:
            claim = entry.claim
            rows.append((f"{claim.number}.", claim.verdict, entry.here, f"lesson {claim.lesson}"))
        lines = [*_aligned(rows), ""]
        if self.note:
            lines = [self.note, "", *lines]
        lines += [str(entry) for entry in self]
        return "\n".join(lines)

    def to_dict(self) -> dict:
        """Return the table as plain values, for JSON."""
        rows = []
        for entry in self:
            claim = entry.claim
            row = {
                "number": claim.number,
                "claim": claim.claim,
                "experiment": claim.experiment,
                "source": claim.source,
                "lesson": claim.lesson,
                "course_verdict": claim.verdict,
                "verdict": entry.verdict,
            }
            rows.append(row)
        return {"claims": rows}


def fill(card: Card | None) -> Ledger:
    """Put beside every claim what a result card shows about it.

    Parameters
    ----------
    card : Card or None
        None where nothing was measured yet.

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
    """Return the entry of a claim: the outcome of its rule on the card's values.

    Where the measurements are too short, or the rule cannot compute with them, the outcome is
    UNCLEAR (or PUBLISHED, for a claim that only published figures can settle).
    """
    values = _values(claim, card)
    if not values:
        return _without_measurement(claim, card)
    unclear_outcome = PUBLISHED if claim.published else UNCLEAR
    rule = RULES[claim.number]
    try:
        finding = rule(card, *values)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        # Cards come from elsewhere: a chip of no table, a field that is missing, a zero.
        sentence = "A chip of which we have no figures, or numbers without sense."
        return Entry(claim, unclear_outcome, sentence)
    if finding.outcome == UNCLEAR or _any_too_short(values):
        return Entry(claim, unclear_outcome, claim.if_unclear, finding.measured)
    return Entry(claim, finding.outcome, claim.say[finding.outcome], finding.measured)


def _without_measurement(claim: Claim, card: Card | None) -> Entry:
    """Return the entry of a claim on which the card says nothing, with the reason for that."""
    if card is not None and _lacks_hardware(claim, card):
        outcome = PUBLISHED if claim.published else UNCLEAR
        sentence = f"This takes {claim.needs}, and none is here."
        return Entry(claim, outcome, sentence, lacks_hardware=True)
    if claim.published:
        return Entry(claim, PUBLISHED, claim.if_unclear)
    return Entry(claim, NOT_MEASURED, f"Run lesson {claim.lesson}: it measures this.")


def _lacks_hardware(claim: Claim, card: Card) -> bool:
    """Return whether a claim needs a kind of chip that the card's machine does not have."""
    if not claim.needs:
        return False
    accelerator = card.machine.get("accelerator")
    if not accelerator:
        return True
    # A card may have anything in this place, so it is compared as a text: "GPU" in "a GPU or a
    # TPU".
    kind = str(accelerator.get("kind"))
    return kind not in claim.needs


def _values(claim: Claim, card: Card | None) -> list:
    """Return what the card has under each of the claim's names, in their order.

    A name may have a place for the device, "03/step/{device}/cnn": it is filled with "gpu", or
    else with "tpu". [] where one of the names is missing for both, or there is no card.
    """
    if card is None:
        return []
    everything = {**card.measurements, **card.numbers}
    # All of one device: times of a GPU and of a TPU do not compare.
    for device in ("gpu", "tpu"):
        names = [name.format(device=device) for name in claim.names]
        if all(name in everything for name in names):
            return [everything[name] for name in names]
    return []


def _any_too_short(values: Sequence) -> bool:
    """Return whether any of the values is a measurement with too few samples for an interval."""
    for value in values:
        if isinstance(value, Measurement) and len(value.samples) < FEW_SAMPLES:
            return True
    return False


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table: each column is as wide as its widest cell.

    [("no.", "a"), ("1.", "bb")] -> ["no.  a", "1.   bb"]. Rows have the same number of cells.
    """
    columns = zip(*rows, strict=True)
    widths = [len(max(column, key=len)) for column in columns]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        line = "  ".join(cells)
        lines.append(line.rstrip())
    return lines
