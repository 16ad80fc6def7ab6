"""Forecast rows of measurements, and fit the constants from published ones.

python -m tools.forecast ROWS.csv           id, forecast_ms, low_ms and high_ms of each row
python -m tools.forecast --fit              accel_helpers/data/forecast.toml from published.csv
Rows have the columns of tools/published.csv. What is left out is named, and why.
"""

import argparse
import csv
import json
import math
import sys
from collections import Counter, namedtuple
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from accel_helpers.machine import hardware
from accel_helpers.worth import step_time

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED, CONSTANTS = ROOT / "tools/published.csv", ROOT / "accel_helpers/data/forecast.toml"
# Where the search begins, and the spread (of the logarithm) with which a constant is held there:
# the rows cannot tell some apart, and would call a share of the peak 1.1.
START = {
    **{"share_of_16_bit": (0.55, 0.3), "share_of_float32": (0.8, 0.3)},
    **{"share_of_tfloat32": (0.55, 0.3), "low_power": (0.65, 0.3)},  # of both peaks, at 75 W
    # how often a number that is made, or a weight, crosses the memory
    **{"passes_inference": (6, 1), "passes_training": (18, 1), "weights_training": (8, 0.5)},
    # seconds of each; more of them in mixed precision where Python sends them off
    **{"operation_inference": (1.5e-5, 1), "operation_training": (5e-5, 1), "casts": (1.5, 0.5)},
}
HOLD, BEND = 0.02, 0.2  # weight of that; from which error on a row counts less than its square
COUNTS = ["gmac_example", "mact_example", "mparam", "operations", "layers_with_weights"]
DTYPES = dict(fp32="float32", tf32="tfloat32", fp16="float16", amp16="float16", bf16="bfloat16")
Row = namedtuple("Row", "id chip args seconds source harness")


def read(path):
    """The rows of a file that can be forecast, and why the others cannot."""
    rows, others, by_name = [], {}, {chip.name: chip for chip in hardware.load()}
    for row in csv.DictReader(Path(path).read_text("utf-8").splitlines()):
        name, precision = row["chip"], row["precision"]
        full = step_time.FULL_NAMES.get(name.split()[-1], name)  # of "NVIDIA A100", Colab's
        chip = by_name.get(name) or hardware.match(full)
        if chip is None or chip.kind != "GPU":
            others[row["id"]] = f"{name} is {'a TPU' if chip else 'not in the table'}"
            continue
        try:
            batch = float(row["batch_per_chip"])
            gmac, mact, mparam, operations = (float(row[each]) for each in COUNTS[:4])
            if precision == "fp32c":  # TF32 in convolutions, and these bring normalisations along
                precision = "tf32" if operations > 2.2 * float(row[COUNTS[4]]) else "fp32"
            dtype = DTYPES[precision]
        except (KeyError, TypeError, ValueError) as error:
            others[row["id"]] = f"a field cannot be used: {error}"
            continue
        counts = 2e9 * gmac * batch, 1e6 * mact * batch, 1e6 * mparam, operations
        load = step_time.Load(*counts, examples=round(batch))
        args = {"load": load, "dtype": dtype, "training": row["mode"] == "train"}
        args["casts"] = precision == "amp16" and row["execution"] == "eager"
        seconds, source = float(row.get("step_ms") or "nan") / 1e3, row.get("source")
        rows.append(Row(row["id"], chip, args, seconds, source, (source, row.get("framework"))))
    return rows, others


def expected(rows, constants=None):
    return [sum(step_time.terms(chip=r.chip, constants=constants, **r.args).values()) for r in rows]


def fit(rows, start=START, formula=expected):
    """The constants with which the rows' logarithms come nearest."""
    from scipy.optimize import least_squares

    begin, spread = np.array([(math.log(value), hold) for value, hold in start.values()]).T
    count = Counter(row.harness for row in rows)  # its rows go together: they weigh their root
    weight = np.array([count[row.harness] ** -0.5 for row in rows])

    def residuals(x):
        found = np.log(formula(rows, dict(zip(start, np.exp(x), strict=True))))
        off = (found - np.log([row.seconds for row in rows])) / BEND
        bent = BEND * np.sqrt(2 * (np.sqrt(1 + off**2) - 1))  # grows like the root, far out
        held = HOLD * math.sqrt(len(rows)) * (x - begin) / spread
        return np.concatenate([np.sqrt(weight / weight.mean()) * bent, held])

    return dict(zip(start, np.exp(least_squares(residuals, begin).x), strict=True))


def left_out(rows, groups, start=START, formula=expected):
    """Each row, and what constants of the rows that share none of its groups say of it."""
    found = []
    for name in sorted(set(map(groups, rows))):
        own = [row for row in rows if groups(row) == name]
        rest = [row for row in rows if not {*groups(row)} & {*name}]
        found += zip(own, formula(own, fit(rest, start, formula)), strict=True)
    return found


def width(found):
    """The factor within which 9 of 10 of them lie, rows alike or sources alike: the wider one."""
    off = [(abs(math.log(seconds / row.seconds)), row.source) for row, seconds in found]
    off, sources = zip(*sorted(off), strict=True)
    count = Counter(sources)
    weights = np.ones(len(off)), np.array([1 / count[name] for name in sources])
    return math.exp(max(off[np.searchsorted(np.cumsum(w), 0.9 * w.sum())] for w in weights))


def constants():
    rows, _ = read(PUBLISHED)
    apart = left_out(rows, lambda row: (row.source,))
    new = left_out(rows, lambda row: (row.source, row.chip.peak_fp32_tflops))
    large = [pair for pair in apart if pair[0].args["training"]]
    found = "".join(f"{name} = {value:.4g}\n" for name, value in fit(rows).items())
    return f"""\
# Made by `python -m tools.forecast --fit` from tools/published.csv; never by hand.
made_on = "{datetime.now(UTC):%Y-%m-%d}"
rows = {len(rows)}
sources = {json.dumps(sorted({row.source for row in rows}))}
chips = {json.dumps(sorted({row.chip.name for row in rows}))}
# Within the forecast times and over this lie 9 of 10 rows of a source that was left out.
# 8 of 10 are promised: sources differ more than the rows of three of them can show.
# (Training on large cards, the one kind with three sources, alone: {width(large):.3g}.)
width = {width(apart):.3g}
# the same where all rows of the chip were left out, too
width_of_new_chips = {max(width(apart), width(new)):.3g}
[constants]
{found}"""


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("path", nargs="?", type=Path, default=PUBLISHED)
    parser.add_argument("--fit", action="store_true")
    given = parser.parse_args(words)
    if given.fit:
        return CONSTANTS.write_text(constants(), encoding="utf-8")
    rows, others = read(given.path)
    table = [["id", "forecast_ms", "low_ms", "high_ms"]]
    for row, seconds in zip(rows, expected(rows), strict=True):
        times = seconds, *step_time.interval(row.chip, seconds)
        table.append([row.id, *(f"{1e3 * each:.4g}" for each in times)])
    csv.writer(sys.stdout, lineterminator="\n").writerows(table)
    for name, why in others.items():
        print(f"{name}: left out, {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
