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
    """Return both measurements of a race by their names on a card.

    With the path "02/race" these are "02/race/gpu/first" and ".../second"; or, where the CPU has
    run against itself, "02/control/first" and "02/control/second".
    """
    device = device_kind(race.fast.name)
    start = f"{path}/{device}"
    # Without an accelerator the CPU has run against itself.
    if device == "cpu":
        start = control_of(path)
    return {f"{start}/first": race.slow, f"{start}/second": race.fast}


def control_of(path: str) -> str:
    """Return the path of a race of the CPU against itself: "02/race" -> "02/control"."""
    lesson = lesson_of(path)
    return f"{lesson}/control"


def keep_race(race: Speedup, path: str) -> Kept:
    """Return what a card keeps: both sides of a race, named as `sides_of` names them."""
    return sides_of(race, path), {}


def race_on(card: Card, path: str) -> list[Measurement]:
    """Return the measurements that a card has of a race under a path, or of its control."""
    control = control_of(path)
    return measurements_under(card, path, control)


CONTROL = Kind(draw=plots.measurements, measured=keep_race, restored=race_on, data=as_measurements)

KINDS: dict[str, Kind] = {"control": CONTROL}
