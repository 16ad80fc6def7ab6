"""A notebook that somebody gives to the doctor: what it printed, and its outdated lines of code.

A *page* is the JSON of a notebook. An outdated line is an entry of ``data/yesterday.toml``.
"""

import json
import re

from accel_helpers.machine.facts import tables
from accel_helpers.machine.faults import Finding

# A page that imports TensorFlow or Keras, or nothing at all (it is a piece of a page), and none of
# the libraries whose right lines look the same.
_OURS = (
    r"(?s)\A(?!.*(?:import|from) (?:torch|sklearn|xgboost)\b)"
    r"(?:.*(?:import|from) (?:tensorflow|keras)\b|(?!.*\b(?:import|from) \w))"
)


#: The outdated lines; of several that fit a line, the first one counts.
YESTERDAY = tables("yesterday.toml")["old"]


def read(text: str) -> tuple[str, tuple[Finding, ...]]:
    """Return what a notebook printed up to its last error, and a finding for each outdated line.

    `text` is the content of a file. What was printed is empty where the notebook has no error. A
    text that is no notebook is returned as it is, without findings.
    """
    texts: list[str] = []
    printed = ""
    old_lines = []
    try:
        for number, cell in enumerate(json.loads(text)["cells"], 1):
            for output in cell.get("outputs", []):
                value = output.get("data", {}).get("text/plain", "")
                # A notebook has a text as one string, or as its lines.
                texts += ["".join(output.get("text", value)), *output.get("traceback", [])]
                # What is printed after the last error has nothing to do with it.
                if output.get("output_type") == "error":
                    printed = "\n".join(texts)
            if cell["cell_type"] == "code":
                old_lines += _old_lines("".join(cell["source"]), f"cell {number}", text)
    # No JSON, or nothing like a notebook.
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return text, ()
    if not re.search(_OURS, text):
        old_lines = []
    return printed, tuple(old_lines)


def _old_lines(source: str, cell: str, page: str) -> list[Finding]:
    """Return a finding for each outdated line of a cell of a page."""
    findings = []
    for line in source.splitlines():
        # A comment is no code.
        code, _, _ = line.partition("#")
        for old in YESTERDAY:
            if re.search(old["line"], code) and re.search(old.get("page", ""), page):
                evidence = f"{cell}: {line.strip():.200}"
                findings.append(
                    Finding(cell, old["today"], old["instead"], old["source"], evidence)
                )
                break
    return findings
