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
from pathlib import Path

from accel_helpers._records import read_small, write_whole
from accel_helpers.learn.progress_file import (
    Answer,
    Guess,
    Progress,
    ProgressError,
    Sitting,
    answered,
    finished,
    guessed,
    merged,
    parse,
    sat,
)

__all__ = [
    "Answer",
    "Guess",
    "Progress",
    "ProgressError",
    "Sitting",
    "answered",
    "current",
    "finished",
    "guessed",
    "keep",
    "load",
    "now",
    "parse",
    "place",
    "sat",
    "save",
]
NAME = "course_progress.json"
LARGEST = 2_000_000  # bytes; the file of a learner who answered everything has a twentieth of it
DRIVE = Path("/content/drive/MyDrive")  # where Colab mounts it

_waiting: list[Callable[[Progress], Progress]] = []  # changes that could not be written yet


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
    return drive / NAME if os.path.isdir(drive) else Path(NAME)


def load(path=None, *, drive: Path = DRIVE) -> Progress:
    """Read a progress file and check every field of it; a missing file is an empty progress.

    Parameters
    ----------
    path : path-like, optional
        By default `place`; with Google Drive, what lies in the working folder is added to it.
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
    return functools.reduce(merged, map(_read, _files(path, drive)))


def save(progress: Progress, path) -> None:
    """Write a progress file, whole or not at all.

    Parameters
    ----------
    progress : Progress
    path : path-like
        A file in a folder that exists.
    """
    write_whole(Path(path).resolve(), _text(progress))  # a link stays a link


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
    target = place(drive=drive) if path is None else Path(path)
    try:  # what could not be read again is not kept: it would bar the way for all that follows
        _readable(change(Progress()), str(target))
    except (TypeError, ValueError, OverflowError) as error:
        return f"Not saved: {str(error)[:200]}"
    _waiting.append(change)
    try:
        with _alone(target.parent):
            progress = load(path, drive=drive)
            for one in _waiting:
                progress = one(progress)
            _readable(progress, str(target))  # each change can be read again; can all of them?
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


def current(path=None, *, drive: Path = DRIVE) -> Progress:
    """What is kept, with what could not be written yet; a file that cannot be read counts as empty.

    Parameters
    ----------
    path : path-like, optional
        By default as `load` and `place` have it.
    drive : pathlib.Path, optional
        As for `place`.

    Returns
    -------
    Progress
    """
    found = []
    for one in _files(path, drive):
        with contextlib.suppress(ProgressError):
            found.append(_read(one))
    progress = functools.reduce(merged, found or [Progress()])
    for change in _waiting:
        progress = change(progress)
    return progress


def _files(path, drive: Path) -> list[Path]:
    """Where to read: one file, or the working folder's and Google Drive's."""
    if path is not None:
        return [Path(path)]
    found = place(drive=drive)
    if found == drive / NAME and os.path.exists(NAME):
        # begun before Google Drive was mounted, or while it was away
        return [Path(NAME), found]
    return [found]


def _readable(progress: Progress, name: str) -> None:
    """Refuse what could not be read again once it is written."""
    text = _text(progress)
    if len(text.encode()) > LARGEST:
        raise ProgressError(f"{name}: it would become larger than {LARGEST:,} bytes.")
    parse(text, name)


def _text(progress: Progress) -> str:
    return json.dumps(progress.to_dict(), indent=1, ensure_ascii=False) + "\n"


def _read(path: Path) -> Progress:
    try:
        text = read_small(path, LARGEST, "progress file", ProgressError, str(path))
    except FileNotFoundError:
        return Progress()
    return parse(text, str(path))


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
