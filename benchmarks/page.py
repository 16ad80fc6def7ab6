"""What ``docs/benchmarks.md`` says, made from the results and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from accel_helpers._values.words import format_seconds
from accel_helpers.measure.measurement import VAGUE
from accel_helpers.measure.timing import Measurement
from accel_helpers.measure.turns import SHORT_CALL
from benchmarks import elements, harness, training
from benchmarks.contenders import CONTENDERS

INTRODUCTION = """\
# Benchmarks

Every time, rate and memory figure on this page was measured by `make benchmarks` on the machine
that is named above it, or simulated where that is said. The page and its pictures are made from the
files in `benchmarks/results/`; the settings come from the code there. JAX 0.10.2, with
which some were measured, computes some sums wrongly on a CPU: the doctor warns of it, and we have
not measured anew.
"""
TRAINING = """\
The same model, trained in {count} ways: the quickstart model without dropout, Adam, {images:,}
images in an epoch ({name}, {different:,} different ones, repeated), a new order in every epoch.
Each way has a process of its own, which loads everything and trains one epoch before the clock
counts. Then they take turns, an epoch each, every round in the reverse order of the last. So a
machine that slowly changes meanwhile does so for all of them. What comes and goes may still hit one
more than another: see the late epochs below. An epoch of `fit` is timed inside one long `fit`: what
`fit` does before its first epoch does not count.
"""
RATIOS = """\
How many times as fast the first is as the second, pair by pair from the same rounds. In brackets:
the interval, 99 %. Where its ends are more than {vague} times apart no ratio is named. The PyTorch
loop is eager, as it is usually written; `torch.compile` was not tried. *Tuned* is one tuning of
`fit`, not the best there may be.
"""
HARNESS = """\
`timing.benchmark` beside three other harnesses, as they are by default, in turns in one process.
The functions look at the clock until their time is up, so that a machine that changes its speed
does not change them. What a call really takes is found without any harness: the time of 2N calls
written out one below the other, minus the time of N of them, over N; before and after each turn.

* **Bias:** the median that a harness reports, over what a call really takes, minus one. In
  brackets: its interval.
* **Overhead:** the share of the harness's own running time that is in none of its samples, such as
  warming up and looking for the size of a block. For pyperf it is what one of its worker processes
  does; by default it starts more than twenty, one after the other.

The last column sets ours beside PyTorch's only, by the intervals of both.
"""
LATE = """\
### A device that finishes late

