"""Lesson 07: an addition here and on a pretend T4, a step and its roof, and two chips' memories."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from math import log
from pathlib import Path
from statistics import median_high

from accel_helpers._values import records
from accel_helpers._values.words import format_count, format_rate, format_seconds, percent
from accel_helpers.course.checks import FunctionCheck
from accel_helpers.machine import backend, hardware
from accel_helpers.measure import pictures
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.timing import APART
from accel_helpers.worth import step_time

# Seconds to launch an operation on a GPU, fitted to published timings.
LAUNCH = step_time.fitted().constants["operation_inference"]
# Bytes a second of PCIe 3.0: 16 lanes of 8 Gbit/s each, of whose bits 128 of 130 are data.
LINK = 8e9 * 16 * 128 / 130 / 8
# So many of the smallest sizes take the launch overhead alone.
FLAT = 4
# The time of one addition by how many numbers it adds: measured, or in seconds where estimated.
Curve = Mapping[int, Measurement | float]


def roof_seconds(
    flops: float,
    moved: float,
    peak: float,
    bandwidth: float,
    overhead: float,
    *,
    both: Callable = max,
    everything: Callable = sum,
    launched: bool = True,
) -> float:
    """Return the least seconds of a step on a chip, as the lesson's exercise asks for them.

    Parameters
    ----------
    flops, moved : float
        The additions and multiplications of the step, and the bytes that it moves.
    peak, bandwidth : float
        So many of each the chip can do in a second.
    overhead : float
        The seconds of launching, which overlap with neither.
    both, everything, launched
        What slips change: what is made of computing and moving, and of that and the overhead; and
        whether the overhead counts at all.
    """
    work = both([flops / peak, moved / bandwidth])
    return everything([launched * overhead, work])


def pretend(cpu: Mapping[int, Measurement], link: float | None = None) -> dict[int, float]:
    """Estimate the CPU's additions on a T4 that nobody timed, from its data sheet.

    The launch overhead of both chips holds the same Python and framework. So a T4's is either
    what was fitted to published timings or, if that is longer, what this machine takes: one of
    them, and never their sum. This machine's is the median of the smallest sizes, the upper one of
    two, so that noise among them is neither a launch nor a gain.

    Parameters
    ----------
    cpu : mapping of int to Measurement
        The CPU's times by how many numbers are added.
    link : float, optional
        Bytes a second over which the numbers come and the answers go back; by default neither.

    Returns
    -------
    dict of int to float
        The seconds on a T4, by how many numbers are added.
    """
    smallest_sizes = sorted(cpu)[:FLAT]
    smallest_times = [cpu[numbers].median for numbers in smallest_sizes]
    launch = max(LAUNCH, median_high(smallest_times))
    chip = hardware.match("T4")
    bandwidth = 1e9 * chip.mem_bw_gb_s
    seconds = {}
    for numbers in sorted(cpu):
        moved = 8 * numbers  # bytes: of each number 4 are read, and 4 written
        seconds[numbers] = launch + moved / bandwidth
        if link is not None:
            seconds[numbers] += moved / link
    return seconds


def crossing(cpu: Curve, chip: Curve) -> float | None:
    """Return the size from which on a chip is faster than the CPU at every larger size.

    Faster is what differs by more than `APART`. The size is read off between the two curves, on
    logarithmic scales, and need not be one that was timed. It is the smallest size where the chip
    is faster at all of them, and None where it is not faster at the largest. The chip's curve has
    every size of the CPU's.
    """
    sizes = sorted(cpu)
    gains = []
    for size in sizes:
        cpu_seconds = _seconds(cpu[size])
        chip_seconds = _seconds(chip[size])
        # Above zero where the chip is faster by more than counts as no difference.
        gain = log(cpu_seconds / chip_seconds / (1 + APART))
        gains.append((size, gain))
    _, last_gain = gains[-1]
    if last_gain <= 0:
        return None
    crossing_size = sizes[0]
    for (small, small_gain), (large, large_gain) in pairwise(gains):
        # The last such pair counts, so that the chip is faster from there on.
        if small_gain <= 0 < large_gain:
            # Where a straight line between the two is zero, on logarithmic scales.
            share = small_gain / (small_gain - large_gain)
            crossing_size = small * (large / small) ** share
    return crossing_size


def _seconds(time: Measurement | float) -> float:
    """Return the median of a measurement in seconds, or a number as it is."""
    return getattr(time, "median", time)


class Roof(FunctionCheck):
    # Compute is the limit, then memory, and then overhead is the longest of the three.
    cases = [
        (8e12, 160e9, 8e12, 320e9, 0.25),
        (2e12, 320e9, 8e12, 320e9, 0.25),
        (2e7, 4e6, 8e12, 320e9, 4e-4),
    ]
    hint = "Seconds are an amount divided by what one second does: flops / peak."
    right = "Where overhead is the largest part, a faster chip hardly helps."
    slips = (
        (
            {"both": sum},
            "You add up computing and moving.",
            "They overlap: while one part is computed, the next is moved. Which one decides?",
        ),
        (
            {"both": min},
            "You take the shorter of computing and moving.",
            "The step isn't done before both are.",
        ),
        (
            {"everything": max},
            "You count the overhead only where it is the longest.",
            "It overlaps with nothing: add it to the longer of the two.",
        ),
        (
            {"launched": False},
            "The overhead is missing.",
            "The step has to be launched as well: add `overhead`.",
        ),
        (
            lambda flops, moved, peak, bandwidth, overhead: roof_seconds(
                peak, bandwidth, flops, moved, overhead
            ),
            "You divide the wrong way round.",
            "A hundred bytes at ten a second take 100 / 10 seconds.",
        ),
        (
            lambda flops, moved, peak, bandwidth, overhead: roof_seconds(
                flops, moved, bandwidth, peak, overhead
            ),
            "You have swapped `peak` and `bandwidth`.",
            "FLOP go with `peak`, and bytes with `bandwidth`.",
        ),
    )


CHECKS = {"07/roof": Roof(roof_seconds)}


# The names of the lines in the picture.
CPU = "your CPU"
PRETEND = "a T4, estimated"
SENT = "a T4, estimated, with the transfer"


def adding(curves: Mapping[str, Curve]) -> pictures.Picture:
    """Draw the times of an addition by its size, by device; the crossing is marked.

    Where there is no GPU, a pretend T4 stands in, dashed.
    """
    lines = {}
    for device, curve in curves.items():
        kind, _, _ = device.partition(":")
        lines[f"your {kind.upper()}"] = curve
    estimates = {}
    chip = list(lines)[-1]
    would = f"{chip} is"
    if chip == CPU:
        estimates = {PRETEND: pretend(lines[CPU]), SENT: pretend(lines[CPU], LINK)}
        chip, would = PRETEND, "a T4 would probably be"
    lines |= estimates
    size = crossing(lines[CPU], lines[chip])
    most = format_count(max(lines[CPU]))
    title = f"Up to {most} numbers, your CPU is faster"
    marks = {}
    if size is not None:
        rounded = format_count(float(f"{size:.1g}"))
        title = f"From about {rounded} numbers on, {would} faster"
        # The nearest size that was timed says how high the mark is.
        nearest = min(lines[CPU], key=lambda numbers: abs(log(numbers / size)))
        seconds = _seconds(lines[CPU][nearest])
        marks[f"about {rounded}"] = (size, seconds)
    x = ("numbers", _size)
    y = ("time", format_seconds)
    return pictures.lines(lines, x, y, title=title, log=True, dashed=list(estimates), marks=marks)


def _size(numbers: float) -> str:
    """Return a count as an axis shows it: "300", "1k", "4M"."""
    if numbers < 1e3:
        return f"{numbers:.0f}"
    return format_rate(numbers, "").replace(" ", "")


# The point of the roofline that its title is about.
STEP = "training step"


def roof(found: Mapping) -> pictures.Picture:
    """Draw points under the best that was measured, and under the chip's data sheet."""
    points = found["points"]
    # The best of all, so that no point lies above the roof.
    memory = max(found["bandwidth"], *(rate / each for each, rate in points.values()))
    compute = max(rate for _, rate in points.values())
    each, rate = points[STEP]
    limit = min(compute, each * memory)
    reached = percent(rate / limit)
    device = backend.devices()[-1]
    kind, _, _ = device.partition(":")
    name = backend.device_name(device)
    chip = hardware.match(name)
    if hardware.roof(chip) is None:
        chip = hardware.match("Tesla T4")
    own = f"your {kind.upper()}"
    roofs = {own: (memory, compute), f"{chip.name}, data sheet": hardware.roof(chip)}
    title = f"The {STEP} reaches {reached} of {own}'s roof"
    return pictures.roofline(points, roofs, title=title, step=STEP)


