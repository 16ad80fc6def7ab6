"""What a learner has answered, guessed and finished: one small file that is never needed.

A file that cannot be read is left as it is: what is answered then stays in memory.
"""

import contextlib
import datetime
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from accel_helpers._values import records
from accel_helpers._values.records import DataError

NAME = "course_progress.json"
DRIVE = Path("/content/drive/MyDrive")  # where Colab mounts it
__all__ = ["current"]


def now() -> str:
    """The time, ISO 8601, UTC."""
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0).isoformat()


@dataclass(frozen=True)
class Answer:
    """The latest answer to a question, and which try it was."""

    given: str | float
    verdict: str
    tries: int
    when: str


@dataclass(frozen=True)
class Guess:
    """A prediction, and what came out of it once it was measured."""

    guess: str | float
    actual: str | float | None
    when: str


@dataclass(frozen=True)
class Sitting:
    """A practice exam: how many answers agree with the material, and with what is true today."""

    paper: int
    material: int
    today: int
    questions: int
    when: str


@dataclass(frozen=True)
class Progress:
    """Everything that is kept: answers by question, guesses by name, the end of each lesson."""

    answers: Mapping[str, Answer] = field(default_factory=dict)
    guesses: Mapping[str, Guess] = field(default_factory=dict)
    lessons: Mapping[str, str] = field(default_factory=dict)
    exams: tuple[Sitting, ...] = ()
    schema: Literal[1] = 1


_waiting: list[Progress] = []  # what could not be written yet


def merged(*several: Progress) -> Progress:
    """Of each thing what is later counts; a lesson is finished when it was first."""
    answers, guesses, lessons, exams = {}, {}, {}, {}
    for one in several:
        for known, more in ((answers, one.answers), (guesses, one.guesses)):
            for name, each in more.items():
                if name not in known or known[name].when <= each.when:
                    known[name] = each
        for lesson, day in one.lessons.items():
            lessons[lesson] = min(lessons.get(lesson, day), day)
        exams |= dict.fromkeys(one.exams)
    return Progress(answers, guesses, lessons, tuple(sorted(exams, key=lambda it: it.when)))


def files(drive: Path = DRIVE) -> list[Path]:
    """As ``ACCEL_PROGRESS`` says, or here and on a mounted Google Drive; the last is written."""
    if named := os.environ.get("ACCEL_PROGRESS"):
        return [Path(named)]
    return [Path(NAME), drive / NAME] if os.path.isdir(drive) else [Path(NAME)]


def load(path: Path) -> Progress:
    """Read a file: one that is not there is empty, and a bad field is a DataError."""
    if not path.exists():
        return Progress()
    values = records.load(path, "progress file", name=str(path))
    return records.read(Progress, values, str(path))


def keep(new: Progress, *, drive: Path = DRIVE) -> str:
    """Add to what is kept, and never raise; gives a sentence where it could not be written."""
    target = files(drive)[-1]
    try:  # what could not be read again is not kept: it would bar the way for all that follows
        records.read(Progress, asdict(new), str(target))
    except (TypeError, ValueError, OverflowError) as error:
        return f"Not saved: {str(error)[:200]}"
    _waiting.append(new)
    try:
        whole = merged(*map(load, files(drive)), *_waiting)
        text = json.dumps(asdict(whole), indent=1, ensure_ascii=False) + "\n"
        records.write_whole(target.resolve(), text)  # a link stays a link
    except DataError as error:
        said = f"Not saved, so that nothing is lost: {error} Move that file away to start anew. "
        return said + "Until then your answers stay in memory."
    except OSError as error:
        said = f"Not saved: {target.name} cannot be written here ({error.strerror}). "
        return said + "Your answers stay in memory."
    _waiting.clear()
    return ""


def current(*, drive: Path = DRIVE) -> Progress:
    """What is kept, and what waits to be written; a file that cannot be read counts as empty."""
    found = []
    for path in files(drive):
        with contextlib.suppress(DataError):
            found.append(load(path))
    return merged(*found, *_waiting)
