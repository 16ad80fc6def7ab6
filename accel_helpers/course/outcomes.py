"""Which outcomes a place has sentences for, by what is shown there."""

from accel_helpers.course.facts import FourFacts
from accel_helpers.machine import backend
from accel_helpers.machine.runtime import Runtime
from accel_helpers.measure import ceilings
from accel_helpers.measure.energy import Energy
from accel_helpers.measure.measurement import Speedup
from accel_helpers.train.choice import Choice, Held
from accel_helpers.train.climb import Climb
from accel_helpers.train.parts import StepParts

#: What a place names under `outcomes`, and all outcomes that it can have. A result class declares
#: its own; the others are plain words.
OUTCOMES: dict[str, tuple[str, ...]] = {
    "Speedup": Speedup.OUTCOMES,
    "Climb": Climb.OUTCOMES,
    "Runtime": Runtime.OUTCOMES,
    "FourFacts": FourFacts.OUTCOMES,
    "Choice": Choice.OUTCOMES,
    "Held": Held.OUTCOMES,
    "Energy": Energy.OUTCOMES,
    "bound": ceilings.BOUNDS,
    "step": StepParts.OUTCOMES,
    "device": ("cpu", "gpu", "tpu"),
    "longer": ("about as long", "a little longer", "twice or more", "less", "cannot tell"),
    "landed": ("on the CPU", "on a GPU", "on a TPU", "nowhere: an error"),
    "always": ("always",),  # what came out is in the sentence, and does not choose it
}
NOT_MEASURED = "not measured"  # of None; a place may have a sentence for it
KINDS = {"tpu": "tpu", "gpu": "gpu", "cuda": "gpu", "rocm": "gpu", "cpu": "cpu"}


def outcome_of(result, kind: str) -> str:
    """The outcome of a result, at a place of this kind.

    >>> outcome_of("/job:localhost/replica:0/task:0/device:GPU:0", "device")
    'gpu'
    """
    if result is None:
        return NOT_MEASURED
    if kind == "always":
        return "always"
    if kind == "device":
        return device_kind(result)
    if kind == "landed":
        return landed(result)
    if kind == "longer":
        return how_much_longer(result)
    return getattr(result, "verdict", result)


def device_kind(result) -> str:
    """ "cpu", "gpu" or "tpu": of a device, its name, or something that lies on one, as a model."""
    lies = hasattr(result, "__array__") or hasattr(result, "weights")
    if not isinstance(result, str) and lies:
        return backend.where(result)
    named = str(result).lower()
    return next((kind for word, kind in KINDS.items() if word in named), named)


def landed(result) -> str:
    """Where a result lies, by its device; an error in its place is "nowhere".

    >>> landed("cpu:0"), landed(RuntimeError("no such device"))
    ('on the CPU', 'nowhere: an error')
    """
    if isinstance(result, Exception):
        return "nowhere: an error"
    kind = device_kind(result)
    return "on the CPU" if kind == "cpu" else f"on a {kind.upper()}"


def how_much_longer(race: Speedup) -> str:
    """Say how much longer the slow side takes than the fast one, as far as the interval allows.

    That is "about as long" (the whole interval lies between 10 % less and 10 % more), "a little
    longer" (above 5 % more, below twice), "twice or more", "less" (above 5 % less), or "cannot
    tell" where the interval lies across a limit.
    """
    low, high = race.interval
    if low >= 2:
        return "twice or more"
    if low > 1.05 and high < 2:
        return "a little longer"
    if high < 1 / 1.05:
        return "less"
    return "about as long" if low >= 1 / 1.1 and high <= 1.1 else "cannot tell"
