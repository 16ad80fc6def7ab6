"""The picture of lesson 08, the chain four ways; how often Python ran a step is kept."""

from accel_helpers import plots
from accel_helpers._values.words import format_seconds
from accel_helpers.course.pictures.kinds import Kind
from accel_helpers.machine import backend
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.results import Card
from accel_helpers.plots import style

LENGTHS = (2, 4, 8, 16, 32, 64)
GREY = ("NumPy", "XLA")  # of another machine, the two that the title is about
Line = dict[int, Measurement]  # what a chain took, by its length


def timed_as(path: str, way: str) -> dict[int, str]:
    """The names on a card of one way's measurements, by the length of the chain."""
    return {length: f"{path}/{way}/{length}" for length in LENGTHS}


def of_chain(times: dict[str, Line], path: str):
    measurements = {}
    for way, line in times.items():
        for length, timed in line.items():
            measurements[f"{path}/{way}/{length}"] = timed
    return measurements, {}


def chain_needs(path: str) -> list[str]:
    """What a reference card must have."""
    return [name for way in GREY for name in timed_as(path, way).values()]


def chain_on(card: Card, path: str) -> dict[str, Line]:
    lines = {}
    for way in GREY:
        names = timed_as(path, way)
        lines[way] = {length: card.measurements[name] for length, name in names.items()}
    return lines


def growth(line: Line) -> float:
    """How many times as long the longest chain takes as the shortest."""
    return line[max(line)].median / line[min(line)].median


def draw_chain(times: dict[str, Line], title: str, reference=None) -> style.Picture:
    """Draw the time of a chain over its length; the title says how two of the lines grow."""
    [(drawn, *_), *_], _ = style.sides(times, reference)
    numpy, xla = (style.short(growth(drawn[way])) for way in ("NumPy", "XLA"))
    return plots.curves(
        times,
        title=f"{title}: NumPy takes {numpy} times as long, XLA {xla} times",
        x=("operations in the chain", style.plain),
        y=("time of a call", format_seconds),
        log=True,
        reference=reference,
    )


CHAIN = Kind(draw=draw_chain, measured=of_chain, needs=chain_needs, restored=chain_on)


def python_calls(counted: dict[str, int], path: str):
    """How often Python ran a training step, under the framework that Keras runs on."""
    lesson, name = path.split("/")
    counts = [counted["ran"], counted["steps"]]
    return {}, {f"{lesson}/{backend.framework()}/{name}": counts}


PYTHON_CALLS = Kind(measured=python_calls)  # kept, and never drawn

KINDS: dict[str, Kind] = {"chain": CHAIN, "python calls": PYTHON_CALLS}
