"""The picture of lesson 08, the chain four ways; how often Python ran a step is kept."""

from accel_helpers import plots
from accel_helpers._values.words import format_seconds
from accel_helpers.course.pictures.kinds import Kept, Kind
from accel_helpers.machine import backend
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.results import Card
from accel_helpers.plots import style

LENGTHS = (2, 4, 8, 16, 32, 64)
# Of another machine, the two that the title is about.
GREY = ("NumPy", "XLA")
# What a chain took, by its length; and such lines, by what computed them.
Line = dict[int, Measurement]
Lines = dict[str, Line]


def card_names(path: str, name: str) -> dict[int, str]:
    """Return the names on a card of a line's measurements, by the length of the chain."""
    return {length: f"{path}/{name}/{length}" for length in LENGTHS}


def keep_chain(times: Lines, path: str) -> Kept:
    """Put every time on a card."""
    measurements = {}
    for name, line in times.items():
        for length, time in line.items():
            measurements[f"{path}/{name}/{length}"] = time
    return measurements, {}


def chain_needs(path: str) -> list[str]:
    """Return what a reference card must have."""
    needed = []
    for name in GREY:
        needed += card_names(path, name).values()
    return needed


def chain_on(card: Card, path: str) -> Lines:
    """Return the lines of a card."""
    lines = {}
    for name in GREY:
        line = {}
        for length, card_name in card_names(path, name).items():
            line[length] = card.measurements[card_name]
        lines[name] = line
    return lines


def growth(line: Line) -> float:
    """Return how many times as long the longest chain takes as the shortest."""
    longest = line[max(line)]
    shortest = line[min(line)]
    return longest.median / shortest.median


def draw_chain(times: Lines, title: str, reference=None) -> style.Picture:
    """Draw the time of a chain over its length; the title says how two of the lines grow."""
    sides, _ = style.sides(times, reference)
    # The title is about the lines in front: the learner's, if there are any.
    lines = sides[0].data
    numpy_growth = growth(lines["NumPy"])
    xla_growth = growth(lines["XLA"])
    numpy = style.short(numpy_growth)
    xla = style.short(xla_growth)
    title = f"{title}: NumPy takes {numpy} times as long, XLA {xla} times"
    x = ("operations in the chain", style.plain)
    y = ("time of a call", format_seconds)
    return plots.curves(times, title=title, x=x, y=y, log=True, reference=reference)


CHAIN = Kind(draw=draw_chain, measured=keep_chain, needs=chain_needs, restored=chain_on)


def python_calls(counted: dict[str, int], path: str) -> Kept:
    """Keep how often Python ran a training step, under the framework that Keras runs on."""
    lesson, name = path.split("/")
    framework = backend.framework()
    counts = [counted["ran"], counted["steps"]]
    numbers = {f"{lesson}/{framework}/{name}": counts}
    return {}, numbers


# It is kept, and never drawn.
PYTHON_CALLS = Kind(measured=python_calls)

KINDS: dict[str, Kind] = {"chain": CHAIN, "python calls": PYTHON_CALLS}
