"""Which outcomes a place has sentences for, by what is shown there."""

from collections.abc import Mapping

from accel_helpers.course.climb import Climb
from accel_helpers.course.facts import FourFacts
from accel_helpers.machine import backend
from accel_helpers.machine.runtime import Runtime
from accel_helpers.measure import ceilings, scores
from accel_helpers.measure.energy import Energy
from accel_helpers.measure.measurement import Speedup
from accel_helpers.train.parts import StepParts
from accel_helpers.worth.choice import Choice, Held

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
    "scores": scores.VERDICTS,
    "step": StepParts.OUTCOMES,
    "device": ("cpu", "gpu", "tpu"),
    "longer": ("about as long", "a little longer", "twice or more", "less", "cannot tell"),
    "compiling": ("compile", "the first step", "a later step"),  # which of them took longest
    "resumed": ("nearly", "exactly", "changed"),  # what a killed run came to
    "which ran": ("the .keras file", "the exported folder", "both", "neither"),
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
    if kind in _TOLD_BY:
        return _TOLD_BY[kind](result)
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


def resumed(calm: float, random: float) -> str:
    """How well two killed runs resumed, by how far the weights end from an undisturbed run's.

    Nothing was random in the first; the second had dropout and shuffled its data.

    >>> resumed(calm=0.0, random=0.02), resumed(calm=0.0, random=0.0), resumed(calm=0.1, random=0.1)
    ('nearly', 'exactly', 'changed')
    """
    rounding = 1e-4  # a device does not always add up in the same order
    if calm > rounding:
        return "changed"
    return "nearly" if random > rounding else "exactly"


def ran(tried: Mapping[str, bool]) -> str:
    """Which of two things ran.

    >>> ran({"one": False, "other": True}), ran({"one": False, "other": False})
    ('other', 'neither')
    """
    well = [name for name, worked in tried.items() if worked]
    if len(well) == len(tried):
        return "both"
    return well[0] if well else "neither"


# How an outcome is told where no result class declares it.
_TOLD_BY = {
    "always": lambda result: "always",
    "device": device_kind,
    "landed": landed,
    "longer": how_much_longer,
    "compiling": lambda seconds: max(seconds, key=seconds.get),
    "resumed": lambda apart: resumed(**apart),
    "which ran": ran,
}
