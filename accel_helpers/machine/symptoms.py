"""The failures we know, and finding them in an error message or a log: nothing but its text."""

import functools
import re
import textwrap
from dataclasses import dataclass
from itertools import dropwhile, takewhile
from typing import Literal

from accel_helpers._values import records
from accel_helpers.machine.faults import PLACES, Finding, tables
from accel_helpers.machine.raised import TRACEBACK

_MOST = 4_000_000  # characters of a text that are searched: its first and its last half of these
_LINE = 4_000  # characters of a line that are searched
_TITLE = 80  # characters of a title
_EVIDENCE = 200  # characters of a line that are shown
_MESSAGE_LINES = 20  # lines after an exception's first line that may still be its message

# Colours as a terminal gets them, and as the JSON of a saved notebook spells them.
_COLOUR = re.compile(r"(?:\x1b|\\u001b|\\x1b|\\033)\[[0-9;?]*[A-Za-z]")
_LINE_END = re.compile(r"\r\n?|\\r\\n|\\n")
# "KeyError: 'x'", "jax.errors.JaxRuntimeError: INTERNAL: ...": at the start of a line.
_EXCEPTION = re.compile(r"^(?:E +)?[A-Za-z_][\w.]*(?:Error|Exception|Interrupt)(?::|$)")
_LOG_LINE = re.compile(r"^(?:\d{4}-\d\d-\d\d|[IWEF]\d{4} )")
# A line of a traceback: in a package of this name, or in code of one's own.
_FRAME = re.compile(r"(?:site|dist)-packages[/\\](\w+)|<ipython-input|Cell In|/content/|ipykernel_")
_FRAMEWORKS = {
    "jax", "jaxlib", "keras", "tensorflow", "tensorflow_core", "tf_keras", "numpy", "absl",
    "google",
}  # fmt: skip
_PIP = re.compile(r"^.{0,40}\bpip3? install .*(?:tensorflow|tf-nightly|keras|jax|numpy).*$", re.M)
# A fix that speaks of lines with pip, so that the line of the text can be shown.
_ABOUT_PIP = re.compile(r"\blines? that (?:install|pin|bring)")
# What names a place; Kaggle's image is built on Colab's.
PLACE = {
    "kaggle": re.compile(r"/kaggle/(?:working|input|lib)|\bKaggle\b"),
    "colab": re.compile(r"/content/|/usr/local/lib/python3\.\d+/dist-packages|\bColab\b"),
}
# The first plain text of a pattern: before it parts that say how often, if at all, they occur.
_PART = (
    r"(?:\\[bwds]|\^|\((?:\\.|[^()\\])*\)|\[(?:\\.|[^]\\])*\]|[^()\\](?=[?*]))(?:[?*+]|\{[\d,]*})?"
)
_PLAIN = re.compile(rf"(?:{_PART})*((?:(?:[^\\.^$*+?{{}}\[\]|()]|\\\W)(?![*?{{]))*)")


@dataclass(frozen=True)
class Symptom:
    """A known failure, an entry of ``data/symptoms.toml``, which says what its fields mean."""

    id: str
    lines: tuple[str, ...]
    cause: str
    fix: str
    source: tuple[str, ...]
    versions: str
    examples: tuple[str, ...]
    also: str = ""
    unless: str = ""
    fix_local: str = ""
    fix_kaggle: str = ""
    at: Literal["", "colab", "kaggle"] = ""
    group: str = ""
    theirs: bool = False

    @functools.cached_property
    def patterns(self) -> dict[re.Pattern, str]:
        """Each line as a pattern, and its first plain text, which is quick to look for."""
        plain_texts = {}
        for line in self.lines:
            match = _PLAIN.match(line)
            plain_text = match[1] if match else ""
            # The text itself has no backslash before a mark that the pattern had to escape.
            plain_texts[re.compile(line, re.MULTILINE)] = re.sub(r"\\(.)", r"\1", plain_text)
        return plain_texts

    @property
    def title(self) -> str:
        """The words of its first example by which it is known."""
        example = clean(self.examples[0])
        matches = [pattern.search(example) for pattern in self.patterns]
        texts = [match.group() for match in matches if match]
        longest = max(texts, key=len)
        title = " ".join(longest.split())
        for quote in "'\"`":
            if title.count(quote) % 2:  # the pattern ended inside a quotation
                title = title.strip(quote)
        return textwrap.shorten(title, _TITLE, placeholder=" …")

    def to_do(self, place: str, text: str = "") -> str:
        """Return the fix in the words of a place ("colab", "kaggle" or "local") and of a text."""
        place = self.at or place
        package = _package_that_asks(text)
        fix = self._fix_at(place)
        if self.theirs and package:
            fix = SAY["theirs"]
        pip_line = None
        if _ABOUT_PIP.search(fix):
            pip_line = _PIP.search(text)
        if pip_line is None:
            return fix.format(**PLACES[place], package=package)
        fix = SAY["line"] + fix
        return fix.format(**PLACES[place], package=package, line=pip_line[0].strip())

    def _fix_at(self, place: str) -> str:
        """Return the fix for a place, which is mostly the same for all."""
        if place == "local" and self.fix_local:
            return self.fix_local
        if place == "kaggle" and self.fix_kaggle:
            return self.fix_kaggle
        return self.fix


