"""How far are the forecasts from what was measured? Rows of sources that were never fitted.

python -m benchmarks.forecast [ROWS.csv]    the score, the pairs of chips, the ten worst rows;
                                            by default of benchmarks/measured.csv
python -m benchmarks.forecast --cpu         five models here, on a CPU of measured peaks

A row is left out by these rules alone, none of which sees its forecast of the whole step:

* faster than the chip can be (`hardware.judge`); in float32, whose 3 x 3 convolutions can be had
  for 2.25 times fewer multiplications (Lavin and Gray, arXiv:1509.09308), that many times faster;
* of the same series a row with at least 4 times the batch that takes under 1.1 times as long,
  though arithmetic and memory say that it needs over half of its time for them;
* its notes or its doubt say that the benchmark did not wait for the device.
"""

import argparse
import csv
import itertools
import math
import statistics
from collections import defaultdict
from pathlib import Path

from accel_helpers.machine import hardware
from accel_helpers.worth import step_time
from tools import forecast as tool

ROOT = Path(__file__).resolve().parents[1]
MEASURED = ROOT / "benchmarks" / "measured.csv"
INSIDE, ALIKE = "rows in their interval", "the same, sources alike"
WINOGRAD, GROWS, MORE = 2.25, 1.1, 4
SERIES = ["source", "chip", "framework", "version", "execution", "net", "mode", "precision"]
WORK = [
    "source",
    "framework",
    "version",
    "execution",
    "net",
    "mode",
    "batch_per_chip",
]  # and the bits
# What compiles a whole network for inference. `torch.compile` is none of these: it joins operations
# in a framework, as XLA does under Keras.
ENGINES = ("TensorRT", "FasterTransformer")
SMALL = "(Keras example)"  # so the rows of Keras's own small examples are marked
LIGHT = 0.5  # below so many billion multiplications for an example a model is light
ON_JAX = ("JAX", "Flax")  # in the name of a framework: JAX itself, or Keras on it
DRAWS = 2000  # sources drawn again and again, for the interval of a coverage


def judged(path):
    """Rows with their forecasts, and the reasons for which others are left out."""
    rows, others = tool.read(path)
    with open(path, newline="", encoding="utf-8") as file:
        given = {row["id"]: row for row in csv.DictReader(file)}
    series = defaultdict(list)
    for row in rows:
        series[tuple(given[row.id][name] for name in SERIES)].append(row)
    for row in rows:
        of = given[row.id]
        if "not waited" in f"{of['doubt']} {of['notes']}".lower():
            others[row.id] = "the benchmark did not wait for the device"
        if too_fast(row):
            others[row.id] = "faster than the chip can be"
        if any(stands_still(row, other, given) for other in series[tuple(of[n] for n in SERIES)]):
            others[row.id] = "takes no longer than a far smaller batch"
    kept = [row for row in rows if row.id not in others]
    return kept, given, others


def too_fast(row):
    load, dtype = row.args["load"], row.args["dtype"]
    done = (3 if row.args["training"] else 1) * load.product_flops
    done /= WINOGRAD if dtype == "float32" else 1
    judge = hardware.judge(flops=done, seconds=row.seconds, accelerator=row.chip, dtype=dtype)
    return judge.verdict == "impossible"


def stands_still(row, other, given):
    larger = float(given[row.id]["batch_per_chip"]) / float(given[other.id]["batch_per_chip"])
    of = step_time.terms(chip=row.chip, **row.args)
    needed = of["compute"] + of["memory"]
    return larger >= MORE and row.seconds < GROWS * other.seconds and needed > row.seconds / 2


def error(found) -> float:
    """The median of |forecast / measured - 1|, of pairs of a row and a forecast in seconds."""
    return statistics.median(abs(seconds / row.seconds - 1) for row, seconds in found)


