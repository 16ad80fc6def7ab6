"""Lesson 01: a matmul beside a chip's rating."""

from collections.abc import Sequence

from accel_helpers._values.words import times
from accel_helpers.machine import hardware
from accel_helpers.machine.hardware import Plausibility
from accel_helpers.measure import pictures


def rates(judged: Sequence[Plausibility]) -> pictures.Picture:
    """Draw the rate of a matmul on each device, and the rating of the last one's chip."""
    chip = judged[-1].chip
    if chip is None or not hardware.peak(chip):
        chip = hardware.match("Tesla T4")
    # Billions of operations a second; the table of chips has trillions.
    rated = 1000 * hardware.peak(chip)
    measured = {}
    for judgement in judged:
        kind, _, _ = judgement.time.name.partition(":")
        measured[kind.upper()] = judgement.work / judgement.time.median / 1e9
    things = []
    for kind, rate in measured.items():
        things.append(pictures.Row(kind, f"{rate:,.0f} measured", interval=(0, rate)))
    factor = times(rated / max(measured.values()))
    title = f"The {chip.name} is rated at {factor} times what was measured here"
    x = ("billion operations per second", pictures.number)
    levels = {f"{chip.name}: rated at {rated:,.0f}": rated}
    return pictures.rows(things, x, title=title, levels=levels)


PICTURES = {"product": rates}
