"""The failures we know, and finding them in an error message or a log: nothing but its text.

A *symptom* is an entry of ``data/symptoms.toml``: a known failure, the wordings by which it is
recognized, and what to do. A *place* is "colab", "kaggle" or "local": where the reader is.
"""

import functools
import re
from dataclasses import dataclass

from accel_helpers.machine import raised
from accel_helpers.machine.facts import PLACES, tables
from accel_helpers.machine.faults import Finding

# Characters at the beginning, and at the end, of a text that are searched: a second's work each.
_HALF = 1_000_000
_EVIDENCE = 100  # characters of a line that are shown on each side

# What is replaced in a text before it is searched, in this order: colours, as a terminal gets them,
# or spelled out in the JSON of a saved notebook; the ends of lines, and that JSON's; its quotation
# marks; what Python puts before each line of several exceptions, "  | ValueError: 3"; the ends of
# lines that nobody reads.
_CLEANED = (
    (r"(?:\x1b|\\u001b|\\x1b|\\033)\[[0-9;?]*[A-Za-z]", ""),
    (r"\r\n?|\\r\\n|\\n", "\n"),
    (r'\\"', '"'),
    (r"(?m)^ +\| ", ""),
    (r"(?m)^(.{4000}).+", r"\1"),
)


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
    group: str = ""  # one of `GROUPS`; empty: it is a warning
    also: str = ""  # a regular expression that the text must match, too
    unless: str = "(?!)"  # one that the text must not match; this one matches nothing
    fix_local: str = ""  # on a machine of one's own, where that is another
    fix_kaggle: str = ""  # on Kaggle, where that is another
    at: str = ""  # "colab" or "kaggle": the only place where it happens
    own: bool = False  # advice for the learner's own code, which a package's line is not

    @functools.cached_property
    def patterns(self) -> list[re.Pattern]:
        """The `lines`, compiled."""
        return [re.compile(line, re.MULTILINE) for line in self.lines]

    def line_in(self, text: str) -> str:
        """Return the line of a text that one of the `lines` matches; what is left out is a “…”."""
        for pattern in self.patterns:
            match = pattern.search(text)
            if match:
                before = text[: match.start()].rpartition("\n")[2]
                behind = text[match.start() :].partition("\n")[0]
                start = "…" * (len(before) > _EVIDENCE)
                end = "…" * (len(behind) > _EVIDENCE)
                line = before[-_EVIDENCE:] + behind[:_EVIDENCE]
                return start + line.strip(' ",') + end
        return ""

    def fits(self, text: str, error: raised.Seen) -> bool:
        """Return whether a text has this failure; `error` is its last error."""
        # Advice for the learner's own code is no use where a package's line failed.
        if self.own and error.package:
            return False
        if not self.line_in(text) or re.search(self.unless, text, re.MULTILINE):
            return False
        return bool(re.search(self.also, text, re.MULTILINE))

    def to_do(self, place: str) -> str:
        """Return what to do about it at a place: "colab", "kaggle" or "local"."""
        place = self.at or place
        # An entry has no fix_colab: Colab's is its fix.
        fix = getattr(self, f"fix_{place}", "") or self.fix
        return fix.format(**PLACES[place])


_BOOK = tables("symptoms.toml")
# The sentences of the doctor where nothing is found.
SAY: dict[str, str] = _BOOK["say"]
#: The parts of docs/failures.md: what an entry calls its group, and the title.
GROUPS: dict[str, str] = _BOOK["group"]
#: The failures: what is surely the root of trouble first, what many things can cause last.
KNOWN = [Symptom(**entry) for entry in _BOOK["symptom"]]
#: Warnings beside which the program goes on, mostly of slowness; they are no failures.
SLOW = [Symptom(**entry) for entry in _BOOK["slowness"]]


def find(text: str, place: str = "local", among: list[Symptom] = KNOWN) -> tuple[Finding, ...]:
    """Return a finding for each symptom that a text has, those of its last error first.

    `text` is a message or a log as it is. `place` is "colab", "kaggle" or "local"; the fixes are in
    its words. () where no symptom is found.
    """
    text = clean(text)
    error = raised.look(text)
    found = [symptom for symptom in among if symptom.fits(text, error)]
    found.sort(key=lambda symptom: not symptom.line_in(error.message))
    return tuple(
        Finding(one.id, one.cause, one.to_do(place), one.source, one.line_in(text)) for one in found
    )


def clean(text: str) -> str:
    """Return a text without colours, with "\\n" as its only line end, and not too long.

    Of a long text the middle is left out, and of a long line its end.
    """
    text = text[:_HALF] + text[_HALF:][-_HALF:]
    for pattern, replacement in _CLEANED:
        text = re.sub(pattern, replacement, text)
    return text
