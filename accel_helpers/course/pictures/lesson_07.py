"""The pictures of lesson 07: additions by size, and the roofline; the rest is only kept."""

import re
from collections.abc import Mapping

from accel_helpers import plots
from accel_helpers._values.words import percent
from accel_helpers.course.lessons import lesson_07
from accel_helpers.course.outcomes import device_kind
from accel_helpers.course.pictures.kinds import Kept, Kind, by_name, lesson_of
from accel_helpers.machine import backend, hardware
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.results import Card

# The point of the roofline that its title is about.
STEP = "training step"


def on_the_device(path: str) -> str:
    """Return the path of what this machine's best device measured: "07/roofline" -> "07/gpu"."""
    lesson = lesson_of(path)
    best_device = backend.devices()[-1]
    return f"{lesson}/{best_device}"


# --- adding: the time of an addition by its size, on each device --------------------------------

# The name of an addition's time on a card, such as "07/gpu/add/1000000".
ADDITION = re.compile(r"(?P<lesson>\d+)/(?P<device>cpu|gpu)/add/(?P<size>\d+)")
# The time of an addition by its size.
Curve = dict[int, Measurement]


def keep_added(curves: Mapping[str, Curve], path: str) -> Kept:
    """Return what a card keeps: every time, and that of the largest size once more.

    `curves` are by the name of the device, such as "gpu:0". A time is named "07/gpu/add/1000", the
    one of the largest size also "07/gpu/add", and that size "07/gpu/add/size".
    """
    lesson = lesson_of(path)
    times = {}
    numbers = {}
    for device, curve in curves.items():
        kind = device_kind(device)
        start = f"{lesson}/{kind}/add"
        for size, time in curve.items():
            times[f"{start}/{size}"] = time
        largest = max(curve)
        times[start] = curve[largest]
        numbers[f"{start}/size"] = (largest,)
    return times, numbers


def added_on(card: Card, path: str) -> dict[str, Curve]:
    """Return the curves that a card has of its CPU and its GPU, each in ascending sizes.

    They are by the names that the picture has for the devices: "the CPU", "the Tesla T4".
    """
    lesson = lesson_of(path)
    curves = {}
    for name, time in card.measurements.items():
        match = ADDITION.fullmatch(name)
        if match is None or match["lesson"] != lesson:
            continue
        curve = curves.setdefault(match["device"], {})
        size = int(match["size"])
        curve[size] = time
    lines = {}
    for device in sorted(curves):
        by_size = sorted(curves[device].items())
        name = line_name(card, device)
        lines[name] = dict(by_size)
    return lines


def line_name(card: Card, device: str) -> str:
    """Return the name that a card's device, "cpu" or "gpu", has in the picture.

    It is "the CPU"; or "the Tesla T4", and "the GPU" where the card does not name it.
    """
    if device == "cpu":
        return lesson_07.CPU
    # A machine may have a GPU whose name nobody wrote down.
    accelerator = card.machine.get("accelerator") or {}
    chip = accelerator.get("name", "GPU")
    return f"the {chip}"


def named(curves: Mapping[str, Curve]) -> dict[str, Curve]:
    """Return the same curves, by the names that their devices have in the picture.

    "cpu:0" -> "the CPU", and "gpu:0" -> "the Tesla T4".
    """
    lines = {}
    for device, curve in curves.items():
        kind = device_kind(device)
        name = backend.device_name(kind)
        # A CPU has an empty name.
        label = lesson_07.CPU
        if name:
            label = f"the {name}"
        lines[label] = curve
    return lines


def draw_adding(data, title, reference):
    """Draw the curves of `named`; the picture makes its own title of them."""
    return lesson_07.adding(data, reference=reference)


def adding_needs(path: str) -> list[str]:
    """Return the names that a reference card must have: of another machine its CPU is enough."""
    lesson = lesson_of(path)
    return [f"{lesson}/cpu/add"]


ADDING = Kind(
    draw=draw_adding,
    measured=keep_added,
    needs=adding_needs,
    restored=added_on,
    data=named,
)

# --- roofline: {"roof": {"memory": .., "compute": ..}, "points": {name: (FLOP per byte, FLOP/s)}} -


def keep_roof(result: Mapping, path: str) -> Kept:
    """Return what a card keeps: the points, by names that begin with the path."""
    return {}, {f"{path}/{name}": tuple(point) for name, point in result["points"].items()}


def draw_roofline(data, title, reference):
    """Draw points under the measured roof, and dashed the published roof of the same chip.

    Without a GPU the published roof is a T4's. The title says how much of the measured roof the
    training step reaches.
    """
    points, roof = data["points"], data["roof"]
    each, rate = points[STEP]
    limit = min(roof["compute"], each * roof["memory"])
    reached = "all" if rate >= limit else percent(rate / limit)
    finding = f"The {STEP} reaches {reached} of what the roof allows"
    device_name = backend.device_name(backend.devices()[-1])
    chip = hardware.match(device_name or "Tesla T4")
    return plots.roofline(points, roof, published=chip, title=finding)


ROOFLINE = Kind(draw=draw_roofline, measured=keep_roof)

# --- what is kept, and never drawn --------------------------------------------------------------


def keep_queue(race: Speedup, path: str) -> Kept:
    """Return what a card keeps: both sides of a race, as "07/gpu/queue/one operation"."""
    _, _, name = path.rpartition("/")
    start = on_the_device(path)
    return by_name(race, f"{start}/{name}"), {}


def keep_transfer(race: Speedup, path: str) -> Kept:
    """Return what a card keeps: both sides of a race, as "07/gpu/sent"; it is run on GPUs alone."""
    lesson = lesson_of(path)
    return by_name(race, f"{lesson}/gpu"), {}


def keep_steps(times: Mapping[int, Measurement], path: str) -> Kept:
    """Return what a card keeps: the times of a step, as "07/gpu/step/32" with the batch size."""
    start = on_the_device(path)
    measurements = {f"{start}/step/{batch_size}": time for batch_size, time in times.items()}
    return measurements, {}


# All three are kept, and never drawn.
QUEUE = Kind(measured=keep_queue)
TRANSFER = Kind(measured=keep_transfer)
STEPS = Kind(measured=keep_steps)

KINDS: dict[str, Kind] = {
    "adding": ADDING,
    "roofline": ROOFLINE,
    "queue": QUEUE,
    "transfer": TRANSFER,
    "steps": STEPS,
}
