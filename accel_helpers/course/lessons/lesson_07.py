"""Lesson 07: an addition here and on a pretend T4, and the exercise that works it out."""

from collections.abc import Mapping
from itertools import pairwise
from math import log
from statistics import median_high

from accel_helpers import plots
from accel_helpers._values.words import format_count, format_rate, format_seconds
from accel_helpers.course.checks import calls
from accel_helpers.course.slips import Slips
from accel_helpers.machine import hardware
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.timing import APART
from accel_helpers.plots.style import Picture
from accel_helpers.worth import step_time

# The names of the lines in the picture; that of a GPU is "the Tesla T4", for one.
CPU = "the CPU"
PRETEND = "a pretend T4 (estimated, not measured)"
SENT = "a pretend T4, with the transfer"
# Seconds to launch an operation on a GPU, fitted to published timings.
LAUNCH = step_time.fitted().constants["operation_inference"]
# Bytes a second of PCIe 3.0: 16 lanes of 8 Gbit/s each, of whose bits 128 of 130 are data.
LINK = 8e9 * 16 * 128 / 130 / 8
# So many of the smallest sizes take the launch overhead alone.
FLAT = 4
# The time of one addition by how many numbers it adds: measured, or in seconds where estimated.
Curve = Mapping[int, Measurement | float]


