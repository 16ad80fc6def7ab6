"""The ledger: what is commonly said about GPUs and TPUs, and what your own measurements say.

The claims are data in ``data/claims.toml``, whose first lines explain the fields: what is said, a
verdict with its reason and its sources, and the names on the result card that bear on it, with
the rule that reads them.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from importlib import resources
from typing import Literal

from accel_helpers import _records
from accel_helpers._words import format_count, percent
from accel_helpers.learn.quiz_widget import Shown
from accel_helpers.measure import timing, verdicts
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.results import Card

FILE = "claims.toml"
TICKS = 10e9  # per second: a clock faster than this is on no CPU that we know of
SEEDS = 3  # trainings with fewer beginnings say nothing about accuracy
MOST = 100_000  # replicas; a card that names more is not believed
YET, SOON = "not measured yet", "in preparation"
UNCLEAR, NEVER, ROUGH = "cannot tell", "no measurement settles it", "too rough to tell"
__all__ = ["fill"]


@dataclass(frozen=True)
class Evidence:
    """Which names on a result card bear on a claim, and how they are read."""

    lesson: str
    rule: str
    names: tuple[str, ...]
    say: dict[str, str]
    labels: tuple[str, ...] = ()
    in_turns: bool = False
    times: float = 1.0
    ran: str = ""
    missing: str = ""

    def __post_init__(self):
        _records.filled(self, "lesson", "names", "say")
        if self.rule not in RULES:
            raise ValueError(f"'rule' must be one of {', '.join(RULES)}; got {self.rule!r:.60}.")
        _, names, labels, outcomes = RULES[self.rule]
        if (len(self.names), len(self.labels)) != (names, labels):
            raise ValueError(f"the rule {self.rule} needs {names} 'names' and {labels} 'labels'.")
        if bool(self.ran) != bool(self.missing):
            raise ValueError("'ran' and 'missing' must be there together.")
        outcomes = {*outcomes, self.missing} - {""}
        if set(self.say) != outcomes or not all(text.strip() for text in self.say.values()):
            raise ValueError(f"'say' must have a text for each of {', '.join(sorted(outcomes))}.")
        if self.times <= 0:
            raise ValueError(f"'times' must be above zero; got {self.times}.")


@dataclass(frozen=True)
class Claim:
    """One claim: what is said, and what the course makes of it, with its sources."""

    number: int
    claim: str
    verdict: Literal["true", "true, with limits", "misleading", "too vague", "outdated", "wrong"]
    why: str
    source: tuple[str, ...]
    lesson: str  # where it is measured, or will be
    evidence: Evidence | None = None  # what a result card may say about it
    instead: str = ""  # why no measurement settles it, where that is so

    def __post_init__(self):
        _records.filled(self, "claim", "why", "source", "lesson")
        if bad := [each for each in self.source if not each.startswith("https://") or " " in each]:
            raise ValueError(f"'source' must be addresses with https://; got {bad[0]!r:.60}.")


@dataclass(frozen=True)
class File:
    """The file of the claims."""

    claim: tuple[Claim, ...]
    in_preparation: tuple[str, ...]  # lessons
    say: dict[str, str]  # what every claim may get

    def __post_init__(self):
        _records.filled(self, "claim")
        if [claim.number for claim in self.claim] != list(range(1, len(self.claim) + 1)):
            raise ValueError("the 'number' of the claims must count 1, 2, 3 and so on.")
        if set(self.say) != {YET, SOON, UNCLEAR, NEVER}:
            raise ValueError(f"'say' must be about {YET}, {SOON}, {UNCLEAR}, {NEVER}.")
        for claim in self.claim:
            if not (claim.evidence or claim.instead or claim.lesson in self.in_preparation):
                raise ValueError(f"claim {claim.number} needs 'evidence' or 'instead'.")


@functools.cache
def file() -> File:
    """The claims that come with the course."""
    path = resources.files("accel_helpers") / "data" / FILE
    return _records.read(File, _records.load(path, "file of claims"), FILE)


@dataclass(frozen=True)
class Entry:
    """A claim beside what the learner's own card says about it."""

    claim: Claim
    verdict: str  # a few words, such as "faster here" or "not measured yet: lesson 03"
    sentence: str  # what they mean
    measured: str = ""  # the measurement with its interval, if there is one

    def __str__(self) -> str:
        lines = [f"{self.claim.number}. {self.claim.claim}"]
        lines.append(f"   {self.claim.verdict}: {self.claim.why}")
        lines.append(f"   Your machine: {self.verdict}.")
        lines += [f"   {text}" for text in (self.measured, self.sentence) if text]
        return "\n".join(lines)

    def _repr_html_(self) -> str | None:
        return Ledger([self])._repr_html_()


