"""The class board: what the files that a class handed in show, as one page.

The files come from strangers. What one says is tidied here, and escaped by
``templates/board.html``.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

from accel_helpers._values import records
from accel_helpers._values.records import DataError
from accel_helpers._values.words import template, times
from accel_helpers.course.record import Entry, load, measurements

MOST_ROWS = 12  # of the dot plot
FACTOR = "times as fast"  # what an entry calls such a number, perhaps behind other words


@dataclass(frozen=True)
class Handed:
    """A file that counts."""

    who: str  # its name, tidied, or "file 3"
    entries: Sequence[Entry]

    @cached_property
    def factors(self) -> dict[str, float]:
        """How many times as fast something was, by its place and words."""
        names = {}
        for entry in self.entries:
            for words, number in entry.numbers.items():
                if words.endswith(FACTOR) and number > 0:
                    # What a page draws and says stands at two places, and counts at the first.
                    names.setdefault(number, tidy(f"{entry.place} {words}"))
        return {name: number for number, name in names.items()}


@dataclass(frozen=True)
class Board:
    """What was written: the page, how many files are on it, and (who, reason) of the others."""

    page: str
    files: int
    refused: Sequence[tuple[str, str]]

    to_dict = asdict

    def __str__(self) -> str:
        return f"{self.page}: {self.files} files, and why {len(self.refused)} others do not count."


def write(folder: Path, page: Path, *, names: bool = False) -> Board:
    """Write the board of the files in a folder; without `names` they are numbered.

    A file that cannot be used is refused with a reason and raises nothing. Raises OSError where the
    page cannot be written.
    """
    owners: dict[tuple, Handed] = {}  # by the places and moments of a file's results
    refused = []
    # Numbers by name would give names away. Hidden files are the system's.
    paths = sorted(folder.glob("[!.]*"), key=lambda path: path.lstat().st_size)
    for number, path in enumerate(paths, 1):
        who = tidy(path.stem) if names else f"file {number}"
        try:
            entries = _entries(path)
            moments = tuple((entry.place, entry.when) for entry in entries)
            if moments in owners:
                raise DataError(f"the same time stamps as {owners[moments].who}: it counts once.")
        except DataError as error:
            refused.append((who, tidy(str(error), 200)))
        else:
            owners[moments] = Handed(who, entries)
    files = [*owners.values()]
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
        raise DataError("not a .json file; links and folders are not followed.")
    # By its own name it would name its owner.
    entries = load(path, "its text")
    if any(entry.given for entry in entries) or measurements(entries) != entries:
        raise DataError("answers or guesses are in it: hand in what lesson.hand_in() writes.")
    if not any(entry.numbers for entry in entries):
        raise DataError("nothing is measured in it.")
    return entries


def _rows(files: Iterable[Handed]) -> list[tuple[str, list[float]]]:
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
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text[:most])
