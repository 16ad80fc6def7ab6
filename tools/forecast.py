"""Fit the constants of the forecast to published rows; `python -m tools.forecast --fit`.

That writes accel_helpers/data/forecast.toml from tools/published.csv. What many rows share stands
in two tables: `origins.csv` says where a row was published, `nets.csv` what one example of a
network asks for: billion multiplications, million numbers made and million parameters.
"""

import csv
import json
import math
from collections import Counter, namedtuple
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from accel_helpers.machine import hardware
from accel_helpers.worth import step_time

HERE = Path(__file__).parent
PUBLISHED = HERE / "published.csv"
CONSTANTS = HERE.parent / "accel_helpers/data/forecast.toml"
# Where the search begins, and the spread (of the logarithm) with which a constant is held there:
# the rows cannot tell some apart, and would call a share of the peak 1.1.
START = {
    "share_of_16_bit": (0.55, 0.3),
    "share_of_float32": (0.8, 0.3),
    "share_of_tfloat32": (0.55, 0.3),
    "low_power": (0.65, 0.3),  # of both peaks, at 75 W
    "passes_inference": (6, 1),  # how often a number that is made crosses the memory
    "passes_training": (18, 1),
    "weights_training": (8, 0.5),  # and how often a weight does
    "operation_inference": (1.5e-5, 1),  # seconds of each
    "operation_training": (5e-5, 1),
    "casts": (1.5, 0.5),  # in mixed precision where Python sends them off
}
HOLD = 0.02  # the weight of that
BEND = 0.2  # from which error on a row counts less than its square
COUNTS = ["gmac_example", "mact_example", "mparam", "operations", "layers_with_weights"]
DTYPES = {
    "fp32": "float32",
    "tf32": "tfloat32",
    "fp16": "float16",
    "amp16": "float16",
    "bf16": "bfloat16",
}
Row = namedtuple("Row", "id chip args seconds source harness")


def table(path, key):
    """The lines of a table, each a dict, by the field that names it."""
    with open(path, newline="", encoding="utf-8") as file:
        return {line[key]: line for line in csv.DictReader(file)}


def read(path):
    """The rows of a file that were measured on GPUs, and all that is told of each, by its id."""
    origins = table(HERE / "origins.csv", "origin")
    nets = table(HERE / "nets.csv", "net")
    chips = {chip.name: chip for chip in hardware.load() if chip.kind == "GPU"}
    told = {}
    for name, line in table(path, "id").items():
        if line["chip"] in chips:
            told[name] = origins[line["origin"]] | nets[line["net"]] | line
    return [row_of(line, chips[line["chip"]]) for line in told.values()], told


def row_of(line, chip):
    """A row, as the forecast takes it."""
    gmac, mact, mparam, operations, layers = (float(line[name]) for name in COUNTS)
    batch = float(line["batch_per_chip"])
    load = step_time.Load(
        2e9 * gmac * batch, 1e6 * mact * batch, 1e6 * mparam, operations, examples=round(batch)
    )
    precision = line["precision"]
    if precision == "fp32c":  # TF32 in convolutions, and these bring normalisations along
        precision = "tf32" if operations > 2.2 * layers else "fp32"
    args = {"load": load, "dtype": DTYPES[precision], "training": line["mode"] == "train"}
    args["casts"] = precision == "amp16" and line["execution"] == "eager"
    source = line["source"]
    harness = source, line["framework"]
    return Row(line["id"], chip, args, float(line["step_ms"]) / 1e3, source, harness)


def expected(rows, constants=None):
    """The seconds that are forecast of each row."""
    return [sum(step_time.terms(chip=r.chip, constants=constants, **r.args).values()) for r in rows]


def fit(rows):
    """The constants with which the rows' logarithms come nearest."""
    from scipy.optimize import least_squares

    begin, spread = np.transpose([*START.values()])
    begin = np.log(begin)
    count = Counter(row.harness for row in rows)  # its rows go together: they weigh their root
    weight = np.array([count[row.harness] ** -0.5 for row in rows])

    measured = np.log([row.seconds for row in rows])

    def named(x):
        return dict(zip(START, np.exp(x), strict=True))

    def residuals(x):
        off = (np.log(expected(rows, named(x))) - measured) / BEND
        bent = BEND * np.sqrt(2 * (np.sqrt(1 + off**2) - 1))  # grows like the root, far out
        held = HOLD * math.sqrt(len(rows)) * (x - begin) / spread
        return np.concatenate([np.sqrt(weight / weight.mean()) * bent, held])

    return named(least_squares(residuals, begin).x)


def left_out(rows, groups):
    """Each row, and what constants of the rows that share none of its groups say of it."""
    found = []
    for name in sorted(set(map(groups, rows))):
        own = [row for row in rows if groups(row) == name]
        rest = [row for row in rows if not {*groups(row)} & {*name}]
        found += zip(own, expected(own, fit(rest)), strict=True)
    return found


def width(found):
    """The factor within which 9 of 10 of them lie, rows alike or sources alike: the wider one."""
    off = [abs(math.log(seconds / row.seconds)) for row, seconds in found]
    count = Counter(row.source for row, _ in found)
    alike = [1 / count[row.source] for row, _ in found]
    return math.exp(max(ninth(off), ninth(off, weights=alike)))


def ninth(off, **weights):
    """What 9 of 10 numbers do not exceed."""
    return np.quantile(off, 0.9, method="inverted_cdf", **weights)


def constants():
    """What accel_helpers/data/forecast.toml says."""
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


if __name__ == "__main__":
    CONSTANTS.write_text(constants(), encoding="utf-8")
