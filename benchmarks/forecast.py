"""How far are the forecasts from what was measured? Rows of sources that were never fitted.

python -m benchmarks.forecast ROWS.csv      the score, the pairs of chips, the ten worst rows
python -m benchmarks.forecast               docs/forecast.md, and the score that forecasts print,
                                            from benchmarks/measured.csv
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
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import replace
from functools import partial
from pathlib import Path

from accel_helpers._words import format_seconds
from accel_helpers.machine import hardware
from accel_helpers.measure import step_time
from accel_helpers.plots import style
from accel_helpers.train import forecast
from benchmarks import elements
from tools import forecast as tool

ROOT = Path(__file__).resolve().parents[1]
MEASURED = ROOT / "benchmarks" / "measured.csv"
DOCS, PICTURE = ROOT / "docs" / "forecast.md", ROOT / "docs" / "pictures" / "forecast.png"
RUNS = ROOT / "accel_helpers" / "data" / "reference_runs"
INSIDE, ALIKE = "rows in their interval", "the same, sources alike"
WINOGRAD, GROWS, MORE = 2.25, 1.1, 4
SERIES = "source chip framework version execution net mode precision".split()
WORK = "source framework version execution net mode batch_per_chip".split()  # and the bits
COLOURS = {
    "engine": (style.REFERENCE, "D"),
    "framework": (style.THIRD, "s"),
    "training": (style.OWN, "o"),
}
# What compiles a whole network for inference. `torch.compile` is none of these: it joins operations
# in a framework, as XLA does under Keras.
ENGINES = ("TensorRT", "FasterTransformer")
SMALL = "(Keras example)"  # so the rows of Keras's own small examples are marked
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
    needed = of["products"] + of["traffic"]
    return larger >= MORE and row.seconds < GROWS * other.seconds and needed > row.seconds / 2


def score(rows):
    """What is promised, as (what, figure) pairs."""
    import numpy as np

    expected = np.array(tool.expected(rows))
    width = np.array([step_time.interval(row.chip, 1.0)[1] for row in rows])
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
        ("median error", f"{math.expm1(np.median(off)):.0%}"),
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


def printed_score() -> str:
    """What a forecast says of a class of its own; accel_helpers/data/forecast_score.toml."""
    rows, given, _ = judged(MEASURED)
    small = small_keras(rows, given)
    return f"""\