def score(rows, fit=None):
    """What is promised, as (what, figure) pairs; of another fit where one is given."""
    import numpy as np

    fit = fit or step_time.fitted()
    expected = np.array(tool.expected(rows, fit.constants))
    width = [fit.width if row.chip.name in fit.chips else fit.width_of_new_chips for row in rows]
    width = np.array(width)
    off = np.abs(np.log(expected / [row.seconds for row in rows]))
    within, sources = off <= np.log(width), np.array([row.source for row in rows])
    each = {name: within[sources == name] for name in sorted(set(sources))}
    dice, drawn = np.random.default_rng(0), []
    for _ in range(DRAWS):
        names = dice.choice(list(each), len(each))
        drawn.append(np.concatenate([each[name] for name in names]).mean())
    low, high = np.quantile(drawn, [0.025, 0.975])
    return [
        ("rows", f"{len(rows)} of {len(each)} sources"),
        ("median error", f"{error(zip(rows, expected, strict=True)):.0%}"),
        ("within a factor of 2", f"{(off <= math.log(2)).mean():.0%}"),
        ("8 of 10 lie within, times and over", f"{math.exp(np.quantile(off, 0.8)):.2f}"),
        ("interval, times and over", f"{width.min():.2f} to {width.max():.2f}"),
        (INSIDE, f"{within.mean():.0%} ({low:.0%} to {high:.0%})"),
        (ALIKE, f"{np.mean([own.mean() for own in each.values()]):.0%}"),
    ]


def pairs(rows, given):
    """The same for two chips, of different silicon, on the same work."""
    groups = defaultdict(list)
    for row, seconds in zip(rows, tool.expected(rows), strict=True):
        bits = "16" if "16" in row.args["dtype"] else "32"
        groups[(*(given[row.id][name] for name in WORK), bits)].append((row, seconds))
    both = [
        (one.seconds / other.seconds, expected / expected_other)
        for group in groups.values()
        for (one, expected), (other, expected_other) in itertools.combinations(group, 2)
        if one.chip.peak_fp32_tflops != other.chip.peak_fp32_tflops
    ]
    if not both:
        return [("pairs of chips", "0")]
    measured = [(max(m, 1 / m), f if m > 1 else 1 / f) for m, f in both]
    share = {
        "the faster one right": [f > 1 for m, f in measured],
        "at least twice as fast, or not, right": [(m >= 2) == (f >= 2) for m, f in measured],
        "ratio within 1.4 times and over": [1 / 1.4 <= f / m <= 1.4 for m, f in measured],
    }
    found = [(what, f"{sum(right) / len(right):.0%}") for what, right in share.items()]
    return [("pairs of chips", f"{len(both)}"), *found]


def how(row, given) -> str:
    """Training, or inference as a framework runs it or by an engine that fuses a whole network."""
    if row.args["training"]:
        return "training"
    of = given[row.id]
    by_engine = any(engine in of["framework"] for engine in ENGINES)
    return "engine" if by_engine and of["execution"] == "compiled" else "framework"


def held(row, seconds) -> bool:
    """Whether what was measured lies in the interval of its forecast."""
    low, high = step_time.interval(row.chip, seconds)
    return low <= row.seconds <= high


def small_keras(rows, given):
    """The trainings of Keras's own small examples, each with its forecast."""
    own = [row for row in rows if SMALL in given[row.id]["model"] and row.args["training"]]
    return list(zip(own, tool.expected(own), strict=True))


def light(rows, given):
    """The trainings of models with little arithmetic for an example."""
    return [
        row for row in rows if row.args["training"] and float(given[row.id]["gmac_example"]) < LIGHT
    ]


def on_jax(rows, given):
    """The rows of JAX, or of Keras on JAX, whatever they time."""
    return [row for row in rows if any(name in given[row.id]["framework"] for name in ON_JAX)]


def worst(rows, given, most=10):
    """Forecast over measured, furthest first, and what the source says of the row."""
    both = zip(rows, tool.expected(rows), strict=True)
    found = sorted(both, key=lambda pair: -abs(math.log(pair[1] / pair[0].seconds)))
    names = "source", "chip", "model", "mode", "precision", "batch_per_chip", "execution"
    return [
        (f"{seconds / row.seconds:.2f}", row.id, ", ".join(given[row.id][name] for name in names))
        for row, seconds in found[:most]
    ]


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", nargs="?", type=Path, default=MEASURED)
    given = parser.parse_args(words)
    rows, given, others = judged(given.rows)
    for what, figure in [*score(rows), *pairs(rows, given)]:
        print(f"{what:40} {figure}")
    print("\nThe ten worst: forecast over measured")
    for line in worst(rows, given):
        print("  ".join(line))
    for name, why in others.items():
        print(f"left out: {name}: {why}")


if __name__ == "__main__":
    main()
