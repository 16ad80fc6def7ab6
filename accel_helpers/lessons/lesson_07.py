"""Lesson 07: one operation by size, here and on a pretend T4; number formats; its exercise."""

import re
from contextlib import suppress
from functools import partial
from itertools import pairwise
from math import inf, log
from statistics import median

from accel_helpers import plots
from accel_helpers._words import format_count, format_rate, format_seconds
from accel_helpers.learn.checks import calls
from accel_helpers.machine import backend, hardware, quiet
from accel_helpers.measure import results, step_time, timing
from accel_helpers.train.training import box

CPU = "the CPU"
PRETEND, SENT = "a pretend T4 (worked out, not measured)", "a pretend T4, with sending and fetching"
START = step_time.fitted().constants["operation_inference"]  # seconds more to start on a chip
LINK = 8e9 * 16 * 128 / 130 / 8  # bytes per second of PCIe 3.0 x16: 128 of 130 bits are data
NAMED = {"add": ("Adding", "numbers"), "product": ("Product", "rows of a square matrix")}
FEWEST = 4  # sizes that make a curve
WORK = {"add": lambda n: (n, 8 * n), "product": lambda n: (2 * n**3, 8 * n**2)}  # FLOP, bytes


def by_size(what, operation, sizes, device, seconds, dtype="float32"):
    """The time of an operation on an array, by its size; a next one has to fit into the box."""
    from keras import ops, random

    curve, seconds, name = {}, box(seconds), f"07/{device}/{what}"
    for last, n in pairwise((None, *sizes)):
        if last and 20 * curve[last].median * WORK[what](n)[0] / WORK[what](last)[0] > seconds:
            break
        with backend.on(device):
            x = ops.ones(n) if what == "add" else ops.cast(random.normal((n, n)), dtype)
            limits = {"min_time": seconds / 60, "max_time": seconds / 4}
            curve[n] = timing.benchmark(partial(operation, x), **limits)
    if len(sizes) > 2:
        named = {f"{name}/{n}": each for n, each in curve.items()}
        named |= {name: curve[max(curve)]} if what == "add" else {}
        results.keep(name, named, {f"{name}/size": (max(curve),)})
    return curve


