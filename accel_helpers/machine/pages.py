"""A notebook that somebody gives to the doctor: what it printed, and its outdated lines of code.

A *page* is the JSON of a notebook. An *entry* is one of ``data/yesterday.toml``: a line of code
that no longer does what it did.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from accel_helpers._values import records
from accel_helpers.machine.faults import Finding, tables

# What begins a function that is compiled: "@tf.function", "@jax.jit", "@partial(jax.jit, ...)", or
# "def train_step(self, data):". It runs once as Python, to be recorded, and never again.
_COMPILED = re.compile(r"\s*@(?:tf\.function|(?:functools\.)?partial\(jax\.jit|(?:jax\.)?jit)\b|"
                       r"\s*def (?:train|test|predict)_step\(self")  # fmt: skip
# A line that does not end a function, although it may stand as far left as the decorator: another
# "@decorator", "def step(x):", the closing ")" of its arguments, or a blank line.
_GOES_ON = re.compile(r"\s*(?:@|def |\)|$)")

_LINE = 4_000  # characters of a line that are searched
# A page that imports TensorFlow or Keras, or nothing at all (it is a piece of a page), and none of
# the libraries whose right lines look the same.
_OURS = (
    r"(?s)\A(?!.*(?:import|from) (?:torch|sklearn|xgboost)\b)"
    r"(?:.*(?:import|from) (?:tensorflow|keras)\b|(?!.*\b(?:import|from) \w))"
)


@dataclass(frozen=True)
class OldLine:
    """An entry of ``data/yesterday.toml``: a line of code that no longer does what it did."""

    line: str  # a regular expression, which is found in such a line
    today: str  # what it does today
    instead: str  # what to write instead
    source: str
    page: str = _OURS  # a regular expression, which is found in the notebook's JSON
    compiled: bool = False  # only in a compiled function


#: Of several entries that a line has, the first one counts.
YESTERDAY = records.read(tuple[OldLine, ...], tables("yesterday.toml")["old"], "yesterday.toml")


def read(text: str) -> tuple[str, tuple[Finding, ...]] | None:
    """Return what a notebook printed up to its last error, and a finding for each outdated line.

    `text` is the content of a file. What was printed is empty where the notebook has no error. None
    is returned for a text that is no notebook.
    """
    try:
        page = json.loads(text)
        entries = [entry for entry in YESTERDAY if re.search(entry.page, text)]
        outputs = []
        old_lines: list[Finding] = []
        for number, cell in enumerate(page["cells"], 1):
            if cell["cell_type"] != "code":
                continue
            outputs += cell.get("outputs", ())
            source = "".join(cell.get("source") or "")
            old_lines += _old_lines(number, source, entries)
        return _printed(outputs), tuple(old_lines)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None  # no JSON, or nothing like a notebook


def _printed(outputs: list[dict[str, Any]]) -> str:
    """Return the text of a page's outputs up to the last error; empty where there is no error.

    `outputs` are those of all cells, in order, as the notebook's JSON has them.
    """
    texts = []
    # What was printed after the last error has nothing to do with it.
    end = 0
    for output in outputs:
        texts.append(_text_of(output))
        if output.get("output_type") == "error":
            end = len(texts)
    return "\n".join(texts[:end])


def _text_of(output: dict[str, Any]) -> str:
    """Return the text of an output: a traceback, what was printed, or a value.

    Empty for an output without a text, such as a picture.
    """
    traceback = "\n".join(output.get("traceback", ()))
    if traceback:
        return traceback
    printed = output.get("text")
    if not printed:
        printed = output.get("data", {}).get("text/plain")
    # A notebook has a text as one string, or as its lines.
    return "".join(printed or "")


def _old_lines(cell_number: int, source: str, entries: list[OldLine]) -> Iterator[Finding]:
    """Yield a finding for each outdated line of a code cell.

    `cell_number` counts all cells of the page from 1. `entries`: those that fit the page.
    """
    # The indent of the compiled function in which a line is; None where it is in none.
    compiled_indent = None
    for line_number, line in enumerate(source.splitlines(), 1):
        indent = len(line) - len(line.lstrip())
        may_end = compiled_indent is not None and indent <= compiled_indent
        if may_end and not _GOES_ON.match(line):
            compiled_indent = None
        if compiled_indent is None and _COMPILED.match(line):
            compiled_indent = indent
        entry = _entry_for(line, entries, compiled=compiled_indent is not None)
        if entry is not None:
            position = f"cell {cell_number}, line {line_number}"
            evidence = f"{position}: {line.strip():.200}"
            yield Finding(position, entry.today, entry.instead, entry.source, evidence)


def _entry_for(line: str, entries: list[OldLine], *, compiled: bool) -> OldLine | None:
    """Return the first of `entries` that fits a line of code; None where none does.

    `compiled`: the line is in a compiled function.
    """
    # No entry fits a comment, and none fits an empty line.
    if line.lstrip().startswith("#"):
        line = ""
    for entry in entries:
        if entry.compiled and not compiled:
            continue
        if re.search(entry.line, line[:_LINE]):
            return entry
    return None
