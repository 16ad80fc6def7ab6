"""Lesson 07: an addition here and on a pretend T4, and the exercise that works it out."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from math import log
from statistics import median_high

from accel_helpers._values.words import format_count, format_rate, format_seconds, percent
from accel_helpers.course.checks import FunctionCheck
from accel_helpers.machine import backend, hardware
from accel_helpers.measure import pictures
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.pictures import plot
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


def add_seconds(
    numbers: int,
    launch: float,
    bandwidth: float,
    link: float | None = None,
    *,
    in_memory: int = 8,
    over_link: int = 8,
    launches: int = 1,
    moves: Callable = sum,
    everything: Callable = sum,
) -> float:
    """Return the seconds of one addition, as the lesson's exercise asks for them.

    Parameters
    ----------
    numbers : int
        How many float32 numbers get something added.
    launch : float
        The seconds to launch the one operation.
    bandwidth, link : float
        Bytes a second of the chip's memory, and of the link to it; without a link (None) the
        numbers are on the chip, and the answers stay there.
    in_memory, over_link, launches, moves, everything
        What slips change: the bytes for each number (4 read and 4 written, or 4 there and 4 back),
        how often is launched, and what is made of the times of all moves, and of the launch and
        these.
    """
    times = [in_memory * numbers / bandwidth]
    if link is not None:
        times.append(over_link * numbers / link)
    return everything([launches * launch, moves(times)])


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
        seconds[numbers] = add_seconds(numbers, launch, bandwidth, link)
    return seconds


def crossing(cpu: Curve, chip: Curve) -> float | None:
    """Return the size from which on a chip is faster than the CPU at every larger size.

    Faster is what differs by more than `APART`. The size is read off between the two curves, on
    logarithmic scales, and need not be one that was timed. It is the smallest size where the chip
    is faster at all of them, and None where it is not faster at the largest. Only sizes that are in
    both curves count: there must be one.
    """
    sizes = sorted(set(cpu) & set(chip))
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


_LONGEST = (
    "You take the longest of the times in place of their sum.",
    "They come one after the other: the launch, the link, the memory. Add them up.",
)


class Seconds(FunctionCheck):
    # In the last one the launch is the longest, and the memory is slower than the link.
    cases = [(1_000, 1e-6, 8e9, 4e9), (10**8, 12e-5, 320e9, 15.75e9), (10, 1e-6, 4e9, 8e9)]
    edges = [(1_000, 1e-6, 8e9, None)]
    at_edges = "Without a link (None) nothing is sent anywhere."
    hint = "Seconds: launch, plus bytes / bandwidth; with a link, bytes / link on top."
    right = "With a link, nearly all of a large addition is the transfer."
    slips = (
        (
            {"in_memory": 4, "over_link": 4},
            "You move 4 bytes for a number throughout.",
            "In memory it is read and the answer is written. Over the link go both, too.",
        ),
        (
            {"in_memory": 1, "over_link": 1},
            "You divide numbers by bytes per second.",
            "Turn them into bytes first: 4 are read for each number, and 4 are written.",
        ),
        (
            {"in_memory": 2, "over_link": 2},
            "You count each number as one byte.",
            "A float32 number has 4 bytes.",
        ),
        (
            {"in_memory": 0},
            "With a link you count the link alone.",
            "On the card the numbers are still read from its memory, "
            "and the answers written to it.",
        ),
        (
            lambda n, launch, bandwidth, link: add_seconds(n, launch, bandwidth + link),
            "You add up the two speeds.",
            "The bytes go over the link, and then through the memory: add up the two times.",
        ),
        (
            {"in_memory": 4},
            "In memory you move 4 bytes for a number.",
            "It is read, and the answer is written: 4 bytes each.",
        ),
        (
            {"over_link": 4},
            "You use the link one way only.",
            "Over the link go 4 bytes for each number, and 4 come back.",
        ),
        (
            {"over_link": 0},
            "The link makes no difference to your answer.",
            "If `link` is not None, all numbers come over it first, and the answers go back.",
        ),
        (
            {"launches": 0},
            "Launching is missing.",
            "The chip has to be told before anything moves: add `launch`, once.",
        ),
        ({"everything": max}, *_LONGEST),
        ({"moves": max}, *_LONGEST),
        ({"everything": max, "moves": max}, *_LONGEST),
        (
            lambda n, launch, bandwidth, link: max(launch, 8 * n / bandwidth) + 8 * n / link,
            *_LONGEST,
        ),
        (
            {"launches": 2},
            "You count `launch` twice.",
            "It is one addition, launched once.",
        ),
        (
            lambda n, launch, *speeds: add_seconds(n, n * launch, *speeds),
            "You launch every number.",
            "It is one addition, launched once, however many numbers there are.",
        ),
    )


CHECKS = {"07/seconds": Seconds(add_seconds)}


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
    would = f"{chip} adds"
    if chip == CPU:
        estimates = {PRETEND: pretend(lines[CPU]), SENT: pretend(lines[CPU], LINK)}
        chip, would = PRETEND, "a T4 would probably add"
    lines |= estimates
    size = crossing(lines[CPU], lines[chip])
    most = format_count(max(lines[CPU]))
    title = f"Up to {most} numbers, your CPU is faster"
    marks = {}
    if size is not None:
        rounded = format_count(float(f"{size:.1g}"))
        title = f"From about {rounded} numbers on, {would} faster, if it has them"
        # The nearest size that was timed says how high the mark is.
        nearest = min(lines[CPU], key=lambda numbers: abs(log(numbers / size)))
        seconds = _seconds(lines[CPU][nearest])
        marks[f"about {rounded}"] = (size, seconds)
    x = ("numbers", _size)
    y = ("time", format_seconds)
    dashed = list(estimates)
    return pictures.lines(lines, x, y, title=title, log=True, dashed=dashed, marks=marks)


def _size(numbers: float) -> str:
    """Return a count as an axis shows it: "300", "1k", "4M"."""
    if numbers < 1e3:
        return f"{numbers:.0f}"
    return format_rate(numbers, "").replace(" ", "")


# The point of the roofline that its title is about.
STEP = "training step"


def roof(found: Mapping) -> pictures.Picture:
    """Draw points under the roof that was measured, and that of the same chip's data sheet."""
    points = found["points"]
    memory = found["roof"]["memory"]
    compute = found["roof"]["compute"]
    each, rate = points[STEP]
    limit = min(compute, each * memory)
    reached = percent(rate / limit)
    name = backend.device_name(backend.devices()[-1])
    chip = hardware.match(name)
    if chip is None or not hardware.peak(chip, "float32") or not chip.mem_bw_gb_s:
        chip = hardware.match("Tesla T4")
    roofs = {"yours, measured": (memory, compute)}
    bandwidth = 1e9 * chip.mem_bw_gb_s
    peak = 1e12 * hardware.peak(chip, "float32")
    roofs[f"{chip.name}, data sheet"] = (bandwidth, peak)
    title = f"The {STEP} reaches {reached} of what the roof allows"
    return pictures.roofline(points, roofs, title=title, step=STEP)


PICTURES = {"adding": adding, "parts": plot, "roofline": roof}
