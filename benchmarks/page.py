"""docs/benchmarks.md, made from benchmarks/results.json and nothing else; and tables for all pages.

python -m benchmarks.page       writes it again
"""

import json
from pathlib import Path

from accel_helpers._values.words import format_seconds, percent
from accel_helpers.measure.measurement import VAGUE, Measurement
from accel_helpers.measure.timing import compare

RESULTS = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
NAMES = {"tensorflow": "TensorFlow", "jax": "JAX"}


def table(heads, rows):
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def page():
    """The text of the page."""
    result = json.loads(RESULTS.read_text("utf-8"))
    backends = result["backends"]
    sizes = list(backends["jax"]["training"])
    turns = []
    for name, found in backends.items():
        cells = [cells_of(**found["training"][size]) for size in sizes]
        for way, line in zip(("fit", "fit_resident"), zip(*cells, strict=True), strict=True):
            turns.append([f"{way}, {NAMES[name]}", *line])
    return TEXT.format(
        **result,
        **backends["jax"]["images"],
        frameworks=", ".join(f"{name} {result['versions'][name]}" for name in NAMES),
        vague=VAGUE,
        turns=table(["", *(f"batch {size}" for size in sizes)], turns),
        drifts=table(DRIFTS, map(drift_of, result["drifting"])),
    )


def cells_of(fit, fit_resident):
    """The middle epoch of each way, the first with how many times as fast the second is."""
    slow, fast = (Measurement.from_samples(samples) for samples in (fit, fit_resident))
    found = compare(slow, fast, in_turns=True)
    low, high = found.interval
    if found.ratio is None:
        said = f"no measurable difference ({low:.2g} to {high:.2g})"
    elif high > VAGUE * low:
        said = f"between {low:.2g} and {high:.2g}"
    else:
        said = f"**{found.ratio:.3g}** ({low:.3g} to {high:.3g})"
    return f"{format_seconds(slow.median)}; {said}", format_seconds(fast.median)


def drift_of(found):
    """A line on a machine that grows slower."""
    judges = found["compare"], found["timeit"]
    ratios = [f"{judge['fifth']:.2f}" for judge in judges]
    return [percent(found["drift"]), *(judge["alarms"] for judge in judges), *ratios]


DRIFTS = ["slower after a second by", "false alarms, `compare`", "timeit"]
DRIFTS += ["times as long, `compare`", "timeit"]
TEXT = """\
# Two claims about speed, side by side

Measured by `make benchmarks` on **{machine}**, or on a machine that is made up, where that is said
({measured_on}, {minutes} minutes; {frameworks}). This page is made from `benchmarks/results.json`.

## `fit_resident` beside `fit`

The quickstart model without dropout, Adam, {count:,} images in an epoch ({name}).
Both take turns, an epoch each, every other round backwards: a machine that slowly changes does so
for both. What a training begins with does not count.

Seconds of an epoch (the median), and how many times as fast `fit_resident` is, pair by pair from
the same rounds. In brackets: the interval, 99 %. Where its ends are more than {vague} times apart
no ratio is named.

{turns}
## `compare` and timeit on a machine that grows slower

Here the truth is known: on a machine that is made up, each job takes 10 ms, 2 % more or less, and
longer all the time. `compare` lets two jobs take turns. timeit, as it is by default, times one
after the other, and the best of five repeats counts. Both are handed the machine's clock. In 200
pairs of *the same* job a difference of 5 % or more is a false alarm. In 200 other pairs one job
takes 1.2 times as long: the last columns have the middle of what each said.

{drifts}"""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
