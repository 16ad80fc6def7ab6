"""The failures we know, and finding them in an error message or a log.

A symptom is data: the line that gives a failure away, its cause, the one thing to do next and the
source. They are kept in ``data/symptoms.toml``. Only the text is looked at; nothing is imported.
"""

import functools
import importlib.resources
import re
import tomllib
from dataclasses import dataclass

_MOST = 4_000_000  # characters of a text that are searched: its first and its last half of these
_LINE = 4_000  # characters of a line that are searched
_EVIDENCE = 200  # characters of a line that are shown
_MESSAGE_LINES = 20  # lines after an exception's first line that may still be its message

_WORDS = ("id", "pattern", "cause", "fix", "versions")
_OPTIONAL_WORDS = ("also", "unless")

# Colours as a terminal gets them, and as the JSON of a saved notebook spells them.
_COLOUR = re.compile(r"(?:\x1b|\\u001b|\\x1b|\\033)\[[0-9;?]*[A-Za-z]")
_LINE_END = re.compile(r"\r\n?|\\r\\n|\\n")
_TRACEBACK = "Traceback (most recent call last)"
# "KeyError: 'x'", "jax.errors.JaxRuntimeError: INTERNAL: ...": at the start of a line.
_EXCEPTION = re.compile(r"^(?:E +)?[A-Za-z_][\w.]*(?:Error|Exception|Interrupt)(?::|$)")
_LOG_LINE = re.compile(r"^(?:\d{4}-\d\d-\d\d|[IWEF]\d{4} )")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: what it is, why, and what to do next.

    Attributes
    ----------
    id : str
        Its short name, such as ``"tpu-no-tensorflow"``.
    cause, fix : str
        Why it happens, and the one thing to do next, for a learner.
    source : str
        Where that comes from: addresses, with a space between them.
    evidence : str
        The line of the log that gave it away, or what was seen on the machine.
    """

    id: str
    cause: str
    fix: str
    source: str
    evidence: str = ""

    def to_dict(self) -> dict[str, str]:
        """Give ``id``, ``cause``, ``fix`` and ``source`` as a dictionary, ready for JSON.

        Examples
        --------
        >>> Finding("x", "why", "do this", "https://example.org").to_dict()["fix"]
        'do this'
        """
        return {"id": self.id, "cause": self.cause, "fix": self.fix, "source": self.source}


@dataclass(frozen=True)
class Symptom:
    """A known failure, as ``data/symptoms.toml`` describes it.

    ``pattern`` matches the line that gives it away. ``also`` must match somewhere in the same
    text and ``unless`` nowhere in it, where they are given. ``row`` is its number in the list of
    failures the course started from; ``versions`` says, in words, which versions it is about.
    """

    id: str
    pattern: re.Pattern
    cause: str
    fix: str
    source: str
    versions: str
    also: re.Pattern | None = None
    unless: re.Pattern | None = None
    row: int | None = None


@functools.cache
def known() -> tuple[Symptom, ...]:
    """Give every known symptom, the most likely root of trouble first.

    Returns
    -------
    tuple of Symptom
        As in ``data/symptoms.toml``, and in its order.

    Raises
    ------
    ValueError
        An entry is not in order; the message names it.

    Examples
    --------
    >>> "tpu-no-tensorflow" in {symptom.id for symptom in known()}
    True
    """
    file = importlib.resources.files("accel_helpers") / "data" / "symptoms.toml"
    return parse(file.read_text(encoding="utf-8"))


def parse(toml: str) -> tuple[Symptom, ...]:
    """Read symptoms from the text of a TOML file, and check them.

    Parameters
    ----------
    toml : str
        Tables ``[[symptom]]`` with the fields of :class:`Symptom`; ``source`` is a list of
        addresses.

    Returns
    -------
    tuple of Symptom

    Raises
    ------
    ValueError
        An entry has an unknown or a missing field, a value of the wrong kind, an id that is
        taken, or a pattern that is no regular expression.

    Examples
    --------
    >>> parse("[[symptom]]\\nid = 'x'")
    Traceback (most recent call last):
    ...
    ValueError: symptoms.toml, entry 1 ('x'): 'pattern' must be text that is not empty, got None.
    """
    entries = tomllib.loads(toml).get("symptom", [])
    symptoms = tuple(_symptom(entry, n) for n, entry in enumerate(entries, start=1))
    seen = [symptom.id for symptom in symptoms]
    if twice := sorted({name for name in seen if seen.count(name) > 1}):
        raise ValueError(f"symptoms.toml: an id is used once, but {twice} come more often.")
    return symptoms


def _symptom(entry: dict, n: int) -> Symptom:
    where = f"symptoms.toml, entry {n} ({entry.get('id')!r}):"
    if unknown := sorted(set(entry) - {*_WORDS, *_OPTIONAL_WORDS, "source", "row"}):
        raise ValueError(f"{where} unknown field {unknown[0]!r}. Correct or remove it.")
    for field in (*_WORDS, *(f for f in _OPTIONAL_WORDS if f in entry)):
        value = entry.get(field)
        if not (isinstance(value, str) and value.strip()):
            raise ValueError(f"{where} {field!r} must be text that is not empty, got {value!r}.")
    source = entry.get("source")
    if not (isinstance(source, list) and source and all(_is_address(s) for s in source)):
        raise ValueError(
            f"{where} 'source' must be a list of addresses that begin with https://, "
            f"got {source!r}."
        )
    row = entry.get("row")
    if not (row is None or type(row) is int and row > 0):
        raise ValueError(f"{where} 'row' must be a whole number from 1 on, got {row!r}.")
    patterns = {}
    for field in ("pattern", *_OPTIONAL_WORDS):
        try:
            patterns[field] = re.compile(entry[field], re.MULTILINE) if field in entry else None
        except re.error as problem:
            raise ValueError(
                f"{where} {field!r} is no regular expression ({problem}): {entry[field]!r}"
            ) from None
    words = {field: entry[field].strip() for field in ("id", "cause", "fix", "versions")}
    return Symptom(**words, **patterns, source=" ".join(source), row=row)


def _is_address(value) -> bool:
    return isinstance(value, str) and value.startswith("https://") and " " not in value


def find(text: str) -> tuple[Finding, ...]:
    """Find the known failures in an error message, a traceback or a log.

    Parameters
    ----------
    text : str
        Any text. Of a very long one the first and the last two million characters are searched,
        and of each line the first 4,000.

    Returns
    -------
    tuple of Finding
        The most likely first: what the last exception says, then in the order of
        :func:`known`. Empty where nothing is known.

    Raises
    ------
    TypeError
        ``text`` is no text.

    Examples
    --------
    >>> find("KeyError: 'COLAB_TPU_ADDR'")[0].id
    'tpu-node-address'
    >>> find("Epoch 1/3")
    ()
    """
    if not isinstance(text, str):
        raise TypeError(
            f"find() looks for known failures in a text, got {type(text).__name__}. Give it a str: "
            "the message, the traceback or the log (bytes: .decode(errors='replace'))."
        )
    text = _clean(text)
    start, end = _last_exception(text)
    found = []
    for symptom in known():
        match = symptom.pattern.search(text, start, end) if end else None
        ends_it = match is not None
        match = match or symptom.pattern.search(text)
        if match is None or symptom.also and not symptom.also.search(text):
            continue
        if symptom.unless and symptom.unless.search(text):
            continue
        found.append((not ends_it, _finding(symptom, text, match.start())))
    return tuple(finding for _, finding in sorted(found, key=lambda pair: pair[0]))


def _finding(symptom: Symptom, text: str, at: int) -> Finding:
    begin = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = text[begin : end if end >= 0 else None]
    if at - begin > _EVIDENCE // 2:  # the match itself is to be seen
        line = "..." + line[at - begin - _EVIDENCE // 4 :]
    line = line.strip().strip('",').strip()
    evidence = line if len(line) <= _EVIDENCE else line[: _EVIDENCE - 3] + "..."
    return Finding(symptom.id, symptom.cause, symptom.fix, symptom.source, evidence)


def _clean(text: str) -> str:
    """Cut what is too long; take out colours; one kind of line end."""
    if len(text) > _MOST:
        text = text[: _MOST // 2] + "\n" + text[-_MOST // 2 :]
    text = _LINE_END.sub("\n", _COLOUR.sub("", text)).replace('\\"', '"')
    return "\n".join(line[:_LINE] for line in text.split("\n"))


def _last_exception(text: str) -> tuple[int, int]:
    """Give where the last traceback's exception and its message begin and end; else zeros."""
    at = text.rfind(_TRACEBACK)
    if at < 0:
        return 0, 0
    start = end = 0
    position, left = text.find("\n", at) + 1, 0
    for line in text[position:].split("\n") if position else ():
        if not start and _EXCEPTION.match(line):
            start, left = position, _MESSAGE_LINES
        elif _LOG_LINE.match(line):
            left = 0
        if left > 0:
            left, end = left - 1, position + len(line)
        position += len(line) + 1
    return start, end
