"""What a learner has answered, guessed and finished: one small file that is never needed.

A file that cannot be read is left as it is: what is answered then stays in memory.
"""

import contextlib
import datetime
import functools
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from accel_helpers import _records
from accel_helpers._records import DataError

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


def merged(one: Progress, other: Progress) -> Progress:
    """Of two, what is later counts; a lesson is finished when it was first."""
    newest = now()  # whatever was written by a clock that was ahead

    def latest(a: Mapping, b: Mapping) -> dict:
        later = {
            name: each
            for name, each in b.items()
            if name not in a or min(a[name].when, newest) <= each.when
        }
        return {**a, **later}

    first = {name: min(one.lessons.get(name, day), day) for name, day in other.lessons.items()}
    return Progress(
        latest(one.answers, other.answers),
        latest(one.guesses, other.guesses),
        {**one.lessons, **first},
        tuple(sorted(dict.fromkeys(one.exams + other.exams), key=lambda it: it.when)),
    )


def place(drive: Path = DRIVE) -> Path:
    """Where the file lies: as ``ACCEL_PROGRESS`` says, on a mounted Google Drive, or right here."""
    here = drive / NAME if os.path.isdir(drive) else NAME
    return Path(os.environ.get("ACCEL_PROGRESS") or here)


def load(path=None) -> Progress:
    """Read a file, by default that of `place`; none is empty, and DataError names a bad field."""
    path = Path(path or place())
    try:
        values = _records.load(path, "progress file", name=str(path))
    except FileNotFoundError:
        return Progress()
    return _records.read(Progress, values, str(path))


def keep(new: Progress, *, drive: Path = DRIVE) -> str:
    """Add to what is kept, and never raise; gives a sentence where it could not be written."""
    target = place(drive)
    try:  # what could not be read again is not kept: it would bar the way for all that follows
        _records.read(Progress, asdict(new), str(target))
    except (TypeError, ValueError, OverflowError) as error:
        return f"Not saved: {str(error)[:200]}"
    _waiting.append(new)
    try:
        with _alone(target.parent):
            text = json.dumps(asdict(_whole(drive)), indent=1, ensure_ascii=False) + "\n"
            _records.write_whole(target.resolve(), text)  # a link stays a link
    except DataError as error:
        said = f"Not saved, so that nothing is lost: {error} Move that file away to start anew. "
        return said + "Until then your answers stay in memory."
    except OSError as error:
        said = f"Not saved: {target.name} cannot be written here ({error.strerror}). "
        return said + "Your answers stay in memory."
    _waiting.clear()
    return ""


def current(*, drive: Path = DRIVE) -> Progress:
    """What is kept, with what could not be written yet; a file that cannot be read counts as empty.

    Parameters
    ----------
    drive : pathlib.Path, optional
        Where Google Drive is mounted, if it is.
    """
    return _whole(drive, DataError)


def _whole(drive: Path, *unread: type[Exception]) -> Progress:
    """All files, but those that end in one of these errors, and what could not be written yet."""
    paths, found = [place(drive)], Progress()
    if paths[0] == drive / NAME and os.path.exists(NAME):  # begun while the drive was away
        paths.insert(0, Path(NAME))
    for path in paths:
        with contextlib.suppress(*unread):
            found = merged(found, load(path))
    return functools.reduce(merged, _waiting, found)


@contextlib.contextmanager
def _alone(folder: Path):
    """Let one process at a time change the file, where the system has such locks."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError):  # Google Drive has none
            import fcntl

            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
