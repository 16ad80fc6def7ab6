"""What the tests of single lessons share: their cells, and recorded races.

The recorded results are real: epochs of the quick-start model on 9,600 digits, four seconds on one
CPU, with Keras once on JAX and twice on TensorFlow. In a replay one of them plays the accelerator.
"""

import json
import re
from pathlib import Path

import nbformat

import accel_helpers as ah
from accel_helpers.measure.measurement import Measurement

HERE = Path(__file__).parent
PATHS = {p.name[:2]: p for p in sorted((HERE.parents[1] / "notebooks").glob("[0-9]*.ipynb"))}
NOTEBOOKS = {number: nbformat.read(path, as_version=4) for number, path in PATHS.items()}
SETS = {
    "faster": ("tensorflow_a", "jax"),
    "no measurable difference": ("tensorflow_a", "tensorflow_b"),
    "slower": ("jax", "tensorflow_a"),
}


def cells(number, words="", *, kind="code", tag=None):
    found = []
    for cell in NOTEBOOKS[number].cells:
        is_tagged = tag is None or tag in cell.metadata.get("tags", ())
        if cell.cell_type == kind and words in cell.source and is_tagged:
            found.append(cell)
    return found


def the_cell(number, words, **of):
    (found,) = cells(number, words, **of)
    return found


def printed(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def prose(number):
    return "\n".join(cell.source for cell in cells(number, kind="markdown"))


def figures(number, term):
    """The numbers in those paragraphs of a lesson that name a term, however they are worded."""
    paragraphs = [text for text in prose(number).split("\n\n") if term in text]
    text = re.sub(r"\]\([^)]*\)", "]", "\n".join(paragraphs))  # an address is no claim
    return set(re.findall(r"(?<!\w)(?:\d[\d.,]*\d|\d)", text))


def recorded(run):
    found = json.loads((HERE / "recorded" / f"{run}.json").read_text("utf-8"))
    return Measurement.from_samples(found["samples"], first_call=found["first_call"])


def race(name):
    cpu, other = map(recorded, SETS[name])
    return ah.compare(cpu, other, names=("CPU", "GPU"))
