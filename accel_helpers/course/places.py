"""The sentences of a lesson: `verdicts/NN.md`, read place by place.

A place begins with its heading, which is its id. Below it stand fields of `Place`, each on a line,
then for each outcome its sentences:

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
# "## race" on a line of its own.
HEADING = re.compile(r"^## (.+)\n", re.MULTILINE)
# "[faster]" at the beginning of a line; a link such as "[this](there)" is none.
OUTCOME = re.compile(r"^\[([^\]\n]+)\](?=\s)", re.MULTILINE)


class Sentence(str):
    """A sentence in Markdown: a notebook sets it, and elsewhere its text is shown."""

    __repr__ = str.__str__
    _repr_markdown_ = str.__str__


@dataclass(frozen=True)
class Place:
    """One place of a lesson: what is asked, drawn or said there."""

    id: str
    question: str = ""  # that asks for a guess
    unit: str = ""  # of the guess, where it is a number
    choices: tuple[str, ...] = ()  # of the guess, where it is one of them
    answer: str = ""  # of a guess whose answer no measurement gives
    outcomes: str = ""  # the kind of result that its sentences are for
    sentences: Mapping[str, str] = field(default_factory=dict)  # by outcome


def places(number: str) -> dict[str, Place]:
    """Return the places of a lesson, such as "03", by their ids."""
    text = (TEXTS / f"{number}.md").read_text("utf-8")
    _, texts = cut(HEADING, text)
    return {id: place(id, text) for id, text in texts.items()}


def cut(mark: re.Pattern, text: str) -> tuple[str, dict[str, str]]:
    """Return what stands before the first mark, and what stands behind each, by its words."""
    head, *parts = mark.split(text)
    behind = map(str.strip, parts[1::2])
    return head.strip(), dict(zip(parts[::2], behind, strict=True))


def place(id: str, text: str) -> Place:
    """Return the place that a text describes: its fields, and then its sentences.

    >>> place("race", "outcomes: Speedup\\n[faster] **Yes.**\\n[slower] No.\\n").sentences
    {'faster': '**Yes.**', 'slower': 'No.'}
    """
    head, sentences = cut(OUTCOME, text)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    if "choices" in fields:
        fields["choices"] = tuple(fields["choices"].split(" | "))
    return Place(id, sentences=sentences, **fields)
