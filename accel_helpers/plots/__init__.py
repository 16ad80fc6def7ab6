"""Every picture of the course, in one style; each is drawn from what it is given.

A picture's `title` stands above it; with ``own=False`` it is another machine's, drawn in grey.
"""

from accel_helpers.plots.charts import digits, epochs, heatmap, losses, roofline
from accel_helpers.plots.rows import climb, ladder, measurements, parts, shares
from accel_helpers.plots.unit import unit_animation, unit_sizes, unit_strip

__all__ = [
    "climb", "digits", "epochs", "heatmap", "ladder", "losses", "measurements", "parts", "roofline",
    "shares", "unit_animation", "unit_sizes", "unit_strip",
]  # fmt: skip
