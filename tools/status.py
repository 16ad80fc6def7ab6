"""Check that docs/status.md says where and when each lesson was measured; --fix writes it."""

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
    rows = ""
    for path in paths:
        nb = lesson.parse(lesson.read(path))
        if told := measured.told(nb):
            code = "the same" if told["code"] == measured.code(nb) else "changed"
            rows += f"| [{path.name[:2]}](../notebooks/{path.name}) | {told['machine']} "
            rows += f"| {told['day']} | {told['versions']} | {code} |\n"
    return HEAD + rows


def main():
    """Run the command, and leave with a sentence where the page is not right."""
    text = page(lesson.chosen([]))
    if "--fix" in sys.argv:
        lesson.write(PAGE, text)
    elif lesson.read(PAGE) != text:
        sys.exit(f"docs/{PAGE.name} does not say what the lessons say: run `make fix`.")


if __name__ == "__main__":
    main()
