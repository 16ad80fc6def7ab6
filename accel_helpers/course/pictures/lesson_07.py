"""The pictures of lesson 07: additions by size, and the roofline; the rest is only kept."""

import re
from collections.abc import Mapping
from dataclasses import replace

from accel_helpers import plots
from accel_helpers._values.words import percent
from accel_helpers.course.lessons import lesson_07
from accel_helpers.course.outcomes import device_kind
from accel_helpers.course.pictures.kinds import Kept, Kind, by_name, lesson_of, numbers_under
from accel_helpers.machine import backend, hardware
from accel_helpers.measure.ceilings import Ceilings
from accel_helpers.measure.measurement import Speedup
from accel_helpers.measure.results import Card
from accel_helpers.plots import style

# The point of the roofline that its title is about.
STEP = "training step"


def on_the_device(path: str) -> str:
    """Return where a card has what this machine's best device measured, such as "07/gpu"."""
    lesson = lesson_of(path)
    best_device = backend.devices()[-1]
    return f"{lesson}/{best_device}"


# --- adding: the time of an addition by its size, on each device --------------------------------


def keep_added(curves: Mapping, path: str) -> Kept:
    """Put every size on a card, and the largest one once more under a name of its own."""
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


def added_on(card: Card, path: str) -> dict[str, dict]:
    """Return the curves of a card: of its CPU, and of its GPU if it has one."""
    lesson = lesson_of(path)
    curves = {}
    for name, time in card.measurements.items():
        match = re.fullmatch(rf"{lesson}/(cpu|gpu)/add/(\d+)", name)
        if match:
            device, size = match.groups()
            curve = curves.setdefault(device, {})
            curve[int(size)] = time
    lines = {}
    for device in sorted(curves):
        by_size = sorted(curves[device].items())
        lines[line_name(card, device)] = dict(by_size)
    return lines


def line_name(card: Card, device: str) -> str:
    """Return the name of a card's device, "cpu" or "gpu", in the picture."""
    if device == "cpu":
        return lesson_07.CPU
    # A machine may have a GPU whose name nobody wrote down.
    accelerator = card.machine.get("accelerator") or {}
    chip = accelerator.get("name", "GPU")
    return f"the {chip}"


def named(curves: Mapping) -> dict[str, dict]:
    """Return the same curves, by the names of the devices in the picture."""
    lines = {}
    for device, curve in curves.items():
        kind = device_kind(device)
        name = backend.device_name(kind)
        label = lesson_07.CPU
        if name:
            label = f"the {name}"
        lines[label] = curve
    return lines


def draw_adding(data, title, reference):
    """Draw the curves; the title is what they say."""
    return lesson_07.adding(data, reference=reference)


def adding_needs(path: str) -> list[str]:
    """Return what a reference card must have: of another machine its CPU is enough."""
    lesson = lesson_of(path)
    return [f"{lesson}/cpu/add"]


ADDING = Kind(
    draw=draw_adding,
    measured=keep_added,
    needs=adding_needs,
    restored=added_on,
    data=named,
)

# --- roofline: {"roof": Ceilings, "points": {name: (operations per byte, per second)}} ----------


def keep_roof(result: Mapping, path: str) -> Kept:
    """Put the best rates by the names that the claims read, and the points, on a card."""
    start = on_the_device(path)
    roof = result["roof"]
    times, numbers = roof.record_as(start)
    for product in roof.products:
        # A product of two matrices of n rows and columns is 2 n ** 3 operations.
        size = round((product.work / 2) ** (1 / 3))
        side = (size,)
        numbers[f"{start}/product {product.dtype}/size"] = side
        if product.dtype == "float32":
            numbers[f"{start}/product/size"] = side
    for name, point in result["points"].items():
        numbers[f"{path}/{name}"] = tuple(point)
    return times, numbers


def roof_needs(path: str) -> list[str]:
    """Return what a reference card must have."""
    start = on_the_device(path)
    needed = [f"{path}/{STEP}"]
    for rate in ("product float32", "copy float32"):
        needed.append(f"{start}/{rate}")
        needed.append(f"{start}/{rate}/work")
    return needed


def roof_on(card: Card, path: str):
    """Return the points and the roof of a card."""
    start = on_the_device(path)
    device = backend.devices()[-1]
    roof = Ceilings.from_card(card.measurements, card.numbers, start, device)
    points = numbers_under(card, path)
    return points, in_float32(roof)


def roof_data(result: Mapping):
    """Return the points and the roof of a result, as they are drawn."""
    points = result["points"]
    roof = in_float32(result["roof"])
    return points, roof


def in_float32(roof: Ceilings) -> Ceilings:
    """Return the roof of the fastest calls, as the points are, in float32 alone."""
    fastest = roof.fastest
    products = tuple(product for product in fastest.products if product.dtype == "float32")
    return replace(fastest, products=products)


def share_reached(points: Mapping, roof: Ceilings) -> str:
    """Return in words how much of what the roof allows the step reaches."""
    intensity, rate = points[STEP]
    # The arithmetic is the limit, or the memory that its numbers come from.
    memory_limit = intensity * roof.copy.rate
    limit = min(roof.products[0].rate, memory_limit)
    share = rate / limit
    if share >= 1:
        return "all"
    return percent(share)


def draw_roofline(data, title, reference):
    """Draw points under the measured roof, and dashed the published one, of a T4 without a GPU."""
    sides, _ = style.sides(data, reference)
    shown_points, shown_roof = sides[0].data
    reached = share_reached(shown_points, shown_roof)
    finding = f"The {STEP} reaches {reached} of what the roof allows"
    device_name = backend.device_name(shown_roof.device)
    chip = hardware.match(device_name or "Tesla T4")
    points, roof = data
    return plots.roofline(points, roof, published=chip, title=finding, reference=reference)


ROOFLINE = Kind(
    draw=draw_roofline,
    measured=keep_roof,
    needs=roof_needs,
    restored=roof_on,
    data=roof_data,
)

# --- what is kept, and never drawn --------------------------------------------------------------


def keep_queue(race: Speedup, path: str) -> Kept:
    """Put both sides of a race on a card, under this machine's best device."""
    _, _, name = path.rpartition("/")
    start = on_the_device(path)
    return by_name(race, f"{start}/{name}"), {}


def keep_transfer(race: Speedup, path: str) -> Kept:
    """Put both sides of a race on a card; the page runs it on a GPU alone."""
    lesson = lesson_of(path)
    return by_name(race, f"{lesson}/gpu"), {}


def keep_steps(times: Mapping, path: str) -> Kept:
    """Put the times of a step on a card, by batch size."""
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