Here the truth is known exactly. A made-up device takes an order in {order}, comes back at once, and
finishes the job later, on a clock of its own. Its jobs vary by 2 %. All harnesses are handed that
clock. `timing.benchmark` is told how to wait. The others get the order alone, which is what one
writes first, or the order and the waiting as one statement. Calls of less than {short}
`timing.benchmark` times in blocks, with one wait at the end of each. So for the shortest jobs it
answers another question than the one asked here, and is far off; the second table asks its
question. The first one has the error (root mean
square over {devices} devices) against what a call takes until its result is there.
"""
FROM = 10_000  # samples; below, the fixed cost of an epoch shows
TOGETHER = """\
What each of many calls in a row takes, while the device works on one and takes orders for the next.
Against that, for jobs of {work}:
"""
SAMPLES = """\
`fit_resident` with batches of {batch}, on more and more images ({name}, {different:,}
different ones, repeated). An epoch has a fixed cost; beside it a sample should cost the same,
however many there are. Sizes take turns. {flat}
"""
MEMORY = """\
Memory: the bytes of the arrays, which will lie on the device, and by how much a new process
really grew from before `fit_resident` until after its first epoch. On a CPU the device's memory is
the process's own. The compiler and its program are in it too. In brackets: by how much more a
process grew than the one with the smallest size.
"""


def write(folder, docs) -> None:
    """Write the page and its pictures.

    Parameters
    ----------
    folder : path-like
        Where the results are.
    docs : path-like
        Where ``benchmarks.md`` and ``pictures/`` go.
    """
    docs = Path(docs)
    text, pictures = make(load(folder))
    (docs / "pictures").mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        (docs / "pictures" / name).write_bytes(picture.png)
    (docs / "benchmarks.md").write_text(text, encoding="utf-8")


def load(folder) -> dict[str, dict]:
    """The results in a folder, by machine."""
    return {
        path.stem: json.loads(path.read_text("utf-8"))
        for path in sorted(Path(folder).glob("*.json"))
    }


def _chip(machine: Mapping) -> str:
    """What a result was measured on: a GPU's name, or a CPU's with its cores."""
    accelerator = machine.get("accelerator")
    if accelerator:
        return accelerator["name"]
    return f"{machine['cpu_name']}, {machine['cores']} cores"


def make(found: Mapping[str, dict]) -> tuple[str, dict]:
    """The page's text, and its pictures by file name.

    Parameters
    ----------
    found : mapping of str to dict
        Machine to its result.

    Returns
    -------
    tuple of str and dict
    """
    parts, pictures = [INTRODUCTION], {}
    for machine, result in found.items():
        label = _chip(result["machine"])
        parts.append(f"## {label}\n")
        for part, section in (
            ("training", _training),
            ("harness", _harness),
            ("samples", _samples),
        ):
            if part in result:
                text, drawn = section(result[part], f"benchmarks-{part}-{machine}", label)
                parts.append(text)
                pictures |= drawn
    return "\n".join(parts), pictures


def _training(part, stem, label):
    sizes = part["batch_sizes"]
    text = [
        "### Training, in turns\n",
        _stamp(part),
        TRAINING.format(
            count=len(CONTENDERS),
            images=part["images"]["count"],
            name=part["images"]["name"],
            different=part["images"]["different"],
        ),
    ]
    lines = {
        name: line
        for name in CONTENDERS
        if (
            line := {
                int(size): Measurement(**ways[name]["epoch"])
                for size, ways in sizes.items()
                if "epoch" in ways.get(name, {})
            }
        )
    }
    picture, drawn = elements.series(
        lines,
        stem,
        title=f"Seconds per epoch, {label}",
        xlabel="batch size",
        ylabel="seconds per epoch",
    )
    text.append(picture)
    rows = [
        [name, contender.says, *elements.row(sizes, name, elements.epoch)]
        for name, contender in CONTENDERS.items()
    ]
    heads = [f"batch {size}" for size in sizes]
    text.append("Seconds per epoch (median, with its 95 % interval):\n")
    text.append(elements.table(["", "what it is", *heads], rows))
    ratios = {size: training.ratios(ways) for size, ways in sizes.items()}
    rows = []
    for slow, fast in training.RATIOS:
        cells = [elements.ratio(ratios[size], slow, fast) for size in sizes]
        rows.append([f"{fast} over {slow}", *cells])
    text += [RATIOS.format(vague=VAGUE), elements.table(["", *heads], rows), _late_epochs(sizes)]
    rows = [[name, *elements.row(sizes, name, elements.accuracy)] for name in CONTENDERS]
    text.append(
        f"That all of them learn: accuracy on {part['images']['test_count']:,} other images, after "
        "as many epochs:\n"
    )
    text.append(elements.table(["", *heads], rows))
    return "\n".join(text), drawn


def _harness(part, stem, label):
    text = ["### The harness\n", _stamp(part), HARNESS]
    names, missing = list(harness.timers.HARNESSES), elements.missing(part)
    for title, value in (("Bias", elements.bias), ("Overhead", elements.overhead)):
        rows = [
            [
                format_seconds(float(size)),
                *(value(rounds[name]) if name in rounds else missing for name in names),
                *([harness.verdict(rounds)] if title == "Bias" else []),
            ]
            for size, rounds in part["real"].items()
        ]
        last = ["ours beside PyTorch's"] if title == "Bias" else []
        text += [f"{title}:\n", elements.table(["about", *names, *last], rows)]
    late = part["late"]
    if late:
        ways = list(next(iter(late.values()))["reported"])
        devices = len(next(iter(late.values()))["reported"][ways[0]])
        short = format_seconds(SHORT_CALL)
        text.append(LATE.format(order=format_seconds(harness.ORDER), devices=devices, short=short))
        text.append(_errors(late, ways, "alone"))
        for size, found in late.items():
            if found["together"]:
                work = format_seconds(float(size))
                text.append(TOGETHER.format(work=work))
                text.append(_errors({size: found}, ways, "in a row"))
    return "\n".join(text), {}


def _samples(part, stem, label):
    text = [
        "### From a thousand samples to a million\n",
        _stamp(part),
        SAMPLES.format(batch=part["batch_size"], flat=_flat(part["backends"]), **part["images"]),
    ]
    backends = part["backends"]
    lines = {
        backend: {
            int(count): Measurement(**found["sample"])
            for count, found in sizes.items()
            if "sample" in found
        }
        for backend, sizes in backends.items()
    }
    picture, drawn = elements.series(
        {name: line for name, line in lines.items() if line},
        stem,
        title=f"Time per sample, {label}",
        xlabel="samples in an epoch",
        ylabel="time per sample",
    )
    text.append(picture)
    counts = sorted({int(count) for sizes in backends.values() for count in sizes})
    rows = [[f"{n:,}", *elements.row(backends, str(n), elements.sample)] for n in counts]
    text += ["Per sample:\n", elements.table(["samples", *backends], rows), MEMORY]
    rows, smallest = [], None
    for n in counts:
        found = [sizes.get(str(n), {}) for sizes in backends.values()]
        smallest = smallest or found
        needed = next((f["needed"] for f in found if "needed" in f), None)
        cells = [
            elements.cell(f, lambda f, least=least: elements.growth(f, least))
            for f, least in zip(found, smallest, strict=True)
        ]
        rows.append([f"{n:,}", elements.size(needed), *cells])
    text.append(elements.table(["samples", "said", *(f"grew, {name}" for name in backends)], rows))
    return "\n".join(text), drawn


def _late_epochs(sizes) -> str:
    """Which ways had epochs far above their own median: their intervals are wide for it."""
    late = []
    for size, ways in sizes.items():
        for name, found in ways.items():
            if "epoch" in found:
                taken = Measurement(**found["epoch"])
                count = sum(s > 2 * taken.median for s in taken.samples)
                if count:
                    late.append(f"{name}, batch {size}: {count} of {len(taken.samples)}")
    return f"Epochs that took over twice the median of their way: {'; '.join(late) or 'none'}.\n"


def _flat(backends) -> str:
    """How far apart the medians lie from ten thousand samples on."""
    said = []
    for name, sizes in backends.items():
        medians = [
            Measurement(**found["sample"]).median
            for count, found in sizes.items()
            if "sample" in found and int(count) >= FROM
        ]
        if len(medians) > 1:
            said.append(f"{max(medians) / min(medians):.2f} on {name}")
    if not said:
        return ""
    return f"From {FROM:,} on, the largest median over the smallest is {' and '.join(said)}."


def _stamp(part) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in part.get("versions", {}).items())
    return (
        f"Measured on {part['created'][:10]} with `{part['command']}`, in "
        f"{part['minutes']:g} minutes{f' ({versions})' if versions else ''}.\n"
    )


def _errors(late, ways, truth) -> str:
    rows = [
        [
            way,
            *(f"{100 * harness.error(f['reported'][way], f[truth]):.2f} %" for f in late.values()),
        ]
        for way in ways
    ]
    return elements.table(["", *(f"jobs of {format_seconds(float(work))}" for work in late)], rows)
