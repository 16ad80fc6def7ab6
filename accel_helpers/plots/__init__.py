"""Every picture of the course, in one style; each is drawn from what it is given.

A picture's `title` stands above it. Its `reference`, a `results.Reference`, holds data in the same
form as the learner's own and the label of their machine; they are grey, and with
ACCEL_PICTURES=reference in the environment there alone.
"""

from accel_helpers.plots.charts import break_even, digits, epochs, roofline, sweep
from accel_helpers.plots.lines import curves
from accel_helpers.plots.rows import bars, climb, ladder, measurements, parts, shares
from accel_helpers.plots.unit import unit_animation, unit_strip
from accel_helpers.plots.warp import warp_animation

__all__ = ["bars", "break_even", "climb", "curves", "digits", "epochs", "ladder", "measurements"]
__all__ += [
    "parts",
    "roofline",
    "shares",
    "sweep",
    "unit_animation",
    "unit_strip",
    "warp_animation",
]
