"""What the measuring cells of a lesson show, all of one run, and the line that says of which.

The line is the page's last cell. Its comment holds two digests: of the code, so that a mended
sentence asks for no new run, and of what is shown, so that a cell run by hand is found.
"""

import ast
import hashlib
import json
import re

import lesson
from nbformat.v4 import new_markdown_cell

TAG = "nbval-ignore-output"  # nbval compares nothing of what such a cell shows
ID = "measured"  # of the cell that is the line
LINE = re.compile(
    r"(?P<words>\*The measurements here are of one run, on (?P<machine>.+), (?P<day>[\d-]{10}), "
    r"with (?P<versions>.+)\.\*) <!-- measured: code (?P<code>\w+), shown (?P<shown>\w+) -->"
)
FRAMEWORKS = ("tensorflow", "jax", "keras")
SHELL = re.compile(r"^\s*[%!].*", re.M)
# Pythons differ in whether they name what is empty.
EMPTY = re.compile(r"\b\w+=(\[\]|None|Load\(\))|, ")


def cells(nb):
    """Give the cells that measure."""
    return [one for one in nb.cells if one.cell_type == "code" and TAG in lesson.tags(one)]


def line(here, day):
    """Say on which machine, on which day and with which versions a page was run."""
    found = here.frameworks.items()
    versions = ", ".join(f"{name} {version}" for name, version in found if name in FRAMEWORKS)
    return f"*The measurements here are of one run, on {here.name}, {day}, with {versions}.*"


def told(nb):
    """Give what the last line of a page says, by names; None where it has none."""
    return LINE.fullmatch(nb.cells[-1].source)


def sign(nb, words, ran=""):
    """Put a line last; `ran` is the digest of the code that ran, where the page is stored."""
    if ran:
        words += f" <!-- measured: code {ran}, shown {shown(nb)} -->"
    nb.cells = [cell for cell in nb.cells if cell.id != ID]
    nb.cells.append(new_markdown_cell(words, id=ID))


def show(cell, outputs):
    """Have a cell show these outputs; its results get its own number."""
    cell.outputs = outputs
    for output in cell.outputs:
        if output.output_type == "execute_result":
            output.execution_count = cell.execution_count


def code(nb):
    """Give the digest of the code: comments, layout, and the setup cell's stamp do not count."""
    parts = []
    for cell in nb.cells:
        if lesson.is_code(cell) and "setup" not in lesson.tags(cell):
            tree = ast.dump(ast.parse(lesson.python(cell.source)))
            parts += [EMPTY.sub("", tree), *SHELL.findall(cell.source)]
    return _digest(parts)


def shown(nb):
    """Give the digest of what the measuring cells show."""
    return _digest([(cell.id, cell.outputs) for cell in cells(nb)])


def _digest(parts):
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:8]
