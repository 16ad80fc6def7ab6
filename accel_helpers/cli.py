"""The commands: `python -m accel_helpers describe | diagnose | card | board | tpu`.

They leave with 0 on success, 1 when something failed and 2 on wrong usage. With `--json`, standard
output is one JSON document and nothing else, also when something went wrong.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import accel_helpers as ah
from accel_helpers._values.records import DataError
from accel_helpers.measure import results
from accel_helpers.tpu import environment as tpu_environment


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that `argv` says, by default this process's, and give the exit code."""
    options = _parser().parse_args(argv)
    try:
        value = options.command(options)
    except (DataError, OSError, tpu_environment.InstallFailed) as error:
        print(error, file=sys.stderr)
        if options.json:
            print(json.dumps({"error": str(error)}))
        return 1
    if options.json:
        plain = value.to_dict() if hasattr(value, "to_dict") else {"recipe": str(value)}
        value = json.dumps(plain, indent=2)
    print(value)
    return 0


def _parser() -> argparse.ArgumentParser:
    about = "Helpers for the course: measure first, then believe."
    parser = argparse.ArgumentParser("python -m accel_helpers", description=about)
    parser.add_argument("--version", action="version", version=f"accel_helpers {ah.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="command")

    def add(name: str, command, help: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=help)
        added.set_defaults(command=command)
        added.add_argument("--json", action="store_true", help="print one JSON document")
        return added

    add("describe", lambda _: ah.describe(), "say what this machine is")
    diagnose = add("diagnose", _diagnose, "say what is wrong, and the one thing to do next")
    log = "a log or a traceback; - reads it from the input"
    diagnose.add_argument("file", nargs="?", metavar="FILE", help=log)
    recipe = "print the dated recipe for TPUStrategy instead"
    diagnose.add_argument("--tpu-recipe", action="store_true", help=recipe)
    card = add("card", lambda said: results.load(said.file), "check a result card and print it")
    card.add_argument("file", type=Path, help="for example course_report/result_card.json")
    cards = add("board", _board, "put the result cards of a class on one page and in one table")
    cards.add_argument("folder", type=Path, help="with the cards in it, *.json")
    cards.add_argument("--out", type=Path, default="class_board.html", metavar="PAGE.html")
    cards.add_argument("--no-names", action="store_true", help="number the cards instead")
    folder = "install the compiler for TPUs in a folder of its own, or remove it"
    compiler = add("tpu", _tpu, folder)
    compiler.add_argument("action", choices=("install", "status", "remove"))
    return parser


def _diagnose(options):
    if options.tpu_recipe:
        return ah.tpu.recipe()
    if options.file is None:
        return ah.diagnose()
    place = 0 if options.file == "-" else options.file
    with open(place, encoding="utf-8", errors="replace") as file:
        return ah.diagnose(file.read())


def _board(options):
    from accel_helpers.course import board  # it brings processes, which `describe` never needs

    folder, page = options.folder, options.out
    if not (folder.is_dir() and page.parent.is_dir() and page.suffix == ".html"):
        _parser().error(f"board takes a folder, and a PAGE.html in one; got {folder} and {page}.")
    if (made := board.write(folder, page, names=not options.no_names)).cards:
        return made
    raise DataError(f"{made}\nLearners hand in the file result_card.json.")


def _tpu(options):
    if options.action != "install":
        return getattr(tpu_environment, options.action)()
    try:
        return tpu_environment.install(say=lambda text: print(text, file=sys.stderr, flush=True))
    except KeyboardInterrupt:
        raise tpu_environment.InstallFailed(f"Interrupted. {tpu_environment.status()}") from None