def _package_that_asks(text: str) -> str | None:
    """Return the package of the deepest frame that is no framework's; None for one's own code."""
    package = None
    for frame in _FRAME.finditer(text):
        if frame[1] not in _FRAMEWORKS:
            package = frame[1]
    return package


_BOOK = tables("symptoms.toml")
SAY: dict[str, str] = _BOOK["say"]
#: The parts of docs/failures.md: what an entry calls its group, and the title.
GROUPS: dict[str, str] = _BOOK["group"]
#: What is surely the root of trouble first.
KNOWN = records.read(tuple[Symptom, ...], _BOOK["symptom"], "symptoms.toml")
#: Warnings that something is slow, and no failures.
SLOW = records.read(tuple[Symptom, ...], _BOOK["slowness"], "symptoms.toml")


def find(
    text: str, place: str = "local", among: tuple[Symptom, ...] = KNOWN
) -> tuple[Finding, ...]:
    """Return the known failures in a text, those of its last exception first.

    The fixes are in the words of a place ("colab", "kaggle" or "local").
    """
    text = clean(text)
    start, end = _last_exception(text)
    in_exception = []
    elsewhere = []
    for symptom in among:
        # A pattern is slow, and its plain text quick to look for.
        patterns = [pattern for pattern, plain in symptom.patterns.items() if plain in text]
        matches = _matches(patterns, text, 0, len(text))
        if not matches or not _confirmed(symptom, text):
            continue
        exception_matches = _matches(patterns, text, start, end)
        first_match = min(exception_matches or matches, key=re.Match.start)
        finding = Finding(
            id=symptom.id,
            cause=symptom.cause,
            fix=symptom.to_do(place, text),
            source=" ".join(symptom.source[:2]),
            evidence=_line(text, first_match.start()),
        )
        if exception_matches:
            in_exception.append(finding)
        else:
            elsewhere.append(finding)
    return tuple(in_exception + elsewhere)


def _matches(patterns: list[re.Pattern], text: str, start: int, end: int) -> list[re.Match]:
    """Return the first match of each pattern in a part of a text, where it has one."""
    matches = [pattern.search(text, start, end) for pattern in patterns]
    return [match for match in matches if match]


def _confirmed(symptom: Symptom, text: str) -> bool:
    """Return whether a text has what the symptom also needs, and nothing that speaks against it."""
    if not re.search(symptom.also, text, re.MULTILINE):
        return False
    return not symptom.unless or not re.search(symptom.unless, text, re.MULTILINE)


def _line(text: str, position: int) -> str:
    """Return the line of a match, short enough to be shown."""
    line_start = text.rfind("\n", 0, position) + 1
    line = text[line_start:].partition("\n")[0]
    column = position - line_start
    # A long line is cut at its beginning, so that the match itself is seen.
    if column > _EVIDENCE // 2:
        line = "..." + line[column - _EVIDENCE // 4 :]
    line = line.strip().strip('",').strip()
    if len(line) > _EVIDENCE:
        line = line[: _EVIDENCE - 3] + "..."
    return line


def clean(text: str) -> str:
    """Cut what is too long, take out colours, and use one kind of line end."""
    if len(text) > _MOST:
        half = _MOST // 2
        text = text[:half] + "\n" + text[-half:]
    text = _COLOUR.sub("", text)
    text = _LINE_END.sub("\n", text)
    # The JSON of a saved notebook escapes quotation marks.
    text = text.replace('\\"', '"')
    return "\n".join(line[:_LINE] for line in text.split("\n"))


def _last_exception(text: str) -> tuple[int, int]:
    """Return where the last exception and its message begin and end; zeros where there is none.

    It is the first one behind the last traceback; without a traceback, the first of the text.
    """
    traceback_start = max(text.rfind(TRACEBACK), 0)
    lines = text[traceback_start:].split("\n")
    from_exception = list(dropwhile(lambda line: not _EXCEPTION.match(line), lines))
    # A log goes on behind the message.
    message_lines = takewhile(
        lambda line: not _LOG_LINE.match(line), from_exception[:_MESSAGE_LINES]
    )
    message = "\n".join(message_lines)
    if not message:
        return 0, 0
    start = text.index(message, traceback_start)
    return start, start + len(message)
