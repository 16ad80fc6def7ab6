"""How long two plans take over the epochs, and from where on the other one pays."""

import math
from collections.abc import Sequence

from accel_helpers.plots import style
from accel_helpers.plots.style import Label, Picture
from accel_helpers.worth.break_even import BreakEven


def break_even(found: BreakEven, *, title: str | None = None) -> Picture:
    """Draw how long two plans take over the epochs, and the stretch in which they may cross.

    `found` is of `worth.break_even`. The finding is the title, unless another one is given.

    >>> from accel_helpers.worth import break_even as worth
    >>> plans = worth.Plan("a CPU", (60, 60)), worth.Plan("a T4", (10, 20), setup_minutes=5)
    >>> print(break_even(worth.break_even(*plans, epochs=9)).alt[:66])
    Lines of time over epochs. Under 6 minutes of training here, stay;
    """
    title = title or _finding(found)
    ends = [found.epochs, *_finite(found.crossing)]
    most_epochs = 1.4 * max(ends)
    with style.figure(style.WIDE, 3.0, title, under=_note(found)) as (figure, axes):
        _draw_finding(axes, found, most_epochs)
        labels = _draw_plans(axes, found, most_epochs)
        high = 1.05 * _longest_minutes(found, most_epochs)
        style.scale(axes.xaxis, "epochs", 0, most_epochs, style.plain, whole=True)
        style.scale(axes.yaxis, "minutes until it is done", 0, high, style.plain)
        style.beside(figure, axes, labels)
        texts = _plan_texts(found)
        content = "; ".join(texts)
        alt = f"Lines of time over epochs. {title}: {content}."
        return style.picture(figure, alt)


def _finite(numbers: Sequence[float]) -> list[float]:
    """The finite ones of some numbers."""
    return [number for number in numbers if number < math.inf]


def _note(result: BreakEven) -> str:
    """What the shade and the dashes of the picture are."""
    finite_ends = _finite(result.crossing)
    texts = [f"{end:.0f}" for end in finite_ends]
    epochs = " to ".join(texts) or "no"
    return f"Shaded: where they may cross, {epochs} epochs. Dashed: your training."


def _finding(result: BreakEven) -> str:
    """What the picture shows, in a sentence."""
    early, late = result.crossing
    if result.is_hardly_timed:
        return "Too few timings to say where they cross"
    name = result.there.name
    if early == math.inf:
        return f"{name}: it never pays"
    shortest, longest = (style.short(minutes) for minutes in result.minutes)
    stay = f"Under {shortest} minutes of training here, stay"
    if late == math.inf:
        return f"{stay} where you are"
    return f"{stay}; over {longest}, change"


def _draw_finding(axes, result: BreakEven, most_epochs: float) -> None:
    """Shade where the plans may cross, and draw how long the training is."""
    early, late = (min(end, most_epochs) for end in result.crossing)
    axes.axvspan(early, late, color=style.EMPTY, lw=0)
    axes.axvline(result.epochs, color=style.INK, lw=1.2, ls="--")


def _plan_minutes(plan, epochs: float) -> list[float]:
    """The shortest and the longest time of a plan, in minutes."""
    return [seconds / 60 for seconds in plan.cost(epochs)]


def _longest_minutes(result: BreakEven, epochs: float) -> float:
    """The longest time of both plans, in minutes."""
    here = _plan_minutes(result.here, epochs)
    there = _plan_minutes(result.there, epochs)
    return max(here + there)


def _draw_plans(axes, result: BreakEven, most_epochs: float) -> list[Label]:
    """Draw both plans, from no epoch to the most, and return their labels."""
    colour_by_plan = [(result.here, style.OWN), (result.there, style.SECOND)]
    ends = [0, most_epochs]
    labels = []
    for plan, colour in colour_by_plan:
        first = _plan_minutes(plan, 0)
        last = _plan_minutes(plan, most_epochs)
        minutes = [first, last]
        lows, highs = zip(*minutes, strict=True)
        axes.fill_between(ends, lows, highs, color=colour, alpha=0.35, lw=0)
        axes.plot(ends, minutes, color=colour, lw=1.2)
        middle = sum(last) / 2
        text = style.folded(plan.name)
        labels.append(Label(most_epochs, middle, text, colour))
    return labels


def _plan_texts(result: BreakEven) -> list[str]:
    """How long each plan takes, in words."""
    epochs = result.epochs
    texts = []
    for plan in (result.here, result.there):
        # Three digits are enough, and more would be noise.
        low, high = (style.plain(float(f"{time:.3g}")) for time in _plan_minutes(plan, epochs))
        texts.append(f"{plan.name} {low} to {high} at {epochs} epochs")
    return texts
