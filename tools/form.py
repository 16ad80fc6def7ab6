"""Check that the lessons have the form of the course; --fix mends what needs no author."""

import sys
from itertools import pairwise

import lesson
import nbformat
import repair
import rules


def check(text, path):
    """Give a sentence for everything that is wrong with a lesson."""
    nb = lesson.parse(text)
    nbformat.validate(nb)
    found = [*rules.of_page(nb, path), *rules.of_core(nb, path)]
    for before, cell in pairwise(nb.cells):
        found += [f"cell {cell.id}: {words}" for words in rules.of_cell(cell, before)]
    if repair.fix(text, path) != text:
        found.append("it is not as the course stores it (layout, ids, badge, outputs): --fix mends")
    return [f"{path}: {words}" for words in found]


def main():
    """Run the command, and leave with a sentence for everything that is wrong."""
    found = []
    for path in lesson.chosen([name for name in sys.argv[1:] if name != "--fix"]):
        text = lesson.read(path)
        if "--fix" in sys.argv:
            text = repair.fix(text, path)
            lesson.write(path, text)
        found += check(text, path)
    sys.exit("\n".join(found) or 0)


if __name__ == "__main__":
    main()
