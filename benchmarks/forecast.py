"""How far are the forecasts from what was measured? Rows of sources that were never fitted.

A row is left out by these rules alone, none of which sees its forecast of the whole step:

* faster than the chip can be (`hardware.judge`); in float32, whose 3 x 3 convolutions can be had
  for 2.25 times fewer multiplications (Lavin and Gray, arXiv:1509.09308), that many times faster;
* of the same series a row with at least 4 times the batch that takes under 1.1 times as long,
  though arithmetic and memory say that it needs over half of its time for them;
* its notes or its doubt say that the benchmark did not wait for the device.
"""

import itertools
import math
from collections import defaultdict
from pathlib import Path

import numpy as np

from accel_helpers.machine import hardware
from accel_helpers.worth import step_time
from tools import forecast as tool

MEASURED = Path(__file__).with_name("measured.csv")
WINOGRAD, GROWS, MORE = 2.25, 1.1, 4  # the numbers of the first two rules
WORK = ["source", "framework", "version", "execution", "net", "mode"]
SERIES = [*WORK, "chip", "precision"]
# What compiles a whole network for inference. `torch.compile` is none of these: it joins operations
# in a framework, as XLA does under Keras.
ENGINES = ("TensorRT", "FasterTransformer")
SMALL = "(Keras example)"  # so the rows of Keras's own small examples are marked
LIGHT = 0.5  # below so many billion multiplications for an example a model is light
ON_JAX = ("JAX", "Flax")  # in the name of a framework: JAX itself, or Keras on it
DRAWS = 2000  # sources drawn again and again, for the interval of a coverage


def judged(path):
    """The rows of a file, what is told of each, and why others are left out, by their id."""
    rows, told = tool.read(path)
    series = defaultdict(list)
    for row in rows:
        series[fields(told[row.id], SERIES)].append(row)
    why = {row.id: why_left_out(row, told, series) for row in rows}
    others = {name: reason for name, reason in why.items() if reason}
    return [row for row in rows if row.id not in others], told, others


def why_left_out(row, told, series):
    """Why a row is left out; "" where it is not."""
    of = told[row.id]
    if any(stands_still(row, other, told) for other in series[fields(of, SERIES)]):
        return "takes no longer than a far smaller batch"
    if too_fast(row):
        return "faster than the chip can be"
    if "not waited" in f"{of['doubt']} {of['notes']}".lower():
        return "the benchmark did not wait for the device"
    return ""


def fields(line, names):
    return tuple(line[name] for name in names)


def too_fast(row):
    load = row.args["load"]
    dtype = row.args["dtype"]
    done = (3 if row.args["training"] else 1) * load.product_flops
    done /= WINOGRAD if dtype == "float32" else 1
    judge = hardware.judge(flops=done, seconds=row.seconds, accelerator=row.chip, dtype=dtype)
    return judge.verdict == "impossible"


def stands_still(row, other, told):
    larger = float(told[row.id]["batch_per_chip"]) / float(told[other.id]["batch_per_chip"])
    of = step_time.terms(chip=row.chip, **row.args)
    needed = of["compute"] + of["memory"]
    return larger >= MORE and row.seconds < GROWS * other.seconds and needed > row.seconds / 2


def forecasts(rows):
    """Each row with its forecast in seconds."""
    return list(zip(rows, tool.expected(rows), strict=True))


def held(row, seconds):
    """Whether what was measured lies in the interval of its forecast."""
    low, high = step_time.interval(row.chip, seconds)
    return low <= row.seconds <= high


def score(rows):
    """How near the forecasts of some rows are, as a column of the page."""
    both = forecasts(rows)
    ratios = np.array([seconds / row.seconds for row, seconds in both])
    inside = np.array([held(row, seconds) for row, seconds in both])
    sources = np.array([row.source for row in rows])
    each = [inside[sources == name] for name in sorted(set(sources))]
    low, high = np.quantile(drawn(each), [0.025, 0.975])
    return {
        "rows": f"{len(rows)} of {len(each)} sources",
        "median error": f"{np.median(abs(ratios - 1)):.0%}",
        "within a factor of 2": f"{(abs(np.log(ratios)) <= math.log(2)).mean():.0%}",
        "rows in their interval": f"{inside.mean():.0%} ({low:.0%} to {high:.0%})",
        "the same, sources alike": f"{np.mean([own.mean() for own in each]):.0%}",
    }


def drawn(each):
    """The share of rows in their interval, of sources that are drawn anew."""
    dice = np.random.default_rng(0)
    draws = np.array([dice.choice(len(each), len(each)) for _ in range(DRAWS)])
    inside = np.array([own.sum() for own in each])
    count = np.array([len(own) for own in each])
    return inside[draws].sum(axis=1) / count[draws].sum(axis=1)


def pairs(rows, told):
    """The same for two chips, of different silicon, on the same work."""
    groups = defaultdict(list)
    for row, seconds in forecasts(rows):
        bits = "16" in row.args["dtype"]
        groups[fields(told[row.id], [*WORK, "batch_per_chip"]), bits].append((row, seconds))
    ratios = []
    for group in groups.values():
        for (one, said), (other, said_of_other) in itertools.combinations(group, 2):
            measured = one.seconds / other.seconds
            if one.chip.peak_fp32_tflops == other.chip.peak_fp32_tflops:
                continue
            way = 1 if measured > 1 else -1
            ratios.append((measured**way, (said / said_of_other) ** way))
    measured, said = np.transpose(ratios)
    twice = (measured >= 2) == (said >= 2)
    near = (said / measured <= 1.4) & (measured / said <= 1.4)
    return {
        "pairs of chips": str(len(ratios)),
        "the faster one right": f"{(said > 1).mean():.0%}",
        "at least twice as fast, or not, right": f"{twice.mean():.0%}",
        "ratio within 1.4 times and over": f"{near.mean():.0%}",
    }


def how(row, told):
    """Training, or inference as a framework runs it or by an engine that fuses a whole network."""
    if row.args["training"]:
        return "training"
    of = told[row.id]
    by_engine = any(engine in of["framework"] for engine in ENGINES)
    return "engine" if by_engine and of["execution"] == "compiled" else "framework"


def small_keras(rows, told):
    """The trainings of Keras's own small examples."""
    return [row for row in rows if SMALL in told[row.id]["model"]]


def light(rows, told):
    """The trainings of models with little arithmetic for an example."""
    training = [row for row in rows if row.args["training"]]
    return [row for row in training if float(told[row.id]["gmac_example"]) < LIGHT]


def on_jax(rows, told):
    """The rows of JAX, or of Keras on JAX, whatever they time."""
    return [row for row in rows if any(name in told[row.id]["framework"] for name in ON_JAX)]


def worst(rows, told, most=10):
    """Forecast over measured, furthest first, and what the source says of the row."""
    ratios = [(seconds / row.seconds, row.id) for row, seconds in forecasts(rows)]
    names = "source", "chip", "model", "mode", "precision", "batch_per_chip", "execution"
    furthest = sorted(ratios, key=lambda pair: -abs(math.log(pair[0])))[:most]
    return [
        (f"{ratio:.2f}", name, ", ".join(fields(told[name], names))) for ratio, name in furthest
    ]