def contrast(steps: Mapping[str, Mapping[str, float]]) -> pictures.Picture:
    """Draw a step's roof above the step, of which the title says what it mostly is, and others."""
    _, small, *_ = steps.values()
    share = pictures.largest(small, "a T4's step of 32")
    title = f"By forecast, {share}"
    return pictures.bars(steps, title=title)


MEMORIES = Path(__file__).parents[1] / "data" / "memories.toml"
# What is in a row of the picture, from above: arithmetic, three near memories, one far, the link.
ROWS = ("#56B4E9", *3 * ["#C9DFF0"], "#F5D5B8", "white")


def memories() -> pictures.Picture:
    """Draw the memories of a GPU and of a TPU, from the arithmetic down to the computer's."""
    texts = []
    title = "Near the arithmetic: megabytes. Further away: gigabytes"
    with pictures.drawing(title, 4) as axes:
        axes.set_axis_off()
        axes.set(xlim=(-0.5, 1.5), ylim=(5.5, -0.8))
        for column, (chip, found) in enumerate(records.load(MEMORIES).items()):
            axes.text(column, -0.6, chip, ha="center", weight="bold")
            texts.append(chip)
            for memory in found:
                texts.append(_draw_memory(axes, column, memory))
        return pictures.finished(axes.figure, texts)


def _draw_memory(axes, column: int, memory: Mapping) -> str:
    """Draw a memory as a box that is the wider the more it holds, and return its words."""
    row = memory["row"]
    width = 0.9
    if "bytes" in memory:
        # On a logarithmic scale, from a kilobyte to 16 GB.
        width *= log(memory["bytes"] / 1e3) / log(16e6)
    high = memory.get("high", 1)
    top = row - high / 2 + 0.2
    axes.bar(column, high - 0.4, width, top, color=ROWS[round(row)], ec=pictures.GREY)
    words = f"{memory['name']}\n{memory['size']}".strip()
    middle = {"ha": "center", "va": "center"}
    axes.text(column, row, words, **middle)
    if "gb_s" in memory:
        speed = format_rate(1e9 * memory["gb_s"], "B/s")
        axes.text(column, row - high / 2, f"↕ {speed}", size=8.5, **middle)
        words = f"{words}, {speed}"
    return words.replace("\n", " ")


PICTURES = {
    "adding": adding,
    "memories": memories,
    "contrast": contrast,
    "roofline": roof,
}
