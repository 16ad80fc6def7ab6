"""Which outcome a result has at a place of a lesson: the place has a sentence for each."""

import math
from collections.abc import Mapping

from accel_helpers.machine import backend, runtime
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement, Speedup
from accel_helpers.worth.forecast import attached

NOT_MEASURED = "not measured"  # the outcome of None; a place may have a sentence for it
MATMUL = 2 * 2048**3  # the operations of lesson 01's matmul
FASTEST_CLOCK = 10e9  # ticks per second: no CPU that we know of has more
ROUNDING = 1e-4  # a distance that rounding explains: a device may add up in another order
# How many times as long the slow side of a race takes, in words. The whole interval must lie
# between the two numbers.
LONGER = {
    "twice or more": (2, math.inf),
    "a little longer": (1.05, 2),
    "less": (0, 1 / 1.05),
    "about as long": (1 / 1.1, 1.1),
}


def outcome_of(result: object, kind: str) -> str:
    """Return the outcome of a result at a place whose `outcomes` are of this kind.

    A kind of `_RULES` has a rule of its own; of any other, such as "Speedup", the result's class
    has a verdict, or the result is the outcome itself.

    >>> outcome_of("/job:localhost/replica:0/task:0/device:GPU:0", "device")
    'gpu'
    """
    if result is None:
        return NOT_MEASURED
    if kind in _RULES:
        return _RULES[kind](result)
    return getattr(result, "verdict", result)


def device_kind(result: object) -> str:
    """Return "cpu", "gpu" or "tpu": the kind of a device, or of the one that holds a result.

    A result may be a device, the name of one, or an array, a tensor or a model that lies on one.
    """
    # Arrays and tensors have the first, models of Keras the second.
    if hasattr(result, "__array__") or hasattr(result, "weights"):
        return backend.where(result)
    name = str(result).lower().replace("cuda", "gpu")
    for kind in ("tpu", "gpu", "cpu"):
        if kind in name:
            return kind
    return name


def landed(result: object) -> str:
    """Return on which device a result lies; in its place may be the exception that was raised.

    >>> landed("cpu:0"), landed(RuntimeError("no such device"))
    ('on the CPU', 'nowhere: an error')
    """
    if isinstance(result, Exception):
        return "nowhere: an error"
    kind = device_kind(result)
    if kind == "cpu":
        return "on the CPU"
    return f"on a {kind.upper()}"


def at_once(timed: Measurement) -> str:
    """Return whether a CPU worked on many numbers at once in lesson 01's matmul.

    It did where it was faster than its cores could be one by one, at a clock that no CPU has.
    """
    if device_kind(timed.name) != "cpu":
        return "cannot tell"
    shortest, longest = timed.interval
    one_by_one = FASTEST_CLOCK * (runtime.describe().cores or math.nan)
    if MATMUL / longest >= one_by_one:
        return "many at once"
    # A tenth of it is one operation per tick of a slow clock.
    if MATMUL / shortest <= 0.1 * one_by_one:
        return "one by one"
    return "cannot tell"


def how_much_longer(race: Speedup) -> str:
    """Return the word of `LONGER` for a race, "cannot tell" where no word holds its interval."""
    low, high = race.interval
    for words, (least, most) in LONGER.items():
        if least <= low and high <= most:
            return words
    return "cannot tell"


def resumed(distances: Mapping[str, float]) -> str:
    """Return how well killed runs resumed, by how far their weights are from undisturbed runs'.

    Nothing was random in the "calm" run; the "random" one had dropout and shuffled its data.

    >>> resumed({"calm": 0.0, "random": 0.02}), resumed({"calm": 0.0, "random": 0.0})
    ('nearly', 'exactly')
    """
    if distances["calm"] > ROUNDING:
        return "changed"
    if distances["random"] > ROUNDING:
        return "nearly"
    return "exactly"


def held(result: Mapping) -> str:
    """Return whether the forecast of the attached GPU held: one of the outcomes of "held".

    `result` has the "forecast", timed on this CPU, and the "race", that CPU beside the GPU.
    """
    forecast, race = result["forecast"], result["race"]
    fewest = min(len(each.samples) for each in (forecast.here, race.slow, race.fast))
    if fewest < FEW_SAMPLES:
        return "too few samples"
    faster = {row.chip: row.faster for row in forecast.rows}
    if attached() not in faster:
        return "not forecast"
    low, high = faster[attached()]
    gain = race.slow.median / race.fast.median
    return "held" if low <= gain <= high else "missed"


_RULES = {
    "always": lambda result: "always",  # the result is in the sentence, and does not choose it
    "at once": at_once,
    "device": device_kind,
    "held": held,
    "landed": landed,
    "longer": how_much_longer,
    "compiling": lambda seconds: max(seconds, key=seconds.get),  # the step that took longest
    "resumed": resumed,
}
