"""Writes docs/take_away.md, one plain cell of each lesson; --check compares."""

import argparse
import re
import sys

import lesson
from template import fill

PAGE = lesson.ROOT / "docs" / "take_away.md"


def page() -> str:
    """Give the page as the lessons have it now."""
    cells = []
    for path in lesson.chosen([]):
        notebook = lesson.parse(lesson.read(path))
        title = re.search(r"^# \d\d · (.+)$", notebook.cells[0].source, re.M)[1]
        for cell in notebook.cells:
            if "take-away" in lesson.tags(cell):
                cells.append((path.name, title, lesson.taken_away(cell.source)))
    return fill("take_away.md.j2", cells=cells)


def main() -> None:
    """Write the page, or leave with a sentence where it is not what it should be."""
    parser = argparse.ArgumentParser(prog="library.py", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    if not parser.parse_args().check:
        lesson.write(PAGE, page())
    elif lesson.read(PAGE) != page():
        sys.exit("docs/take_away.md is not what the lessons say: run `make fix`.")


if __name__ == "__main__":
    main()
