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
_FRAMEWORKS = set("jax jaxlib keras tensorflow tensorflow_core tf_keras numpy absl google".split())
_PIP = re.compile(r"^.{0,40}\bpip3? install .*(?:tensorflow|tf-nightly|keras|jax|numpy).*$", re.M)
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
        made = [re.compile(line, re.MULTILINE) for line in self.lines]
        return {each: re.sub(r"\\(.)", r"\1", _PLAIN.match(each.pattern)[1]) for each in made}

    @property
    def title(self) -> str:
        """The words of its first example by which it is known."""
        first = clean(self.examples[0])
        found = [match.group() for each in self.patterns if (match := each.search(first))]
        words = " ".join(max(found, key=len).split())
        for quote in "'\"`":
            if words.count(quote) % 2:  # the pattern ended inside a quotation
                words = words.strip(quote)
        return textwrap.shorten(words, _TITLE, placeholder=" …")

    def to_do(self, place: str, text: str = "") -> str:
        """The fix in the words of a place ("colab", "kaggle" or "local"), and of a text's."""
        place = self.at or place
        asks = [match[1] for match in _FRAME.finditer(text) if match[1] not in _FRAMEWORKS][-1:]
        fix = SAY["theirs"] if self.theirs and any(asks) else self.fix
        if fix == self.fix:
            fix = {"local": self.fix_local, "kaggle": self.fix_kaggle}.get(place) or fix
        line = re.search(r"\blines? that (?:install|pin|bring)", fix) and _PIP.search(text)
        fix = (SAY["line"] if line else "") + fix
        return fix.format(**PLACES[place], package=asks and asks[0], line=line and line[0].strip())


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
    """Find the known failures in a text, what its last exception says first; a place has menus."""
    text = clean(text)
    start, end = _last_exception(text)
    first, others = [], []
    for symptom in among:
        there = [each for each, plain in symptom.patterns.items() if plain in text]
        found = [match for each in there if (match := each.search(text))]
        it_is = found and re.search(symptom.also, text, re.M)
        if not it_is or (symptom.unless and re.search(symptom.unless, text, re.M)):
            continue
        last = [match for each in there if (match := each.search(text, start, end))]
        evidence = _line(text, min(last or found, key=re.Match.start).start())
        words = symptom.cause, symptom.to_do(place, text), " ".join(symptom.source[:2])
        finding = Finding(symptom.id, *words, evidence)
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


def clean(text: str) -> str:
    """Cut what is too long; take out colours; one kind of line end."""
    if len(text) > _MOST:
        text = text[: _MOST // 2] + "\n" + text[-_MOST // 2 :]
    text = _LINE_END.sub("\n", _COLOUR.sub("", text)).replace('\\"', '"')
    return "\n".join(line[:_LINE] for line in text.split("\n"))


def _last_exception(text: str) -> tuple[int, int]:
    """Where the last traceback's exception, or else the first, begins and ends; else zeros."""
    at = max(text.rfind(TRACEBACK), 0)
    lines = text[at:].split("\n")
    ours = list(dropwhile(lambda line: not _EXCEPTION.match(line), lines))[:_MESSAGE_LINES]
    message = "\n".join(takewhile(lambda line: not _LOG_LINE.match(line), ours))
    start = text.index(message, at) if message else 0
    return start, start + len(message)
