"""The sentences of a lesson: `verdicts/NN.md`, read place by place.

A place begins with its heading, which is its id. Below it stand fields, each on a line (those of
`FIELDS`), then for each outcome its sentences:

    ## race
    picture: measurements
    title: Which takes less time?
    outcomes: Speedup
    [faster] **{result}.** So use it.
    [slower] **Slower.** Leave it out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

TEXTS = Path(__file__).parent / "verdicts"
FIELDS = ("title", "question", "unit", "choices", "answer", "picture", "outcomes")


@dataclass(frozen=True)
class Place:
    """One place of a lesson: what is asked, drawn or said there."""

    id: str
    title: str = ""  # of its picture
    question: str = ""  # that asks for a guess
    unit: str = ""  # of the guess, where it is a number
    choices: tuple[str, ...] = ()  # of the guess, where it is one of them
    answer: str = ""  # of a guess whose answer no measurement gives
    picture: str = ""  # one of `pictures.PICTURES`
    outcomes: str = ""  # one of `outcomes.OUTCOMES`: what its sentences are for
    sentences: Mapping[str, str] = field(default_factory=dict)  # by outcome


def places(number: str, folder: Path = TEXTS) -> dict[str, Place]:
    """The places of a lesson by their ids; none where it has no file.

    >>> places("no such lesson")
    {}
    """
    path = folder / f"{number}.md"
    if not path.is_file():
        return {}
    _, *parts = re.split(r"^## (.+)\n", path.read_text("utf-8"), flags=re.MULTILINE)
    read = (place(id.strip(), text) for id, text in zip(parts[::2], parts[1::2], strict=True))
    return {each.id: each for each in read}


def place(id: str, text: str) -> Place:
    """Read one place.

    >>> place("race", "outcomes: Speedup\\n[faster] **Yes.**\\n[slower] No.\\n").sentences
    {'faster': '**Yes.**', 'slower': 'No.'}
    """
    head, *parts = re.split(r"^\[([^\]\n]+)\](?=\s)", text, flags=re.MULTILINE)
    fields = {}
    for line in filter(None, map(str.strip, head.splitlines())):
        name, colon, value = line.partition(":")
        if name not in FIELDS or not colon:
            known = ", ".join(FIELDS)
            raise ValueError(f"{id}: a line begins with one of {known}; got {line!r}.")
        fields[name] = value.strip()
    if "choices" in fields:
        fields["choices"] = tuple(choice.strip() for choice in fields["choices"].split("|"))
    sentences = dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    return Place(id, sentences=sentences, **fields)
