"""The commands: `python -m accel_helpers describe | diagnose | board | tpu`.

They leave with 0 on success, 1 when something failed and 2 on wrong usage. With `--json`, standard
output is one JSON document and nothing else, also when something went wrong.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import accel_helpers as ah
from accel_helpers._values.records import DataError
from accel_helpers.tpu import environment as tpu_environment


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code: 0, or 1 if it failed.

    Parameters
    ----------
    argv : sequence of str, optional
        The command and its options, such as ["describe", "--json"]; by default those of this
        process.

    Raises
    ------
    SystemExit
        With 2 on wrong usage, and with 0 behind ``--help`` and ``--version``.
    """
    options = _parser().parse_args(argv)
    try:
        result = options.command(options)
    except (DataError, OSError, tpu_environment.InstallFailed) as error:
        print(error, file=sys.stderr)
        if options.json:
            print(json.dumps({"error": str(error)}))
        return 1
    if options.json:
        print(json.dumps(_plain(result), indent=2))
    else:
        print(result)
    return 0


def _plain(result: Any) -> dict:
    """Return the result of a command as plain JSON types; a text is the recipe for TPUs."""
    if hasattr(result, "to_dict"):
        return result.to_dict()
    return {"recipe": str(result)}


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line.

    The options that it returns have the function of the command as `command`.
    """
    parser = argparse.ArgumentParser(
        "python -m accel_helpers",
        description="Helpers for the course: measure first, then believe.",
    )
    parser.add_argument("--version", action="version", version=f"accel_helpers {ah.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="command")
    _add_command(commands, "describe", _describe, "say what this machine is")

    diagnose = _add_command(
        commands, "diagnose", _diagnose, "say what is wrong, and the one thing to do next"
    )
    diagnose.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="a log or a traceback; - reads it from the input",
    )
    diagnose.add_argument(
        "--tpu-recipe",
        action="store_true",
        help="print the dated recipe for TPUStrategy instead",
    )

    board = _add_command(commands, "board", _board, "show on one page what a class has measured")
    board.add_argument("folder", type=Path, help="with the files of lesson.hand_in(), *.json")
    board.add_argument("--out", type=Path, default="class_board.html", metavar="PAGE.html")
    board.add_argument("--names", action="store_true", help="name the files, not number them")

    compiler = _add_command(
        commands,
        "tpu",
        _tpu,
        "install the compiler for TPUs in a folder of its own, or remove it",
    )
    compiler.add_argument("action", choices=("install", "status", "remove"))
    return parser


def _add_command(
    commands: argparse._SubParsersAction,
    name: str,
    function: Callable[[argparse.Namespace], Any],
    help: str,
) -> argparse.ArgumentParser:
    """Add a command, with its option ``--json``, to `commands`, and return the command's parser.

    `function` takes the options and returns what is printed.
    """
    command = commands.add_parser(name, help=help)
    command.set_defaults(command=function)
    command.add_argument("--json", action="store_true", help="print one JSON document")
    return command


def _describe(options: argparse.Namespace) -> Any:
    """Return the description of this machine; there are no options for it."""
    return ah.describe()


def _diagnose(options: argparse.Namespace) -> Any:
    """Return what the doctor says of this machine or of a file, or the recipe for TPUStrategy.

    Raises OSError where the file cannot be read.
    """
    if options.tpu_recipe:
        return ah.tpu.recipe()
    if options.file is None:
        return ah.diagnose()
    # The file descriptor 0 is the standard input.
    source = 0 if options.file == "-" else options.file
    with open(source, encoding="utf-8", errors="replace") as file:
        return ah.diagnose(file.read())


def _board(options: argparse.Namespace) -> Any:
    """Write the page with what the files in a folder show, and return what was written.

    Raises DataError where the folder has no file that can be used, and SystemExit with 2 where the
    folder or that of the page does not exist, or the page's name does not end in ".html".
    """
    # Imported here, because it imports much that `describe` never needs.
    from accel_helpers.course import board

    folder = options.folder
    page = options.out
    if not (folder.is_dir() and page.parent.is_dir() and page.suffix == ".html"):
        _parser().error(f"board takes a folder, and a PAGE.html in one; got {folder} and {page}.")
    written_board = board.write(folder, page, names=options.names)
    if not written_board.files:
        raise DataError(f"{written_board} Learners hand in what lesson.hand_in() writes.")
    return written_board


def _tpu(options: argparse.Namespace) -> Any:
    """Install or remove the compiler for TPUs, or return its status, by ``options.action``.

    Raises InstallFailed where it cannot be installed, also because the user interrupts.
    """
    if options.action == "status":
        return tpu_environment.status()
    if options.action == "remove":
        return tpu_environment.remove()
    try:
        return tpu_environment.install(say=_print_progress)
    except KeyboardInterrupt:
        raise tpu_environment.InstallFailed(f"Interrupted. {tpu_environment.status()}") from None


def _print_progress(text: str) -> None:
    """Print a line to standard error at once, which leaves standard output to the result."""
    print(text, file=sys.stderr, flush=True)
