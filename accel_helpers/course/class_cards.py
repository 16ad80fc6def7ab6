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
    """What is kept of a measurement, in seconds."""

    middle: float  # the median of its samples
    low: float  # their lower quartile
    high: float  # their upper quartile
    samples: int  # how many they are


@dataclass(frozen=True)
class Seen:
    """What is kept of a card; all texts are tidied."""

    who: str  # the owner's name, or "card 3"
    machine: str  # its label, without the day
    begun: str  # the day when the card was begun, such as 2026-11-23
    times: Mapping[str, Time]  # by the measurement's name
    numbers: Mapping[str, tuple[float, ...]]  # by name; none is empty


class Refusal(NamedTuple):
    """A card that does not count."""

    who: str  # the owner's name, or "card 3"
    reason: str


def read(folder: Path, names: bool = True) -> tuple[list[Seen], list[Refusal]]:
    """Return (cards that count, cards that are refused) of the files in a folder.

    Without `names` the owners are called "card 1" and so on. Links are not followed. A bad card
    raises nothing: it is refused.
    """
    files = _files(folder, names)
    cards = []
    refusals = []
    owners = {}  # what a card holds -> whose it is
    # Reading is mostly computing, which threads cannot share; but processes take long to start.
    executor = ThreadPoolExecutor
    if len(files) >= MANY:
        executor = ProcessPoolExecutor
    with executor() as pool:
        for card_or_refusal in pool.map(_read_card, files, range(1, len(files) + 1), repeat(names)):
            if isinstance(card_or_refusal, Refusal):
                refusals.append(card_or_refusal)
                continue
            # The same times, begun on the same day, are the same card handed in twice.
            content = (card_or_refusal.begun, *card_or_refusal.times.items())
            if content in owners:
                reason = f"a copy of {owners[content]}, which counts once."
                refusals.append(Refusal(card_or_refusal.who, reason))
                continue
            owners[content] = card_or_refusal.who
            cards.append(card_or_refusal)
    return cards, refusals


def _files(folder: Path, names: bool) -> list[Path]:
    """Return the paths in a folder that may be cards, folders and links among them.

    With `names` they are sorted by name. Without, they are sorted by size, since the cards are then
    numbered, and numbers by name would give names away.
    """
    files = []
    for path in folder.iterdir():
        # Boards and their tables that were written before, and files that the system hides.
        if path.suffix in (".html", ".csv") or path.name.startswith("."):
            continue
        files.append(path)
    if names:
        return sorted(files, key=lambda path: path.name)
    return sorted(files, key=lambda path: path.lstat().st_size)


def _read_card(path: Path, number: int, names: bool) -> Seen | Refusal:
    """Return what is kept of a card's file, or the refusal that says why it cannot count.

    `number` is the file's place in the folder, from 1.
    """
    who = _owner(path, number, names)
    try:
        if path.is_symlink() or path.suffix.lower() != ".json":
            raise records.DataError("no .json file; links and folders are not followed.")
        tables = records.load(path, "result card", name=who)
        card = records.read(Card, tables, who)
        if not card.measurements or "ACCEL_FAST=1" in card.command:
            raise records.DataError("nothing is measured on it, or only small sizes (ACCEL_FAST).")
    except records.DataError as error:
        # The message begins with the owner, who stands beside the reason already.
        reason = str(error).removeprefix(who).lstrip(":, ")
        return Refusal(who, tidy(reason, 200))
    return _seen(card, who)


def _owner(path: Path, number: int, names: bool) -> str:
    """Return what to call the owner of a card: "ana" for ana.json, or "card 3" by its number.

    It is the number where nobody is named, and where the file still has the name that it is saved
    with.
    """
    # "result_card", and what a browser makes of further ones: "result_card (1)", "result_card-2".
    is_unnamed = re.fullmatch(r"result_card\W*\d*\W*", path.stem)
    if is_unnamed or not names:
        return f"card {number}"
    return tidy(path.stem, 40)


def _seen(card: Card, who: str) -> Seen:
    """Return what is kept of a card that counts, whose owner is called `who`."""
    # ISO 8601 begins with the day, such as 2026-11-23, and the label may end with it.
    day = card.created[:10]
    machine = card.label.removesuffix(f", {day}")
    times = {}
    for name, measured in card.measurements.items():
        samples = sorted(measured.samples)
        count = len(samples)
        # The quartiles, as the samples a quarter and three quarters of the way up.
        low = samples[count // 4]
        high = samples[3 * count // 4]
        times[tidy(name)] = Time(median(samples), low, high, count)
    numbers = {tidy(name): values for name, values in card.numbers.items() if values}
    return Seen(who, tidy(machine, 40), tidy(day), times, numbers)


def tidy(text: str, most: int = 80) -> str:
    """Return a stranger's text with at most so many characters, on one line and harmless.

    Each character that cannot be printed, such as a line's end, a terminal's escape or a change of
    the writing's direction, becomes "\\ufffd"; a text that is cut ends with "…".
    """
    if len(text) > most:
        text = text[: most - 1] + "…"
    characters = []
    for character in text:
        if not character.isprintable():
            character = "\ufffd"
        characters.append(character)
    return "".join(characters)
