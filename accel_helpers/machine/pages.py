"""A notebook that somebody gives to the doctor: what it printed, and its outdated lines of code.

A *page* is the JSON of a notebook. An *entry* is one of ``data/yesterday.toml``: a line of code
that no longer does what it did.
"""

import json
import re
from dataclasses import dataclass

from accel_helpers.machine.faults import Finding, tables

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


#: Of several entries that a line has, the first one counts.
YESTERDAY = [OldLine(**entry) for entry in tables("yesterday.toml")["old"]]


def read(text: str) -> tuple[str, tuple[Finding, ...]]:
    """Return what a notebook printed up to its last error, and a finding for each outdated line.

    `text` is the content of a file. What was printed is empty where the notebook has no error. A
    text that is no notebook is returned as it is, without findings.
    """
    outputs: list[dict] = []
    old_lines = []
    try:
        cells = json.loads(text)["cells"]
        fitting_pages = [
            page for page in {entry.page for entry in YESTERDAY} if re.search(page, text)
        ]
        entries = [entry for entry in YESTERDAY if entry.page in fitting_pages]
        for number, cell in enumerate(cells, 1):
            outputs += cell.get("outputs", [])
            if cell["cell_type"] == "code":
                old_lines += _old_lines("".join(cell["source"]), f"cell {number}", entries)
        return _printed(outputs), tuple(old_lines)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return text, ()  # no JSON, or nothing like a notebook


def _printed(outputs: list[dict]) -> str:
    """Return the text of some outputs up to the last error; empty where there is no error."""
    # What was printed after the last error has nothing to do with it.
    while outputs and outputs[-1].get("output_type") != "error":
        outputs.pop()
    texts = []
    for output in outputs:
        value = output.get("data", {}).get("text/plain", "")
        # A notebook has a text as one string, or as its lines.
        texts += ["".join(output.get("text", value)), *output.get("traceback", [])]
    return "\n".join(texts)


def _old_lines(source: str, cell: str, entries: list[OldLine]) -> list[Finding]:
    """Return a finding for each outdated line of a cell."""
    findings = []
    for line in source.splitlines():
        # A comment is no code.
        code, _, _ = line.partition("#")
        fitting = [entry for entry in entries if re.search(entry.line, code)]
        for entry in fitting[:1]:
            evidence = f"{cell}: {line.strip():.200}"
            findings.append(Finding(cell, entry.today, entry.instead, entry.source, evidence))
    return findings
