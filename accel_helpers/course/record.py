"""The record: one file of what a learner guessed, answered and measured. It may always be missing.

A *place* is "03/race" for what a page measured, and "guess/03/width", "answer/03/speed_up" or
"paper/1" for what is nobody else's business. Of a place the newest entry decides.
"""

import contextlib
import functools
import json
import operator
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from accel_helpers._values import records
from accel_helpers._values.records import DataError
from accel_helpers._values.words import shown
from accel_helpers.course.places import Sentence
from accel_helpers.machine import runtime

NAME = "course_record.json"
HANDED_IN = "course_measurements.json"
PRIVATE = ("guess/", "answer/", "paper/")


@dataclass(frozen=True)
class Entry:
    """What came out at a place, when, and on which machine."""

    place: str
    outcome: str  # of a verdict or an answer; "" where there is none
    numbers: Mapping[str, float]  # by what they are of; of an interval also "… low" and "… high"
    when: str  # in UTC, ISO 8601, to the microsecond
    machine: Mapping[str, str]  # its "name", "kind" and "place", and the "backend" of Keras
    given: str = ""  # what was typed or chosen: of guesses and answers alone
    said: str = ""  # the sentence on what was measured, in Markdown


TABLES = {"numbers": "a table of finite numbers", "machine": "a table of texts"}  # other: texts
_time = operator.attrgetter("when")
# What could not be written yet, oldest first.
_waiting: list[Entry] = []


def path() -> Path:
    """Return where the record lies: where ACCEL_RECORD says, else beside the page."""
    return Path(os.environ.get("ACCEL_RECORD") or NAME)


def entry(
    place: str,
    outcome: str = "",
    numbers: Mapping[str, float] | None = None,
    given: str = "",
    said: str = "",
) -> Entry:
    """Return an entry of this machine and this moment."""
    when = datetime.now(UTC).isoformat(timespec="microseconds")
    keras = sys.modules.get("keras")
    backend = keras.config.backend() if keras else ""
    machine = {**_machine(), "backend": backend}
    return Entry(place, outcome, numbers or {}, when, machine, given, said)


@functools.cache
def _machine() -> Mapping[str, str]:
    """Return this machine's name, such as "NVIDIA T4", its kind, and the place: "colab"."""
    here = runtime.describe()
    return {"name": here.name, "kind": here.kind, "place": here.place}


def keep(*entries: Entry) -> str:
    """Put entries on the record; return "", or a sentence where they could not be written.

    What could not be written stays in memory, for `everything` and the next call.
    """
    # With anything that cannot be read again the whole file would be lost.
    try:
        for new in entries:
            _check(new, new.place)
            _waiting.append(new)
    except DataError as error:
        return f"Not saved: {error}"
    file = path()
    try:
        with _alone(file.parent):
            store(merged(load(file) + _waiting), file)
    except DataError as error:
        return f"Not saved, so that nothing is lost: {error} Move that file away to start anew."
    except OSError as error:
        return f"Not saved: {file.name} cannot be written here ({error.strerror})."
    _waiting.clear()
    return ""


@contextlib.contextmanager
def _alone(folder: Path):
    """Have other kernels wait that write here, where the system can."""
    with contextlib.ExitStack() as stack:
        # Windows has no such lock, and a mounted Drive may have none.
        with contextlib.suppress(ImportError, AttributeError, OSError):
            import fcntl

            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def store(entries: Iterable[Entry], file: Path) -> None:
    """Write entries whole; where the path is a link, into the file that it leads to."""
    tables = [asdict(each) for each in entries]
    records.write_whole(file.resolve(), json.dumps(tables, indent=1) + "\n")


def load(file: Path, name: str = "") -> list[Entry]:
    """Read a record; without a file it is empty. Raises DataError or OSError for no record.

    The error calls it by the name, or by where it lies.
    """
    if not file.exists():
        return []
    name = name or str(file)
    tables = records.load(file, name)
    if not isinstance(tables, list):
        raise DataError(f"{name}: must be a list of entries; got {shown(tables)}.")
    try:
        entries = [Entry(**table) for table in tables]
    # Its text names the field.
    except TypeError as error:
        raise DataError(f"{name}: a field is missing or unknown: {error}.") from None
    for each in entries:
        _check(each, name)
    return entries


def _check(entry: Entry, name: str) -> None:
    """Raise a DataError unless each field is of its type; it begins with the name."""
    for field, value in vars(entry).items():
        if not _fits(field, value):
            accepted = TABLES.get(field, "a text")
            raise DataError(f"{name}: {field} must be {accepted}; got {shown(value)}.")


def _fits(field: str, value) -> bool:
    """Return whether a value is of a field's type."""
    if field not in TABLES:
        return isinstance(value, str)
    if not isinstance(value, dict):
        return False
    if field == "numbers":
        return all(map(_is_number, value.values()))
    return all(isinstance(text, str) for text in value.values())


def _is_number(value) -> bool:
    """Return whether one can compute with it; True is a whole number for Python."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(value) < 1e300


def merged(entries: Iterable[Entry]) -> list[Entry]:
    """Return the newest entry of each place on each machine, oldest first."""
    newest_entries = {}
    for each in sorted(entries, key=_time):
        newest_entries[each.place, each.machine.get("name")] = each
    return sorted(newest_entries.values(), key=_time)


def everything() -> list[Entry]:
    """Return what is in the file and what waits; a file that is no record counts as empty."""
    stored = []
    with contextlib.suppress(DataError, OSError):
        stored = load(path())
    return merged(stored + _waiting)


def newest(start: str) -> dict[str, Entry]:
    """Return the newest entry of each place that begins so, by the rest of the place."""
    entries = [each for each in everything() if each.place.startswith(start)]
    return {each.place.removeprefix(start): each for each in entries}


def measurements(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries of what was measured, without guesses, answers and papers."""
    return [each for each in entries if not each.place.startswith(PRIVATE)]


def gather(folder: str = ".") -> Sentence:
    """Merge the records in a folder into this page's; return what came of it, in lines."""
    lines = []
    for file in sorted(Path(folder).glob("course_record*.json")):
        try:
            _waiting.extend(load(file))
        except (DataError, OSError) as error:
            lines.append(f"Not used: {error}")
    lines.append(keep() or f"{len(everything())} results are on your record.")
    return Sentence("\n".join(lines))


def hand_in() -> Sentence:
    """Write the file for the class, with no guess or answer in it; return what came of it."""
    file = path().with_name(HANDED_IN)
    try:
        measured = measurements(merged(load(path()) + _waiting))
        store(measured, file)
    except (DataError, OSError) as error:
        return Sentence(f"Not written: {error}")
    return Sentence(f"{file}: {len(measured)} results, with no guess, answer or paper.")
