"""The ledger, ``data/claims.toml``: what is commonly said, and what your own measurements say."""

import datetime
import functools
from dataclasses import dataclass, field
from typing import Literal

from accel_helpers._words import format_count, percent
from accel_helpers.learn.questions import DATA, stored
from accel_helpers.learn.quiz_widget import Shown
from accel_helpers.measure import timing, verdicts
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.results import Card

TICKS = 10e9  # per second: a clock faster than this is on no CPU that we know of
SEEDS = 3  # trainings with fewer beginnings say nothing about accuracy
YET, SOON = "not measured yet", "in preparation"
UNCLEAR, NEVER, ROUGH = "cannot tell", "no measurement settles it", "too rough to tell"
__all__ = ["fill"]


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
    instead: str = ""
    rule: str = ""
    names: tuple[str, ...] = ()
    say: dict[str, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    in_turns: bool = False
    times: float = 1.0
    ran: str = ""
    missing: str = ""


@functools.cache
def claims() -> tuple[Claim, ...]:
    """The claims that come with the course."""
    return stored(DATA / "claims.toml", "claim", Claim)


@dataclass(frozen=True)
class Entry:
    """A claim beside what the learner's own card says about it."""

    claim: Claim
    verdict: str  # a few words, such as "faster here" or "not measured yet: lesson 03"
    sentence: str  # what they mean
    measured: str = ""  # the measurement with its interval, if there is one

    def __str__(self) -> str:
        lines = [
            f"{self.claim.number}. {self.claim.claim}",
            f"   {self.claim.verdict} (checked {self.claim.as_of}): {self.claim.why}",
            f"   Your machine: {self.verdict}.",
        ]
        return "\n".join(lines + [f"   {text}" for text in (self.measured, self.sentence) if text])


class Ledger(Shown, tuple):
    """Entries, in the order of the file: a tuple that a notebook shows as a table."""

    macro = "ledger"

    def __str__(self) -> str:
        return "\n".join(map(str, self))


def fill(card: Card | None) -> Ledger:
    """Put beside every claim what a result card, if there is one, says about it.

    Examples
    --------
    >>> print(fill(None)[4].verdict)
    not measured yet: lesson 03
    """
    return Ledger(_entry(claim, card) for claim in claims())


def _entry(claim: Claim, card: Card | None) -> Entry:
    lesson = f"lesson {claim.lesson}"
    if claim.instead:
        return Entry(claim, NEVER, claim.instead)
    if not claim.rule:
        return Entry(claim, f"{YET}: {lesson} is {SOON}", f"Lesson {claim.lesson} will measure it.")
    known = () if card is None else (*card.measurements, *card.numbers)
    if not all(name in known for name in claim.names):
        if claim.missing and any(name.startswith(claim.ran) for name in known):
            return Entry(claim, claim.missing, claim.say[claim.missing])
        return Entry(claim, f"{YET}: {lesson}", f"Run {lesson}: it measures this.")
    try:
        verdict, measured = RULES[claim.rule](claim, card)
        verdict = ROUGH if verdict == UNCLEAR else verdict
        sentence = claim.say[verdict]
    except (ArithmeticError, LookupError, TypeError, ValueError):  # no such card was recorded
        return Entry(claim, UNCLEAR, f"Your card's numbers make no sense. Run {lesson} again.")
    return Entry(claim, verdict, sentence, f"{measured[0].upper()}{measured[1:].rstrip('.')}.")


def _compared(claim: Claim, card: Card) -> Speedup:
    slow, fast = (card.measurements[name] for name in claim.names[:2])
    if claim.times != 1:
        slow = Measurement.from_samples([claim.times * s for s in slow.samples])
    turns = claim.in_turns and len(slow.samples) == len(fast.samples)
    return timing.compare(slow, fast, names=claim.labels, in_turns=turns)


def _ratio(claim: Claim, card: Card) -> tuple[str, str]:
    found = _compared(claim, card)
    return f"{found.verdict} here" if found.conclusive else found.verdict, str(found)


def _longer(claim: Claim, card: Card) -> tuple[str, str]:
    found = _compared(claim, card)
    return verdicts.how_much_longer(found), str(found)


def _share(claim: Claim, card: Card) -> tuple[str, str]:
    plain, products = (card.measurements[name] for name in claim.names)
    found = timing.compare(plain, products)
    low, high = (1 / end for end in reversed(found.interval))
    text = f"Products: {percent(products.median / plain.median)} of a step "
    text += f"({found.sure} interval {percent(low)} to {percent(high)})"
    return verdicts.step_parts(plain, products).verdict, text


def _rate(claim: Claim, card: Card) -> tuple[str, str]:
    measured, size = card.measurements[claim.names[0]], card.numbers[claim.names[1]][0]
    most = TICKS * card.machine["cores"]
    high, low, rate = (2 * size**3 / s for s in (*measured.interval, measured.median))
    text = "{} operations per second (interval {} to {}); one by one: at most {}"
    verdict = "many at once here" if low > most else "not shown here"
    return verdict, text.format(*map(format_count, (rate, low, high, most)))


def _accuracy(claim: Claim, card: Card) -> tuple[str, str]:
    times = str(_compared(claim, card)).rstrip(".")
    small, large = (card.numbers[name] for name in claim.names[2:])
    text = f"{times}. Pictures told right: {_shares(large)}, against {_shares(small)}"
    lower, higher = max(large) < min(small), min(large) > max(small)
    if min(len(small), len(large)) < SEEDS or not (lower or higher):
        return "no sure difference in accuracy", text
    return f"{'lower' if lower else 'higher'} accuracy here", text


def _shares(right: tuple[float, ...]) -> str:
    if len(right) == 1:
        return f"{100 * right[0]:.1f} % in 1 training"
    return f"{100 * min(right):.1f} to {100 * max(right):.1f} % in {len(right)} trainings"


def _count(claim: Claim, card: Card) -> tuple[str, str]:
    count = card.numbers[claim.names[0]][0]
    return "one here" if count == 1 else "several here", f"{claim.labels[0]}: {count:.0f}"


def _energy(claim: Claim, card: Card) -> tuple[str, str]:
    joules, seconds = card.numbers[claim.names[0]]
    return "measured here", f"{joules:.3g} J in {seconds:.3g} s, so {joules / seconds:.3g} W"


_READERS = (_ratio, _longer, _share, _rate, _accuracy, _count, _energy)
RULES = {reader.__name__.strip("_"): reader for reader in _READERS}
