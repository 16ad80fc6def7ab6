"""Draw pictures in one style, each from what it is given.

A picture's `title` stands above it.
"""

from accel_helpers.plots.accuracy import ladder, shares
from accel_helpers.plots.charts import epochs
from accel_helpers.plots.crossing import break_even
from accel_helpers.plots.lines import curves
from accel_helpers.plots.pieces import bars, epoch_parts, parts
from accel_helpers.plots.roof import roofline
from accel_helpers.plots.rows import measurements

__all__ = [
    "bars",
    "break_even",
    "curves",
    "epoch_parts",
    "epochs",
    "ladder",
    "measurements",
    "parts",
    "roofline",
    "shares",
]
