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
# A line that does not end a function, although it may stand as far left as its head.
_GOES_ON = re.compile(r"\s*(?:@|def |\)|$)")

_LINE = 4_000  # characters of a line that are searched


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
    """Return what a notebook printed up to its last error, and its old lines.

    None for a text that is no notebook.
    """
    try:
        page = json.loads(text)
        accelerator = page.get("metadata", {}).get("accelerator")
        outputs = []
        old_lines: list[Finding] = []
        for number, cell in enumerate(page["cells"], 1):
            if cell["cell_type"] != "code":
                continue
            outputs += cell.get("outputs", ())
            source = "".join(cell.get("source") or "")
            old_lines += _old_lines(number, source, for_tpu=accelerator == "TPU")
        return _printed(outputs), tuple(old_lines)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None  # no JSON, or nothing like a notebook


def _printed(outputs: list[dict]) -> str:
    """Return the text of a page's outputs up to the last error; empty where there is no error."""
    text = []
    # What was printed after an error has nothing to do with it.
    length = 0
    for output in outputs:
        text.append(_text_of(output))
        if output.get("output_type") == "error":
            length = len(text)
    return "\n".join(text[:length])


def _text_of(output: dict) -> str:
    """Return the text of an output: a traceback, what was printed, or a value."""
    traceback = "\n".join(output.get("traceback", ()))
    if traceback:
        return traceback
    printed = output.get("text")
    if not printed:
        printed = output.get("data", {}).get("text/plain")
    # A notebook has a text as one string, or as its lines.
    return "".join(printed or "")


def _old_lines(cell_number: int, source: str, for_tpu: bool) -> Iterator[Finding]:
    """Yield the lines of a cell that no longer do what they did, one finding each."""
    # The indent of the compiled function that a line is in; None: in none.
    compiled_indent = None
    for number, line in enumerate(source.splitlines(), 1):
        indent = len(line) - len(line.lstrip())
        is_out = compiled_indent is not None and indent <= compiled_indent
        if is_out and not _GOES_ON.match(line):
            compiled_indent = None
        if compiled_indent is None and _COMPILED.match(line):
            compiled_indent = indent
        old = _entry_for(line, compiled=compiled_indent is not None, for_tpu=for_tpu)
        if old is not None:
            position = f"cell {cell_number}, line {number}"
            evidence = f"{position}: {line.strip():.200}"
            yield Finding(position, old.today, old.instead, old.source, evidence)


def _entry_for(line: str, compiled: bool, for_tpu: bool) -> Old | None:
    """Return the first entry of ``data/yesterday.toml`` that a line of code has; else None."""
    if line.lstrip().startswith("#"):
        line = ""
    for old in YESTERDAY:
        if old.only == "compiled" and not compiled:
            continue
        if old.only == "tpu" and not for_tpu:
            continue
        if re.search(old.line, line[:_LINE]):
            return old
    return None
