"""Repairs of a lesson that need no author: how it is written, never what it says."""

import lesson
import measured
from lesson import UNSTAMPED
from nbformat import from_dict
from nbformat.corpus.words import generate_corpus_id

# What may stand in the metadata of a notebook, there of Colab, and of a cell.
KEYS = ("kernelspec", "accelerator", "colab")
COLAB_KEYS = ("gpuType", "machine_shape", "toc_visible")
CELL_KEYS = ("tags", "slideshow", "cellView", "jupyter")
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def only(mapping, keys):
    """Give the part of a mapping that some keys have."""
    return from_dict({key: mapping[key] for key in keys if key in mapping})


def stamp_of(nb):
    """Give the stamp that a lesson carries: its setup cell's, else its badge's, else none."""
    found = [lesson.setup_stamp(cell.source) for cell in nb.cells]
    found += [stamp for cell in nb.cells[:1] for stamp in lesson.badge_stamps(cell.source)]
    return next(filter(None, found), UNSTAMPED)


def place_stamp(nb, path, stamp):
    """Put the given text into the setup cell, and have the badges lead where it leads."""
    for cell in nb.cells:
        if "setup" in lesson.tags(cell):
            cell.source = lesson.setup_source(stamp, path.name[:2])
        if cell.cell_type == "markdown":
            cell.source = lesson.restamp_badges(cell.source, stamp, [path.name])


def clean_outputs(nb):
    """Drop what may not be stored: outputs of what nothing runs, views of widgets, noise."""
    for cell in (cell for cell in nb.cells if cell.cell_type == "code"):
        if "nbval-skip" in lesson.tags(cell) or not lesson.is_code(cell):
            cell.outputs, cell.execution_count = [], None
        for output in cell.outputs:
            output.get("data", {}).pop(WIDGET_VIEW, None)
        cell.outputs = [output for output in cell.outputs if output.get("data") != {}]
        if measured.TAG in lesson.tags(cell):
            clean_measured(cell)


def clean_measured(cell):
    """Drop what a full run says beside its results, and store a player as its still picture."""
    cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    for output in cell.outputs:
        data = output.get("data", {})
        if "<script" in data.get("text/html", ""):
            del data["text/html"]


def clean_cells(nb):
    """Keep the metadata that the course gives, and give ids where one is missing or not its own."""
    taken = {None}
    for cell in nb.cells:
        cell.metadata = only(cell.metadata, CELL_KEYS)
        if cell.get("id") in taken:
            cell.id = generate_corpus_id()
        taken.add(cell.id)


def fix(text, path):
    """Give a lesson's text in form, and the places of the cells that are others there."""
    try:
        old, nb = lesson.parse(text), lesson.parse(text)
    except (ValueError, AttributeError, TypeError):
        return text, []
    nb.nbformat_minor = 5
    nb.metadata = only({**nb.metadata, "kernelspec": KERNEL}, KEYS)
    if "colab" in nb.metadata:
        nb.metadata.colab = only(nb.metadata.colab, COLAB_KEYS)
    clean_cells(nb)
    clean_outputs(nb)
    place_stamp(nb, path, stamp_of(nb))
    places = [i for i, cell in enumerate(nb.cells) if cell != old.cells[i]]
    new = lesson.dump(nb)
    return new, places or [None] * (new != text)
