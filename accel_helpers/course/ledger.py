"""The ledger, ``data/claims.toml``: common claims, and what your own measurements show."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace

from accel_helpers._values import records
from accel_helpers.course import record
from accel_helpers.course.questions import DATA
from accel_helpers.course.quiz_widget import Shown
from accel_helpers.course.record import Entry
from accel_helpers.measure.measurement import FEW_SAMPLES

# A verdict is "supported", "contradicted", "needs a GPU", or one of these.
UNCLEAR = "cannot be told"
NOT_MEASURED = "not measured yet"
PUBLISHED = "by published figures"


# What a claim of the file may leave out. It has a `number`, what is commonly said (`claim`), a
# `verdict` on that, such as "true, with limits", `why` in two or three sentences, addresses
# (`source`), its home (`lesson`), when all this was checked (`as_of`), and what is measured there
# (`experiment`).
DEFAULTS = {
    "place": "",  # of the entry that is judged; without one, published figures alone settle it
    "needs": "",  # "gpu" or "tpu": the chip without which there is no answer
    "words": (),  # of the entry's machine, such as "jax": else nothing is told
    "value": "",  # the number of the entry that is judged
    "over": "",  # the number by which it is divided
    "measured": "",  # a sentence with numbers of the entry, and `low` and `high`: the value's ends
    # "supported" and "contradicted", each with what to `say`, and when: the entry's outcome is one
    # of `outcomes`, the whole interval of the value from `least` to `most`
    "limits": {},
    # Where neither of the two holds; of a claim without a place always.
    "otherwise": "Too rough, or in between. Run its lesson again with nothing else running.",
}


@functools.cache
def claims() -> tuple[SimpleNamespace, ...]:
    """Return the claims that come with the course."""
    tables = records.load(DATA / "claims.toml")
    rows = [{**DEFAULTS, **row} for row in tables["claim"]]
    return tuple(SimpleNamespace(**row) for row in rows)


@dataclass(frozen=True)
class Finding:
    """A claim beside what the learner's own record shows about it."""

    claim: SimpleNamespace
    verdict: str
    sentence: str  # what that means
    measured: str = ""  # the numbers in a sentence, if there are any


class Ledger(Shown, tuple):
    """A tuple of findings, in the order of the file, that a notebook shows as a table."""

    macro = "ledger"

    def __str__(self) -> str:
        return "\n".join(f"{it.claim.claim} {it.verdict}: {it.sentence}" for it in self)


def fill(entries: list[Entry]) -> Ledger:
    """Put beside every claim what the entries of a record, oldest first, show about it.

    >>> print(fill([])[4].verdict)
    not measured yet
    """
    return Ledger(_finding(claim, entries) for claim in claims())


def my_claims() -> Ledger:
    """Fill the ledger from your record.

    Examples
    --------
    >>> len(my_claims())
    19
    """
    return fill(record.everything())


def _finding(claim: SimpleNamespace, entries: list[Entry]) -> Finding:
    """Return what the newest entry of the claim's place, of a machine that it needs, shows."""
    if not claim.place:
        return Finding(claim, PUBLISHED, claim.otherwise)
    usable = [entry for entry in entries if claim.needs in ("", entry.machine.get("kind"))]
    for entry in reversed(usable):
        if entry.place == claim.place:
            return _judged(claim, entry)
    # The newest of all tells which machine is here.
    if usable[-1:] != entries[-1:]:
        return Finding(claim, f"needs a {claim.needs.upper()}", "None is here.")
    return Finding(claim, NOT_MEASURED, f"Run lesson {claim.lesson}: it measures this.")


def _judged(claim: SimpleNamespace, entry: Entry) -> Finding:
    """Return what an entry of the claim's place shows."""
    # A claim that is judged by the outcome alone names no number.
    numbers = {"": 1.0, **entry.numbers}
    try:
        low = _end(numbers, claim.value, "low") / _end(numbers, claim.over, "high")
        high = _end(numbers, claim.value, "high") / _end(numbers, claim.over, "low")
        measured = claim.measured.format(low=low, high=high, **entry.numbers)
    except (KeyError, ZeroDivisionError):
        # A record of an older course, with other numbers.
        return Finding(claim, UNCLEAR, claim.otherwise)
    is_there = {*claim.words} <= {*entry.machine.values()}
    counts = [count for name, count in numbers.items() if name.endswith("samples")]
    if is_there and all(count >= FEW_SAMPLES for count in counts):
        for verdict, limit in claim.limits.items():
            fits = entry.outcome in limit.get("outcomes", [entry.outcome])
            if fits and limit.get("least", low) <= low and high <= limit.get("most", high):
                return Finding(claim, verdict, limit["say"], measured)
    return Finding(claim, UNCLEAR, claim.otherwise, measured)


def _end(numbers: Mapping[str, float], name: str, end: str) -> float:
    """Return the "low" or "high" end of a number's interval, or the number where it has none."""
    key = f"{name} {end}"
    if key in numbers:
        return numbers[key]
    return numbers[name]
