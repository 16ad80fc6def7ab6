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
    """The latest answer to a question."""

    given: str | float  # letters or a number; empty where it was left out of an exam
    verdict: str  # as in `grading.Grade`
    tries: int  # how many answers there were, this one included
    when: str  # in UTC, ISO 8601


@dataclass(frozen=True)
class Guess:
    """A guess, and what came out once it was measured."""

    guess: str | float
    actual: str | float | None  # None until it is measured
    when: str  # in UTC, ISO 8601


@dataclass(frozen=True)
class Sitting:
    """A practice exam that was handed in."""

    paper: int  # the number of the paper
    material: int  # answers that are the material's
    today: int  # answers that are right today
    questions: int  # of the paper
    when: str  # in UTC, ISO 8601


@dataclass(frozen=True)
class Progress:
    """Everything that is kept of a learner."""

    answers: Mapping[str, Answer] = field(default_factory=dict)  # by the question's id
    guesses: Mapping[str, Guess] = field(default_factory=dict)  # by name, such as "03/fit"
    lessons: Mapping[str, str] = field(default_factory=dict)  # lesson -> when it was finished
    exams: tuple[Sitting, ...] = ()  # in the order in which they were handed in
    schema: Literal[1] = 1  # of the file

    def extended(self, new: "Progress") -> "Progress":
        """Return a new progress: this one, with the newer answers, guesses and exams of `new`.

        A lesson that is finished in both keeps its first day.
        """
        return Progress(
            answers={**self.answers, **new.answers},
            guesses={**self.guesses, **new.guesses},
            lessons={**new.lessons, **self.lessons},
            exams=(*self.exams, *new.exams),
        )


# What `keep` got and could not write yet, oldest first.
_waiting: list[Progress] = []


def files(drive: Path = DRIVE) -> list[Path]:
    """Return the paths where the file may lie, best first.

    It is written to the first of them, and read from the first where there is a file. The
    environment variable ``ACCEL_PROGRESS`` names the only one. Otherwise a Google Drive, if it is
    mounted at `drive`, comes before the working folder, which Colab deletes with the runtime.
    """
    only_place = os.environ.get("ACCEL_PROGRESS")
    if only_place:
        return [Path(only_place)]
    if os.path.isdir(drive):
        return [drive / NAME, Path(NAME)]
    return [Path(NAME)]


def load(path: Path) -> Progress:
    """Read a progress file; without a file the progress is empty.

    Raises a DataError where it cannot be read, or has a wrong field.
    """
    if not path.exists():
        return Progress()
    values = records.load(path, "progress file", name=str(path))
    return records.read(Progress, values, str(path))


def keep(new: Progress, *, drive: Path = DRIVE) -> str:
    """Add to what is kept; return "" or, where it could not be written, a sentence that says why.

    It never raises. What could not be written to the file stays in memory, for `current` and for
    the next call.
    """
    target = files(drive)[0]
    # Only for the check: with anything that cannot be read again, the whole file would be lost.
    try:
        records.read(Progress, asdict(new), str(target))
    except (TypeError, ValueError, OverflowError) as error:
        return f"Not saved: {str(error)[:200]}"
    _waiting.append(new)
    try:
        all_progress = _with_waiting(_stored(drive))
        text = json.dumps(asdict(all_progress), indent=1, ensure_ascii=False) + "\n"
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
    """Return all progress: what is in the file, and what is not written yet.

    A file that cannot be read counts as empty.
    """
    try:
        stored = _stored(drive)
    except DataError:
        stored = Progress()
    return _with_waiting(stored)


def _stored(drive: Path) -> Progress:
    """Return the progress in the first file that exists; an empty one where none does.

    Raises a DataError where that file cannot be read.
    """
    for path in files(drive):
        if path.exists():
            return load(path)
    return Progress()


def _with_waiting(stored: Progress) -> Progress:
    """Return stored progress together with what could not be written yet."""
    progress = stored
    for addition in _waiting:
        progress = progress.extended(addition)
    return progress
