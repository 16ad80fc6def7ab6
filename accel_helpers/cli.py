"""The commands: `python -m accel_helpers describe | diagnose | board | tpu`.

They leave with 0 on success, 1 when something failed and 2 on wrong usage. With `--json`, standard
output is one JSON document and nothing else, also when something went wrong.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import accel_helpers as ah
from accel_helpers._values.records import DataError
from accel_helpers.tpu import environment as tpu_environment


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, such as ["describe", "--json"], and return 0, or 1 if it failed.

    Raises SystemExit with 2 on wrong usage, and with 0 behind ``--help`` and ``--version``.
    """
    options = _parser().parse_args(argv)
    try:
        result = options.command(options)
    except (DataError, OSError, tpu_environment.InstallFailed) as error:
        print(error, file=sys.stderr)
        if options.json:
            print(json.dumps({"error": str(error)}))
        return 1
    if not options.json:
        print(result)
        return 0
    print(json.dumps(result.to_dict(), indent=2))
    return 0


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; its options have the function as `command`."""
    parser = argparse.ArgumentParser(
        "python -m accel_helpers",
        description="Helpers for the course: measure first, then believe.",
    )
    parser.add_argument("--version", action="version", version=f"accel_helpers {ah.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="command")

    def add(name, command, help):
        added = commands.add_parser(name, help=help)
        added.set_defaults(command=command)
        added.add_argument("--json", action="store_true", help="print one JSON document")
        return added.add_argument

    add("describe", lambda _: ah.describe(), "say what this machine is")

    option = add("diagnose", _diagnose, "say what is wrong, and the one thing to do next")
    option(
        "file", nargs="?", metavar="FILE", help="a log or a traceback; - reads it from the input"
    )

    option = add("board", _board, "show on one page what a class has measured")
    option("folder", type=Path, help="with the files of lesson.hand_in(), *.json")
    option("--out", type=Path, default="class_board.html", metavar="PAGE.html")
    option("--names", action="store_true", help="name the files, not number them")

    option = add("tpu", _tpu, "install the compiler for TPUs in a folder of its own, or remove it")
    option("action", choices=("install", "status", "remove"))
    return parser


def _diagnose(options: argparse.Namespace):
    """Return what the doctor says of this machine or of a file."""
    if options.file is None:
        return ah.diagnose()
    # The file descriptor 0 is the standard input.
    source = 0 if options.file == "-" else options.file
    with open(source, encoding="utf-8", errors="replace") as file:
        return ah.diagnose(file.read())


def _board(options: argparse.Namespace):
    """Write the page with what the files in a folder show, and return what was written."""
    # Imported here, because it imports much that `describe` never needs.
    from accel_helpers.course import board

    folder = options.folder
    page = options.out
    for needed in (folder, page.parent):
        if not needed.is_dir():
            _parser().error(f"There is no folder `{needed}`.")
    if page.suffix != ".html":
        _parser().error(f"The board is a page, so its name ends in .html: not `{page}`.")
    written = board.write(folder, page, names=options.names)
    if not written.files:
        raise DataError(f"{written} Learners hand in what lesson.hand_in() writes.")
    return written


def _tpu(options: argparse.Namespace):
    """Install or remove the compiler for TPUs, or return its status."""
    if options.action == "status":
        return tpu_environment.status()
    if options.action == "remove":
        return tpu_environment.remove()
    try:
        # Standard output is for the result.
        return tpu_environment.install(say=partial(print, file=sys.stderr, flush=True))
    except KeyboardInterrupt:
        raise tpu_environment.InstallFailed(f"Interrupted. {tpu_environment.status()}") from None
