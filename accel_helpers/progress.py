"""What a learner has answered, guessed and finished: one small file that is never needed.

It lies in the working folder, or on Google Drive where that is mounted, so that it outlives the
runtime. It is written whole or not at all, and read with suspicion. A file that cannot be read is
left as it is: what is answered then stays in memory, and a sentence says so.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

SCHEMA = 1
NAME = "course_progress.json"
LARGEST = 2_000_000  # bytes; the file of a learner who answered everything has a twentieth of it
DRIVE = Path("/content/drive/MyDrive")  # where Colab mounts it

_waiting: list[Callable[[Progress], Progress]] = []  # changes that could not be written yet


class ProgressError(ValueError):
    """A progress file that cannot be read; the message names the file and the field."""


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
    """Everything that is kept.

    Attributes
    ----------
    answers : mapping of str to Answer
        By question.
    guesses : mapping of str to Guess
        By the guess's name, such as "03/epoch".
    lessons : mapping of str to str
        Lesson to the time when the last of its questions was answered rightly.
    exams : tuple of Sitting
    """

    answers: Mapping[str, Answer] = field(default_factory=dict)
    guesses: Mapping[str, Guess] = field(default_factory=dict)
    lessons: Mapping[str, str] = field(default_factory=dict)
    exams: tuple[Sitting, ...] = ()

    def to_dict(self) -> dict:
        """The progress as plain JSON types."""
        return {
            "schema": SCHEMA,
            "answers": {name: asdict(value) for name, value in self.answers.items()},
            "guesses": {name: asdict(value) for name, value in self.guesses.items()},
            "lessons": dict(self.lessons),
            "exams": [asdict(value) for value in self.exams],
        }


def answered(it: Progress, name: str, given, verdict: str, when: str) -> Progress:
    """Add an answer.

    Examples
    --------
    >>> it = answered(Progress(), "03/speedup", "b", "right", "2026-11-22T10:00:00+00:00")
    >>> it.answers["03/speedup"].tries
    1
    """
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


def now() -> str:
    """The time, ISO 8601, UTC."""
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0).isoformat()


# ---------------------------------------------------------------------------------------------


def place(environ: Mapping[str, str] | None = None, drive: Path = DRIVE) -> Path:
    """Where the file lies: as ``ACCEL_PROGRESS`` says, on a mounted Google Drive, or right here.

    Parameters
    ----------
    environ : mapping of str to str, optional
    drive : pathlib.Path, optional
        The folder where Google Drive is mounted, if it is.

    Returns
    -------
    pathlib.Path
    """
    named = (os.environ if environ is None else environ).get("ACCEL_PROGRESS")
    if named:
        return Path(named)
    return drive / NAME if drive.is_dir() else Path(NAME)


def load(path=None, *, drive: Path = DRIVE) -> Progress:
    """Read a progress file and check every field of it; a missing file is an empty progress.

    Parameters
    ----------
    path : path-like, optional
        By default `place`, and where nothing lies there yet, the working folder.
    drive : pathlib.Path, optional
        As for `place`.

    Returns
    -------
    Progress

    Raises
    ------
    ProgressError
        If the file is too large, no JSON or no progress; it names the field.
    """
    if path is None:
        path = place(drive=drive)
        if not path.exists() and not os.environ.get("ACCEL_PROGRESS"):
            path = Path(NAME)  # begun before Google Drive was mounted
    path = Path(path)
    if not path.exists():
        return Progress()
    try:
        if path.stat().st_size > LARGEST:
            raise ProgressError(f"{path.name}: larger than {LARGEST:,} bytes: no progress file.")
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ProgressError(f"{path.name}: cannot be read: {reason}.") from None
    return parse(text, path.name)


def save(progress: Progress, path) -> None:
    """Write a progress file, whole or not at all.

    Parameters
    ----------
    progress : Progress
    path : path-like
        A file in a folder that exists.
    """
    path = Path(path)
    text = json.dumps(progress.to_dict(), indent=1, ensure_ascii=False) + "\n"
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".progress-", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def keep(change: Callable[[Progress], Progress], path=None, *, drive: Path = DRIVE) -> str:
    """Change what is kept: read the file, change it, write it.

    Parameters
    ----------
    change : callable
        From the old progress to the new one.
    path : path-like, optional
        By default as `load` and `place` have it.
    drive : pathlib.Path, optional
        As for `place`.

    Returns
    -------
    str
        Empty if it was written; else a sentence that says why not.
    """
    _waiting.append(change)
    target = place(drive=drive) if path is None else Path(path)
    try:
        with _alone(target.parent):
            progress = load(path, drive=drive)
            for one in _waiting:
                progress = one(progress)
            save(progress, target)
    except ProgressError as error:
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


def current(path=None) -> Progress:
    """What is kept, with what could not be written yet; a file that cannot be read counts as empty.

    Parameters
    ----------
    path : path-like, optional

    Returns
    -------
    Progress
    """
    try:
        progress = load(path)
    except ProgressError:
        progress = Progress()
    for change in _waiting:
        progress = change(progress)
    return progress


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


def parse(text: str, name: str) -> Progress:
    """Read a progress from JSON.

    Parameters
    ----------
    text : str
    name : str
        Of the file, for the messages.

    Returns
    -------
    Progress
    """
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProgressError(f"{name}: not valid JSON ({str(error)[:80]}).") from None
    if not isinstance(values, dict):
        _refuse(name, "the file", "an object", values)
    if values.get("schema") != SCHEMA:
        _refuse(name, "field 'schema'", f"{SCHEMA}", values.get("schema"))
    answers = {
        key: Answer(
            _value(name, f"answers, {key!r:.40}, given", entry.get("given")),
            _text(name, f"answers, {key!r:.40}, verdict", entry.get("verdict")),
            _count(name, f"answers, {key!r:.40}, tries", entry.get("tries")),
            _time(name, f"answers, {key!r:.40}, when", entry.get("when")),
        )
        for key, entry in _objects(values, "answers", name)
    }
    guesses = {
        key: Guess(
            _value(name, f"guesses, {key!r:.40}, guess", entry.get("guess")),
            _value(name, f"guesses, {key!r:.40}, actual", entry.get("actual"), empty=True),
            _time(name, f"guesses, {key!r:.40}, when", entry.get("when")),
        )
        for key, entry in _objects(values, "guesses", name)
    }
    lessons = values.get("lessons", {})
    if not isinstance(lessons, dict):
        _refuse(name, "field 'lessons'", "an object", lessons)
    lessons = {key: _time(name, f"lessons, {key!r:.40}", when) for key, when in lessons.items()}
    exams = values.get("exams", [])
    if not isinstance(exams, list):
        _refuse(name, "field 'exams'", "a list", exams)
    return Progress(
        answers, guesses, lessons, tuple(_sitting(name, n, e) for n, e in enumerate(exams, 1))
    )


def _sitting(name: str, number: int, entry) -> Sitting:
    if not isinstance(entry, dict):
        _refuse(name, f"field 'exams', {number}", "an object", entry)
    where = f"exams, {number}"
    counts = [
        _count(name, f"{where}, {key}", entry.get(key))
        for key in ("paper", "material", "today", "questions")
    ]
    return Sitting(*counts, _time(name, f"{where}, when", entry.get("when")))


def _objects(values: dict, key: str, name: str):
    found = values.get(key, {})
    if not isinstance(found, dict):
        _refuse(name, f"field '{key}'", "an object", found)
    for inner, entry in found.items():
        if not isinstance(entry, dict):
            _refuse(name, f"field '{key}', {inner!r:.40}", "an object", entry)
        yield inner, entry


def _value(name: str, where: str, value, empty: bool = False):
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if number and abs(value) < 1e300 and math.isfinite(value):
        return value
    if (isinstance(value, str) and len(value) <= 1000) or (empty and value is None):
        return value
    _refuse(name, f"field '{where}'", "a number or a short text", value)


def _text(name: str, where: str, value) -> str:
    if not isinstance(value, str) or len(value) > 1000:
        _refuse(name, f"field '{where}'", "a short text", value)
    return value


def _count(name: str, where: str, value) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10**9:
        _refuse(name, f"field '{where}'", "a whole number of 0 or more", value)
    return value


def _time(name: str, where: str, value) -> str:
    try:
        datetime.datetime.fromisoformat(value)
    except (TypeError, ValueError):
        _refuse(name, f"field '{where}'", "a time such as 2026-11-22T12:00:00+00:00", value)
    return value


def _refuse(name: str, where: str, wanted: str, got):
    try:
        said = repr(got)
    except ValueError:  # a whole number with thousands of digits
        said = f"something of type {type(got).__name__}"
    said = said if len(said) <= 60 else said[:57] + "..."
    raise ProgressError(f"{name}: {where} must be {wanted}; got {said}.")
