"""Check that the lessons have the form of the course, and repair what needs no author."""

import argparse
import sys
from dataclasses import dataclass

import lesson
import repair
import rules
from lesson import Refused
from nbformat.validator import iter_validate


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a lesson."""

    rule: str
    file: str
    cell: int | None
    message: str

    def __str__(self):
        where = self.file if self.cell is None else f"{self.file}, cell {self.cell + 1}"
        mend = " (--fix repairs it)" if self.rule in repair.MENDS else ""
        return f"{where}: {self.rule}: {self.message}{mend}"


def check(text, path):
    """Give everything that is wrong with a lesson; ruff is asked too."""
    name = str(path)
    try:
        readable = repair.readable(lesson.raw(text))
        wrong = list(iter_validate(readable, version=4, version_minor=5))
    except (ValueError, AttributeError, TypeError) as error:
        return [Problem("valid", name, None, f"the file cannot be read: {error}.")]
    if wrong:
        said = (str(error.message).splitlines()[0][:200] for error in wrong[:3])
        return [
            Problem("valid", name, None, f"the format 4.5 does not allow it: {s}") for s in said
        ]
    it = rules.Lesson(path, text, lesson.parse(text))
    problems = [
        Problem(key, name, cell, message)
        for key, function in rules.RULES.items()
        for cell, message in function(it)
    ]
    return problems + [
        Problem(key, name, i, said) for key, i, said in repair.ruff_problems(text, path)
    ]


def main(arguments=None):
    """Run the command; give its exit status: 0 in form, 1 not in form, 2 refused."""
    parser = argparse.ArgumentParser(prog="form.py", description=__doc__.splitlines()[0])
    parser.add_argument("--fix", action="store_true", help="repair what needs no author")
    parser.add_argument("files", nargs="*", metavar="FILES", help="default: every lesson")
    given = parser.parse_args(arguments)
    try:
        problems, files = [], lesson.chosen(given.files)
        stamps = {}
        for path in files:
            text = lesson.read(path)
            if given.fix:
                text, done = repair.fix(text, path)
                if done:
                    lesson.write(path, text)
                    print(f"{path}: repaired: {', '.join(done)}.")
            found = check(text, path)
            problems += found
            if not any(problem.rule == "valid" for problem in found):
                stamps.setdefault(repair.stamp_of(lesson.parse(text)), str(path))
        if len(stamps) > 1:
            several = "; ".join(f"{stamp} in {file}" for stamp, file in stamps.items())
            message = f"lessons carry different stamps ({several}): run `make stamp`."
            problems.append(Problem("stamps", str(files[0].parent), None, message))
    except Refused as error:
        print(error, file=sys.stderr)
        return 2
    for problem in problems:
        print(problem)
    count = f"{len(files)} lesson{'s' * (len(files) != 1)}"
    print(f"{len(problems)} found wrong in {count}." if problems else f"{count} in form.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
