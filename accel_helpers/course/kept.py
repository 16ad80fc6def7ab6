"""What the record keeps of a result: its numbers, by what they are of."""

import functools
import math
import statistics
from collections.abc import Iterator, Mapping
from numbers import Real

from accel_helpers.course.climb import Climb
from accel_helpers.course.stored_steps import Product
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.scores import Score
from accel_helpers.train.epochs import FitTiming
from accel_helpers.train.parts import StepParts
from accel_helpers.train.profile_result import Profile

MOST = 20  # numbers of a list that are kept one by one; of a longer one the mean and the count


def numbers_of(result: object) -> dict[str, float]:
    """Return the numbers of a result by words for each; {} where nothing is kept of it.

    >>> numbers_of({"cpu": [1, 2], "seed": 3})
    {'cpu 1': 1.0, 'cpu 2': 2.0, 'seed': 3.0}
    """
    found = {}
    for words, number in _pairs(result, ()):
        # JSON has no infinite number.
        if math.isfinite(number):
            found[" ".join(words) or "value"] = number
    return found


def _pairs(result: object, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield the words for each number of a result, those that are given first, and the number."""
    if isinstance(result, Real):
        yield words, float(result)
        return
    for name, part in _parts(parts_of(result)):
        more = (str(name),) if name else ()
        yield from _pairs(part, words + more)


def _parts(result: object) -> list[tuple[object, object]]:
    """Return the parts of a mapping or a list, each with its name; [] of anything else."""
    if isinstance(result, Mapping):
        return [*result.items()]
    if not isinstance(result, list | tuple):
        return []
    if len(result) > MOST and all(isinstance(part, Real) for part in result):
        return [("mean", statistics.fmean(result)), ("count", len(result))]
    parts: list[tuple[object, object]] = []
    for place, part in enumerate(result, 1):
        # A measurement has a name of its own.
        name = "" if isinstance(part, Measurement) else place
        parts.append((name, part))
    return parts


@functools.singledispatch
def parts_of(result) -> object:
    """Return what is kept of a result as a mapping or a list; one of no known class as it is."""
    if hasattr(result, "tolist"):
        return result.tolist()
    return result


@parts_of.register
def _(result: Measurement):
    low, high = result.interval
    parts = {"median (s)": result.median, "low (s)": low, "high (s)": high}
    if result.first_call is not None:
        parts["first call (s)"] = result.first_call
    parts["samples"] = len(result.samples)
    return {result.name: parts}


@parts_of.register
def _(result: FitTiming):
    return [result.epochs]


@parts_of.register
def _(result: Speedup):
    low, high = result.interval
    times = {"times as fast low": low, "times as fast high": high}
    if result.ratio is not None:
        times["times as fast"] = result.ratio
    return {"": [result.slow, result.fast], **times}


@parts_of.register(StepParts)
@parts_of.register(Profile)
def _(result):
    return {f"{part} (s)": seconds for part, seconds in result.seconds.items()}


@parts_of.register
def _(result: Score):
    return {"accuracy": list(result.by_seed)}


@parts_of.register
def _(result: Product):
    return {"instructions": result.instructions, "estimated cycles": result.estimated_cycles}


@parts_of.register
def _(result: Climb):
    first = result.stages[0]
    parts = {"": [first.epoch]}
    for name, gain in result.overall.items():
        parts[name] = gain
    for name, accuracy in result.accuracy.items():
        parts[f"{name} accuracy"] = accuracy
    return parts
