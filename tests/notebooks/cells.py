"""What the tests of single lessons share: their cells, and recorded races.

The recorded results are real: epochs of the quick-start model on 9,600 digits, four seconds on one
CPU, with Keras once on JAX and twice on TensorFlow. In a replay one of them plays the accelerator.
"""

import json
import re
from pathlib import Path

import lesson

import accel_helpers as ah
from accel_helpers.measure.measurement import Measurement

HERE = Path(__file__).parent
PATHS = {path.name[:2]: path for path in lesson.chosen([])}
NOTEBOOKS = {number: lesson.parse(lesson.read(path)) for number, path in PATHS.items()}
SETS = {
    "faster": ("tensorflow_a", "jax"),
    "no measurable difference": ("tensorflow_a", "tensorflow_b"),
    "slower": ("jax", "tensorflow_a"),
}


def cells(number, words="", *, kind="code", tag=None):
    found = []
    for cell in NOTEBOOKS[number].cells:
        is_tagged = not tag or tag in lesson.tags(cell)
        if is_tagged and cell.cell_type == kind and words in cell.source:
            found.append(cell)
    return found


def the_cell(number, words, **of):
    (found,) = cells(number, words, **of)
    return found


def printed(cell):
    texts = [output.get("text", "") for output in cell.outputs]
    return "".join(texts)


def prose(number):
    texts = [cell.source for cell in cells(number, kind="markdown")]
    return "\n\n".join(texts)


def figures(number, term):
    """The numbers in those paragraphs of a lesson that name a term, however they are worded."""
    text = re.sub(r"\]\([^)]*\)", "]", prose(number))  # an address is no claim
    found = set()
    for paragraph in text.split("\n\n"):
        if term in paragraph:
            found.update(re.findall(r"(?<!\w)(?:\d[\d.,]*\d|\d)", paragraph))
    return found


def recorded(run):
    found = json.loads(lesson.read(HERE / "recorded" / f"{run}.json"))
    return Measurement.from_samples(found["samples"], first_call=found["first_call"])


def race(name):
    cpu, other = map(recorded, SETS[name])
    return ah.compare(cpu, other, names=("CPU", "GPU"))
