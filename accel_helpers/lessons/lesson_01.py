"""Lesson 01: one product beside a chip's rating, and the old steps with what they say today."""

import sys
import textwrap

from accel_helpers.learn.checks import choices
from accel_helpers.machine import backend, doctor, hardware
from accel_helpers.measure import results, timing
from accel_helpers.measure.measurement import VERDICTS
from accel_helpers.plots import rows, style
from accel_helpers.train.training import box

_PAPER = {"bbox": {"fc": "white", "ec": "none"}}
SIZE = 2048  # rows and columns of the matrices
OPERATIONS = 2 * SIZE**3
TIMED = (*VERDICTS, "only a CPU")
FATES = ("works", "fails", "does nothing")
OLD_STEPS = {
    "A": 'os.environ["COLAB_TPU_ADDR"], on a TPU runtime',
    "B": "!pip install tensorflow-gpu",
    "C": "tf.Session()",
    "D": "tf.test.gpu_device_name()",
    "E": "%tensorflow_version 2.x, in Colab",
    "F": "the menu: Runtime, Change runtime type",
}
#: What they said to us on 2026-11-21. A: the settings of a TPU runtime, as a user listed them
#: (https://github.com/mdda/getting-to-aha-with-tpus), have no such name. B: the end of what pip
#: 26.3 printed, on Python 3.11. C, D: TensorFlow 2.20 and 2.21. E: read in Colab's own code.
SAID = {
    "A": "KeyError: 'COLAB_TPU_ADDR'",
    "B": "  Downloading tensorflow-gpu-2.12.0.tar.gz (2.6 kB)\n  [...]\n"
    "ERROR: Failed to build 'tensorflow-gpu' when getting requirements to build wheel",
    "C": "AttributeError: module 'tensorflow' has no attribute 'Session'",
    "D": "''",
    "E": "Colab only includes TensorFlow 2.x; %tensorflow_version has no effect.",
}
_STOPS = "A notebook stops at this cell. Is that nothing?"
_SLIPS = {  # a step, and perhaps what was said of it: what to say to that
    ("A", "works"): ("That address belonged to TPUs on another machine.", "What is a KeyError?"),
    ("A", "does nothing"): ("It raises an error, a KeyError.", _STOPS),
    ("B", "works"): ("pip downloads something, but look at its last line.", "Was it installed?"),
    ("B", "does nothing"): (
        "It ends with an error, and nothing is installed.",
        "Which word does pip's last line begin with?",
    ),
    ("C", "works"): ("Sessions belong to TensorFlow 1.", "What does the module not have?"),
    ("C", "does nothing"): ("It raises an error, an AttributeError.", _STOPS),
    "D": ("It answers either way: with a GPU's name, or with an empty text.", "Was it an error?"),
    "E": ("There is no error, and nothing left to switch.", "How does Colab's sentence end?"),
    "F": ("The menu is still there.", "How did you choose your own runtime?"),
}
CHECKS = {
    "01/old": choices(
        dict.fromkeys("ABC", "fails") | {"D": "works", "E": "does nothing", "F": "works"},
        FATES,
        _SLIPS,
        done="Three fail, one does nothing, two still work.",
        empty="The six answers are still empty.",
    )
}


def time_product(seconds: float, keep: str):
    """Time one product on each device that Keras lists: one of TIMED, and the measurements."""
    devices, seconds = backend.devices(), box(seconds)
    runs, full = [*map(_product, devices)], [f"{keep}/{device}" for device in devices]
    results.keep(keep, {}, {f"{keep}/size": [SIZE]})
    if len(devices) == 1:
        return TIMED[-1], [timing.benchmark(*runs, seconds=seconds, name="CPU", keep=full[0])]
    names = tuple(map(str.upper, devices))
    race = timing.compare(*runs, seconds=seconds, names=names, keep=tuple(full))
    return race.verdict, [race.slow, race.fast]


def _product(device: str):
    from keras import ops, random

    with backend.on(device):
        matrix = random.normal((SIZE, SIZE), dtype="float32", seed=0)

    def run():
        with backend.on(device):
            return ops.matmul(matrix, matrix)

    return run


def rates(own, chip: hardware.Accelerator, *, reference=None) -> style.Picture:
    """The billions of operations a second of measured products, and those a chip is rated at."""
    rated, drawn, noted = 1000 * hardware.peak(chip), [], []
    sides, under = style.sides(own, reference, style.BARS)
    for several, mine, start in sides:
        colour, made = style.OWN if mine else style.REFERENCE, []
        for m in several:
            high, rate, low = (OPERATIONS / t / 1e9 for t in sorted((m.median, *m.interval)))
            made.append(rows.Row(m.name, colour, (f"{rate:,.0f}",), bar=(low, high), line=rate))
        drawn.append(made)
        noted.append(start + "; ".join(f"{row.name} {row.notes[0]}" for row in made))
    every, more = rows.beneath(*drawn), style.short(rated / max(row.line for row in drawn[0]))
    title = f"The {chip.name} is rated at {more} times what was measured"
    with style.figure(style.WIDE, 1.1 + rows.room(every), title, under=under) as (figure, axes):
        rows.paint(axes, every, ["measured"])
        for place, row in zip(rows.places(every), every, strict=True):
            axes.plot([0, row.line], [place] * 2, color=row.colour, lw=3, zorder=0.9)
        axes.axvline(rated, color=style.SAID, ls="--")
        said = f"{chip.name}: rated at {rated:,.0f}"
        axes.text(0.98 * rated, rows.places(every)[-1] / 2, said, ha="right", va="center", **_PAPER)
        high = 1.05 * max(rated, *(row.bar[1] for row in every))
        style.scale(axes.xaxis, "billion operations per second", 0, high, style.plain)
        return style.picture(figure, f"Lines from zero. {title}: {'; '.join(noted)}; {said}.")


def try_old(letter: str) -> None:
    """Print an old step, what it says, and advice on it; C and D are tried where they can be."""
    said, tf = SAID[letter], sys.modules.get("tensorflow")
    if letter in "CD" and tf and backend.framework() == "tensorflow":
        try:
            said = repr(tf.Session() if letter == "C" else tf.test.gpu_device_name())
        except AttributeError as error:
            said = f"AttributeError: {error}"
    print(f"{letter}. {OLD_STEPS[letter]}\n{textwrap.indent(said, '   ')}")
    found = doctor.diagnose(f"In Colab: {said}")
    if found.findings:
        print(textwrap.indent(textwrap.fill(f"Doctor: {found.next_step}", 88), "   "))
