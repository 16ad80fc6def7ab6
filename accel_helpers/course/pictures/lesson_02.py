"""The picture of lesson 02: the CPU against the best device, or against itself as the control."""

from accel_helpers import plots
from accel_helpers.course.outcomes import device_kind
from accel_helpers.course.pictures.kinds import Kind, as_measurements
from accel_helpers.measure.measurement import Measurement, Speedup


def sides_of(race: Speedup, path: str) -> dict[str, Measurement]:
    """Both sides by the names that a card has: "02/race/gpu/first", or "02/control/first"."""
    kind = device_kind(race.fast.name)
    start = f"{path.rpartition('/')[0]}/control" if kind == "cpu" else f"{path}/{kind}"
    return {f"{start}/first": race.slow, f"{start}/second": race.fast}


CONTROL = Kind(
    draw=plots.measurements,
    measured=lambda result, path: (sides_of(result, path), {}),
    restored=lambda card, path: [
        timed
        for name, timed in card.measurements.items()
        if name.startswith((f"{path}/", f"{path.rpartition('/')[0]}/control/"))
    ],
    data=as_measurements,
)

KINDS: dict[str, Kind] = {"control": CONTROL}
