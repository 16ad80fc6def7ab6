"""The picture of lesson 08, the chain four ways; how often Python ran a step is kept."""

from accel_helpers import plots
from accel_helpers._values.words import format_seconds
from accel_helpers.course.pictures.kinds import Kept, Kind
from accel_helpers.machine import backend
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.results import Card, Reference
from accel_helpers.plots import style

LENGTHS = (2, 4, 8, 16, 32, 64)
# The two that the title is about.
TITLE = ("NumPy", "XLA")
# The times of a chain of operations, by its length.
Line = dict[int, Measurement]
# Such lines by what computed them: "NumPy", "XLA" and two more.
Lines = dict[str, Line]


def card_names(path: str, name: str) -> dict[int, str]:
    """Return the names that a line's measurements have on a card, by the length of the chain.

    With "08/chain" and "XLA" the first is 2: "08/chain/XLA/2".
    """
    return {length: f"{path}/{name}/{length}" for length in LENGTHS}


def keep_chain(times: Lines, path: str) -> Kept:
    """Return what a card keeps: every time, named as `card_names` names them."""
    measurements = {}
    for name, line in times.items():
        for length, time in line.items():
            measurements[f"{path}/{name}/{length}"] = time
    return measurements, {}


def chain_needs(path: str) -> list[str]:
    """Return the names that a reference card must have: those of the two lines in `TITLE`."""
    needed = []
    for name in TITLE:
        needed += card_names(path, name).values()
    return needed


def chain_on(card: Card, path: str) -> Lines:
    """Return every line that a card has under a path."""
    lines = {}
    for name in ("NumPy", "one by one", "graph", "XLA"):
        names = card_names(path, name)
        # On JAX there is no graph without XLA.
        if card.measurements.keys() >= {*names.values()}:
            lines[name] = {length: card.measurements[each] for length, each in names.items()}
    return lines


def growth(line: Line) -> float:
    """Return how many times as long as the shortest chain the longest one takes, by medians."""
    return line[max(line)].median / line[min(line)].median


def draw_chain(times: Lines, title: str, reference: Reference | None = None) -> style.Picture:
    """Draw the time of a chain over its length; the growth of NumPy and XLA is added to the title.

    `times` must have both, or be empty if there is a reference, whose data are such lines.
    """
    sides, _ = style.sides(times, reference)
    # The title is about the lines in front: the learner's, if there are any.
    lines = sides[0].data
    numpy, xla = (style.short(growth(lines[name])) for name in TITLE)
    title = f"{title}: NumPy takes {numpy} times as long, XLA {xla} times"
    x = ("operations in the chain", style.plain)
    y = ("time of a call", format_seconds)
    return plots.curves(times, title=title, x=x, y=y, log=True, reference=reference)


CHAIN = Kind(draw=draw_chain, measured=keep_chain, needs=chain_needs, restored=chain_on)


def python_calls(counted: dict[str, int], path: str) -> Kept:
    """Return what a card keeps: how often Python ran a training step, and of how many steps.

    The name has the framework that Keras runs on, as in "08/jax/python calls". `counted` has the
    two numbers under "ran" and "steps".
    """
    lesson, name = path.split("/")
    framework = backend.framework()
    return {}, {f"{lesson}/{framework}/{name}": [counted["ran"], counted["steps"]]}


# It is kept, and never drawn.
PYTHON_CALLS = Kind(measured=python_calls)

KINDS: dict[str, Kind] = {"chain": CHAIN, "python calls": PYTHON_CALLS}
