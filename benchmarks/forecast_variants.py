"""Other formulas for the forecast, each by the score of sources that were left out of its fit.

python -m benchmarks.forecast_variants      benchmarks/variants.csv, from tools/published.csv alone

A variant is taken if it comes nearer and its width is smaller with sources left out, and neither is
worse with chips left out, too. No row of benchmarks/measured.csv is read here.
"""

import csv
from pathlib import Path

import numpy as np

from accel_helpers.worth import step_time
from benchmarks.forecast import error
from tools import forecast as tool

VARIANTS = Path(__file__).with_name("variants.csv")
# Million numbers that an example makes every layer read and write, forward and in a step, of the
# nets of tools/published.csv: counted layer by layer, once.
TRAFFIC = Path(__file__).with_name("traffic.csv")
HEADS = ["formula", "median error", "training alone", "9 of 10 within"]
HEADS += ["median error, chips left out, too", "9 of 10 within, chips left out, too"]


# All constants such that a term of `step_time` has its seconds before any constant.
PLAIN = {name: 0 if "passes" in name or "weights" in name else 1 for name in tool.START}
MODES = ("inference", "training")
PARTS: dict[tuple, list] = {}  # of a row: what `parts_of` found


def parts_of(row):
    """Seconds of a row before any constant, which is what makes many fits quick.

    Those of compute, of numbers made, of weights in training and in inference, of launches; then
    its units and its mode, whether its card is a small one, and whether Python casts.
    """
    load, chip = row.args["load"], row.chip
    key = row.id, load.made
    if key not in PARTS:
        plain, made, weights = (
            step_time.terms(chip=chip, constants=PLAIN | more, **row.args)
            for more in ({}, {f"passes_{mode}": 1 for mode in MODES}, {"weights_training": 1})
        )
        read = plain["memory"]
        moved = made["memory"] - read, weights["memory"] - read, read
        units, _ = step_time._units(chip, row.args["dtype"])
        kind = units, row.args["training"], chip.power_w <= step_time.LOW_POWER, row.args["casts"]
        PARTS[key] = [plain["compute"], *moved, plain["overhead"], *kind]
    return PARTS[key]


def formula(combine):
    """A formula from the seconds of the device's work and of launches, as `tool.fit` takes one."""

    def seconds(rows, constants):
        compute, made, weights, read, launches, units, training, small, casts = map(
            np.array, zip(*map(parts_of, rows), strict=True)
        )
        modes = [MODES[each] for each in training.astype(int)]

        def of(name, kinds):
            return np.array([constants[f"{name}_{kind}"] for kind in kinds])

        low_power = np.where(small, constants["low_power"], 1)
        low_bandwidth = np.where(small, constants.get("low_bandwidth", low_power), 1)
        memory = of("passes", modes) * made + constants["weights_training"] * weights + read
        work = compute / of("share_of", units) / low_power + memory / low_bandwidth
        launched = of("operation", modes) * launches * np.where(casts, constants["casts"], 1)
        return combine(work, launched, constants)

    return seconds


def added(work, launches, _):
    return work + launches


def longer(work, launches, _):
    return np.maximum(work, launches)


def root_of_squares(work, launches, _):
    return np.hypot(work, launches)


def fitted_power(work, launches, constants):
    power = constants["power"]
    return (work**power + launches**power) ** (1 / power)


def partly_hidden(work, launches, constants):
    return work + launches - constants["hidden"] * np.minimum(work, launches)


def read_and_written(rows):
    """The same rows, with what every layer reads and writes in place of what is made."""
    with open(TRAFFIC, newline="", encoding="utf-8") as file:
        counts = {row["net"]: row for row in csv.DictReader(file)}
    with open(tool.PUBLISHED, newline="", encoding="utf-8") as file:
        given = {row["id"]: row for row in csv.DictReader(file)}
    found = []
    for row in rows:
        of = given[row.id]
        numbers = counts[of["net"]]["training" if row.args["training"] else "forward"]
        made = 1e6 * float(numbers) * float(of["batch_per_chip"])
        found.append(row._replace(args=row.args | {"load": row.args["load"]._replace(made=made)}))
    return found


EVERY = {"passes_inference": (1, 1), "passes_training": (1, 1)}
APART = {"low_bandwidth": (0.65, 0.3)}
POWER = {"power": (1.5, 0.5)}
# what it is called -> constants besides, the formula, whether traffic of every layer is counted
TRIED = {
    "as it is": ({}, added, False),
    "reads and writes of every layer": (EVERY, added, True),
    "the longer of work and launches": ({}, longer, False),
    "root of their squares": ({}, root_of_squares, False),
    "a fitted power of them": (POWER, fitted_power, False),
    "a part of the shorter hidden": ({"hidden": (0.5, 1)}, partly_hidden, False),
    "bandwidth of 75 W apart": (APART, added, False),
    "every layer, a fitted power": (EVERY | POWER, fitted_power, True),
    "every layer, a part hidden": (EVERY | {"hidden": (0.5, 1)}, partly_hidden, True),
    "every layer, bandwidth apart": (EVERY | APART, added, True),
}


def score(rows, start, seconds):
    """The cells of a variant; each is calculated from rows that were not fitted."""
    sources = tool.left_out(rows, lambda row: (row.source,), start, seconds)
    chips = tool.left_out(rows, lambda row: (row.source, row.chip.peak_fp32_tflops), start, seconds)
    training = [pair for pair in sources if pair[0].args["training"]]
    return [
        f"{error(sources):.1%}",
        f"{error(training):.1%}",
        f"{tool.width(sources):.2f}",
        f"{error(chips):.1%}",
        f"{tool.width(chips):.2f}",
    ]


def main():
    rows, _ = tool.read(tool.PUBLISHED)
    moved = read_and_written(rows)
    with open(VARIANTS, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(HEADS)
        for name, (constants, combine, every) in TRIED.items():
            start = tool.START | constants
            line = [name, *score(moved if every else rows, start, formula(combine))]
            print(*line, sep="  ", flush=True)
            table.writerow(line)


if __name__ == "__main__":
    main()
