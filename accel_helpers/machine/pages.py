"""A notebook that somebody gives to the doctor: what it printed, and its lines of yesterday."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from accel_helpers import _records
from accel_helpers.machine.faults import Finding, tables

# What is compiled runs once as Python, to be recorded; then no line of it runs as Python again.
_COMPILED = re.compile(r"\s*@(?:tf\.function|(?:functools\.)?partial\(jax\.jit|(?:jax\.)?jit)\b|"
                       r"\s*def (?:train|test|predict)_step\(self")  # fmt: skip
_GOES_ON = re.compile(r"\s*(?:@|def |\)|$)")


@dataclass(frozen=True)
class Old:
    """An entry of ``data/yesterday.toml``, which says what its fields mean."""

    line: str
    today: str
    instead: str
    source: str
    example: str
    raises: str = ""
    compiled: bool = False


YESTERDAY = _records.read(tuple[Old, ...], tables("yesterday.toml")["old"], "yesterday.toml")


def read(text: str) -> tuple[str, tuple[Finding, ...]] | None:
    """What a notebook printed up to its last error, and its old lines; None for another text."""
    try:
        cells = enumerate(json.loads(text)["cells"], 1)
        code = {number: cell for number, cell in cells if cell["cell_type"] == "code"}
        printed = [each for cell in code.values() for each in cell.get("outputs", ())]
        said = [
            "\n".join(each.get("traceback", ()))
            or _text(each.get("text") or each.get("data", {}).get("text/plain"))
            for each in printed
        ]
        errors = [n for n, each in enumerate(printed) if each.get("output_type") == "error"]
        old = [one for n, cell in code.items() for one in _old(n, _text(cell.get("source")))]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None  # no JSON, or nothing like a notebook
    return "\n".join(said[: errors[-1] + 1] if errors else ()), tuple(old)


def _text(pieces: list[str] | str | None) -> str:
    return "".join(pieces or ())


def _old(cell: int, source: str) -> Iterator[Finding]:
    depth = -1  # of the compiled function that a line is in; -1: in none
    for number, line in enumerate(source.splitlines(), 1):
        indent = len(line) - len(line.lstrip())
        if indent <= depth and not _GOES_ON.match(line):
            depth = -1
        if depth < 0 and _COMPILED.match(line):
            depth = indent
        there = [each for each in YESTERDAY if depth >= 0 or not each.compiled]
        code = "" if line.lstrip().startswith("#") else line[:4000]
        if old := next((each for each in there if re.search(each.line, code)), None):
            where = f"cell {cell}, line {number}"
            seen = f"{where}: {line.strip():.200}"
            yield Finding(where, old.today, old.instead, old.source, seen)