def add_seconds(numbers: int, launch: float, bandwidth: float, link: float | None = None) -> float:
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
    """
    # Bytes: 4 read and 4 written, or 4 there and 4 back.
    moved = 8 * numbers
    return _seconds_to_move(moved, launch, bandwidth, link)


def _seconds_to_move(moved: float, launch: float, bandwidth: float, link: float | None) -> float:
    """Return the seconds to launch, and to move `moved` bytes through the memory and then the link.

    The others are as in `add_seconds`.
    """
    seconds = launch + moved / bandwidth
    if link is not None:
        seconds += moved / link
    return seconds


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


def adding(lines: Mapping[str, Curve]) -> Picture:
    """Draw the times of an addition by its size; the title says from where on a chip is faster.

    Where there is no GPU, a pretend T4 stands in, dashed.

    Parameters
    ----------
    lines : mapping of str to mapping
        The measured curves by the name of the device: `CPU`, and "the Tesla T4" or the like.
    """
    cpu = lines[CPU]
    timed_chips = [name for name in lines if name != CPU]
    estimates = {}
    note = ""
    if timed_chips:
        name = timed_chips[0]
        title = finding(cpu, lines[name], name)
    else:
        estimates = {PRETEND: pretend(cpu), SENT: pretend(cpu, LINK)}
        title = finding(cpu, estimates[PRETEND], "")
        launch = format_seconds(LAUNCH)
        note = f"T4: {launch}, or your launch overhead if longer; then its data sheet."
    return plots.curves(
        lines,
        title=title,
        x=("numbers", _size),
        y=("time", format_seconds),
        log=True,
        said=estimates,
        note=note,
    )


def finding(cpu: Curve, chip: Curve, name: str) -> str:
    """Return the title of the picture: from which size on the chip is faster, or that the CPU is.

    `name` is that of the chip, such as "the Tesla T4"; an empty one means that its curve was
    estimated, and the title says "probably".
    """
    crossing_size = crossing(cpu, chip)
    if crossing_size is None:
        winner = "this CPU adds" if name else "this CPU would probably add"
        return f"Up to {format_count(max(cpu))} numbers, {winner} faster"
    winner = f"{name} adds" if name else "a T4 would probably add"
    rounded_size = float(f"{crossing_size:.1g}")
    return f"From about {format_count(rounded_size)} numbers on, {winner} faster"


def _size(numbers: float) -> str:
    """Return a count as an axis shows it: "300", "1k", "4M"."""
    if numbers < 1e3:
        return f"{numbers:.0f}"
    return format_rate(numbers, "").replace(" ", "")


# Wrong answers to the exercise; each takes what `add_seconds` takes, and n is its `numbers`.
_SLIPS = Slips()


@_SLIPS.add(
    "You move 4 bytes for a number throughout.",
    "In memory it is read and the answer is written. Over the link go both, too.",
)
def _half_of_all_bytes(n, launch, bandwidth, link):
    moved = 4 * n
    return _seconds_to_move(moved, launch, bandwidth, link)


@_SLIPS.add(
    "You divide numbers by bytes per second.",
    "Turn them into bytes first: 4 are read for each number, and 4 are written.",
)
def _numbers_as_bytes(n, launch, bandwidth, link):
    return _seconds_to_move(n, launch, bandwidth, link)


@_SLIPS.add("You count each number as one byte.", "A float32 number has 4 bytes.")
def _one_byte_a_number(n, launch, bandwidth, link):
    moved = 2 * n
    return _seconds_to_move(moved, launch, bandwidth, link)


@_SLIPS.add(
    "With a link you count the link alone.",
    "On the card the numbers are still read from its memory, and the answers written to it.",
)
def _link_alone(n, launch, bandwidth, link):
    if link is None:
        return add_seconds(n, launch, bandwidth)
    return add_seconds(n, launch, link)


@_SLIPS.add(
    "You add up the two speeds.",
    "The bytes go over the link, and then through the memory: add up the two times.",
)
def _sum_of_speeds(n, launch, bandwidth, link):
    if link is None:
        return add_seconds(n, launch, bandwidth)
    speed = bandwidth + link
    return add_seconds(n, launch, speed)


@_SLIPS.add(
    "In memory you move 4 bytes for a number.",
    "It is read, and the answer is written: 4 bytes each.",
)
def _half_in_memory(n, launch, bandwidth, link):
    # Half the bytes take as long as all of them at twice the speed.
    twice_as_fast = 2 * bandwidth
    return add_seconds(n, launch, twice_as_fast, link)


@_SLIPS.add(
    "You use the link one way only.",
    "Over the link go 4 bytes for each number, and 4 come back.",
)
def _one_way(n, launch, bandwidth, link):
    if link is None:
        return add_seconds(n, launch, bandwidth)
    twice_as_fast = 2 * link
    return add_seconds(n, launch, bandwidth, twice_as_fast)


@_SLIPS.add(
    "The link makes no difference to your answer.",
    "If `link` is not None, all numbers come over it first, and the answers go back.",
)
def _no_link(n, launch, bandwidth, link):
    return add_seconds(n, launch, bandwidth)


@_SLIPS.add(
    "Launching is missing.",
    "The chip has to be told before anything moves: add `launch`, once.",
)
def _no_launch(n, launch, bandwidth, link):
    return add_seconds(n, 0, bandwidth, link)


@_SLIPS.add("You count `launch` twice.", "It is one addition, launched once.")
def _two_launches(n, launch, bandwidth, link):
    overhead = 2 * launch
    return add_seconds(n, overhead, bandwidth, link)


@_SLIPS.add(
    "You launch every number.",
    "It is one addition, launched once, however many numbers there are.",
)
def _a_launch_each(n, launch, bandwidth, link):
    overhead = n * launch
    return add_seconds(n, overhead, bandwidth, link)


_WITH_LINK = [(1_000, 1e-6, 8e9, 4e9), (10**8, 12e-5, 320e9, 15.75e9)]
_WITHOUT_LINK = [(1_000, 1e-6, 8e9, None)]

CHECKS = {
    "07/seconds": calls(
        add_seconds,
        on=_WITH_LINK,
        edges=_WITHOUT_LINK,
        at_edges="Without a link (None) nothing is sent anywhere.",
        right="With a link, nearly all of a large addition is the transfer.",
        needs="It returns one number: seconds.",
        hint="launch, plus bytes / bandwidth; with a link, bytes / link on top.",
        slips=_SLIPS,
    )
}
