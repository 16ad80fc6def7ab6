"""The failures we know, and finding them in an error message or a log: nothing but its text."""

import re
from dataclasses import dataclass
from itertools import dropwhile, takewhile

from accel_helpers import _records
from accel_helpers.machine.faults import Finding, tables

_MOST = 4_000_000  # characters of a text that are searched: its first and its last half of these
_LINE = 4_000  # characters of a line that are searched
_EVIDENCE = 200  # characters of a line that are shown
_MESSAGE_LINES = 20  # lines after an exception's first line that may still be its message

# Colours as a terminal gets them, and as the JSON of a saved notebook spells them.
_COLOUR = re.compile(r"(?:\x1b|\\u001b|\\x1b|\\033)\[[0-9;?]*[A-Za-z]")
_LINE_END = re.compile(r"\r\n?|\\r\\n|\\n")
_TRACEBACK = "Traceback (most recent call last)"
# "KeyError: 'x'", "jax.errors.JaxRuntimeError: INTERNAL: ...": at the start of a line.
_EXCEPTION = re.compile(r"^(?:E +)?[A-Za-z_][\w.]*(?:Error|Exception|Interrupt)(?::|$)")
_LOG_LINE = re.compile(r"^(?:\d{4}-\d\d-\d\d|[IWEF]\d{4} )")


@dataclass(frozen=True)
class Symptom:
    """A known failure, an entry of ``data/symptoms.toml``, which says what its fields mean."""

    id: str
    pattern: str
    cause: str
    fix: str
    source: tuple[str, ...]
    versions: str
    examples: tuple[str, ...]
    also: str = ""
    unless: str = ""


#: The likeliest root of trouble first.
KNOWN = _records.read(tuple[Symptom, ...], tables("symptoms.toml")["symptom"], "symptoms.toml")


def find(text: str) -> tuple[Finding, ...]:
    """Find the known failures in a text; what its last exception says comes first."""
    text = _clean(text)
    start, end = _last_exception(text)
    first, others = [], []
    for symptom in KNOWN:
        pattern = re.compile(symptom.pattern, re.MULTILINE)
        last = pattern.search(text, start, end) if end else None
        match = last or pattern.search(text)
        if match is None or not re.search(symptom.also, text, re.MULTILINE):
            continue
        if symptom.unless and re.search(symptom.unless, text, re.MULTILINE):
            continue
        evidence, source = _line(text, match.start()), " ".join(symptom.source)
        finding = Finding(symptom.id, symptom.cause, symptom.fix, source, evidence)
        (first if last else others).append(finding)
    return tuple(first + others)


def _line(text: str, at: int) -> str:
    """The line of a match, short enough to be shown."""
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:].partition("\n")[0]
    if at - begin > _EVIDENCE // 2:  # the match itself is to be seen
        line = "..." + line[at - begin - _EVIDENCE // 4 :]
    line = line.strip().strip('",').strip()
    return line if len(line) <= _EVIDENCE else line[: _EVIDENCE - 3] + "..."


def _clean(text: str) -> str:
    """Cut what is too long; take out colours; one kind of line end."""
    if len(text) > _MOST:
        text = text[: _MOST // 2] + "\n" + text[-_MOST // 2 :]
    text = _LINE_END.sub("\n", _COLOUR.sub("", text)).replace('\\"', '"')
    return "\n".join(line[:_LINE] for line in text.split("\n"))


def _last_exception(text: str) -> tuple[int, int]:
    """Where the last traceback's exception and its message begin and end; else zeros."""
    at = text.rfind(_TRACEBACK)
    lines = text[at:].split("\n")[1:] if at >= 0 else []
    ours = list(dropwhile(lambda line: not _EXCEPTION.match(line), lines))[:_MESSAGE_LINES]
    message = "\n".join(takewhile(lambda line: not _LOG_LINE.match(line), ours))
    start = text.index(message, at) if message else 0
    return start, start + len(message)
