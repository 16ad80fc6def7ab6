"""The file of the claims, ``data/claims.toml``, read and checked field by field.

`ledger` puts a learner's results beside what is read here.
"""

from __future__ import annotations

import functools
import importlib.resources
import math
from collections.abc import Mapping
from dataclasses import dataclass

from accel_helpers import _records as fields
from accel_helpers._records import DataError, Fields

FILE = "claims.toml"
VERDICTS = ("true", "true, with limits", "misleading", "too vague", "outdated", "wrong")
EVERY = ("not measured yet", "in preparation", "cannot tell", "no measurement settles it")
# Each rule: how many names it reads, how many labels it has, what may come out.
RULES = {
    "ratio": (2, 2, ("faster here", "slower here", "no measurable difference")),
    "longer": (
        2,
        2,
        ("twice or more", "a little longer", "about as long", "less", "too rough to tell"),
    ),
    "share": (3, 0, ("mostly other work", "mixed", "mostly arithmetic", "too rough to tell")),
    "rate": (2, 0, ("many at once here", "not shown here")),
    "same": (2, 0, ("the same here", "not the same here")),
    "accuracy": (
        4,
        2,
        ("lower accuracy here", "higher accuracy here", "no sure difference in accuracy"),
    ),
    "count": (1, 1, ("one here", "several here")),
}


@dataclass(frozen=True)
class Evidence:
    """Which names on a result card bear on a claim, and how they are read.

    The fields are those of ``[claim.evidence]`` in the file, where a comment explains them.
    """

    lesson: str
    rule: str
    names: tuple[str, ...]
    say: Mapping[str, str]
    labels: tuple[str, ...] = ()
    in_turns: bool = False
    times: float = 1.0
    ran: str = ""
    missing: str = ""


@dataclass(frozen=True)
class Claim:
    """One claim: what is said, and what the course makes of it, with its sources.

    Attributes
    ----------
    number : int
    claim, verdict, why : str
        What is commonly said; one of `VERDICTS`; the reason.
    source : tuple of str
        Addresses.
    lesson : str
        Where it is measured, or will be.
    exists : bool
        Whether that lesson is there already.
    evidence : Evidence or None
        What a result card may say about it.
    instead : str
        Why no measurement settles it, where that is so.
    """

    number: int
    claim: str
    verdict: str
    why: str
    source: tuple[str, ...]
    lesson: str
    exists: bool = True
    evidence: Evidence | None = None
    instead: str = ""


@functools.cache
def read() -> tuple[tuple[Claim, ...], dict[str, str]]:
    """The claims that come with the course, and the sentences that every claim may get."""
    file = importlib.resources.files("accel_helpers") / "data" / FILE
    return parse(file.read_text(encoding="utf-8"))


def parse(toml: str) -> tuple[tuple[Claim, ...], dict[str, str]]:
    """Read claims from the text of a TOML file, and check them.

    Parameters
    ----------
    toml : str
        As in ``data/claims.toml``, whose first lines explain the fields.

    Returns
    -------
    tuple
        The claims by number, and the sentences that every claim may get.

    Raises
    ------
    DataError

    Examples
    --------
    >>> parse("claim = 5")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    accel_helpers._records.DataError: claims.toml: 'in_preparation' must be a list of ...
    """
    values = fields.parsed(toml, FILE)
    file = Fields(values, FILE, {"in_preparation", "say", "claim"})
    coming = file.texts("in_preparation")
    say = file.sentences("say", EVERY)
    tables = values.get("claim")
    if not isinstance(tables, list) or not tables:
        raise DataError(f"{FILE}: 'claim' must be a list of tables [[claim]]; got {tables!r:.60}.")
    claims = [_claim(table, place, coming) for place, table in enumerate(tables, start=1)]
    numbers = [claim.number for claim in claims]
    if numbers != list(range(1, len(claims) + 1)):
        raise DataError(f"{FILE}: 'number' must count 1, 2, 3 and so on; got {numbers}.")
    return tuple(claims), say


def _claim(table, place: int, coming: tuple[str, ...]) -> Claim:
    names = {"number", "claim", "verdict", "why", "source", "lesson", "evidence", "instead"}
    number = table.get("number") if isinstance(table, dict) else None
    read = Fields(table, f"{FILE}, claim {number if type(number) is int else place}", names)
    if type(number) is not int:
        read.refuse("number", "a whole number", number)
    claim = Claim(
        number,
        *(read.text(name) for name in ("claim", "verdict", "why")),
        read.texts("source"),
        read.text("lesson"),
        exists=table["lesson"] not in coming,
        evidence=_evidence(table["evidence"], read.where) if "evidence" in table else None,
        instead=read.text("instead") if "instead" in table else "",
    )
    if claim.verdict not in VERDICTS:
        read.refuse("verdict", f"one of {', '.join(VERDICTS)}", claim.verdict)
    if bad := [each for each in claim.source if not each.startswith("https://") or " " in each]:
        read.refuse("source", "a list of addresses that begin with https://", bad[0])
    if claim.exists and not claim.evidence and not claim.instead:
        read.refuse("instead", "there, where a claim has no evidence and its lesson exists", None)
    return claim


def _evidence(table, where: str) -> Evidence:
    read = Fields(table, f"{where}, evidence", set(Evidence.__dataclass_fields__))
    rule = read.text("rule")
    if rule not in RULES:
        read.refuse("rule", f"one of {', '.join(RULES)}", rule)
    names, labels, outcomes = RULES[rule]
    missing = read.text("missing") if "missing" in table else ""
    times = table.get("times", 1.0)
    if isinstance(times, bool) or not isinstance(times, (int, float)) or not 0 < times < math.inf:
        read.refuse("times", "a number above zero", times)
    return Evidence(
        read.text("lesson"),
        rule,
        read.texts("names", names),
        read.sentences("say", (*outcomes, missing) if missing else outcomes),
        read.texts("labels", labels) if labels else (),
        read.flag("in_turns", False),
        float(times),
        read.text("ran") if missing else "",
        missing,
    )
