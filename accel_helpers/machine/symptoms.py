"""The failures we know, and finding them in an error message or a log: nothing but its text.

A *symptom* is an entry of ``data/symptoms.toml``: a known failure, the wordings by which it is
recognized, and what to do. A *place* is "colab", "kaggle" or "local": where the reader is.
"""

import functools
import re
from dataclasses import dataclass
from itertools import dropwhile, takewhile
from typing import Literal

from accel_helpers._values import records
from accel_helpers.machine.faults import PLACES, Finding, tables
from accel_helpers.machine.raised import TRACEBACK

_MOST = 4_000_000  # characters of a text that are searched: its first and its last half of these
_LINE = 4_000  # characters of a line that are searched
_EVIDENCE = 200  # characters of a line that are shown
_MESSAGE_LINES = 20  # lines after an exception's first line that may still be its message

# "\x1b[31m", a colour as a terminal gets it, or spelled out, as in the JSON of a saved notebook.
_COLOUR = re.compile(r"(?:\x1b|\\u001b|\\x1b|\\033)\[[0-9;?]*[A-Za-z]")
# The ends of lines, as characters and as that JSON spells them.
_LINE_END = re.compile(r"\r\n?|\\r\\n|\\n")
# "KeyError: 'x'", "jax.errors.JaxRuntimeError: INTERNAL: ...": at the start of a line.
_EXCEPTION = re.compile(r"^(?:E +)?[A-Za-z_][\w.]*(?:Error|Exception|Interrupt)(?::|$)")
# "2026-05-12 08:15:01.123456: I tensorflow/core/...", "I0512 08:15:01 ...".
_LOG_LINE = re.compile(r"^(?:\d{4}-\d\d-\d\d|[IWEF]\d{4} )")
# A line such as "!pip install tensorflow==2.8".
_PIP = re.compile(r"^.{0,40}\bpip3? install .*(?:tensorflow|tf-nightly|keras|jax|numpy).*$", re.M)
# A fix that speaks of "lines that install" something, before which the reader's line can be shown.
_ABOUT_PIP = re.compile(r"\blines? that (?:install|pin|bring)")
# The place of which a text speaks: "/kaggle/working/x.csv", "/content/x.csv". Kaggle comes first,
# because its image is built on Colab's.
PLACE = {
    "kaggle": re.compile(r"/kaggle/(?:working|input|lib)|\bKaggle\b"),
    "colab": re.compile(r"/content/|/usr/local/lib/python3\.\d+/dist-packages|\bColab\b"),
}
# These read a regular expression: of r"\bNo module named '?tensorflow" the plain text, which is
# always in what it matches, is "No module named ". Before that, parts are skipped that have special
# characters: "\b", "^", a group, a set, each with "?", "*", "+" or "{2}" behind it.
_PART = (
    r"(?:\\[bwds]|\^|\((?:\\.|[^()\\])*\)|\[(?:\\.|[^]\\])*\]|[^()\\](?=[?*]))(?:[?*+]|\{[\d,]*})?"
)
_PLAIN = re.compile(rf"(?:{_PART})*(?P<text>(?:(?:[^\\.^$*+?{{}}\[\]|()]|\\\W)(?![*?{{]))*)")


@dataclass(frozen=True)
class Symptom:
    """A known failure, an entry of ``data/symptoms.toml``.

    {braces} in its fixes stand for words of the reader's place, such as {restart}.
    """

    id: str
    lines: tuple[str, ...]  # wordings of the failure, a regular expression each
    cause: str
    fix: str
    source: str  # an address
    since: str  # in words, the versions that it is about
    also: str = ""  # a regular expression that the text must match, too
    unless: str = ""  # one that the text must not match; empty: there is none
    fix_local: str = ""  # the fix on a machine of one's own, where it is another
    fix_kaggle: str = ""  # the fix on Kaggle, where it is another
    at: Literal["", "colab", "kaggle"] = ""  # the only place where it happens
    group: str = ""  # one of `GROUPS`
    own: bool = False  # the code that raised the error must change, so it must be the reader's

    @functools.cached_property
    def patterns(self) -> dict[re.Pattern, str]:
        """Each of the `lines` as a pattern -> a text that stands in whatever the pattern matches.

        It is quicker to look for than the pattern. It may be empty, which stands in every text.
        """
        plain_texts = {}
        for line in self.lines:
            match = _PLAIN.match(line)
            plain_text = match["text"] if match else ""
            # The text itself has no backslash before a mark that the pattern had to escape.
            plain_texts[re.compile(line, re.MULTILINE)] = re.sub(r"\\(.)", r"\1", plain_text)
        return plain_texts

    def to_do(self, place: str, text: str = "") -> str:
        """Return what to do about the failure, in the words of a place.

        `place` is "colab", "kaggle" or "local". Where the fix speaks of lines that install
        something, such a line of `text`, in which the failure was found, is named in it.
        """
        place = self.at or place
        fix = {"local": self.fix_local, "kaggle": self.fix_kaggle}.get(place) or self.fix
        pip_line = _PIP.search(text)
        if pip_line is None or not _ABOUT_PIP.search(fix):
            return fix.format(**PLACES[place])
        fix = SAY["line"] + fix
        return fix.format(**PLACES[place], line=pip_line[0].strip())