# Made by `python -m benchmarks.forecast` from benchmarks/measured.csv; never by hand.
# Keras's own small examples: how many rows, of how many sources, lay in their interval; and the
# longest step, in seconds, that was forecast for one of them.
[small_keras]
rows = {len(small)}
held = {sum(held(row, seconds) for row, seconds in small)}
sources = {len({row.source for row, _ in small})}
longest = {max(seconds for _, seconds in small):.4g}
"""


def worst(rows, given, most=10):
    """Forecast over measured, furthest first, and what the source says of the row."""
    both = zip(rows, tool.expected(rows), strict=True)
    found = sorted(both, key=lambda pair: -abs(math.log(pair[1] / pair[0].seconds)))
    names = "source", "chip", "model", "mode", "precision", "batch_per_chip", "execution"
    return [
        (f"{seconds / row.seconds:.2f}", row.id, ", ".join(given[row.id][name] for name in names))
        for row, seconds in found[:most]
    ]


def page() -> str:
    """docs/forecast.md; its picture is drawn beside it."""
    rows, given, others = judged(MEASURED)
    fit = step_time.fitted()
    kinds = {
        "training": lambda row: row.args["training"],
        "inference as a framework runs it": lambda row: how(row, given) == "framework",
        "inference by an engine": lambda row: how(row, given) == "engine",
        "all rows": lambda row: True,
        "all but engines": lambda row: how(row, given) != "engine",
        "Keras's own small examples": lambda row: SMALL in given[row.id]["model"],
        "chips of which no row was fitted": lambda row: row.chip.name not in fit.chips,
        **{f"{chip}, training": partial(_training_on, chip) for chip in ("T4", "L4", "H100")},
    }
    parts = {name: [row for row in rows if of(row)] for name, of in kinds.items()}
    scores = [(name, dict(score(own))) for name, own in parts.items()]
    heads = ["rows", "median error", "within a factor of 2", INSIDE, ALIKE]
    three = [pairs(parts[name], given) for name in ("all rows", "all but engines", "training")]
    by_source = defaultdict(list)
    for row in rows:
        by_source[row.source].append(row)
    sources = []
    for name, own in sorted(by_source.items()):
        of, figures = given[own[0].id], dict(score(own))
        told = [figures["median error"], figures[INSIDE].partition(" ")[0]]
        sources.append([name, of["repo"], of["licence"], len(own), *told])
    drawn, left = picture(rows, given), Counter(others.values()).most_common()
    PICTURE.write_bytes(drawn.png)
    return PAGE.format(
        fit=fit,
        alt=drawn.alt,
        compiled=_compiled(rows, given),
        l4=len(parts["L4, training"]),
        kinds=elements.table(["", *heads], [[n, *(of[h] for h in heads)] for n, of in scores]),
        pairs="".join(
            f"| {row[0][0]} | {' | '.join(figure for _, figure in row)} |\n"
            for row in zip(*three, strict=True)
        ),
        worst=elements.table(
            ["forecast over measured", "row", "what"],
            [*worst(rows, given), *worst(parts["all but engines"], given)],
        ),
        sources=elements.table(
            ["source", "repository", "licence", "rows", "median error", "in the interval"], sources
        ),
        left="; ".join(f"{count} ({why})" for why, count in left),
        constants=elements.table(["", ""], [(n, f"{v:.3g}") for n, v in fit.constants.items()]),
        cards=of_cards(RUNS),
    )


def _compiled(rows, given) -> str:
    """What inference under `torch.compile` has for a score, in a sentence."""
    own = [
        row
        for row in rows
        if given[row.id]["execution"] == "compiled" and how(row, given) == "framework"
    ]
    of = dict(score(own))
    share = of[INSIDE].partition(" ")[0]
    return f"its {len(own)} rows have a median error of {of['median error']}, {share} inside."


def of_cards(folder) -> str:
    """A line for each row of each card in a folder, or that there is none."""
    lines = []
    for path in sorted(folder.glob("*.json")):
        found, _ = tool.of_card(path)
        with tempfile.TemporaryDirectory() as place:
            rows = Path(place, "rows.csv")
            with open(rows, "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows(found)
            rows, _ = tool.read(rows)
        for row, seconds in zip(rows, tool.expected(rows), strict=True):
            times = format_seconds(seconds), format_seconds(row.seconds)
            lines.append([row.id, *times, f"{seconds / row.seconds:.2f}"])
    heads = ["row", "forecast", "measured", "forecast over measured"]
    return elements.table(heads, lines) if lines else NO_CARD


def _training_on(chip, row):
    return row.args["training"] and chip in row.chip.name


def picture(rows, given):
    """Forecast over measured against what was measured, a dot for each row."""
    ratio = [
        (row.seconds, expected / row.seconds, how(row, given))
        for row, expected in zip(rows, tool.expected(rows), strict=True)
    ]
    width, most = step_time.fitted().width, 1.1 * max(max(y, 1 / y) for _, y, _ in ratio)
    inside = {
        kind: sum(1 / width <= y <= width for _, y, of in ratio if of == kind)
        / sum(of == kind for *_, of in ratio)
        for kind in COLOURS
    }
    tenths = f"{10 * inside['training']:.0f}"
    title = f"About {tenths} of 10 published trainings lie in the shaded band"
    with style.figure(style.WIDE, 3.2, title) as (figure, axes):
        axes.axhspan(1 / width, width, color=style.OWN, alpha=0.12, lw=0)
        axes.axhline(1, color=style.SAID, lw=1)
        for kind, (colour, mark) in COLOURS.items():
            x, y = zip(*((x, y) for x, y, of in ratio if of == kind), strict=True)
            name = kind if kind == "training" else f"inference, {kind}"
            axes.plot(x, y, mark, color=colour, ms=3.5, alpha=0.6, mew=0, label=name)
        ends = min(x for x, *_ in ratio) / 1.3, max(x for x, *_ in ratio) * 1.3
        style.scale(axes.xaxis, "measured step", *ends, format_seconds, log=True)
        style.scale(axes.yaxis, "forecast over measured", 1 / most, most, style.plain, log=True)
        axes.legend(frameon=False, loc="upper right", fontsize=9, handletextpad=0.2)
        said = ", ".join(f"{share:.0%} of {kind}" for kind, share in inside.items())
        band = f"in the band from {1 / width:.2f} to {width:.2f} lie {said}"
        return style.picture(figure, f"Dot plot. {title}: {band}.")


PAGE = """\
# The forecast, and what was measured

`ah.worth.forecast` says how long a step of a model would take on a chip that is not there. Its
constants were fitted on {fit.made_on} to {fit.rows:,} published measurements of three sources
(`tools/published.csv`), and committed before one row of this page was looked at (commit 43f7b2d).
Nothing was fitted again since, and no row was dropped but by the rules in `benchmarks/forecast.py`,
written before, too. This page is made by `python -m benchmarks.forecast`.

## The score

