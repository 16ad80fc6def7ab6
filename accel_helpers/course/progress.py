"""What a learner has answered, guessed and finished: one small file that may always be missing.

A file that cannot be read is left as it is, and what is answered then stays in memory.
"""

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
    """Return the time in UTC, ISO 8601, to the second."""
    moment = datetime.datetime.now(datetime.UTC)
    return moment.replace(microsecond=0).isoformat()


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

    def extended(self, new: "Progress") -> "Progress":
        """Return this progress with newer answers, guesses and exams.

        A lesson that is already finished stays finished on its first day.
        """
        return Progress(
            answers={**self.answers, **new.answers},
            guesses={**self.guesses, **new.guesses},
            lessons={**new.lessons, **self.lessons},
            exams=(*self.exams, *new.exams),
        )


# What could not be written yet, oldest first.
_waiting: list[Progress] = []


def files(drive: Path = DRIVE) -> list[Path]:
    """Return where the file may lie: the first place is written, the first file found is read.

    ``ACCEL_PROGRESS`` names the only place. Otherwise a mounted Google Drive comes before the
    working folder, which Colab deletes with the runtime.
    """
    only_place = os.environ.get("ACCEL_PROGRESS")
    if only_place:
        return [Path(only_place)]
    if os.path.isdir(drive):
        return [drive / NAME, Path(NAME)]
    return [Path(NAME)]


def load(path: Path) -> Progress:
    """Read a file: one that is not there is empty, and a bad field is a DataError."""
    if not path.exists():
        return Progress()
    values = records.load(path, "progress file", name=str(path))
    return records.read(Progress, values, str(path))


def keep(new: Progress, *, drive: Path = DRIVE) -> str:
    """Add to what is kept, and never raise; return a sentence where it could not be written."""
    target = files(drive)[0]
    # What could not be read again is not written, since after it no file could be read at all.
    try:
        records.read(Progress, asdict(new), str(target))
    except (TypeError, ValueError, OverflowError) as error:
        return f"Not saved: {str(error)[:200]}"
    _waiting.append(new)
    try:
        everything = _with_waiting(_stored(drive))
        text = json.dumps(asdict(everything), indent=1, ensure_ascii=False) + "\n"
        # A link stays a link: the file that it points to is replaced.
        records.write_whole(target.resolve(), text)
    except DataError as error:
        return (
            f"Not saved, so that nothing is lost: {error} Move that file away to start anew. "
            "Until then your answers stay in memory."
        )
    except OSError as error:
        return (
            f"Not saved: {target.name} cannot be written here ({error.strerror}). "
            "Your answers stay in memory."
        )
    _waiting.clear()
    return ""


def current(*, drive: Path = DRIVE) -> Progress:
    """Return what is kept and what waits to be written; an unreadable file counts as empty."""
    try:
        stored = _stored(drive)
    except DataError:
        stored = Progress()
    return _with_waiting(stored)


def _stored(drive: Path) -> Progress:
    """Return what the first file that exists holds, or nothing yet."""
    for path in files(drive):
        if path.exists():
            return load(path)
    return Progress()


def _with_waiting(stored: Progress) -> Progress:
    """Return stored progress together with what could not be written yet."""
    everything = stored
    for new in _waiting:
        everything = everything.extended(new)
    return everything