_BOOK = tables("symptoms.toml")
# The sentences of the doctor where no symptom is found, and parts of fixes.
SAY: dict[str, str] = _BOOK["say"]
#: The parts of docs/failures.md: what an entry calls its group, and the title.
GROUPS: dict[str, str] = _BOOK["group"]
#: The failures: what is surely the root of trouble first, what many things can cause last.
KNOWN = records.read(tuple[Symptom, ...], _BOOK["symptom"], "symptoms.toml")
#: Warnings beside which the program goes on, mostly of slowness; they are no failures.
SLOW = records.read(tuple[Symptom, ...], _BOOK["slowness"], "symptoms.toml")


def find(
    text: str, place: str = "local", among: tuple[Symptom, ...] = KNOWN
) -> tuple[Finding, ...]:
    """Return a finding for each symptom that a text has, those of its last exception first.

    `text` is a message or a log as it is. `place` is "colab", "kaggle" or "local"; the fixes are in
    its words. () where no symptom is found.
    """
    text = clean(text)
    exception_start, exception_end = _last_exception(text)
    in_exception = []
    elsewhere = []
    for symptom in among:
        # A pattern is slow, and its plain text is quick to look for.
        patterns = [
            pattern for pattern, plain_text in symptom.patterns.items() if plain_text in text
        ]
        matches = _matches(patterns, text, start=0, end=len(text))
        if not matches or not _confirmed(symptom, text):
            continue
        exception_matches = _matches(patterns, text, start=exception_start, end=exception_end)
        first_match = min(exception_matches or matches, key=re.Match.start)
        finding = Finding(
            id=symptom.id,
            cause=symptom.cause,
            fix=symptom.to_do(place, text),
            source=symptom.source,
            evidence=_line(text, first_match.start()),
        )
        if exception_matches:
            in_exception.append(finding)
        else:
            elsewhere.append(finding)
    return tuple(in_exception + elsewhere)


def _matches(patterns: list[re.Pattern], text: str, *, start: int, end: int) -> list[re.Match]:
    """Return the first match of each pattern in ``text[start:end]``, where it has one."""
    matches = [pattern.search(text, start, end) for pattern in patterns]
    return [match for match in matches if match]


def _confirmed(symptom: Symptom, text: str) -> bool:
    """Return whether a text matches a symptom's `also`, and does not match its `unless`."""
    if not re.search(symptom.also, text, re.MULTILINE):
        return False
    return not symptom.unless or not re.search(symptom.unless, text, re.MULTILINE)


def _line(text: str, position: int) -> str:
    """Return the line of a text in which a position is, cut to 200 characters around it.

    What is cut off is replaced by "...". `position` is an index into `text`.
    """
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
    """Return a text without colours, with "\\n" as its only line end, and not too long.

    Of a text of more than 4 million characters the middle is left out, and of a line what is behind
    its 4,000th character.
    """
    if len(text) > _MOST:
        half = _MOST // 2
        text = text[:half] + "\n" + text[-half:]
    text = _COLOUR.sub("", text)
    text = _LINE_END.sub("\n", text)
    # The JSON of a saved notebook escapes quotation marks.
    text = text.replace('\\"', '"')
    return "\n".join(line[:_LINE] for line in text.split("\n"))


def _last_exception(text: str) -> tuple[int, int]:
    """Return the start and the end of the last exception and its message, as indexes into a text.

    It is the first exception behind the last traceback; without a traceback, the first of the text.
    (0, 0) where there is none.
    """
    traceback_start = max(text.rfind(TRACEBACK), 0)
    lines = text[traceback_start:].split("\n")
    exception_lines = list(dropwhile(lambda line: not _EXCEPTION.match(line), lines))
    # A log goes on behind the message.
    message_lines = takewhile(
        lambda line: not _LOG_LINE.match(line), exception_lines[:_MESSAGE_LINES]
    )
    message = "\n".join(message_lines)
    if not message:
        return 0, 0
    start = text.index(message, traceback_start)
    return start, start + len(message)
