"""Check that docs/status.md says where and when each lesson was measured, and write it."""

import argparse
import sys

import lesson
import measured

PAGE = lesson.ROOT / "docs" / "status.md"
HEAD = """# What has been measured, and on what

What the lessons show before you run them, each of one run on a quiet machine: made by `make fix` \
from the last line of each lesson, nothing typed by hand. *Changed* means that code of the lesson \
was changed since, and not measured anew.

| lesson | machine | day | versions | code |
|---|---|---|---|---|
"""


def page(paths):
    """Give the page's text for lessons."""
    rows = []
    for path in paths:
        nb = lesson.parse(lesson.read(path))
        if told := measured.told(nb):
            code = "the same" if told["code"] == measured.code(nb) else "changed"
            number = f"[{path.name[:2]}](../notebooks/{path.name})"
            rows.append([number, told["machine"], told["day"], told["versions"], code])
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main(arguments=None, path=PAGE, folder=lesson.LESSONS):
    """Run the command; exit status: 0 the page is right, 1 it is not."""
    parser = argparse.ArgumentParser(prog="status.py", description=__doc__)
    parser.add_argument("--fix", action="store_true", help="write the page")
    given = parser.parse_args(arguments)
    text = page(lesson.chosen([], folder))
    if path.exists() and lesson.read(path) == text:
        return 0
    if given.fix:
        lesson.write(path, text)
        return 0
    print(f"docs/{path.name} does not say what the lessons say: run `make fix`.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
