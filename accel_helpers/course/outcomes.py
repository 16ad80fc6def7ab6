"""The outcomes for which a place of a lesson can have sentences, and which one a result has."""

import math
from collections.abc import Mapping, Sequence

from accel_helpers.course.climb import Climb
from accel_helpers.course.facts import FourFacts
from accel_helpers.fit.profile_result import Profile
from accel_helpers.machine import backend, runtime
from accel_helpers.machine.hardware import Plausibility
from accel_helpers.machine.runtime import Runtime
from accel_helpers.measure import scores
from accel_helpers.measure.measurement import FEW_SAMPLES, Speedup
from accel_helpers.worth.answer import Answer
from accel_helpers.worth.forecast import attached

#: What a place names under `outcomes`, and all outcomes that it can have. A result class declares
#: its own; the others are plain words.
OUTCOMES = {
    "Speedup": Speedup.OUTCOMES,
    "Climb": Climb.OUTCOMES,
    "Runtime": Runtime.OUTCOMES,
    "FourFacts": FourFacts.OUTCOMES,
    "Answer": Answer.OUTCOMES,
    "held": ("held", "missed", "not forecast", "too few samples"),
    "bound": ("compute", "memory", "neither"),
    "scores": scores.VERDICTS,
    "Profile": Profile.OUTCOMES,
    "device": ("cpu", "gpu", "tpu"),
    "at once": ("many at once", "one by one", "cannot tell"),  # a CPU's operations
    "longer": ("about as long", "a little longer", "twice or more", "less", "cannot tell"),
    "compiling": ("compile", "the first step", "a later step"),  # which of them took longest
    "resumed": ("nearly", "exactly", "changed"),  # what a killed run came to
    "which ran": ("the .keras file", "the exported folder", "both", "neither"),
    "landed": ("on the CPU", "on a GPU", "on a TPU", "nowhere: an error"),
    "always": ("always",),  # the result is in the sentence, and does not choose it
}
NOT_MEASURED = "not measured"  # the outcome of None; a place may have a sentence for it
# A word in a device's name -> the kind of device. "tpu" is looked for first.
KINDS = {"tpu": "tpu", "gpu": "gpu", "cuda": "gpu", "cpu": "cpu"}
FASTEST_CLOCK = 10e9  # ticks per second: no CPU that we know of has more
ROUNDING = 1e-4  # a distance that rounding explains: a device may add up in another order


def outcome_of(result: object, kind: str) -> str:
    """Return the outcome of a result at a place whose `outcomes` are of this kind.

    `kind` is a key of `OUTCOMES`, and `result` what such a place is given: for "Speedup" one, for
    "device" a device, for "bound" the outcome itself. None has the outcome "not measured". The
    outcome of a wrong result may be any value: `Lesson` refuses what has no sentence.

    >>> outcome_of("/job:localhost/replica:0/task:0/device:GPU:0", "device")
    'gpu'
    """
    if result is None:
        return NOT_MEASURED
    if kind in _RULES:
        return _RULES[kind](result)
    # A result class has a verdict; a plain word is the outcome itself.
    return getattr(result, "verdict", result)


def device_kind(result: object) -> str:
    """Return "cpu", "gpu" or "tpu": the kind of a device, or of the one that holds a result.

    A result may be a device, the name of one, or an array, a tensor or a model that lies on one.
    Of anything else the text in small letters is returned: "cuda:0" -> "gpu", "XLA" -> "xla".
    """
    # Arrays and tensors have the first, models of Keras the second.
    if hasattr(result, "__array__") or hasattr(result, "weights"):
        return backend.where(result)
    name = str(result).lower()
    for word, kind in KINDS.items():
        if word in name:
            return kind
    return name