def formats(operation, curve, device, seconds):
    """The largest product in three number types; one that fails or crawls is left out."""
    n, times = max(curve), {"float32": curve[max(curve)]}  # timed already, if it is too slow now
    for dtype in ("float32", "bfloat16", "float16"):
        with quiet.held_back(), suppress(Exception):  # a failure lets out what is held back
            times[dtype] = by_size("product", operation, (n // 2, n), device, seconds, dtype)[n]
    results.keep("07", {f"07/{device}/product {dtype}": time for dtype, time in times.items()})
    return times


def pretend(what, cpu, link=inf):
    """The curve of a T4 that nobody timed: to start as it takes here, a moment more, its best.

    In the flat part each size takes that moment more than here; the others begin like its middle.
    """
    chip = hardware.match("T4")
    flat = {n: cpu[n].median for n in sorted(cpu)[:3]}
    begin = {n: START + flat.get(n, median(flat.values())) for n in cpu}
    peak, bandwidth = 1e12 * hardware.peak(chip), 1e9 * chip.mem_bw_gb_s
    work = ((n, *WORK[what](n)) for n in cpu)
    return {
        n: begin[n] + max(flop / peak, byte / bandwidth) + byte / link for n, flop, byte in work
    }


def crossing(one, other):
    """The size from which on the other takes less time at every larger one; None if it never is."""
    one, other = ({n: log(getattr(t, "median", t)) for n, t in of.items()} for of in (one, other))
    gain = [(n, one[n] - other[n]) for n in sorted({*one} & {*other})]
    turns = [a * (b / a) ** (x / (x - y)) for (a, x), (b, y) in pairwise(gain) if x <= 0 < y]
    return (turns or [gain[0][0]])[-1] if gain[-1][1] > 0 else None


def their_curves(what, runs=None):
    """An operation on the newest CPU of the reference runs, and on every GPU; or None.

    The label has each machine, since the lines come from several.
    """
    found, machines = {}, {}
    for card in results.reference_runs() if runs is None else runs:
        keys = [re.fullmatch(rf"07/(cpu|gpu)/{what}/(\d+)", key) for key in card.measurements]
        curves = {}
        for n, kind, key in sorted((int(key[2]), key[1], key[0]) for key in keys if key):
            curves.setdefault(kind, {})[n] = card.measurements[key]
        for kind, curve in curves.items():
            name = CPU if kind == "cpu" else f"the {card.label}"
            if len(curve) >= FEWEST:
                found[name], machines[name] = curve, card.label
    if CPU not in found:
        return None
    return results.Reference(found, "; ".join(dict.fromkeys(machines.values())))


def sticks(what, lines, runs=None):
    """The curves of an operation, and in the title from which size on the chip takes less time."""
    theirs = their_curves(what, runs)
    first, (named, unit) = plots.style.sides(lines, theirs)[0][0][0], NAMED[what]
    cpu = first[CPU]
    grey = theirs.data if theirs else {}
    chips = {name: line for name, line in (first | grey | first).items() if name != CPU}
    said = {} if chips else {PRETEND: pretend(what, cpu), SENT: pretend(what, cpu, LINK)}
    (name, chip), *_ = (chips or said).items()
    beats, at = "a T4 might beat" if said else f"{name.split(',')[0]} beats", crossing(cpu, chip)
    size = format_count(float(f"{at:.2g}") if at else max(cpu)) + f" {unit.split()[0]}"
    title = f"from {size} on, {beats} this CPU" if at else f"the CPU wins up to {size}"
    note = f"T4: your CPU's floor + {format_seconds(START)}, then its data sheet's speed."
    look = {"y": ("time", format_seconds), "log": True, "reference": theirs}
    look["x"] = unit, lambda n: f"{n:.0f}" if n < 1e4 else format_rate(n, "").replace(" ", "")
    return plots.curves(lines, title=f"{named}: {title}", said=said, note=note * bool(said), **look)


def add_seconds(numbers, start, bandwidth, link=None):
    return start + 8 * numbers / bandwidth + (8 * numbers / link if link else 0)


_SLIPS = (
    (lambda n, s, b, k: add_seconds(n / 2, s, b, k), "You move 4 bytes for a number throughout.",
        "In memory it is read and the answer is written. Over the link go both, too."),
    (lambda n, s, b, k: add_seconds(n, s, k or b), "With a link you count the link alone.",
        "On the card the numbers are still read from its memory, and the answers written to it."),
    (lambda n, s, b, k: add_seconds(n, s, 2 * b, k), "In memory you move 4 bytes for a number.",
        "It is read, and the answer is written: 4 bytes each."),
    (lambda n, s, b, k: add_seconds(n, s, b, k and 2 * k), "You use the link one way only.",
        "Over the link go 4 bytes for each number, and 4 come back."),
    (lambda n, s, b, k: add_seconds(n, s, b), "The link makes no difference to your answer.",
        "If `link` is not None, all numbers come over it first, and the answers go back."),
    (lambda n, s, b, k: add_seconds(n, 0, b, k), "Nothing is left of the start.",
        "The chip has to be told before anything moves: add the start, once."),
    (lambda n, s, b, k: add_seconds(n, 2 * s, b, k), "You count the start twice.",
        "It is one addition, handed over once."),
)  # fmt: skip
CHECKS = {"07/seconds": calls(add_seconds, slips=_SLIPS, needs="It returns one number: seconds.",
    on=[(1_000, 1e-6, 8e9, 4e9), (10**8, 12e-5, 320e9, 15.75e9)],
    edges=[(1_000, 1e-6, 8e9, None)], at_edges="Without a link nothing is sent anywhere.",
    right="With a link, nearly all of a large addition is the way to the card and back.",
)}  # fmt: skip
