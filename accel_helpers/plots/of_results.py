"""The picture of any result."""

from collections.abc import Mapping

from accel_helpers._values.words import shown
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.plots import charts, crossing, pieces, rows
from accel_helpers.plots.style import Picture
from accel_helpers.train.epochs import FitTiming
from accel_helpers.train.parts import StepParts
from accel_helpers.train.profile_result import Profile
from accel_helpers.worth.break_even import BreakEven

__all__ = ["plot"]


def plot(result, *, title: str = "") -> Picture:
    """Draw what one of the verbs returned.

    Parameters
    ----------
    result : Measurement, Speedup, FitTiming, Profile, BreakEven, StepParts or mapping
        A mapping is of names to seconds, the parts of one step.
    title : str, optional
        Above the picture: what was found. By default what the result says of itself.

    Returns
    -------
    Picture
        A notebook shows it; its `alt` says the same in a sentence. A TypeError for anything else.

    Examples
    --------
    >>> step = Measurement.from_samples([0.010, 0.011, 0.011, 0.010, 0.012], name="step")
    >>> print(plot(step, title="A step"))
    Dot plot. A step: step 11 ms.
    """
    if isinstance(result, Measurement):
        title = title or result.name or "Single timings"
        return rows.measurements([result], title=title)
    if isinstance(result, Speedup):
        # What stands in brackets is the interval, which the picture shows.
        comparison, _, _ = str(result).partition(" (")
        title = title or comparison
        return rows.measurements([result.slow, result.fast], title=title)
    if isinstance(result, FitTiming):
        title = title or "Seconds per epoch"
        return charts.epochs(result.epochs, title=title)
    if isinstance(result, BreakEven):
        return crossing.break_even(result, title=title or None)
    if isinstance(result, Profile):
        title = title or "Where the time of an epoch goes"
        return pieces.epoch_parts(result.seconds, title=title)
    if isinstance(result, StepParts):
        result = result.seconds
    if isinstance(result, Mapping):
        title = title or "Where the time of one step goes"
        return pieces.parts(result, title=title)
    raise TypeError(
        "plot draws a Measurement, a comparison, the epochs of time_fit, a profile, a break-even, "
        f"or the parts of a step, also as a mapping of names to seconds; got {shown(result)}."
    )