class Ledger(Shown, tuple):
    """Entries, in the order of the file: a tuple that a notebook shows as a table."""

    macro = "ledger"

    def __str__(self) -> str:
        return "\n".join(map(str, self))


def entries() -> tuple[Claim, ...]:
    """All claims, by number."""
    return file().claim


def fill(card: Card | None) -> Ledger:
    """Put beside every claim what a result card says about it.

    Parameters
    ----------
    card : Card or None
        As `results.load` gives it; None where nothing was measured.

    Returns
    -------
    tuple of Entry
        A `Ledger`, which a notebook shows as a table.

    Raises
    ------
    TypeError
        If it is no card.

    Examples
    --------
    >>> print(fill(None)[4].verdict)
    not measured yet: lesson 03
    """
    if card is not None and not isinstance(card, Card):
        raise TypeError(
            f"fill needs a result card or None; got {type(card).__name__}. Load the card first: "
            "ah.results.load(ah.results.card_path())."
        )
    return Ledger(_entry(claim, card) for claim in entries())


# ---------------------------------------------------------------------------------------------
# A claim and a card


def _entry(claim: Claim, card: Card | None) -> Entry:
    evidence, say = claim.evidence, file().say
    if evidence is None and claim.lesson in file().in_preparation:
        verdict = f"{YET}: lesson {claim.lesson} is {SOON}"
        return Entry(claim, verdict, say[SOON].format(lesson=claim.lesson))
    if evidence is None:
        return Entry(claim, NEVER, say[NEVER].format(instead=claim.instead))
    known = () if card is None else (*card.measurements, *card.numbers)
    if not all(name in known for name in evidence.names):
        if evidence.missing and any(name.startswith(evidence.ran) for name in known):
            return Entry(claim, evidence.missing, evidence.say[evidence.missing])
        sentence = say[YET].format(lesson=evidence.lesson)
        return Entry(claim, f"{YET}: lesson {evidence.lesson}", sentence)
    try:
        verdict, measured = RULES[evidence.rule][0](evidence, card)
    except (ArithmeticError, LookupError, ValueError):  # numbers that no machine gives
        return Entry(claim, UNCLEAR, say[UNCLEAR].format(lesson=evidence.lesson))
    measured = measured[0].upper() + measured[1:].rstrip(".") + "."
    return Entry(claim, verdict, evidence.say[verdict], measured)


def _compared(evidence: Evidence, card: Card) -> Speedup:
    slow, fast = (card.measurements[name] for name in evidence.names[:2])
    if evidence.times != 1:
        slow = Measurement.from_samples([evidence.times * s for s in slow.samples])
    turns = evidence.in_turns and len(slow.samples) == len(fast.samples)
    found = timing.compare(slow, fast, names=evidence.labels, in_turns=turns)
    _finite(*found.interval, found.ratio or 1.0)
    return found


def _ratio(evidence: Evidence, card: Card) -> tuple[str, str]:
    found = _compared(evidence, card)
    return f"{found.verdict} here" if found.conclusive else found.verdict, str(found)


def _longer(evidence: Evidence, card: Card) -> tuple[str, str]:
    found = _compared(replace(evidence, in_turns=True), card)
    verdict = verdicts.how_much_longer(found)
    return ROUGH if verdict == UNCLEAR else verdict, str(found)


