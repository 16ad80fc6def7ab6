"""Lesson 04: the pictures of a training run and of the memory of a step, and the exercise."""

import math
from collections.abc import Mapping, Sequence

from accel_helpers._values.words import format_bytes
from accel_helpers.course import text
from accel_helpers.course.checks import WordCheck
from accel_helpers.plots import lines, rows, style
from accel_helpers.plots.style import Picture
from accel_helpers.tpu.answers import CompiledStep
from accel_helpers.tpu.compiler import MEMORY

#: What the models of the stored answers are called in the picture; the rest go by their name.
SPOKEN = {
    "strategy": "lesson 03's small model",
    "shakespeare": "Shakespeare",
    "resnet50": "ResNet-50",
}


def losses_picture(curves: Mapping[str, Sequence[float]], *, title: str) -> Picture:
    """Draw the losses of the Shakespeare model, and the loss of one that knows nothing as a level.

    Parameters
    ----------
    curves : mapping of str to sequence of float
        The loss after each epoch, by the name of the line.
    title : str
    """
    course_text = text.load_text()
    letters = len(course_text.vocabulary)
    # A model that gives each letter the same chance has the logarithm of their number as its loss.
    loss_of_chance = math.log(letters)
    levels = {"knowing nothing": [loss_of_chance]}
    return lines.curves(curves, title=title, said=levels)


def label(name: str, step: CompiledStep) -> str:
    """Return the label of a stored step: its model, the format of its numbers, its batch.

    "resnet50-large" with mixed_bfloat16 and 1024 images -> "ResNet-50, bfloat16, batch of 1,024"
    """
    # A stored answer is called after its model, and perhaps after what is special about it.
    model, _, _ = name.partition("-")
    spoken = SPOKEN.get(model, model)
    number_format = step.policy.removeprefix("mixed_")
    return f"{spoken}, {number_format}, batch of {step.batch_size:,}"


def _memory_row(name: str, step: CompiledStep) -> rows.Row:
    """Return the row of a step: a bar from 0 to the bytes that it needs, and a verdict as a note.

    It has another colour where the step does not fit. The step was compiled: it fits or is too
    large.
    """
    if step.verdict == "fits":
        needed = step.peak_memory
        verdict = "fits"
        colour = style.OWN
    else:
        needed = step.needed
        verdict = f"too much; {step.largest_batch} fit"
        colour = style.SECOND
    step_label = label(name, step)
    notes = (format_bytes(needed), verdict)
    return rows.Row(step_label, colour, notes, bar=(0, needed))


def memory_picture(steps: Mapping[str, CompiledStep], *, title: str) -> Picture:
    """Draw a bar for the memory that each compiled step needs, and a line where a chip is full.

    Parameters
    ----------
    steps : mapping of str to CompiledStep
        Stored answers by their names, each of a step that fits or is too large.
    title : str
    """
    bars = [_memory_row(name, step) for name, step in steps.items()]
    height = 0.9 + rows.room(bars)
    end = 1.04 * max(MEMORY.values())
    with style.figure(style.WIDE, height, title) as (figure, axes):
        rows.paint(axes, bars, ["needs", "on a v5e"], thick=0.5)
        for chip, size in MEMORY.items():
            _mark_full(axes, chip, size)
        style.scale(axes.xaxis, "memory of one training step", 0, end, format_bytes)
        sentences = _memory_text(bars)
        return style.picture(figure, f"Bars of memory. {title}: {sentences}")


def _mark_full(axes, chip: str, size: float) -> None:
    """Draw an upright line where a chip's memory ends, at `size` bytes, with its name beside it."""
    axes.axvline(size, color=style.INK, lw=1.4, ls="--")
    # In points from the line, so that its name does not touch it.
    place = {"xytext": (-6, 0), "textcoords": "offset points"}
    font = {"fontsize": 9, "ha": "right", "va": "center"}
    axes.annotate(f"{chip} full", (size, 0), **place, **font)


def _memory_text(bars: Sequence[rows.Row]) -> str:
    """Return the sentences of the alt text: what each step needs, and how much each chip has.

    One row -> "Shakespeare, bfloat16, batch of 1,024 2.1 GB and fits. There are 16.9 GB on a v5e
    and 33.6 GB on a v6e."
    """
    needs = []
    for row in bars:
        notes = " and ".join(row.notes)
        needs.append(f"{row.name} {notes}")
    sizes = [f"{format_bytes(size)} on a {chip}" for chip, size in MEMORY.items()]
    all_needs = "; ".join(needs)
    all_sizes = " and ".join(sizes)
    return f"{all_needs}. There are {all_sizes}."


class Next(WordCheck):
    """What can be done about a model that is to train on a TPU."""

    truth = {
        "A": "Keras on JAX",
        "B": "a smaller batch",
        "C": "a strategy",
        "D": "a sharded model",
        "E": "Keras on JAX",
        "F": "text kept outside",
    }
    allowed = (
        "Keras on JAX",
        "a smaller batch",
        "a strategy",
        "a sharded model",
        "text kept outside",
    )
    done = "With one chip it is Keras on JAX, and if it does not fit, a smaller batch."
    empty = "The six answers are still empty."
    # case -> wrong answer -> the message; and "" -> the hint to every wrong answer
    slips = {
        "A": {
            "a strategy": ("a v5e-1 is one chip, so there is nobody to share with.", ""),
            "": ("", "What does Colab's TPU runtime lack, that your notebook imports?"),
        },
        "B": {
            "a strategy": ("with one chip a strategy has nothing to share out.", ""),
            "a sharded model": ("the weights fit easily. It is the batch that does not.", ""),
            "": (
                "",
                "The peak grows with the batch. "
                "What does the card name as the largest batch that fits?",
            ),
        },
        "C": {
            "Keras on JAX": ("it runs on JAX already, and JAX alone takes one chip.", ""),
            "a sharded model": ("the model fits on one chip. Seven others have no work.", ""),
            "": ("", "Who gives each chip its share of the batch?"),
        },
        "D": {
            "a smaller batch": ("a batch of one would not fit either.", ""),
            "a strategy": ("copies do not help: each chip would hold the whole model.", ""),
            "": (
                "",
                "16 bytes for each number of the model: "
                "how much for 2 billion, and how much has a v5e?",
            ),
        },
        "E": {
            "a strategy": ("that is what the old notebook goes on to do, with TensorFlow.", ""),
            "": (
                "",
                "The error is about an address that no TPU of Colab has any more. "
                "What makes it needless?",
            ),
        },
        "F": {
            "Keras on JAX": ("no framework helps: the chip has no instruction for text.", ""),
            "": ("", "Where could the text become numbers, before the model sees it?"),
        },
    }


CHECKS = {"04/next": Next()}
