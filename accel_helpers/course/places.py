"""The sentences of a lesson: `verdicts/NN.md`, read place by place.

A place begins with its heading, which is its id. Below it stand fields, each on a line (those of
`FIELDS`), then for each outcome its sentences:

    ## race
    outcomes: Speedup
    [faster] **{result}.** So use it.
    [slower] **Slower.** Leave it out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

TEXTS = Path(__file__).parent / "verdicts"
FIELDS = ("question", "unit", "choices", "answer", "outcomes")
# "## race" on a line of its own.
HEADING = re.compile(r"^## (.+)\n", re.MULTILINE)
# "[faster]" at the beginning of a line; a link such as "[this](there)" is none.
OUTCOME = re.compile(r"^\[([^\]\n]+)\](?=\s)", re.MULTILINE)


@dataclass(frozen=True)
class Place:
    """One place of a lesson: what is asked, drawn or said there."""

    id: str
    question: str = ""  # that asks for a guess
    unit: str = ""  # of the guess, where it is a number
    choices: tuple[str, ...] = ()  # of the guess, where it is one of them
    answer: str = ""  # of a guess whose answer no measurement gives
    outcomes: str = ""  # one of `outcomes.OUTCOMES`: what its sentences are for
    sentences: Mapping[str, str] = field(default_factory=dict)  # by outcome


def places(number: str, folder: Path = TEXTS) -> dict[str, Place]:
    """Return the places of a lesson, such as "03", by their ids; {} where it has no file.

    Raises a ValueError for a line that is no field; see `place`.

    >>> places("no such lesson")
    {}
    """
    path = folder / f"{number}.md"
    if not path.is_file():
        return {}
    text = path.read_text("utf-8")
    _, sections = _split(text, HEADING)
    places_by_id = {}
    for heading, body in sections:
        id = heading.strip()
        places_by_id[id] = place(id, body)
    return places_by_id


def place(id: str, text: str) -> Place:
    """Return the place that a text describes: its fields, and then its sentences.

    Raises a ValueError where a line of the fields begins with none of `FIELDS`.

    >>> place("race", "outcomes: Speedup\\n[faster] **Yes.**\\n[slower] No.\\n").sentences
    {'faster': '**Yes.**', 'slower': 'No.'}
    """
    # What stands before the first outcome are the fields.
    head, sections = _split(text, OUTCOME)
    fields = _fields(id, head)
    sentences = {outcome: sentence.strip() for outcome, sentence in sections}
    if "choices" in fields:
        choices = fields["choices"].split("|")
        fields["choices"] = tuple(choice.strip() for choice in choices)
    return Place(id, sentences=sentences, **fields)


def _split(text: str, heading: re.Pattern) -> tuple[str, list[tuple[str, str]]]:
    """Return (what stands before the first heading, [(heading, text below it), ...]).

    `heading` is a pattern with one group, for the heading itself: "a\\n## b\\nc" ->
    ("a\\n", [("b", "c")]).
    """
    # `split` gives the beginning, and then a heading and its text in turns.
    beginning, *parts = heading.split(text)
    headings = parts[::2]
    bodies = parts[1::2]
    return beginning, list(zip(headings, bodies, strict=True))


def _fields(id: str, head: str) -> dict:
    """Return the fields of the place `id`, by their names, from the lines of its head.

    "title: Which is faster?" -> {"title": "Which is faster?"}. Raises a ValueError for a line that
    begins with none of `FIELDS` and a colon; empty lines are skipped.
    """
    fields = {}
    for raw_line in head.splitlines():
        line = raw_line.strip()
        if not line:
            continue
        name, colon, value = line.partition(":")
        if name not in FIELDS or not colon:
            names = ", ".join(FIELDS)
            raise ValueError(f"{id}: a line begins with one of {names}; got {line!r}.")
        fields[name] = value.strip()
    return fields
