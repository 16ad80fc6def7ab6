"""What the record keeps of a result: the numbers that the board reads, and those beside them."""

import math
import statistics
from collections.abc import Mapping
from numbers import Real

from accel_helpers.course.climb import Climb, Stage
from accel_helpers.course.facts import FourFacts
from accel_helpers.measure.measurement import Measurement, Speedup


def numbers_of(result: object, words: str = "") -> dict[str, float]:
    """Return the numbers of a result by words for each; {} where nothing is kept of it.

    `words`, if there are any, come first.

    >>> numbers_of({"cpu": [1, 2], "seed": 3})
    {'cpu #1': 1.0, 'cpu #2': 2.0, 'seed': 3.0}
    """
    if isinstance(result, Real):
        # JSON has no infinite number.
        return {words or "value": float(result)} if math.isfinite(result) else {}
    found = {}
    for name, part in _parts(result):
        found |= numbers_of(part, f"{words} {name}".strip())
    return found


def _parts(result: object) -> list[tuple]:
    """Return what is kept of a result, each part with its name."""
    kept = _of_class(result)
    if isinstance(kept, Mapping):
        return [*kept.items()]
    if not isinstance(kept, list | tuple):
        return []
    parts = []
    for number, part in enumerate(kept, 1):
        # What is no number has names of its own.
        name = f"#{number}" if isinstance(part, Real) else ""
        parts.append((name, part))
    return parts


def _of_class(result):
    """Return what is kept of a result of a known class as a mapping, and any other as it is."""
    match result:
        case FourFacts():
            return {"": result.faster}
        case Measurement():
            seconds = _with_ends("seconds", result.median, result.interval)
            others = {"first call seconds": result.first_call, "samples": len(result.samples)}
            return {result.name: seconds | others}
        case Speedup():
            return {"": [result.slow, result.fast], **_times(result)}
        case Stage():
            mean = statistics.fmean(result.accuracy)
            ends = min(result.accuracy), max(result.accuracy)
            return {"": result.epoch, **_with_ends(f"{result.name} accuracy", mean, ends)}
        case Climb():
            parts = {name: _times(gain) for name, gain in result.overall.items()}
            return {"": result.stages, **parts}
    return result


def _times(race: Speedup) -> dict:
    """Return how many times as fast one side is, where that can be told, and its interval."""
    return _with_ends("times as fast", race.ratio, race.interval)


def _with_ends(name: str, middle: float | None, ends: tuple[float, float]) -> dict:
    """Return a number and the ends of its interval, called as what lies between them."""
    low, high = ends
    return {f"{name} low": low, name: middle, f"{name} high": high}