{kinds}
In brackets: 95 %, from drawing the sources anew. "Sources alike" weighs each source the same. An
engine compiles a whole network for inference and fuses its operations: TensorRT,
FasterTransformer. What Keras does is in the first two lines. We separated engines after seeing the
score of all rows. Only then, too, did we decide to count 124 rows once that two people had gathered
(which made the score of all rows a little worse). `torch.compile` stood among the engines at first,
and is none: {compiled}

Keras's own small examples are the class that most models of this course belong to, and there the
promise does not hold: see *Where it is worst*. So a forecast of a training whose steps are as short
says that score beside the promise. And the line of the L4's training rests on {l4} rows. In a later
check against sources that are not in this repository, 47 other trainings on an L4 had a median
error of 35 %, and 72 % lay in their interval; of 233 rows of six further sources 75 % did.

![{alt}](pictures/forecast.png)

What was promised before: a median error of at most 25 %, 90 % within a factor of 2, 80 to 92 % in
their interval, and 75 % with sources alike. **All rows together miss the first three.** It is the
engines: nothing of their kind was fitted, and on networks of many small operations they are up to
ten times as fast. Without them the error is a little above what was promised, and
the rest holds.

| two chips on the same work | all rows | all but engines | training |
| --- | --- | --- | --- |
{pairs}
## Where it is worst

{worst}
The ten furthest off, and the ten furthest off but engines. Small networks at batch 1 in TensorRT
make up the first ones. Of the second, most are the small examples of Keras in 2017 and 2018 on
rented machines with one or two CPU cores. An epoch there waited for Python, which the forecast of a
row does not know; `ah.worth.forecast` measures that part on your machine and adds it. The furthest
of all is a run of MXNet with the channels last, which then transposes around every layer.

## Where the rows come from

{sources}
Every row has its repository, commit, path and line in `benchmarks/measured.csv`; `doubt` says what
had to be assumed.

Left out by the rules: {left}.

## What was fitted

{constants}
Shares are of the published peaks; passes are how often a number that is made crosses the memory;
operations are in seconds. Cards of 75 W reach `low_power` of both peaks. `casts` is what mixed
precision adds where Python sends off each operation. The interval is the forecast times and over
{fit.width:.2f}, on chips of which no row was fitted {fit.width_of_new_chips:.2f}.
Within that lay 9 of 10 rows of a source that was left out of the fit.

## Your own card

`python tools/forecast.py --card result_card.json` makes rows of a result card from a machine with a
GPU. Every such card among the reference runs is held against its forecast here, and none is fitted
before it was shown. Its steps are those of Keras's `fit`, Python between them and all.

{cards}"""
NO_CARD = "None was contributed yet: nothing of this course was measured on a GPU or a TPU.\n"


def this_cpu(seconds=12.0):
    """The same formula with the peaks of this CPU, as measured, beside five trainings here."""
    import accel_helpers as ah
    from benchmarks import worth

    ah.backend.choose()
    found = ah.ceilings.measure("cpu", seconds=seconds)
    peaks = {f"peak_{kind}_tflops_dense": None for kind in ("tf32", "fp16", "bf16")}
    peaks["peak_fp32_tflops"] = found.products[0].rate / 1e12
    t4 = hardware.match("T4")
    cpu = replace(t4, **peaks, mem_bw_gb_s=found.copy.rate / 1e9, power_w=150.0)
    print(found)
    for name, (make, data) in worth.cases(1024).items():
        model, (x, *y) = make(sys.modules["keras"]), data(32)
        here = ah.worth.forecast(model, 32, ("T4",), x=x, y=y[0] if y else None, seconds=seconds)
        own = step_time.terms(forecast.load_of(model, 32)[0], cpu)
        step = sum(own.values()) + here.host.median
        told = " + ".join(f"{format_seconds(each)} {term}" for term, each in own.items())
        told = f"{format_seconds(here.host.median)} Python between the steps + {told}"
        print(f"{name:22} forecast {format_seconds(step)} = {told};")
        print(f"{'':22} measured {format_seconds(here.here.median)}: {step / here.here.median:.2f}")


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", nargs="?", type=Path)
    parser.add_argument("--cpu", action="store_true")
    given = parser.parse_args(words)
    if given.cpu:
        return this_cpu()
    path = given.rows
    if path is None:
        step_time.SCORE.write_text(printed_score(), encoding="utf-8")
        return DOCS.write_text(page(), encoding="utf-8")
    rows, given, others = judged(path)
    for what, figure in [*score(rows), *pairs(rows, given)]:
        print(f"{what:40} {figure}")
    print("\nThe ten worst: forecast over measured")
    for line in worst(rows, given):
        print("  ".join(line))
    for name, why in others.items():
        print(f"left out: {name}: {why}")


if __name__ == "__main__":
    main()
