"""Lesson 04: the picture of the memory of a step."""

from accel_helpers._values.words import format_bytes
from accel_helpers.course.stored_steps import stored_step
from accel_helpers.measure import pictures
from accel_helpers.tpu.answers import CompiledStep
from accel_helpers.tpu.compiler import MEMORY

# The stored answers that are drawn, and what their models are called.
DRAWN = {
    "shakespeare": "Shakespeare",
    "resnet50-float32": "ResNet-50",
    "resnet50": "ResNet-50",
    "resnet50-large": "ResNet-50",
}


def label(model: str, step: CompiledStep) -> str:
    """Return the label of a stored step: "ResNet-50, batch of 1,024, bfloat16"."""
    number_format = step.policy.removeprefix("mixed_")
    return f"{model}, batch of {step.batch_size:,}, {number_format}"


def memory() -> pictures.Picture:
    """Draw the memory that each compiled step needs, and where a chip is full."""
    things = []
    for name, model in DRAWN.items():
        step = stored_step(name)
        needed = step.peak_memory
        said = "fits"
        colour = pictures.OWN
        if step.verdict != "fits":
            needed = step.needed
            said = f"too much for a {step.chip}"
            colour = pictures.OTHER
        step_name = label(model, step)
        note = f"{format_bytes(needed)}, {said}"
        row = pictures.Row(step_name, note, interval=(0, needed), colour=colour)
        things.append(row)
    title = "1,024 photographs a step are too many for a v5e; 512 fit"
    levels = {f"{chip}: {format_bytes(size)}": size for chip, size in MEMORY.items()}
    x = ("memory of one training step", format_bytes)
    return pictures.rows(things, x, title=title, levels=levels)


PICTURES = {"memory": memory}
