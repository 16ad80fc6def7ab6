"""A notebook that somebody gives to the doctor: what it printed, and its lines of yesterday."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from accel_helpers._values import records
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
    only: Literal["", "compiled", "tpu"] = ""


YESTERDAY = records.read(tuple[Old, ...], tables("yesterday.toml")["old"], "yesterday.toml")


def read(text: str) -> tuple[str, tuple[Finding, ...]] | None:
    """What a notebook printed up to its last error, and its old lines; None for another text."""
    try:
        page = json.loads(text)
        cells, wants = enumerate(page["cells"], 1), page.get("metadata", {}).get("accelerator")
        code = {number: cell for number, cell in cells if cell["cell_type"] == "code"}
        printed = [each for cell in code.values() for each in cell.get("outputs", ())]
        said = [
            "\n".join(each.get("traceback", ()))
            or "".join(each.get("text") or each.get("data", {}).get("text/plain") or "")
            for each in printed
        ]
        errors = [n for n, each in enumerate(printed) if each.get("output_type") == "error"]
        old = []
        for n, cell in code.items():
            old += _old(n, "".join(cell.get("source") or ""), wants)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None  # no JSON, or nothing like a notebook
    return "\n".join(said[: errors[-1] + 1] if errors else ()), tuple(old)


def _old(cell: int, source: str, wants: str | None) -> Iterator[Finding]:
    depth = -1  # of the compiled function that a line is in; -1: in none
    for number, line in enumerate(source.splitlines(), 1):
        indent = len(line) - len(line.lstrip())
        if indent <= depth and not _GOES_ON.match(line):
            depth = -1
        if depth < 0 and _COMPILED.match(line):
            depth = indent
        here = {"", "compiled" if depth >= 0 else "", "tpu" if wants == "TPU" else ""}
        code = "" if line.lstrip().startswith("#") else line[:4000]
        there = [each for each in YESTERDAY if each.only in here and re.search(each.line, code)]
        for old in there[:1]:
            at = f"cell {cell}, line {number}"
            yield Finding(at, old.today, old.instead, old.source, f"{at}: {line.strip():.200}")
