"""How far are the forecasts from what was measured? Rows of sources that were never fitted.

A row is left out by these rules alone, none of which sees its forecast of the whole step:

* of the same series a row with at least 4 times the batch that takes under 1.1 times as long,
  though arithmetic and memory say that it needs over half of its time for them;
* its notes or its doubt say that the benchmark did not wait for the device.
"""

import itertools
import math
import re
from collections import defaultdict
from pathlib import Path

import numpy as np

from accel_helpers.worth import step_time
from tools import forecast as tool

MEASURED = Path(__file__).with_name("measured.csv")
KINDS = ("training", "inference as a framework runs it", "inference by an engine")
GROWS, MORE = 1.1, 4  # the numbers of the first rule
WORK = ["source", "framework", "version", "execution", "net", "mode"]
SERIES = [*WORK, "chip", "precision"]
# What compiles a whole network for inference. `torch.compile` is none of these: it joins operations
# in a framework, as XLA does under Keras.
ENGINES = ("TensorRT", "FasterTransformer")
SMALL = "(Keras example)"  # so the rows of Keras's own small examples are marked
LIGHT = 0.5  # below so many billion multiplications for an example a model is light
ON_JAX = re.compile("JAX|Flax")  # in the name of a framework: JAX itself, or Keras on it
DRAWS = 2000  # sources drawn again and again, for the interval of a coverage


def judged(path=MEASURED):
    """The rows of a file with their forecasts, and why each of the others is left out."""
    rows = tool.read(path)
    series = defaultdict(list)
    for row, seconds in zip(rows, tool.expected(rows), strict=True):
        row.forecast = seconds
        row.ratio = seconds / row.seconds
        low, high = step_time.interval(row.chip, seconds)
        row.held = low <= row.seconds <= high
        series[fields(row, SERIES)].append(row)
    kept = []
    reasons = []
    for row in rows:
        why = why_left_out(row, series[fields(row, SERIES)])
        if why:
            reasons.append(why)
        else:
            kept.append(row)
    return kept, reasons


def why_left_out(row, series):
    """Why a row is left out; "" where it is not."""
    if any(stands_still(row, other) for other in series):
        return "takes no longer than a far smaller batch"
    if "not waited" in f"{row.told['doubt']} {row.told['notes']}".lower():
        return "the benchmark did not wait for the device"
    return ""


def fields(row, names):
    return tuple(row.told[name] for name in names)


def stands_still(row, other):
    batch = float(row.told["batch_per_chip"])
    if batch < MORE * float(other.told["batch_per_chip"]):
        return False
    terms = step_time.terms(**row.args)
    needed = terms["compute"] + terms["memory"]
    return row.seconds < GROWS * other.seconds and needed > row.seconds / 2


def score(rows):
    """How near the forecasts of some rows are, as a column of the page."""
    by_source = defaultdict(list)
    for row in rows:
        by_source[row.source].append(row.held)
    each = [by_source[name] for name in sorted(by_source)]
    low, high = ends(each)
    ratios = np.array([row.ratio for row in rows])
    error = np.median(abs(ratios - 1))
    near = abs(np.log(ratios)) <= math.log(2)
    inside = np.mean([row.held for row in rows])
    alike = np.mean([np.mean(own) for own in each])
    return {
        "rows": f"{len(rows)} of {len(each)} sources",
        "median error": f"{error:.0%}",
        "within a factor of 2": f"{near.mean():.0%}",
        "rows in their interval": f"{inside:.0%} ({low:.0%} to {high:.0%})",
        "the same, sources alike": f"{alike:.0%}",
    }


def ends(each):
    """Where the share of rows in their interval lies, 95%, with sources drawn anew."""
    dice = np.random.default_rng(0)
    shares = []
    for _ in range(DRAWS):
        draw = dice.choice(len(each), len(each))
        held = [row for source in draw for row in each[source]]
        shares.append(np.mean(held))
    return np.quantile(shares, [0.025, 0.975])


def pairs(rows):
    """The same for two chips, of different silicon, on the same work."""
    groups = defaultdict(list)
    for row in rows:
        bits = "16" in row.args["dtype"]
        groups[fields(row, [*WORK, "batch_per_chip"]), bits].append(row)
    measured = []
    said = []
    for group in groups.values():
        for two in itertools.combinations(group, 2):
            fast, slow = sorted(two, key=lambda row: row.seconds)
            if fast.chip.peak_fp32_tflops != slow.chip.peak_fp32_tflops:
                measured.append(slow.seconds / fast.seconds)
                said.append(slow.forecast / fast.forecast)
    measured = np.array(measured)
    said = np.array(said)
    right = said > 1
    twice = (measured >= 2) == (said >= 2)
    near = abs(np.log(said / measured)) <= math.log(1.4)
    return {
        "pairs of chips": str(len(said)),
        "the faster one right": f"{right.mean():.0%}",
        "at least twice as fast, or not, right": f"{twice.mean():.0%}",
        "ratio within 1.4 times and over": f"{near.mean():.0%}",
    }


def how(row):
    """Training, or inference as a framework runs it or by an engine that fuses a whole network."""
    if row.args["training"]:
        return KINDS[0]
    for engine in ENGINES:
        if engine in row.told["framework"] and row.told["execution"] == "compiled":
            return KINDS[2]
    return KINDS[1]


def small_keras(rows):
    """The trainings of Keras's own small examples."""
    return [row for row in rows if SMALL in row.told["model"]]


def light(rows):
    """The trainings of models with little arithmetic for an example."""
    found = []
    for row in rows:
        if row.args["training"] and float(row.told["gmac_example"]) < LIGHT:
            found.append(row)
    return found


def on_jax(rows):
    """The rows of JAX, or of Keras on JAX, whatever they time."""
    return [row for row in rows if ON_JAX.search(row.told["framework"])]
