"""The result cards of a class: read with suspicion, since they come from strangers.

What is kept of one is tidied: it can neither act on a terminal nor flood a page.
"""

import re
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from statistics import median
from typing import NamedTuple

from accel_helpers._values import records
from accel_helpers.measure.results import Card

MANY = 100  # cards from which on processes are worth starting


class Time(NamedTuple):
    """What is kept of a measurement: its middle, its quartiles and how many samples it has."""

    middle: float
    low: float
    high: float
    samples: int


@dataclass(frozen=True)
class Seen:
    """What is kept of a card."""

    who: str
    machine: str
    begun: str
    times: Mapping[str, Time]
    numbers: Mapping[str, tuple[float, ...]]


class Refusal(NamedTuple):
    """Whose card does not count, and why."""

    who: str
    reason: str


def read(folder: Path, names: bool = True) -> tuple[list[Seen], list[Refusal]]:
    """Return the cards that count, and those that are refused and why; links are not followed."""
    files = _files(folder, names)
    cards = []
    refused = []
    owners = {}
    # Reading is mostly computing, which threads cannot share; but processes take long to start.
    executor = ThreadPoolExecutor
    if len(files) >= MANY:
        executor = ProcessPoolExecutor
    with executor() as pool:
        for seen in pool.map(_read_card, files, range(1, len(files) + 1), repeat(names)):
            if isinstance(seen, Refusal):
                refused.append(seen)
                continue
            # The same times, begun in the same second, are the same card handed in twice.
            content = (seen.begun, *seen.times.items())
            if content in owners:
                reason = f"a copy of {owners[content]}, which counts once."
                refused.append(Refusal(seen.who, reason))
                continue
            owners[content] = seen.who
            cards.append(seen)
    return cards, refused


def _files(folder: Path, names: bool) -> list[Path]:
    """Return what lies in a folder and may be a card, in an order that cannot give names away.

    With `names` it is their order; without, the order of the files' sizes.
    """
    files = []
    for path in folder.iterdir():
        # Boards that were written before, and what the system hides.
        if path.suffix in (".html", ".csv") or path.name.startswith("."):
            continue
        files.append(path)
    if names:
        return sorted(files, key=lambda path: path.name)
    return sorted(files, key=lambda path: path.lstat().st_size)


def _read_card(path: Path, number: int, names: bool) -> Seen | Refusal:
    """Return what is kept of a card, or why it cannot count."""
    who = _owner(path, number, names)
    try:
        if path.is_symlink() or path.suffix.lower() != ".json":
            raise records.DataError("no .json file; links and folders are not followed.")
        tables = records.load(path, "result card", name=who)
        card = records.read(Card, tables, who)
        if not card.measurements or "ACCEL_FAST=1" in card.command:
            raise records.DataError("nothing is measured on it, or only small sizes (ACCEL_FAST).")
    except records.DataError as error:
        reason = str(error).removeprefix(who).lstrip(":, ")
        return Refusal(who, tidy(reason, 200))
    return _seen(card, who)


def _owner(path: Path, number: int, names: bool) -> str:
    """Return what to call the owner of a card: by its file, unless that is nobody's name."""
    is_unnamed = re.fullmatch(r"result_card\W*\d*\W*", path.stem)
    if is_unnamed or not names:
        return f"card {number}"
    return tidy(path.stem, 40)


def _seen(card: Card, who: str) -> Seen:
    """Return what is kept of a card that counts."""
    day = card.created[:10]
    machine = card.label.removesuffix(f", {day}")
    times = {}
    for name, measured in card.measurements.items():
        samples = sorted(measured.samples)
        count = len(samples)
        low = samples[count // 4]
        high = samples[3 * count // 4]
        times[tidy(name)] = Time(median(samples), low, high, count)
    numbers = {tidy(name): values for name, values in card.numbers.items() if values}
    return Seen(who, tidy(machine, 40), tidy(day), times, numbers)


def tidy(text: str, most: int = 80) -> str:
    """Return a stranger's text on one line, without what a terminal or a page would obey."""
    if len(text) > most:
        text = text[: most - 1] + "…"
    characters = []
    for character in text:
        if not character.isprintable():
            character = "\ufffd"
        characters.append(character)
    return "".join(characters)
