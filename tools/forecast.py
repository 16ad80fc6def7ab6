"""Forecast rows of measurements, and fit the constants from published ones.

python tools/forecast.py ROWS.csv       id, forecast_ms, low_ms and high_ms of each row
python tools/forecast.py --fit          accel_helpers/data/forecast.toml from published.csv

The rows have the columns of tools/published.csv, of which chip, mode, precision, execution,
batch_per_chip and the counts are used; TPUs and chips that nobody knows are named and left out.
"""

import argparse
import csv
import math
import sys
from collections import Counter, namedtuple
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from accel_helpers.machine import hardware  # noqa: E402
from accel_helpers.measure import step_time  # noqa: E402

PUBLISHED = ROOT / "tools" / "published.csv"
CONSTANTS = ROOT / "accel_helpers" / "data" / "forecast.toml"
# Where the search begins, and the spread (of the logarithm) with which a constant is held there:
# the rows cannot tell some apart, and would call a share of the peak 1.1.
START = {
    "share_of_16_bit": (0.55, 0.3),
    "share_of_float32": (0.8, 0.3),
    "share_of_tfloat32": (0.55, 0.3),
    "low_power": (0.65, 0.3),  # of both peaks, on cards of 75 W
    "passes_inference": (6, 1),  # how often a number that is made crosses the memory
    "passes_training": (18, 1),
    "weights_training": (8, 0.5),
    "operation_inference": (1.5e-5, 1),  # seconds for each operation of a forward pass
    "operation_training": (5e-5, 1),
    "casts": (1.5, 0.5),  # more operations in mixed precision where Python sends them off
}
HOLD, BEND = 0.02, 0.2  # weight of that; from which error on a row counts less than its square
LEVEL = 0.9  # of left-out rows; 0.8 are promised
DTYPES = {"fp32": "float32", "tf32": "tfloat32", "fp16": "float16", "amp16": "float16"}
Row = namedtuple("Row", "id chip args seconds source harness")


def read(path):
    """The rows of a file that can be forecast, and why the others cannot."""
    rows, others = [], {}
    by_name = {chip.name: chip for chip in hardware.load()}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            chip = by_name.get(row["chip"]) or hardware.match(row["chip"])
            if chip is None or chip.kind != "GPU":
                others[row["id"]] = f"{row['chip']} is {'a TPU' if chip else 'not in the table'}"
                continue
            source, seconds = row.get("source"), float(row.get("step_ms") or "nan") / 1e3
            harness = source, row.get("framework")
            rows.append(Row(row["id"], chip, _args(row), seconds, source, harness))
    return rows, others


def _args(row):
    batch = float(row["batch_per_chip"])
    load = step_time.Load(
        product_flops=2e9 * float(row["gmac_example"]) * batch,
        made=1e6 * float(row["mact_example"]) * batch,
        parameters=1e6 * float(row["mparam"]),
        operations=float(row["operations"]),
    )
    dtype = DTYPES.get(row["precision"], "bfloat16")
    if row["precision"] == "fp32c":  # TF32 in convolutions, and these bring normalisations along
        convolutions = load.operations > 2.2 * float(row["layers_with_weights"])
        dtype = "tfloat32" if convolutions else "float32"
    casts = row["precision"] == "amp16" and row["execution"] == "eager"
    return {"load": load, "dtype": dtype, "training": row["mode"] == "train", "casts": casts}


def expected(rows, constants=None):
    """Seconds of each row."""
    return [
        sum(step_time.terms(chip=row.chip, constants=constants, **row.args).values())
        for row in rows
    ]


def errors(rows, constants):
    pairs = zip(rows, expected(rows, constants), strict=True)
    return [math.log(found / row.seconds) for row, found in pairs]


def fit(rows):
    """The constants with which the rows' logarithms come nearest."""
    import numpy as np
    from scipy.optimize import least_squares

    begin, spread = np.array([(math.log(value), hold) for value, hold in START.values()]).T
    count = Counter(row.harness for row in rows)  # its rows go together: they weigh their root
    weight = np.array([count[row.harness] ** -0.5 for row in rows])
    weight /= weight.mean()

    def named(x):
        return dict(zip(START, map(math.exp, x), strict=True))

    def residuals(x):
        off = np.array(errors(rows, named(x))) / BEND
        bent = BEND * np.sqrt(2 * (np.sqrt(1 + off**2) - 1))  # grows like the root, far out
        held = HOLD * math.sqrt(len(rows)) * (x - begin) / spread
        return np.concatenate([np.sqrt(weight) * bent, held])

    return named(least_squares(residuals, begin).x)


def left_out(rows, *groups):
    """Each row's error by constants of the rows that share none of its groups."""
    found = []
    for name in sorted({tuple(group(row) for group in groups) for row in rows}):
        own = [row for row in rows if tuple(group(row) for group in groups) == name]
        rest = [
            row
            for row in rows
            if all(group(row) != part for group, part in zip(groups, name, strict=True))
        ]
        found += zip(own, errors(own, fit(rest)), strict=True)
    return found


def width(found):
    """The factor within which LEVEL of them lie, rows alike or sources alike: the wider one."""
    import numpy as np

    found = sorted(found, key=lambda pair: abs(pair[1]))
    count = Counter(row.source for row, _ in found)
    widths = []
    for weight in (np.ones(len(found)), np.array([1 / count[row.source] for row, _ in found])):
        reached = np.searchsorted(np.cumsum(weight), LEVEL * weight.sum())
        widths.append(math.exp(abs(found[reached][1])))
    return max(widths)


def write_constants():
    rows, _ = read(PUBLISHED)
    apart = left_out(rows, lambda row: row.source)
    new = left_out(rows, lambda row: row.source, lambda row: row.chip.peak_fp32_tflops)
    large = [pair for pair in apart if pair[0].args["training"]]
    lines = [
        "# Made by `python tools/forecast.py --fit` from tools/published.csv; never by hand.",
        f'made_on = "{datetime.now(UTC):%Y-%m-%d}"',
        f"rows = {len(rows)}",
        f"sources = {sorted({row.source for row in rows})}".replace("'", '"'),
        f"chips = {sorted({row.chip.name for row in rows})}".replace("'", '"'),
        "# Within the forecast times and over this lie 9 of 10 rows of a source that was left out.",
        "# 8 of 10 are promised: sources differ more than the rows of three of them can show.",
        f"# (Training on large cards, the one kind with three sources, alone: {width(large):.3g}.)",
        f"width = {width(apart):.3g}",
        "# the same where all rows of the chip were left out, too",
        f"width_of_new_chips = {max(width(apart), width(new)):.3g}",
        "[constants]",
        *(f"{name} = {value:.4g}" for name, value in fit(rows).items()),
    ]
    CONSTANTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(CONSTANTS.read_text("utf-8"))


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", nargs="?", type=Path)
    parser.add_argument("--fit", action="store_true")
    given = parser.parse_args(words)
    if given.fit:
        return write_constants()
    if not given.rows:
        parser.error("name a file of rows, or --fit")
    rows, others = read(given.rows)
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["id", "forecast_ms", "low_ms", "high_ms"])
    for row, seconds in zip(rows, expected(rows), strict=True):
        times = (1e3 * each for each in (seconds, *step_time.interval(row.chip, seconds)))
        table.writerow([row.id, *(f"{each:.4g}" for each in times)])
    for name, why in others.items():
        print(f"{name}: no forecast, {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
