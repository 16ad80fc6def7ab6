"""Lesson 01: a matmul beside a chip's rating."""

from accel_helpers._values.words import times
from accel_helpers.course.outcomes import MATMUL
from accel_helpers.machine import hardware, runtime
from accel_helpers.measure import pictures
from accel_helpers.measure.measurement import Measurement


def rate(timed: Measurement) -> pictures.Picture:
    """Draw the rate of the page's matmul on a device, and the rating of this machine's chip."""
    name = runtime.describe().name
    chip = hardware.match(name)
    if chip is None or not hardware.peak(chip):
        chip = hardware.match("Tesla T4")
    # Billions of operations a second; the table of chips has trillions.
    rated = 1000 * hardware.peak(chip)
    measured = MATMUL / timed.median / 1e9
    kind, _, _ = timed.name.partition(":")
    row = pictures.Row(f"{kind.upper()}: {measured:,.0f} measured", "", interval=(0, measured))
    factor = times(rated / measured)
    title = f"The {chip.name} is rated at {factor} times what was measured here"
    x = ("billion operations per second", pictures.number)
    levels = {f"{chip.name}: rated at {rated:,.0f}": rated}
    return pictures.rows([row], x, title=title, levels=levels)


PICTURES = {"product": rate}
