"""Lesson 07: one operation by size, here and on a pretend T4; number formats; its exercise."""

import re
from contextlib import suppress
from itertools import pairwise
from math import log

from accel_helpers import plots
from accel_helpers._words import format_count, format_rate, format_seconds
from accel_helpers.learn.checks import calls
from accel_helpers.machine import backend, hardware, quiet
from accel_helpers.measure import results, step_time, timing

CPU, PRETEND = "the CPU", "a pretend T4 (worked out, not measured)"
START = step_time.fitted().constants["operation_inference"]  # seconds more to start on a chip
WORK = {"add": lambda n: (n, 8 * n), "product": lambda n: (2 * n**3, 12 * n**2)}  # FLOP, bytes


def by_size(what, operation, sizes, device, seconds, dtype="float32"):
    """The time of an operation on an array, by its size; a next one has to fit into the box."""
    from keras import ops, random

    curve, box, name = {}, timing.box(seconds), f"07/{device}/{what}"
    for last, n in pairwise((None, *sizes)):
        if last and 20 * curve[last].median * WORK[what](n)[0] / WORK[what](last)[0] > box:
            break
        with backend.on(device):
            kept = [ops.ones(n) if what == "add" else ops.cast(random.normal((n, n)), dtype)]

            def run(kept=kept):
                made = operation(*kept)
                kept[0] = made if what == "add" else kept[0]  # in memory are two, and not three
                return made

            curve[n] = timing.benchmark(run, name=what, min_time=box / 60, max_time=box / 4)
    if len(sizes) > 2:
        named = {name: curve[max(curve)]} if what == "add" else {}
        named |= {f"{name}/{n}": each for n, each in curve.items()}
        results.keep(name, named, {f"{name}/size": (max(curve),)})
    return curve


def formats(operation, curve, device, seconds):
    """The largest product in three number types; one that fails or crawls is left out."""
    n, times = max(curve), {}
    for dtype in ("float32", "bfloat16", "float16"):
        with suppress(Exception), quiet.held_back():  # frameworks raise what they like
            found = by_size("product", operation, (n // 2, n), device, seconds, dtype)
            times |= {dtype: found[n]} if n in found else {}
    results.keep("07", {f"07/{device}/product {dtype}": time for dtype, time in times.items()})
    return times


def pretend(what, cpu):
    """The curve of a T4 that nobody timed: to start as it takes here, a moment more, its best."""
    chip, begin = hardware.match("T4"), START + max(cpu[n].median for n in sorted(cpu)[:3])
    peak, bandwidth = 1e12 * hardware.peak(chip), 1e9 * chip.mem_bw_gb_s
    sizes = {min(cpu) * (max(cpu) / min(cpu)) ** (i / 40) for i in range(40)} | {*cpu}
    work = {n: WORK[what](n) for n in sorted(sizes)}
    return {n: begin + max(flops / peak, moved / bandwidth) for n, (flops, moved) in work.items()}


def crossing(one, other):
    """The size from which on the other takes less time at every larger one; None if it never is."""
    one, other = ({n: log(getattr(t, "median", t)) for n, t in of.items()} for of in (one, other))
    gain = [(n, one[n] - other[n]) for n in sorted({*one} & {*other})]
    turns = [a * (b / a) ** (x / (x - y)) for (a, x), (b, y) in pairwise(gain) if x <= 0 < y]
    return (turns or [gain[0][0]])[-1] if gain[-1][1] > 0 else None


def sticks(what, lines, unit):
    """The curves of an operation, and in the title from which size on the chip takes less time."""
    theirs = {}  # of the reference run, and of every GPU that has been timed
    for card in results.reference_runs():
        at = (re.fullmatch(rf"07/(cpu|gpu)/{what}/(\d+)", key) for key in card.measurements)
        for n, kind, key in sorted((int(key[2]), key[1], key[0]) for key in at if key):
            if kind == "gpu" or card == results.reference():
                name = CPU if kind == "cpu" else f"the {card.label}"
                theirs.setdefault(name, {})[n] = card.measurements[key]
    first = plots.style.sides(lines, theirs)[0][0][0]
    chips = {name: line for name, line in (first | theirs | first).items() if name != CPU}
    said = {} if chips else {PRETEND: pretend(what, first[CPU])}
    name, chip = [*(chips or said).items()][0]
    name, at = re.split(r",| \(", name)[0], crossing(first[CPU], chip)
    found = f"From some {format_count(float(f'{at or 0:.1g}'))} {unit} on, {name} wins"
    title = found if at else f"The CPU wins up to {format_count(max(first[CPU]))} {unit}"
    note = f"Dashed: {format_seconds(START)} more to start, then a T4's published best."
    text = lambda n: f"{n:.0f}" if n < 1e4 else format_rate(n, "").strip()  # noqa: E731
    axes = {"x": (f"{unit} (log scale)", text), "y": ("time (log scale)", format_seconds)}
    look = {"said": said, "note": note * bool(said), "log": True, "reference": theirs, **axes}
    return plots.curves(lines, title=title, **look)


def floor_share(floor, bandwidth, share, each=8):
    return floor * (1 / share - 1) * bandwidth / each


_SLIPS = (
    (lambda f, b, s: floor_share(f, b, s, 4), "You move 4 bytes for a number.",
        "It is read, and the answer is written: 4 bytes each."),
    (lambda f, b, s: floor_share(f, b, s, 1), "Those are bytes.",
        "How many bytes are moved for one number, there and back?"),
    (lambda f, b, s: f / s * b / 8, "There the floor is a share of the moving alone.",
        "The whole time is floor / share. Take the floor away: what is left is moving."),
    (lambda f, b, s: f * b / 8, "There moving takes as long as the floor, whatever the share.",
        "With a share of 0.1 the moving takes nine times the floor."),
)  # fmt: skip
CHECKS = {"07/floor": calls(
    floor_share, slips=_SLIPS, needs="It returns one number: how many numbers are added to.",
    on=[(1e-6, 8e9, 0.5), (25e-6, 320e9, 0.1), (40e-6, 10e9, 0.2), (5e-6, 2e12, 0.01)],
    right="The longer the floor and the faster the memory, the larger an operation has to be.",
)}  # fmt: skip
