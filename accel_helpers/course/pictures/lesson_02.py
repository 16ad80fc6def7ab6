"""The picture of lesson 02: the CPU against the best device, or against itself as the control."""

from accel_helpers import plots
from accel_helpers.course.outcomes import device_kind
from accel_helpers.course.pictures.kinds import (
    Kept,
    Kind,
    as_measurements,
    lesson_of,
    measurements_under,
)
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.results import Card


def sides_of(race: Speedup, path: str) -> dict[str, Measurement]:
    """Return the sides of a race by name on a card: "02/race/gpu/first" or "02/control/first"."""
    device = device_kind(race.fast.name)
    start = f"{path}/{device}"
    # Without an accelerator the CPU has run against itself.
    if device == "cpu":
        start = control_of(path)
    return {f"{start}/first": race.slow, f"{start}/second": race.fast}


def control_of(path: str) -> str:
    """Return where a card has a race of the CPU against itself."""
    lesson = lesson_of(path)
    return f"{lesson}/control"


def keep_race(race: Speedup, path: str) -> Kept:
    """Put both sides of a race on a card."""
    return sides_of(race, path), {}


def race_on(card: Card, path: str) -> list[Measurement]:
    """Return the sides of a race, or of its control, that a card has."""
    control = control_of(path)
    return measurements_under(card, path, control)


CONTROL = Kind(draw=plots.measurements, measured=keep_race, restored=race_on, data=as_measurements)

KINDS: dict[str, Kind] = {"control": CONTROL}
