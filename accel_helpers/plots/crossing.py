"""What two plans cost over the epochs, and from where on the other one pays."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from accel_helpers._values.words import format_rate
from accel_helpers.measure.results import Reference
from accel_helpers.plots import style
from accel_helpers.plots.style import Label, Picture, Side
from accel_helpers.worth.break_even import BOUGHT, BreakEven


@dataclass(frozen=True)
class Cost:
    """How a cost is shown: the name of its axis, what its unit is worth, how it is written."""

    name: str
    unit: float
    text: Callable[[float], str]


COSTS = {  # by the axis of a `BreakEven`
    "time": Cost("minutes until it is done", 60, style.plain),
    "money": Cost("cost, in your currency", 1, style.plain),
    "energy": Cost("energy", 1, partial(format_rate, unit="J")),
}


def break_even(
    found: BreakEven, *, title: str | None = None, reference: Reference | None = None
) -> Picture:
    """Draw what two plans cost over the epochs, and the stretch in which they may cross.

    `found` is of `worth.break_even`. The finding is the title, unless another one is given.

    >>> from accel_helpers.worth import break_even as worth
    >>> plans = worth.Plan("a CPU", (60, 60)), worth.Plan("a T4", (10, 20), setup_minutes=5)
    >>> print(break_even(worth.break_even(*plans, epochs=9)).alt[:66])
    Lines of time over epochs. Under 6 minutes of training here, stay;
    """
    # Whose result it is decides the note, and the note is drawn with the sides.
    sides, _ = style.sides(found, reference)
    front = sides[0].data
    sides, under = style.sides(found, reference, _note(front))
    title = title or _finding(front)
    ends = [front.epochs, *_finite(front.crossing)]
    most_epochs = 1.4 * max(ends)
    cost = COSTS[front.axis]
    with style.figure(style.WIDE, 3.0, title, under=under) as (figure, axes):
        _draw_finding(axes, front, most_epochs)
        labels = []
        sentences = []
        # The learner's plans come last, and so on top.
        for side in reversed(sides):
            is_front = side is sides[0]
            labels += _draw_plans(axes, side, most_epochs, shaded=is_front)
            sentences += _plan_texts(side)
        high = 1.05 * _highest_cost(front, most_epochs)
        # An axis needs a length, even where both plans are free.
        top = high or 1
        style.scale(axes.xaxis, "epochs", 0, most_epochs, style.plain, whole=True)
        style.scale(axes.yaxis, cost.name, 0, top, cost.text)
        # The plans of a reference may cost more than the axis shows.
        lowered = [_lowered(label, high) for label in labels]
        style.beside(figure, axes, lowered)
        content = "; ".join(sentences)
        alt = f"Lines of {front.axis} over epochs. {title}: {content}."
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
    if result.verdict == BOUGHT:
        return f"{name}: it saves time, not money"
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


def _plan_costs(plan, axis: str, epochs: float) -> list[float]:
    """The lowest and the highest cost of a plan, in the unit of the picture."""
    unit = COSTS[axis].unit
    low, high = plan.cost(epochs, axis)
    return [low / unit, high / unit]


def _highest_cost(result: BreakEven, epochs: float) -> float:
    """The highest cost of both plans, in the unit of the picture."""
    axis = result.axis
    here_costs = _plan_costs(result.here, axis, epochs)
    there_costs = _plan_costs(result.there, axis, epochs)
    return max(here_costs + there_costs)


def _lowered(label: Label, high: float) -> Label:
    """A label for a point that is not above the end of the axis."""
    height = min(label.y, high)
    return replace(label, y=height)


def _draw_plans(axes, side: Side, most_epochs: float, *, shaded: bool) -> list[Label]:
    """Draw both plans of one machine, from no epoch to the most, and return their labels."""
    result = side.data
    colours = side.colours
    there_colour = colours[1]
    if side.is_own:
        there_colour = colours[2]
    colour_by_plan = [(result.here, colours[0]), (result.there, there_colour)]
    ends = [0, most_epochs]
    labels = []
    for plan, colour in colour_by_plan:
        start_costs = _plan_costs(plan, result.axis, 0)
        end_costs = _plan_costs(plan, result.axis, most_epochs)
        costs = [start_costs, end_costs]
        if shaded:
            lows, highs = zip(*costs, strict=True)
            axes.fill_between(ends, lows, highs, color=colour, alpha=0.35, lw=0)
        axes.plot(ends, costs, color=colour, lw=1.2)
        middle = sum(end_costs) / 2
        text = style.folded(plan.name)
        labels.append(Label(most_epochs, middle, text, colour))
    return labels


def _plan_texts(side: Side) -> list[str]:
    """What each plan of one machine costs, in words."""
    result = side.data
    axis = result.axis
    epochs = result.epochs
    texts = []
    for plan in (result.here, result.there):
        low_cost, high_cost = _plan_costs(plan, axis, epochs)
        low = _cost_text(low_cost, axis)
        high = _cost_text(high_cost, axis)
        plan_text = f"{plan.name} {low} to {high} at {epochs} epochs"
        texts.append(side.intro + plan_text)
    return texts


def _cost_text(cost: float, axis: str) -> str:
    """A cost in words; three digits are enough, and more would be noise."""
    rounded = float(f"{cost:.3g}")
    return COSTS[axis].text(rounded)