def _share(evidence: Evidence, card: Card) -> tuple[str, str]:
    plain, grouped, products = (card.measurements[name] for name in evidence.names)
    found = timing.compare(plain, products, names=("a step", "its products alone"))
    low, high = _finite(*(1 / end for end in reversed(found.interval)))
    verdict = verdicts.step_parts(plain, grouped, products).verdict
    if verdict == UNCLEAR:
        return ROUGH, str(found)
    share = percent(products.median / plain.median)
    return verdict, f"Products: {share} of a step (interval {percent(low)} to {percent(high)})"


def _rate(evidence: Evidence, card: Card) -> tuple[str, str]:
    measured, size = card.measurements[evidence.names[0]], card.numbers[evidence.names[1]][0]
    cores = card.machine.get("cores")
    if type(cores) is not int or not 0 < cores < 10_000:
        raise ValueError("a card that does not say how many cores there are")
    ends = (*measured.interval, measured.median)
    high, low, rate = _finite(*(2 * size**3 / seconds for seconds in ends))
    text = f"{format_count(rate)} operations per second (interval {format_count(low)} to "
    text += f"{format_count(high)}); one by one: at most {format_count(TICKS * cores)}"
    return "many at once here" if low > TICKS * cores else "not shown here", text


def _same(evidence: Evidence, card: Card) -> tuple[str, str]:
    losses = {name: card.numbers[name] for name in evidence.names}
    verdict = verdicts.same_loss(losses)
    if verdict == UNCLEAR:
        raise ValueError("losses of different trainings")
    epochs = len(losses[evidence.names[0]])
    apart = "at most" if verdict == "the same" else "more than"
    return f"{verdict} here", f"In {epochs} epochs: {apart} 1 part in 10,000 apart"


def _accuracy(evidence: Evidence, card: Card) -> tuple[str, str]:
    found = _compared(replace(evidence, in_turns=True), card)
    small, large = (card.numbers[name] for name in evidence.names[2:])
    if not all(0 <= share <= 1 for share in (*small, *large)):
        raise ValueError("shares that are none")
    text = f"{str(found).rstrip('.')}. Pictures told right: "
    text += f"{_shares(large)}, against {_shares(small)}"
    lower, higher = max(large) < min(small), min(large) > max(small)
    if min(len(small), len(large)) < SEEDS or not (lower or higher):
        return "no sure difference in accuracy", text
    return f"{'lower' if lower else 'higher'} accuracy here", text


def _shares(right: tuple[float, ...]) -> str:
    if len(right) == 1:
        return f"{100 * right[0]:.1f} % in 1 training"
    return f"{100 * min(right):.1f} to {100 * max(right):.1f} % in {len(right)} trainings"


def _count(evidence: Evidence, card: Card) -> tuple[str, str]:
    count = card.numbers[evidence.names[0]][0]
    if not 1 <= count <= MOST or count != int(count):
        raise ValueError("no count of replicas")
    return "one here" if count == 1 else "several here", f"{evidence.labels[0]}: {count:.0f}"


def _finite(*values: float) -> tuple[float, ...]:
    if not all(math.isfinite(value) and value > 0 for value in values):
        raise ValueError("numbers that no machine gives")
    return values


# Each rule: what reads a card, how many names and labels it takes, what may come out.
ACCURACIES = ("lower accuracy here", "higher accuracy here", "no sure difference in accuracy")
RULES = {
    "ratio": (_ratio, 2, 2, ("faster here", "slower here", "no measurable difference")),
    "longer": (_longer, 2, 2, ("twice or more", "a little longer", "about as long", "less", ROUGH)),
    "share": (_share, 3, 0, ("mostly other work", "mixed", "mostly arithmetic", ROUGH)),
    "rate": (_rate, 2, 0, ("many at once here", "not shown here")),
    "same": (_same, 2, 0, ("the same here", "not the same here")),
    "accuracy": (_accuracy, 4, 2, ACCURACIES),
    "count": (_count, 1, 1, ("one here", "several here")),
}
