"""What a learner has answered, guessed and finished: one small file that is never needed.

It lies in the working folder, or on Google Drive where that is mounted, so that it outlives the
runtime. It is written whole or not at all, and read with suspicion. A file that cannot be read is
left as it is: what is answered then stays in memory, and a sentence says so.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from accel_helpers import _records
from accel_helpers._records import DataError

NAME = "course_progress.json"
LARGEST = 2_000_000  # bytes; the file of a learner who answered everything has a twentieth of it
DRIVE = Path("/content/drive/MyDrive")  # where Colab mounts it
__all__ = ["current"]


def now() -> str:
    """The time, ISO 8601, UTC."""
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0).isoformat()


@dataclass(frozen=True)
class Answer:
    """The latest answer to a question: what was given, its verdict, how often, and when."""

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


Change = Callable[[Progress], Progress]
_waiting: list[Change] = []  # changes that could not be written yet


def answered(it: Progress, name: str, given, verdict: str, when: str) -> Progress:
    """Add an answer."""
    tries = it.answers[name].tries + 1 if name in it.answers else 1
    return replace(it, answers={**it.answers, name: Answer(given, verdict, tries, when)})


def guessed(it: Progress, name: str, guess, actual, when: str) -> Progress:
    """Add a guess, or what came out of it."""
    return replace(it, guesses={**it.guesses, name: Guess(guess, actual, when)})


def finished(it: Progress, lesson: str, when: str) -> Progress:
    """Add a lesson; the first time counts."""
    return it if lesson in it.lessons else replace(it, lessons={**it.lessons, lesson: when})


def sat(it: Progress, sitting: Sitting) -> Progress:
    """Add a practice exam."""
    return replace(it, exams=(*it.exams, sitting))


def merged(one: Progress, other: Progress) -> Progress:
    """Put two together, such as those of two folders.

    Of what both have the later counts; a lesson is finished when it was first.
    """

    def of_both(what: str, choose, key=None) -> dict:
        a, b = getattr(one, what), getattr(other, what)
        return {k: choose((each[k] for each in (a, b) if k in each), key=key) for k in {**a, **b}}

    return Progress(
        of_both("answers", max, lambda it: it.when),
        of_both("guesses", max, lambda it: it.when),
        of_both("lessons", min),
        tuple(sorted({*one.exams, *other.exams}, key=lambda it: it.when)),
    )


# --- The file -------------------------------------------------------------------------------------


def place(environ: Mapping[str, str] | None = None, drive: Path = DRIVE) -> Path:
    """Where the file lies: as ``ACCEL_PROGRESS`` says, on a mounted Google Drive, or right here."""
    named = (os.environ if environ is None else environ).get("ACCEL_PROGRESS")
    if named:
        return Path(named)
    return drive / NAME if os.path.isdir(drive) else Path(NAME)


def load(path=None, *, drive: Path = DRIVE) -> Progress:
    """Read a file and check it; none is an empty progress. DataError names the file and field.

    By default it is that of `place`; with Google Drive, what lies in the working folder is added.
    """
    return functools.reduce(merged, map(_read, [Path(path)] if path else _files(drive)))


def save(progress: Progress, path) -> None:
    """Write a progress file, whole or not at all; what could not be read again is a DataError."""
    _records.write_whole(Path(path).resolve(), _text(progress, str(path)))  # a link stays a link


def keep(change: Change, *, drive: Path = DRIVE) -> str:
    """Change what is kept: read the file, change it, write it; whatever happens, nothing is raised.

    Gives an empty text if it was written; else a sentence that says why not.
    """
    target = place(drive=drive)
    try:  # what could not be read again is not kept: it would bar the way for all that follows
        _text(change(Progress()), str(target))
    except (TypeError, ValueError, OverflowError) as error:
        return f"Not saved: {str(error)[:200]}"
    _waiting.append(change)
    try:
        with _alone(target.parent):
            save(_changed(load(drive=drive)), target)
    except DataError as error:
        return (
            f"Not saved, so that nothing is lost: {error} Move that file away to start anew. "
            f"Until then your answers stay in memory."
        )
    except OSError as error:
        return (
            f"Not saved: {target.name} cannot be written here ({error.strerror}). "
            f"Your answers stay in memory."
        )
    _waiting.clear()
    return ""


def current(*, drive: Path = DRIVE) -> Progress:
    """What is kept, with what could not be written yet; a file that cannot be read counts as empty.

    Parameters
    ----------
    drive : pathlib.Path, optional
        Where Google Drive is mounted, if it is.

    Returns
    -------
    Progress

    Examples
    --------
    >>> current().schema
    1
    """
    found = Progress()
    for one in _files(drive):
        with contextlib.suppress(DataError):
            found = merged(found, _read(one))
    return _changed(found)


def _changed(progress: Progress) -> Progress:
    """With the changes that could not be written yet."""
    return functools.reduce(lambda it, change: change(it), _waiting, progress)


def _files(drive: Path) -> list[Path]:
    """Where to read: one file, or the working folder's and Google Drive's."""
    found = place(drive=drive)
    # begun before Google Drive was mounted, or while it was away
    begun = found == drive / NAME and os.path.exists(NAME)
    return [Path(NAME), found] if begun else [found]


def _text(progress: Progress, name: str) -> str:
    """The text of a file; a DataError where that could not be read again."""
    plain = asdict(progress)
    _records.read(Progress, plain, name)
    text = json.dumps(plain, indent=1, ensure_ascii=False) + "\n"
    if len(text.encode()) > LARGEST:
        raise DataError(f"{name}: it would become larger than {LARGEST:,} bytes.")
    return text


def _read(path: Path) -> Progress:
    try:
        values = _records.load(path, "progress file", LARGEST, str(path))
    except FileNotFoundError:
        return Progress()
    return _records.read(Progress, values, str(path))


@contextlib.contextmanager
def _alone(folder: Path):
    """Let one process at a time change the file, where the system has such locks."""
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        with contextlib.suppress(OSError):  # Google Drive has none
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
