"""Small lessons, for the tests of the tools."""

import lesson
from nbformat.v4 import new_code_cell, new_output

PIXEL = "UE5H"  # nobody looks at it


def printed(text):
    return new_output("stream", name="stdout", text=text)


def displayed(data):
    return new_output("display_data", data=data)


def code(name, source, *outputs, tagged=()):
    return new_code_cell(source, id=name, outputs=list(outputs), metadata={"tags": list(tagged)})


def cell(nb, name):
    return next(cell for cell in nb.cells if cell.id == name)


def save(folder, nb, name="00_example.ipynb"):
    path = folder / name
    path.write_text(lesson.dump(nb), "utf-8")
    return path
