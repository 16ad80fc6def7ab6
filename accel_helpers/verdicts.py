"""Verdicts: what measurements say, as one of a few words for which a lesson holds a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from accel_helpers import timing
from accel_helpers.measurement import Measurement, Speedup


@dataclass(frozen=True)
class Crossover:
    """From which size on something pays.

    Attributes
    ----------
    verdict : str
        "everywhere", "from some size on" or "nowhere".
    smallest, largest : tuple of int or None
        (width, batch size) of the least arithmetic at which it pays, and of the largest ratio.
    ratio : float or None
        The largest ratio.
    """

    verdict: str
    smallest: tuple[int, int] | None = None
    largest: tuple[int, int] | None = None
    ratio: float | None = None


def where_it_pays(ratios: Mapping[tuple[int, int], Speedup], *, at_least: float = 1.0) -> Crossover:
    """Find the smallest size at which a ratio is above a threshold with its whole interval.

    Parameters
    ----------
    ratios : mapping of (width, batch size) to Speedup
    at_least : float, optional
        The ratio from which it pays.

    Returns
    -------
    Crossover

    Examples
    --------
    >>> from accel_helpers.timing import Measurement, compare
    >>> slow = Measurement.from_samples([3.0, 3.1, 3.0, 3.1, 3.0])
    >>> fast = Measurement.from_samples([1.0, 1.1, 1.0, 1.1, 1.0])
    >>> where_it_pays({(16, 32): compare(fast, fast), (512, 32): compare(slow, fast)}).smallest
    (512, 32)
    """
    good = {s: r.ratio for s, r in ratios.items() if r.conclusive and r.interval[0] > at_least}
    if not good:
        return Crossover("nowhere")
    smallest = min(good, key=lambda size: size[0] * size[1])
    largest = max(good, key=good.get)
    verdict = "everywhere" if len(good) == len(ratios) else "from some size on"
    return Crossover(verdict, smallest, largest, good[largest])


@dataclass(frozen=True)
class StepParts:
    """Where the time of one step goes, by subtraction.

    Attributes
    ----------
    seconds : dict of str to float
        Part to seconds; parts that could not be told apart are joined.
    verdict : str
        "mostly arithmetic" (two thirds and more), "mostly other work" (one third of arithmetic
        or less), "mixed", or "cannot tell".
    """

    seconds: dict[str, float]
    verdict: str


def step_parts(plain: Measurement, grouped: Measurement, products: Measurement) -> StepParts:
    """Split the time of one step into arithmetic, the rest of the step, and Keras in between.

    Parameters
    ----------
    plain : Measurement
        One step of an ordinary ``fit``.
    grouped : Measurement
        One step of a ``fit`` that returns to Python after many steps only.
    products : Measurement
        The matrix products of one step alone (see `arithmetic`).

    Returns
    -------
    StepParts
    """
    if not _told_apart(plain, products):
        return StepParts({"one step": plain.median}, "cannot tell")
    share = products.median / plain.median
    verdict = (
        "mostly arithmetic"
        if share >= 2 / 3
        else "mostly other work"
        if share <= 1 / 3
        else "mixed"
    )
    seconds = {"the matrix products": products.median}
    if _told_apart(plain, grouped) and _told_apart(grouped, products):
        seconds["the rest of the step"] = grouped.median - products.median
        seconds["Python between steps"] = plain.median - grouped.median
    else:
        seconds["everything else"] = plain.median - products.median
    return StepParts(seconds, verdict)


# ---------------------------------------------------------------------------------------------


def _told_apart(slow: Measurement, fast: Measurement) -> bool:
    return timing.compare(slow, fast).verdict == "faster"
