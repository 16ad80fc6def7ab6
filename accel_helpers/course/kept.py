"""What the record keeps of a result: its numbers, by what they are of."""

import functools
import math
import statistics
from collections.abc import Mapping
from numbers import Real

from accel_helpers.course.climb import RESIDENT, TF_DATA, Climb
from accel_helpers.course.facts import FourFacts
from accel_helpers.course.stored_steps import Product
from accel_helpers.fit.parts import Parts
from accel_helpers.fit.profile_result import Profile
from accel_helpers.fit.time_fit import FitTiming
from accel_helpers.machine.hardware import Plausibility
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.scores import Score

MOST = 20  # numbers of a list that are kept one by one; of a longer one the mean and the count
FEWEST_TRAININGS = 3  # of which a climb's accuracy is kept
NAMED = (Measurement, Plausibility, Score)  # have names of their own


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
    for name, part in _parts(parts_of(result)):
        found |= numbers_of(part, f"{words} {name or ''}".strip())
    return found


def _parts(result: object) -> list[tuple]:
    """Return the parts of a mapping or a list, each with its name; [] of anything else."""
    if isinstance(result, Mapping):
        return [*result.items()]
    if not isinstance(result, list | tuple):
        return []
    if len(result) > MOST and all(isinstance(part, Real) for part in result):
        return [("mean", statistics.fmean(result)), ("count", len(result))]
    parts = []
    for place, part in enumerate(result, 1):
        name = "" if isinstance(part, NAMED) else f"#{place}"
        parts.append((name, part))
    return parts


@functools.singledispatch
def parts_of(result) -> object:
    """Return what is kept of a result as a mapping or a list; one of no known class as it is.

    None is no number, and is not kept. The ends of an interval are called as what lies between
    them: "seconds", "seconds low".
    """
    if hasattr(result, "tolist"):
        return result.tolist()
    return result


@parts_of.register
def _(result: Measurement):
    low, high = result.interval
    parts = {"seconds": result.median, "seconds low": low, "seconds high": high}
    parts |= {"first call seconds": result.first_call, "samples": len(result.samples)}
    return {result.name: parts}


@parts_of.register
def _(result: FitTiming):
    return [result.epochs]


@parts_of.register
def _(result: Plausibility):
    return [result.time]


@parts_of.register
def _(result: Speedup):
    return {"": [result.slow, result.fast], **_times(result)}


def _times(race: Speedup) -> dict:
    """Return how many times as fast one side is, where that can be told, and its interval."""
    low, high = race.interval
    return {"times as fast low": low, "times as fast high": high, "times as fast": race.ratio}


@parts_of.register
def _(result: FourFacts):
    return {"": result.faster}


@parts_of.register(Parts)
@parts_of.register(Profile)
def _(result):
    return {f"{part} seconds": seconds for part, seconds in result.seconds.items()}


@parts_of.register
def _(result: Score):
    return {f"{result.name} accuracy": result.accuracy}


@parts_of.register
def _(result: Product):
    return {"instructions": result.instructions, "estimated cycles": result.estimated_cycles}


@parts_of.register
def _(result: Climb):
    parts = {"": [*result.epochs.values()]}
    for name, gain in result.overall.items():
        parts[name] = _times(gain)
    for stage in result.stages:
        # Fewer trainings tell nothing of accuracy.
        if len(stage.accuracy) >= FEWEST_TRAININGS:
            name = f"{stage.name} accuracy"
            parts[name] = statistics.fmean(stage.accuracy)
            parts[f"{name} low"] = min(stage.accuracy)
            parts[f"{name} high"] = max(stage.accuracy)
    names = {stage.id: stage.name for stage in result.stages}
    # The one comes right after the other.
    if {TF_DATA, RESIDENT} <= names.keys():
        parts["resident against tf.data"] = _times(result.gains[names[RESIDENT]])
    return parts
