"""The pictures of lesson 07: additions by size, and the roofline; the rest is only kept."""

import re
from collections.abc import Mapping
from dataclasses import replace

from accel_helpers import plots
from accel_helpers._values.words import percent
from accel_helpers.course.lessons import lesson_07
from accel_helpers.course.outcomes import device_kind
from accel_helpers.course.pictures.kinds import Kind, numbers_under
from accel_helpers.machine import backend, hardware
from accel_helpers.measure.ceilings import Ceilings
from accel_helpers.measure.measurement import Speedup
from accel_helpers.measure.results import Card
from accel_helpers.plots import style

STEP = "training step"  # the point of the roofline that its title is about


def lesson_of(path: str) -> str:
    return path.partition("/")[0]


def on_the_device(path: str) -> str:
    """Where a card has what was measured on this machine's best device: "07/gpu"."""
    return f"{lesson_of(path)}/{backend.devices()[-1]}"


# --- adding: the time of an addition by its size, on each device --------------------------------


def added(curves: Mapping, path: str):
    """Every size, and the largest one once more under a name of its own."""
    times, numbers = {}, {}
    for device, curve in curves.items():
        start = f"{lesson_of(path)}/{device_kind(device)}/add"
        largest = max(curve)
        times |= {f"{start}/{size}": time for size, time in curve.items()}
        times[start] = curve[largest]
        numbers[f"{start}/size"] = (largest,)
    return times, numbers


def added_on(card: Card, path: str) -> dict[str, dict]:
    """The curves of a card: of its CPU, and of its GPU if it has one."""
    curves = {}
    for name, time in card.measurements.items():
        found = re.fullmatch(rf"{lesson_of(path)}/(cpu|gpu)/add/(\d+)", name)
        if found:
            curves.setdefault(found[1], {})[int(found[2])] = time
    chip = (card.machine.get("accelerator") or {}).get("name", "GPU")
    names = {"cpu": lesson_07.CPU, "gpu": f"the {chip}"}
    return {names[kind]: dict(sorted(curves[kind].items())) for kind in sorted(curves)}


def named(curves: Mapping) -> dict[str, dict]:
    """The same curves, with the names of the devices as a picture shows them."""
    lines = {}
    for device, curve in curves.items():
        name = backend.device_name(device_kind(device))
        lines[f"the {name}" if name else lesson_07.CPU] = curve
    return lines


ADDING = Kind(
    draw=lambda data, title, reference: lesson_07.adding(data, reference=reference),
    measured=added,
    needs=lambda path: [f"{lesson_of(path)}/cpu/add"],  # of another machine its CPU is enough
    restored=added_on,
    data=named,
)

# --- roofline: {"roof": Ceilings, "points": {name: (operations per byte, per second)}} ----------


def roof_measured(result: Mapping, path: str):
    """The best rates by the names that the claims read, and the points under the roof."""
    start = on_the_device(path)
    times, numbers = result["roof"].record_as(start)
    for product in result["roof"].products:
        side = (round((product.work / 2) ** (1 / 3)),)
        numbers[f"{start}/product {product.dtype}/size"] = side
        if product.dtype == "float32":
            numbers[f"{start}/product/size"] = side
    for name, point in result["points"].items():
        numbers[f"{path}/{name}"] = tuple(point)
    return times, numbers


def roof_needs(path: str) -> list[str]:
    roof = [f"{on_the_device(path)}/{rate} float32" for rate in ("product", "copy")]
    return [*roof, *(f"{name}/work" for name in roof), f"{path}/{STEP}"]


def roof_on(card: Card, path: str):
    start, device = on_the_device(path), backend.devices()[-1]
    roof = Ceilings.from_card(card.measurements, card.numbers, start, device)
    return numbers_under(card, path), in_float32(roof)


def in_float32(roof: Ceilings) -> Ceilings:
    """The roof by its fastest calls, as the points are, and without the other number formats."""
    products = tuple(each for each in roof.fastest.products if each.dtype == "float32")
    return replace(roof.fastest, products=products)


def draw_roofline(own, title, reference):
    """The points under the measured roof; dashed the published one, a T4's where no GPU is."""
    (shown, *_), *_ = style.sides(own, reference)[0]
    points, roof = shown
    intensity, rate = points[STEP]
    share = rate / min(roof.products[0].rate, intensity * roof.copy.rate)
    reached = percent(share) if share < 1 else "all"
    finding = f"The {STEP} reaches {reached} of what the roof allows"
    chip = hardware.match(backend.device_name(roof.device) or "Tesla T4")
    return plots.roofline(*own, published=chip, title=finding, reference=reference)


ROOFLINE = Kind(
    draw=draw_roofline,
    measured=roof_measured,
    needs=roof_needs,
    restored=roof_on,
    data=lambda result: (result["points"], in_float32(result["roof"])),
)

# --- what is kept, and never drawn --------------------------------------------------------------


def queued(race: Speedup, path: str):
    start = f"{on_the_device(path)}/{path.rpartition('/')[2]}"
    return {f"{start}/{each.name}": each for each in (race.slow, race.fast)}, {}


def transferred(race: Speedup, path: str):
    start = f"{lesson_of(path)}/gpu"  # the page times it there alone
    return {f"{start}/{each.name}": each for each in (race.slow, race.fast)}, {}


def steps(result: Mapping, path: str):
    start = f"{on_the_device(path)}/step"
    return {f"{start}/{batch_size}": time for batch_size, time in result.items()}, {}


KINDS: dict[str, Kind] = {
    "adding": ADDING,
    "roofline": ROOFLINE,
    "queue": Kind(measured=queued),
    "transfer": Kind(measured=transferred),
    "steps": Kind(measured=steps),
}
