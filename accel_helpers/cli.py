"""The commands: `python -m accel_helpers describe | doctor | card | tpu-compiler`.

They leave with 0 on success, 1 when something failed and 2 on wrong usage. With `--json`, standard
output is one JSON document and nothing else, also when something went wrong.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import accel_helpers as ah
from accel_helpers.tpu import environment as tpu_environment

OK, FAILED = 0, 1
LONGEST = 8_000_000  # bytes of a log that are kept in memory


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

    doctor = commands.add_parser("doctor", help="say what is wrong, and the one thing to do next")
    doctor.add_argument(
        "file", nargs="?", metavar="FILE", help="a log or a traceback; - reads it from the input"
    )
    doctor.add_argument(
        "--tpu-recipe", action="store_true", help="print the dated recipe for TPUStrategy instead"
    )
    doctor.set_defaults(command=_doctor)

    card = commands.add_parser("card", help="check a result card and print it")
    card.add_argument("file", type=Path, help="for example course_report/result_card.json")
    card.set_defaults(command=_card)

    compiler = commands.add_parser(
        "tpu-compiler", help="install the compiler for TPUs in a folder of its own, or remove it"
    )
    compiler.add_argument("action", choices=("install", "status", "remove"))
    compiler.set_defaults(command=_tpu_compiler)

    for command in (describe, doctor, card, compiler):
        command.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _describe(options) -> int:
    return _show(ah.runtime.describe(), options)


def _doctor(options) -> int:
    if options.tpu_recipe:
        recipe = ah.doctor.tpu_recipe()
        print(json.dumps({"recipe": str(recipe)}, indent=2) if options.json else recipe)
        return OK
    if options.file is None:
        return _show(ah.doctor.diagnose(), options)
    try:
        if options.file == "-":
            text = _ends(sys.stdin.buffer)
        else:
            with open(options.file, "rb") as file:
                text = _ends(file)
    except OSError as error:
        return _complain(f"{options.file}: cannot be read: {error.strerror}.", options)
    return _show(ah.doctor.diagnose(text), options)


def _card(options) -> int:
    try:
        return _show(ah.results.load(options.file), options)
    except (OSError, ValueError) as error:
        return _complain(error, options)


def _tpu_compiler(options) -> int:
    try:
        if options.action == "install":
            return _show(tpu_environment.install(say=_tell), options)
        ask = {"status": tpu_environment.status, "remove": tpu_environment.remove}
        return _show(ask[options.action](), options)
    except (tpu_environment.InstallFailed, OSError) as error:
        return _complain(error, options)
    except KeyboardInterrupt:
        return _complain(f"Interrupted. {tpu_environment.status()}", options)


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _show(value, options) -> int:
    print(json.dumps(value.to_dict(), indent=2) if options.json else value)
    return OK


def _ends(file) -> str:
    """Read a log; of a huge one its first and its last part, where the doctor looks."""
    head, tail = file.read(LONGEST // 2), b""
    while chunk := file.read(LONGEST // 2):
        tail = (tail + chunk)[-LONGEST // 2 :]
    return (head + tail).decode("utf-8", errors="replace")


def _complain(error: BaseException | str, options) -> int:
    print(error, file=sys.stderr)
    if options.json:
        print(json.dumps({"error": str(error)}))
    return FAILED
