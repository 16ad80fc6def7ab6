"""The class board: what the files that a class handed in show, as one page.

The files come from strangers. What one says is tidied here, and escaped by
``templates/board.html``.
"""

import dataclasses
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from accel_helpers._values import records
from accel_helpers._values.records import DataError
from accel_helpers._values.words import template, times
from accel_helpers.course.record import PRIVATE, Entry

MOST_ROWS = 12  # of the dot plot
FACTOR = "times as fast"  # what an entry calls such a number, perhaps behind other words


@dataclass(frozen=True)
class Handed:
    """A file that counts."""

    who: str  # its name, tidied, or "file 3"
    entries: Sequence[Entry]
    factors: Mapping[str, float]  # how many times as fast something was, by its place and words


@dataclass(frozen=True)
class Board:
    """What was written: the page, how many files are on it, and (who, reason) of the others."""

    page: str
    files: int
    refused: Sequence[tuple[str, str]]

    def to_dict(self) -> dict:
        """Return the fields as plain values, for JSON."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        return f"{self.page}: {self.files} files, and why {len(self.refused)} others do not count."


def write(folder: Path, page: Path, *, names: bool = False) -> Board:
    """Write the board of the files in a folder; without `names` they are numbered.

    A file that cannot be used is refused with a reason and raises nothing. Raises OSError where the
    page cannot be written.
    """
    files = []
    refused = []
    owners = {}  # the places and moments of a file's results -> whose it is
    # Numbers by name would give names away. Hidden files are the system's.
    paths = sorted(folder.glob("[!.]*"), key=lambda path: path.lstat().st_size)
    for number, path in enumerate(paths, 1):
        who = f"file {number}"
        if names:
            who = tidy(path.stem)
        try:
            entries = _entries(path)
            moments = tuple((entry.place, entry.when) for entry in entries)
            if moments in owners:
                raise DataError(f"a copy of {owners[moments]}, which counts once.")
        except DataError as error:
            refused.append((who, tidy(str(error), 200)))
            continue
        owners[moments] = who
        files.append(Handed(who, entries, _factors(entries)))
    html = template("course/templates/board.html").render(
        files=files,
        refused=refused,
        rows=_rows(files),
        median=median,
        position=position,
        tidy=tidy,
        times=times,
    )
    records.write_whole(page, html)
    return Board(str(page), len(files), refused)


def _entries(path: Path) -> Sequence[Entry]:
    """Return what is in a file; raises DataError, with the reason, where it cannot count."""
    if path.is_symlink() or path.suffix.lower() != ".json":
        raise DataError("no .json file; links and folders are not followed.")
    tables = records.load(path, "file for the class", "its text")
    entries = records.read(tuple[Entry, ...], tables, "its results")
    if any(entry.given or entry.place.startswith(PRIVATE) for entry in entries):
        raise DataError("answers or guesses are in it: hand in what lesson.hand_in() writes.")
    if not any(entry.numbers for entry in entries):
        raise DataError("nothing is measured in it.")
    return entries


def _factors(entries: Sequence[Entry]) -> dict[str, float]:
    """Return how many times as fast something was, by its place and words."""
    names = {}
    for entry in entries:
        for words, number in entry.numbers.items():
            if words.endswith(FACTOR) and number > 0:
                # What a page draws and says stands at two places, and counts at the first.
                names.setdefault(number, tidy(f"{entry.place} {words}"))
    return {name: number for number, name in names.items()}


def _rows(files: Sequence[Handed]) -> list[tuple[str, list[float]]]:
    """Return (name, the factor of each file that has it) of each row, the most common first."""
    rows = defaultdict(list)
    for file in files:
        for name, factor in file.factors.items():
            rows[name].append(factor)
    return sorted(rows.items(), key=lambda row: len(row[1]), reverse=True)[:MOST_ROWS]


def position(factor: float) -> float:
    """Return the place of a factor on an axis from a half to 100, in percent."""
    inside = min(max(factor, 0.5), 100)
    return 100 * math.log(2 * inside) / math.log(200)


def tidy(text: str, most: int = 80) -> str:
    """Return the start of a stranger's text, on one line and harmless.

    Each character that cannot be printed, such as a line's end, a terminal's escape or a change of
    the writing's direction, becomes "\\ufffd".
    """
    shown = [letter if letter.isprintable() else "\ufffd" for letter in text[:most]]
    return "".join(shown)
