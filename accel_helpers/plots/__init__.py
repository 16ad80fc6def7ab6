"""Every picture of the course, in one style; each is drawn from what it is given.

A picture's `title` stands above it. Its `reference`, a `results.Reference`, holds data in the same
form as the learner's own and the label of their machine; they are grey, and with
ACCEL_PICTURES=reference in the environment there alone.
"""

from accel_helpers.plots.charts import break_even, digits, epochs, roofline, sweep
from accel_helpers.plots.lines import curves
from accel_helpers.plots.rows import bars, ladder, measurements, parts, shares

__all__ = ["bars", "break_even", "curves", "digits", "epochs", "ladder", "measurements"]
__all__ += ["parts", "roofline", "shares", "sweep"]
