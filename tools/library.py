"""Writes docs/take_away.md, one plain cell of each lesson; --check compares."""

import re
import sys

import lesson
from template import fill

PAGE = lesson.ROOT / "docs" / "take_away.md"


def page():
    """Give the page as the lessons have it now."""
    cells = []
    for path in lesson.chosen([]):
        notebook = lesson.parse(lesson.read(path))
        title = re.search(r"^# \d\d · (.+)$", notebook.cells[0].source, re.M)[1]
        (cell,) = (cell for cell in notebook.cells if "take-away" in lesson.tags(cell))
        cells.append((path.name, title, lesson.taken_away(cell.source)))
    return fill("take_away.md.j2", cells=cells)


if __name__ == "__main__":
    if "--check" not in sys.argv:
        lesson.write(PAGE, page())
    elif lesson.read(PAGE) != page():
        sys.exit("docs/take_away.md is not what the lessons say: run `make fix`.")
