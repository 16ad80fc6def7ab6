"""The ledger: what is commonly said about GPUs and TPUs, and what your own measurements say.

The claims are data, kept in ``data/claims.toml``: what is said, a verdict with its reason and its
sources, and the names on the result card that bear on it, with the rule that reads them.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from accel_helpers._records import DataError
from accel_helpers._words import format_count, marked, percent
from accel_helpers.learn import ledger_file
from accel_helpers.learn.ledger_file import Claim, Evidence
from accel_helpers.measure import timing, verdicts
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.results import Card

TICKS = 10e9  # per second: a clock faster than this is on no CPU that we know of
SEEDS = 3  # trainings with fewer beginnings say nothing about accuracy
MOST = 100_000  # replicas; a card that names more is not believed

__all__ = ["Claim", "Entry", "Evidence", "Ledger", "DataError", "entries", "fill"]


@dataclass(frozen=True)
class Entry:
    """A claim beside what the learner's own card says about it.

    Attributes
    ----------
    claim : Claim
    verdict : str
        A few words, such as "faster here" or "not measured yet: lesson 03".
    sentence : str
        What they mean.
    measured : str
        The measurement with its interval; empty where there is none.
    """

    claim: Claim
    verdict: str
    sentence: str
    measured: str = ""

    def to_dict(self) -> dict:
        """The entry as plain JSON types."""
        plain = asdict(self)
        plain["claim"]["source"] = list(self.claim.source)
        if self.claim.evidence:
            plain["claim"]["evidence"] |= {
                "names": list(self.claim.evidence.names),
                "labels": list(self.claim.evidence.labels),
            }
        return plain

    def __str__(self) -> str:
        lines = [f"{self.claim.number}. {self.claim.claim}"]
        lines.append(f"   {self.claim.verdict}: {self.claim.why}")
        lines.append(f"   Your machine: {self.verdict}.")
        lines += [f"   {text}" for text in (self.measured, self.sentence) if text]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return Ledger([self])._repr_html_()


class Ledger(tuple):
    """Entries, in the order of the file: a tuple that a notebook shows as a table."""

    def to_dict(self) -> dict:
        """The entries as plain JSON types."""
        return {"entries": [entry.to_dict() for entry in self]}

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        # No colour is named except a grey line: the page's own colours serve light and dark.
        cell = "padding:.4em .7em;text-align:left;vertical-align:top;border-top:1px solid #8888"
        heads = "".join(
            f'<th scope="col" style="{cell}">{text}</th>'
            for text in ("No.", "What is said", "What is true", "On your machine")
        )
        rows = "".join(
            f'<tr><td style="{cell}">{entry.claim.number}</td>'
            f'<th scope="row" style="{cell};font-weight:normal">{_cell("", entry.claim.claim)}</th>'
            f'<td style="{cell}">{_cell(entry.claim.verdict, entry.claim.why)}</td>'
            f'<td style="{cell}">{_cell(entry.verdict, entry.measured, entry.sentence)}</td></tr>'
            for entry in self
        )
        return (
            '<div style="overflow-x:auto"><table style="border-collapse:collapse">'
            f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
        )


def entries() -> tuple[Claim, ...]:
    """All claims, by number.

    Returns
    -------
    tuple of Claim

    Raises
    ------
    DataError
        If the file is not in order; the message names the claim and the field.

    Examples
    --------
    >>> len(entries()), entries()[4].verdict
    (19, 'misleading')
    """
    return ledger_file.read()[0]


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
    claims, say = ledger_file.read()
    return Ledger(_entry(claim, card, say) for claim in claims)


# ---------------------------------------------------------------------------------------------
# A claim and a card


def _entry(claim: Claim, card: Card | None, say: Mapping[str, str]) -> Entry:
    evidence = claim.evidence
    if evidence is None and not claim.exists:
        verdict = f"not measured yet: lesson {claim.lesson} is in preparation"
        return Entry(claim, verdict, say["in preparation"].format(lesson=claim.lesson))
    if evidence is None:
        word = "no measurement settles it"
        return Entry(claim, word, say[word].format(instead=claim.instead))
    known = () if card is None else (*card.measurements, *card.numbers)
    if not all(name in known for name in evidence.names):
        if evidence.missing and any(name.startswith(evidence.ran) for name in known):
            return Entry(claim, evidence.missing, evidence.say[evidence.missing])
        sentence = say["not measured yet"].format(lesson=evidence.lesson)
        return Entry(claim, f"not measured yet: lesson {evidence.lesson}", sentence)
    try:
        verdict, measured = RULES[evidence.rule](evidence, card)
    except (ArithmeticError, LookupError, ValueError):  # numbers that no machine gives
        return Entry(claim, "cannot tell", say["cannot tell"].format(lesson=evidence.lesson))
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
    return "too rough to tell" if verdict == "cannot tell" else verdict, str(found)


def _share(evidence: Evidence, card: Card) -> tuple[str, str]:
    plain, grouped, products = (card.measurements[name] for name in evidence.names)
    found = timing.compare(plain, products, names=("a step", "its products alone"))
    low, high = _finite(*(1 / end for end in reversed(found.interval)))
    verdict = verdicts.step_parts(plain, grouped, products).verdict
    if verdict == "cannot tell":
        return "too rough to tell", str(found)
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
    if verdict == "cannot tell":
        raise ValueError("losses of different trainings")
    epochs = len(losses[evidence.names[0]])
    apart = "at most" if verdict == "the same" else "more than"
    return f"{verdict} here", f"In {epochs} epochs: {apart} 1 part in 10,000 apart"


def _accuracy(evidence: Evidence, card: Card) -> tuple[str, str]:
    found = _compared(replace(evidence, in_turns=True), card)
    small, large = (card.numbers[name] for name in evidence.names[2:])
    if not all(0 <= share <= 1 for share in (*small, *large)):
        raise ValueError("shares that are none")
    text = (
        f"{str(found).rstrip('.')}. Pictures told right: {_shares(large)}, against {_shares(small)}"
    )
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


RULES = {
    "ratio": _ratio,
    "longer": _longer,
    "share": _share,
    "rate": _rate,
    "same": _same,
    "accuracy": _accuracy,
    "count": _count,
}


def _cell(strong: str, *texts: str) -> str:
    parts = [f"<strong>{html.escape(strong)}</strong>"] if strong else []
    return "<br>".join([*parts, *(marked(text) for text in texts if text)])
