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
RESIDENT = "fit_resident"


def table(heads, rows):
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def page():
    """The text of the page."""
    result = json.loads(RESULTS.read_text("utf-8"))
    backends = result["backends"]
    sizes = list(backends["jax"]["training"])
    training = []
    epochs = []
    for name, found in backends.items():
        for way in found["training"][sizes[0]]:
            cells = [cell(found["training"][size], way) for size in sizes]
            training.append([f"{way}, {NAMES[name]}", *cells])
        if found["epochs"]:
            epochs.append([NAMES[name], *said_of(found["epochs"])])
    return TEXT.format(
        **result,
        **backends["jax"]["images"],
        frameworks=", ".join(f"{name} {result['versions'][name]}" for name in NAMES),
        vague=VAGUE,
        turns=table(["", *(f"batch {size}" for size in sizes)], training),
        drifts=table(DRIFTS, map(drift_of, result["drifting"])),
        times=table(EPOCHS, epochs) if epochs else "Not measured yet.\n",
    )


def cell(ways, name):
    """The middle epoch of a way, and how many times as fast `fit_resident` is."""
    slow, fast = (Measurement.from_samples(ways[each]) for each in (name, RESIDENT))
    epoch = format_seconds(slow.median)
    if name == RESIDENT:
        return epoch
    found = compare(slow, fast, in_turns=True)
    low, high = found.interval
    if found.ratio is None:
        return f"{epoch}; no measurable difference ({low:.2g} to {high:.2g})"
    if high > VAGUE * low:
        return f"{epoch}; between {low:.2g} and {high:.2g}"
    return f"{epoch}; **{found.ratio:.3g}** ({low:.3g} to {high:.3g})"


def drift_of(found):
    """A line on a machine that grows slower."""
    judges = found["compare"], found["timeit"]
    ratios = [f"{judge['fifth']:.2f}" for judge in judges]
    return [percent(found["drift"]), *(judge["alarms"] for judge in judges), *ratios]


def said_of(runs):
    """The cells of a backend: what `time_fit` said over what whole epochs took."""
    ratios = sorted(run["said"] / run["whole"] for run in runs)
    inside = sum(run["interval"][0] <= run["whole"] <= run["interval"][1] for run in runs)
    return [f"{ratios[0]:.2f} to {ratios[-1]:.2f}", f"{inside} of {len(runs)}"]


DRIFTS = ["slower after a second by", "false alarms, `compare`", "timeit"]
DRIFTS += ["times as long, `compare`", "timeit"]
EPOCHS = ["Keras on", "said over whole, ten runs", "the whole one in the interval"]
TEXT = """\
# Three claims about speed, side by side

Measured by `make benchmarks` on **{machine}**, or on a machine that is made up, where that is said
({measured_on}, {minutes} minutes; {frameworks}). This page is made from `benchmarks/results.json`.

## `fit_resident` beside `fit`, and beside JAX by hand

The quickstart model without dropout, Adam, {count:,} images in an epoch ({name}).
All ways take turns, an epoch each, every other round backwards: a machine that slowly changes does
so for all of them. What a training begins with does not count.

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

{drifts}
## `time_fit` beside whole epochs by a clock

`time_fit(…, seconds=3)`, and then ten whole epochs by a clock, ten times over, each time a new
model. The ratio is the epoch that was said over the middle of the whole ones.

{times}"""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
