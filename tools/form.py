"""Check that the lessons have the form of the course; --fix mends what needs no author."""

import argparse
import sys

import lesson
import nbformat
import repair
import rules

MEND = "it is not as the course stores it (layout, id, metadata, badge, outputs): --fix mends it."


def check(text, path):
    """Give a sentence for everything that is wrong with a lesson."""
    try:
        nb, (mended, places) = lesson.parse(text), repair.fix(text, path)
        nbformat.validate(lesson.parse(mended))
    except (ValueError, AttributeError, TypeError, nbformat.ValidationError) as error:
        return [f"{path}: it cannot be read: {str(error)[:200]}"]
    found = [(place, MEND) for place in places]
    for rule in rules.RULES:
        found += rule(nb, path)
    cells = {None: "", **{place: f", cell {place + 1}" for place in range(len(nb.cells))}}
    return [f"{path}{cells[place]}: {words}" for place, words in found]


def main(arguments=None):
    """Run the command; give its exit status: 0 in form, 1 not in form, 2 refused."""
    parser = argparse.ArgumentParser(prog="form.py", description=__doc__)
    parser.add_argument("--fix", action="store_true", help="mend what needs no author")
    parser.add_argument("files", nargs="*", metavar="FILES", help="default: every lesson")
    given = parser.parse_args(arguments)
    found = []
    try:
        for path in lesson.chosen(given.files):
            text = lesson.read(path)
            if given.fix:
                text, _ = repair.fix(text, path)
                lesson.write(path, text)
            found += check(text, path)
    except lesson.Refused as error:
        print(error, file=sys.stderr)
        return 2
    print(*found, f"{len(found)} found wrong.", sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
