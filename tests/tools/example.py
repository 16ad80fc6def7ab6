"""A small lesson in the form of the course, for the tests of the tools."""

import lesson
from lesson import UNSTAMPED, badge, setup_source
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

NAME = "00_example.ipynb"
PIXEL = "UE5H"  # nobody looks at it
SHOWN = {"image/png": PIXEL, "text/plain": "A single dot that stands for nothing."}
TITLE = """# An example

* **Minutes:** 5
* **You need:** nothing
* **You will be able to:** tell a lesson's form
* **You will have measured:** nothing"""


def printed(text):
    return new_output("stream", name="stdout", text=text)


def code(name, source, *outputs, tagged=()):
    metadata = {"tags": list(tagged)} if tagged else {}
    given = {"id": name} if name else {}
    return new_code_cell(source, outputs=list(outputs), metadata=metadata, **given)


def displayed(data):
    return new_output("display_data", data=data)


def cell(nb, name):
    return next(cell for cell in nb.cells if cell.id == name)


def counted(nb):
    for count, one in enumerate((c for c in nb.cells if c.cell_type == "code"), 1):
        one.execution_count = count
    return nb


def example(stamp=UNSTAMPED, name=NAME):
    """Make a notebook that keeps every rule, as if it had been executed."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    cells = [
        new_markdown_cell(f"{badge(stamp, name)}\n\n{TITLE}", id="title"),
        code("setup", setup_source(stamp, name[:2]), tagged=["setup"]),
        new_markdown_cell("## Run\n\nThe library has a version.", id="prose"),
        code("one", "print(bool(ah.__version__))", printed("True\n")),
        code("two", "print(1 + 1)", printed("2\n")),
        code("three", "print(3)", printed("3\n")),
        code("measure", "import time\n\nprint(time.time())", tagged=["nbval-ignore-output"]),
        code("picture", f"display({SHOWN}, raw=True)".replace("'", '"'), displayed(SHOWN)),
    ]
    nb = counted(new_notebook(metadata={"kernelspec": kernel}, cells=cells))
    nb.nbformat_minor = 5
    return nb


def save(folder, nb, name=NAME):
    path = folder / name
    path.write_bytes(lesson.dump(nb).encode())
    return path
