"""Fit the constants of the forecast to published rows; `python -m tools.forecast --fit`.

That writes accel_helpers/data/forecast.toml from tools/published.csv. What many rows share stands
in two tables: `origins.csv` says where a row was published, `nets.csv` what one example of a
network asks for: billion multiplications, million numbers made and million parameters.
"""

import csv
import json
import math
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

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


def table(path, key):
    """The lines of a table, each a dict, by the field that names it."""
    with open(path, newline="", encoding="utf-8") as file:
        return {line[key]: line for line in csv.DictReader(file)}


def read(path):
    """The rows of a file that were measured on GPUs, as the forecast takes them."""
    origins = table(HERE / "origins.csv", "origin")
    nets = table(HERE / "nets.csv", "net")
    chips = {chip.name: chip for chip in hardware.load() if chip.kind == "GPU"}
    rows = []
    for line in table(path, "id").values():
        if line["chip"] in chips:
            told = origins[line["origin"]] | nets[line["net"]] | line
            rows.append(row_of(told, chips[line["chip"]]))
    return rows


def row_of(line, chip):
    """A row with all that is told of it, and what the forecast asks for."""
    gmac, mact, mparam, operations, layers = (float(line[name]) for name in COUNTS)
    batch = float(line["batch_per_chip"])
    flops = 2e9 * gmac * batch
    made = 1e6 * mact * batch
    load = step_time.Load(flops, made, 1e6 * mparam, operations, examples=round(batch))
    precision = line["precision"]
    if precision == "fp32c":  # TF32 in convolutions, and these bring normalisations along
        precision = "tf32" if operations > 2.2 * layers else "fp32"
    args = {"load": load, "chip": chip, "dtype": DTYPES[precision]}
    args["training"] = line["mode"] == "train"
    args["casts"] = precision == "amp16" and line["execution"] == "eager"
    seconds = float(line["step_ms"]) / 1e3
    return SimpleNamespace(told=line, source=line["source"], chip=chip, args=args, seconds=seconds)


def expected(rows, constants=None):
    """The seconds that are forecast of each row."""
    found = []
    for row in rows:
        terms = step_time.terms(constants=constants, **row.args)
        found.append(sum(terms.values()))
    return found


def fit(rows):
    """The constants with which the rows' logarithms come nearest."""
    from scipy.optimize import least_squares

    begin, spread = np.transpose([*START.values()])
    begin = np.log(begin)
    measured = np.log([row.seconds for row in rows])
    # The rows of a harness go together: they weigh their root.
    harness = [(row.source, row.told["framework"]) for row in rows]
    count = Counter(harness)
    weight = np.array([count[name] ** -0.5 for name in harness])
    weight = np.sqrt(weight / weight.mean())

    def named(x):
        return dict(zip(START, np.exp(x), strict=True))

    def residuals(x):
        off = (np.log(expected(rows, named(x))) - measured) / BEND
        bent = BEND * np.sqrt(2 * (np.sqrt(1 + off**2) - 1))  # grows like the root, far out
        held = HOLD * math.sqrt(len(rows)) * (x - begin) / spread
        return np.concatenate([weight * bent, held])

    return named(least_squares(residuals, begin).x)


def width(rows, groups):
    """The factor within which 9 of 10 rows lie of a forecast that was fitted without their kind.

    Rows weigh alike, or sources do: the wider one. `groups` gives what a row has in common with
    others; those that share any of it are left out with it.
    """
    off = []
    weights = []
    count = Counter(row.source for row in rows)
    for name in sorted(set(map(groups, rows))):
        own = [row for row in rows if groups(row) == name]
        rest = [row for row in rows if not {*groups(row)} & {*name}]
        for row, seconds in zip(own, expected(own, fit(rest)), strict=True):
            off.append(abs(math.log(seconds / row.seconds)))
            weights.append(1 / count[row.source])
    rows_alike = np.quantile(off, 0.9, method="inverted_cdf")
    sources_alike = np.quantile(off, 0.9, method="inverted_cdf", weights=weights)
    return math.exp(max(rows_alike, sources_alike))


def constants():
    """What accel_helpers/data/forecast.toml says."""
    rows = read(PUBLISHED)
    apart = width(rows, lambda row: (row.source,))
    new = width(rows, lambda row: (row.source, row.chip.peak_fp32_tflops))
    found = "".join(f"{name} = {value:.4g}\n" for name, value in fit(rows).items())
    return f"""\
# Made by `python -m tools.forecast --fit` from tools/published.csv; never by hand.
made_on = "{datetime.now(UTC):%Y-%m-%d}"
rows = {len(rows)}
sources = {json.dumps(sorted({row.source for row in rows}))}
chips = {json.dumps(sorted({row.chip.name for row in rows}))}
# Within the forecast times and over this lie 9 of 10 rows of a source that was left out.
# 8 of 10 are promised: sources differ more than the rows of three of them can show.
width = {apart:.3g}
# the same where all rows of the chip were left out, too
width_of_new_chips = {max(apart, new):.3g}
[constants]
{found}"""


if __name__ == "__main__":
    CONSTANTS.write_text(constants(), encoding="utf-8")
