"""Repairs of a lesson that need no author: how it is written, never what it says."""

import kernel
import lesson
import measured
from nbformat import from_dict
from nbformat.validator import normalize

# What may stand in the metadata of a notebook, there of Colab, and of a cell.
KEYS = ("kernelspec", "accelerator", "colab")
COLAB_KEYS = ("gpuType", "machine_shape", "toc_visible")
CELL_KEYS = ("tags", "slideshow", "cellView", "jupyter")
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def only(mapping, keys):
    """Give the part of a mapping that some keys have."""
    return from_dict({key: mapping[key] for key in keys if key in mapping})


def stamp_of(nb):
    """Give the stamp that a lesson's badge carries."""
    stamps = lesson.badge_stamps(nb.cells[0].source)
    return stamps[0] if stamps else lesson.UNSTAMPED


def place_stamp(nb, path, stamp):
    """Put the given text into the setup cell, and have the badges lead where it leads."""
    for cell in nb.cells:
        if "setup" in lesson.tags(cell):
            cell.source = lesson.setup_source(stamp, path.name[:2])
        if cell.cell_type == "markdown":
            cell.source = lesson.restamp_badges(cell.source, stamp, [path.name])


def clean_outputs(nb):
    """Drop what may not be stored: views of widgets and, of what measures, noise and players."""
    for cell in (cell for cell in nb.cells if cell.cell_type == "code"):
        is_measured = measured.TAG in lesson.tags(cell)
        kept = []
        for output in cell.outputs:
            data = output.get("data", {})
            data.pop(kernel.WIDGET, None)
            # A player is stored as its still picture.
            if is_measured and "<script" in data.get("text/html", ""):
                del data["text/html"]
            is_noise = is_measured and output.get("name") == "stderr"
            if output.get("data") != {} and not is_noise:
                kept.append(output)
        cell.outputs = kept


def fix(text, path):
    """Give a lesson's text in form."""
    nb = lesson.parse(text)
    nb.nbformat_minor = 5
    _, nb = normalize(nb)  # gives ids where one is missing or not its own
    nb.metadata = only({**nb.metadata, "kernelspec": KERNEL}, KEYS)
    if "colab" in nb.metadata:
        nb.metadata.colab = only(nb.metadata.colab, COLAB_KEYS)
    for cell in nb.cells:
        cell.metadata = only(cell.metadata, CELL_KEYS)
    clean_outputs(nb)
    place_stamp(nb, path, stamp_of(nb))
    return lesson.dump(nb)
