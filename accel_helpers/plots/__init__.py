"""Every picture of the course, in one style; each is drawn from what it is given.

A picture's `title` stands above it. Its `reference`, in the same form as the learner's own, is the
reference run's and grey; with ACCEL_PICTURES=reference in the environment it is there alone.
"""

import functools
from dataclasses import replace
from types import SimpleNamespace

from accel_helpers.measure import results
from accel_helpers.plots import charts, rows
from accel_helpers.plots.charts import digits, sweep
from accel_helpers.plots.unit import unit_animation, unit_strip

__all__ = [
    "climb", "digits", "epochs", "ladder", "losses", "measurements", "parts", "roofline",
    "shares", "sweep", "unit_animation", "unit_strip",
]  # fmt: skip


def _until_rewritten(verb):
    """Let `own=False` and a climb in three pieces stand, until no lesson says them any more."""

    @functools.wraps(verb)
    def drawn(*data, own=True, **named):
        if verb.__name__ == "climb" and len(data) == 3:
            data = (SimpleNamespace(epochs=data[0], overall=data[1], accuracy=data[2]),)
        if own and data[0] != []:
            return verb(*data, **named)
        if not own:
            named["reference"] = data[0] if len(data) == 1 else data
            if verb.__name__ == "shares":
                named["reference"] = (data[0], named.pop("intervals", None) or {})
        picture = verb(*[None] * len(data), **named)
        return replace(picture, alt=picture.alt.replace(f"on {results.reference().label}: ", ""))

    return drawn


climb, ladder, measurements, parts, shares = map(
    _until_rewritten, (rows.climb, rows.ladder, rows.measurements, rows.parts, rows.shares)
)
epochs, losses, roofline = map(_until_rewritten, (charts.epochs, charts.losses, charts.roofline))
