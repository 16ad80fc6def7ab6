"""The commands: `python -m accel_helpers describe | run | card`.

They leave with 0 on success, 1 when a run failed and 2 on wrong usage. With `--json`, standard
output is one JSON document and nothing else, also when something went wrong.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import accel_helpers as ah

OK, FAILED, WRONG_USAGE = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The words after `python -m accel_helpers`, by default this process's.

    Returns
    -------
    int
        The exit code.
    """
    options = _parser().parse_args(argv)
    return options.command(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m accel_helpers",
        description="Helpers for the course: measure first, then believe.",
    )
    parser.add_argument("--version", action="version", version=f"accel_helpers {ah.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="command")

    describe = commands.add_parser("describe", help="say what this machine is")
    describe.set_defaults(command=_describe)

    run = commands.add_parser("run", help="run the lessons and write the report")
    run.add_argument("--lessons", default="", help='which, for example "00 03"; all by default')
    run.add_argument("--fast", action="store_true", help="small sizes: quick, not for conclusions")
    run.add_argument("--out", type=Path, default=Path("course_report"), help="folder of the report")
    run.set_defaults(command=_run)

    card = commands.add_parser("card", help="check a result card and print it")
    card.add_argument("file", type=Path, help="for example course_report/result_card.json")
    card.set_defaults(command=_card)

    for command in (describe, run, card):
        command.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _describe(options) -> int:
    return _show(ah.runtime.describe(), options)


def _run(options) -> int:
    try:
        lessons = ah.report.choose(ah.report.find_lessons(), options.lessons)
        result = ah.report.run(lessons, options.out, fast=options.fast)
    except ah.report.UnknownLesson as error:
        return _complain(error, options, WRONG_USAGE)
    except (ah.report.ReportError, KeyboardInterrupt) as error:
        return _complain(error, options)
    _show(result, options)
    return OK if result.ok else FAILED


def _card(options) -> int:
    try:
        return _show(ah.results.load(options.file), options)
    except (OSError, ValueError) as error:
        return _complain(error, options)


def _show(value, options) -> int:
    print(json.dumps(value.to_dict(), indent=2) if options.json else value)
    return OK


def _complain(error: BaseException, options, code: int = FAILED) -> int:
    print(error, file=sys.stderr)
    if options.json:
        print(json.dumps({"error": str(error)}))
    return code