def landed(result: object) -> str:
    """Return where a result lies: "on the CPU", "on a GPU" or "on a TPU".

    `result` is as in `device_kind`, or the exception that was raised in its place.

    >>> landed("cpu:0"), landed(RuntimeError("no such device"))
    ('on the CPU', 'nowhere: an error')
    """
    if isinstance(result, Exception):
        return "nowhere: an error"
    kind = device_kind(result)
    if kind == "cpu":
        return "on the CPU"
    return f"on a {kind.upper()}"


def at_once(judged: Sequence[Plausibility]) -> str:
    """Return whether a CPU, the first of the judged devices, worked on many numbers at once.

    It did where it was faster than its cores could be one by one, at a clock that no CPU has.
    """
    cpu = judged[0]
    shortest, longest = cpu.time.interval
    one_by_one = FASTEST_CLOCK * (runtime.describe().cores or math.nan)
    if cpu.work / longest >= one_by_one:
        return "many at once"
    # A tenth of it is one operation per tick of a slow clock.
    if cpu.work / shortest <= 0.1 * one_by_one:
        return "one by one"
    return "cannot tell"


def how_much_longer(race: Speedup) -> str:
    """Return how many times as long the slow side takes, in words, by the interval of the ratio.

    The whole interval must lie within the limits of a word: "twice or more", "a little longer" (by
    more than 5 %, to below twice), "about as long" (10 % less to 10 % more), "less" (by more than
    5 %). Where it lies within none of them, "cannot tell".
    """
    low, high = race.interval
    if low >= 2:
        return "twice or more"
    if low > 1.05 and high < 2:
        return "a little longer"
    if high < 1 / 1.05:
        return "less"
    if low >= 1 / 1.1 and high <= 1.1:
        return "about as long"
    return "cannot tell"


def longest(seconds: Mapping[str, float]) -> str:
    """Return the name of the step that took longest, the first of equals.

    >>> longest({"compile": 2.0, "the first step": 0.5, "a later step": 0.1})
    'compile'
    """
    return max(seconds, key=seconds.__getitem__)


def resumed(distances: Mapping[str, float]) -> str:
    """Return how well two killed runs resumed: "exactly", "nearly" or "changed".

    `distances` are those of their weights from the weights of undisturbed runs. Nothing was random
    in the "calm" run; the "random" one had dropout and shuffled its data. Where only the latter
    differs, they resumed "nearly".

    >>> resumed({"calm": 0.0, "random": 0.02}), resumed({"calm": 0.0, "random": 0.0})
    ('nearly', 'exactly')
    >>> resumed({"calm": 0.1, "random": 0.1})
    'changed'
    """
    if distances["calm"] > ROUNDING:
        return "changed"
    if distances["random"] > ROUNDING:
        return "nearly"
    return "exactly"


def which_ran(tried: Mapping[str, bool]) -> str:
    """Return which of two things ran: the name of one, "both" or "neither".

    `tried` says of each name whether it ran.

    >>> which_ran({"one": False, "other": True}), which_ran({"one": False, "other": False})
    ('other', 'neither')
    """
    successes = [name for name, has_run in tried.items() if has_run]
    if len(successes) == 1:
        return successes[0]
    return "both" if successes else "neither"


def held(result: Mapping) -> str:
    """Return whether the forecast of the attached GPU held: one of the outcomes of "held".

    `result` has the "forecast", timed on this CPU, and the "race", that CPU beside the GPU.
    """
    forecast, race = result["forecast"], result["race"]
    fewest = min(len(each.samples) for each in (forecast.here, race.slow, race.fast))
    if fewest < FEW_SAMPLES:
        return "too few samples"
    gpu = attached()
    for row in forecast.rows:
        if row.chip == gpu:
            low, high = row.faster
            gain = race.slow.median / race.fast.median
            return "held" if low <= gain <= high else "missed"
    return "not forecast"


# By the kind of outcome: how it is found where the result's class does not declare it.
_RULES = {
    "always": lambda result: "always",
    "at once": at_once,
    "device": device_kind,
    "held": held,
    "landed": landed,
    "longer": how_much_longer,
    "compiling": longest,
    "resumed": resumed,
    "which ran": which_ran,
}
