"""Lesson 04: the picture of the memory of a step, and the exercise."""

from collections.abc import Mapping

from accel_helpers._values.words import format_bytes
from accel_helpers.course.checks import WordCheck
from accel_helpers.measure import pictures
from accel_helpers.tpu.answers import CompiledStep
from accel_helpers.tpu.compiler import MEMORY


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


#: What the models of the stored answers are called in the picture; the rest go by their name.
SPOKEN = {
    "strategy": "lesson 03's small model",
    "shakespeare": "Shakespeare",
    "resnet50": "ResNet-50",
}


def label(name: str, step: CompiledStep) -> str:
    """Return the label of a stored step: "ResNet-50, bfloat16, batch of 1,024"."""
    # A stored answer is called after its model, and perhaps after what is special about it.
    model, _, _ = name.partition("-")
    spoken = SPOKEN.get(model, model)
    number_format = step.policy.removeprefix("mixed_")
    return f"{spoken}, {number_format}, batch of {step.batch_size:,}"


def memory(steps: Mapping[str, CompiledStep]) -> pictures.Picture:
    """Draw the memory that each compiled step needs, and where a chip is full."""
    things = []
    for name, step in steps.items():
        needed = step.peak_memory
        said = "fits"
        colour = pictures.OWN
        if step.verdict != "fits":
            needed = step.needed
            said = f"too much; {step.largest_batch} fit"
            colour = pictures.OTHER
        step_name = label(name, step)
        note = f"{format_bytes(needed)}, {said}"
        row = pictures.Row(step_name, note, interval=(0, needed), colour=colour)
        things.append(row)
    title = "A large batch overflows a TPU; small models hardly touch it"
    levels = {f"{chip}: {format_bytes(size)}": size for chip, size in MEMORY.items()}
    x = ("memory of one training step", format_bytes)
    return pictures.rows(things, x, title=title, levels=levels)


PICTURES = {"memory": memory}
