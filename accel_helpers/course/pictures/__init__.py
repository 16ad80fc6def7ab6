"""The pictures of the lessons, by the name that a place's `picture` has.

Each is drawn of a lesson's result, under a title; it is the course's own where there is no result.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from accel_helpers import plots
from accel_helpers._values.words import format_seconds, percent
from accel_helpers.course.lessons import lesson_00, lesson_01, lesson_04, lesson_06, lesson_07
from accel_helpers.course.outcomes import device_kind
from accel_helpers.course.pictures.climb_picture import climb
from accel_helpers.machine import backend, hardware
from accel_helpers.measure import scores
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.scores import Score
from accel_helpers.plots import style
from accel_helpers.plots.style import Picture
from accel_helpers.train.epochs import FitTiming

# The point of the roofline that its title is about.
STEP = "training step"


def answer(result, title: str) -> Picture:
    """The answer to the course's question."""
    return lesson_00.answer()


def dialog(result, title: str) -> Picture:
    """The menu and the dialog of 01."""
    return lesson_01.dialog()


def rates(judged, title: str) -> Picture:
    """The rates that `judge` returned; the picture makes its own title of them."""
    return lesson_01.rates(judged)


def epochs(timing: FitTiming, title: str) -> Picture:
    """The seconds of every epoch of a training, the first one apart."""
    return plots.epochs(timing.epochs, title=title)


def measurements(result, title: str) -> Picture:
    """Measurements below each other: both sides of a comparison, or several."""
    if isinstance(result, Speedup):
        result = [result.slow, result.fast]
    return plots.measurements(result, title=title)


def by_part(result) -> dict[str, float]:
    """Return the seconds of each part, from `StepParts`, a `Profile` or from such a mapping."""
    return dict(getattr(result, "seconds", result))


def parts(result, title: str) -> Picture:
    """The bar of a step."""
    return plots.parts(by_part(result), title=title)


def profile(result, title: str) -> Picture:
    """The bar of an epoch, as `profile_fit` takes it apart."""
    return plots.epoch_parts(by_part(result), title=title)


def bars(result: Mapping, title: str) -> Picture:
    """The same parts of several steps, one below the other."""
    steps = {name: by_part(step) for name, step in result.items()}
    return plots.bars(steps, title=title)


def losses(result: Mapping, title: str) -> Picture:
    """The losses of a training, of which `result` has one for each epoch under "loss"."""
    return lesson_04.losses_picture({"yours": list(result["loss"])}, title=title)


def memory(steps, title: str) -> Picture:
    """What stored answers of the compiler need of a chip's memory."""
    return lesson_04.memory_picture(steps, title=title)


def crossing(found, title: str) -> Picture:
    """From which length of the training on another machine pays."""
    return plots.break_even(found, title=title)


def useful_cells(shares, title: str) -> Picture:
    """The useful cells of a matrix unit, over a product's size."""
    return lesson_06.useful_cells(shares, title=title)


def adding(curves: Mapping[str, Mapping[int, Measurement]], title: str) -> Picture:
    """The times of additions by their size; the picture makes its own title of them."""
    lines = {}
    for device, curve in curves.items():
        name = backend.device_name(device_kind(device))
        # A CPU has an empty name.
        label = f"the {name}" if name else lesson_07.CPU
        lines[label] = curve
    return lesson_07.adding(lines)


def roofline(result: Mapping, title: str) -> Picture:
    """Points under the measured roof, and dashed the published roof of the same chip, or a T4's.

    The title says how much of the measured roof the training step reaches.
    """
    points, roof = result["points"], result["roof"]
    each, rate = points[STEP]
    limit = min(roof["compute"], each * roof["memory"])
    reached = "all" if rate >= limit else percent(rate / limit)
    finding = f"The {STEP} reaches {reached} of what the roof allows"
    device_name = backend.device_name(backend.devices()[-1])
    chip = hardware.match(device_name or "Tesla T4")
    return plots.roofline(points, roof, published=chip, title=finding)


def chain(times: Mapping[str, Mapping[int, Measurement]], title: str) -> Picture:
    """The time of a chain of operations over its length; the title gains what NumPy and XLA take.

    `times` are by what computed the chain, "NumPy" and "XLA" among them, and then by its length.
    """
    numpy, xla = (style.short(_growth(times[name])) for name in ("NumPy", "XLA"))
    finding = f"{title}: NumPy takes {numpy} times as long, XLA {xla} times"
    x = ("operations in the chain", style.plain)
    y = ("time of a call", format_seconds)
    return plots.curves(times, title=finding, x=x, y=y, log=True)


def _growth(line: Mapping[int, Measurement]) -> float:
    """Return how many times as long as the shortest chain the longest one takes, by medians."""
    return line[max(line)].median / line[min(line)].median


def prepared(right: Mapping[str, Sequence[bool]], title: str) -> Picture:
    """Which share of a model's answers is right, by how the images were prepared."""
    shares = {}
    intervals = {}
    for name, answers in right.items():
        count = int(sum(answers))
        shares[name] = [count / len(answers)]
        intervals[name] = scores.wilson(count, len(answers))
    return plots.shares(shares, intervals, title=title, start=70)


def ladder(models: Sequence[Score], title: str) -> Picture:
    """Models, each one change away from the one before."""
    accuracies = {score.name: score.by_seed for score in models}
    changes = {}
    for before, after in pairwise(models):
        changes[after.name] = scores.change(before, after).numbers()
    return plots.ladder(accuracies, changes, title=title)


PICTURES: dict[str, Callable[..., Picture]] = {
    "answer": answer,
    "dialog": dialog,
    "rates": rates,
    "epochs": epochs,
    "measurements": measurements,
    "parts": parts,
    "profile": profile,
    "bars": bars,
    "climb": climb,
    "losses": losses,
    "memory": memory,
    "crossing": crossing,
    "useful cells": useful_cells,
    "adding": adding,
    "roofline": roofline,
    "chain": chain,
    "prepared": prepared,
    "ladder": ladder,
}
