"""What two plans cost over the epochs, and from where on the other one pays."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from accel_helpers._values.words import format_rate
from accel_helpers.measure.results import Reference
from accel_helpers.plots import style
from accel_helpers.plots.style import Label, Picture, Side
from accel_helpers.worth.break_even import BOUGHT, FEW, BreakEven


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
    most_epochs = 1.4 * max([front.epochs, *_finite(front.crossing)])
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
        style.scale(axes.xaxis, "epochs", 0, most_epochs, style.plain, whole=True)
        style.scale(axes.yaxis, cost.name, 0, high or 1, cost.text)
        style.beside(figure, axes, [_lowered(label, high) for label in labels])
        alt = f"Lines of {front.axis} over epochs. {title}: {'; '.join(sentences)}."
        return style.picture(figure, alt)


def _finite(numbers: Sequence[float]) -> list[float]:
    """Those of some numbers that are finite."""
    return [number for number in numbers if number < math.inf]


def _note(result: BreakEven) -> str:
    """What the shade and the dashes of the picture are."""
    ends = [f"{end:.0f}" for end in _finite(result.crossing)]
    epochs = " to ".join(ends) or "no"
    return f"Shaded: where they may cross, {epochs} epochs. Dashed: your training."


def _finding(result: BreakEven) -> str:
    """What the picture shows, in a sentence."""
    early, late = result.crossing
    if result.verdict == FEW:
        return "Too few timings for a verdict"
    if result.verdict == BOUGHT:
        return f"{result.there.name}: it saves time, not money"
    if early == math.inf:
        return f"{result.there.name}: it never pays"
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
    return [amount / COSTS[axis].unit for amount in plan.cost(epochs, axis)]


def _highest_cost(result: BreakEven, epochs: float) -> float:
    """The highest cost of both plans, in the unit of the picture."""
    here = _plan_costs(result.here, result.axis, epochs)
    there = _plan_costs(result.there, result.axis, epochs)
    return max(here + there)


def _lowered(label: Label, high: float) -> Label:
    """A label for a point that is not above the end of the axis."""
    return replace(label, y=min(label.y, high))


def _draw_plans(axes, side: Side, most_epochs: float, *, shaded: bool) -> list[Label]:
    """Draw both plans of one machine, from no epoch to the most, and return their labels."""
    result = side.data
    labels = []
    colours = side.colours
    there_colour = colours[1]
    if side.is_own:
        there_colour = colours[2]
    ends = [0, most_epochs]
    for plan, colour in ((result.here, colours[0]), (result.there, there_colour)):
        costs = [_plan_costs(plan, result.axis, epochs) for epochs in ends]
        lows, highs = zip(*costs, strict=True)
        if shaded:
            axes.fill_between(ends, lows, highs, color=colour, alpha=0.35, lw=0)
        axes.plot(ends, costs, color=colour, lw=1.2)
        middle = (lows[1] + highs[1]) / 2
        text = style.folded(plan.name)
        labels.append(Label(most_epochs, middle, text, colour))
    return labels


def _plan_texts(side: Side) -> list[str]:
    """What each plan of one machine costs, in words."""
    result = side.data
    texts = []
    write = COSTS[result.axis].text
    for plan in (result.here, result.there):
        costs = _plan_costs(plan, result.axis, result.epochs)
        # Three digits are enough, and more would be noise.
        low, high = [write(float(f"{cost:.3g}")) for cost in costs]
        plan_text = f"{plan.name} {low} to {high} at {result.epochs} epochs"
        texts.append(side.intro + plan_text)
    return texts
