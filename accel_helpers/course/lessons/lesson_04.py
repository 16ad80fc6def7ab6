"""Lesson 04: the picture of the memory of a step."""

from collections.abc import Mapping

from accel_helpers._values.words import format_bytes
from accel_helpers.measure import pictures
from accel_helpers.tpu.answers import CompiledStep
from accel_helpers.tpu.compiler import MEMORY

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
