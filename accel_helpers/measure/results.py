"""The result card: a small JSON file of what was measured, where, and with which versions."""

import datetime
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from accel_helpers._values import records
from accel_helpers._values.records import DataError, write_whole
from accel_helpers.machine import runtime
from accel_helpers.measure.measurement import Measurement

__all__ = ["Reference", "card_path", "load", "reference", "reference_values", "save_on_card"]

RUNS = Path(__file__).parents[1] / "data" / "reference_runs"
Plain = str | int | float | bool | None
Described = Plain | tuple[str, ...]
Numbers = Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class Card:
    """Measurements, and numbers that are no times, with all that is needed to understand them."""

    created: str  # ISO 8601 in UTC
    command: str  # that made it
    machine: dict[str, Described | dict[str, Described]]
    measurements: Mapping[str, Measurement] = field(default_factory=dict)
    numbers: Numbers = field(default_factory=dict)
    schema: Literal[1] = 1

    def __post_init__(self):
        for part in ("accelerator", "frameworks"):
            value = self.machine.get(part)
            if value is not None and not isinstance(value, dict):
                raise ValueError(f"machine, {part}: must be a table.")

    def _table(self, part: str) -> dict:
        """A table of the machine's; an empty one where the card has none."""
        table = self.machine.get(part)
        if isinstance(table, dict):
            return table
        return {}

    @property
    def label(self) -> str:
        """The machine and the day in a few words, for a plot or a sentence."""
        day = self.created[:10]
        accelerator = self._table("accelerator")
        cpu_name = self.machine.get("cpu_name") or "unknown machine"
        if accelerator:
            name = accelerator.get("name") or cpu_name
            return f"{name}, {day}"
        cores = self.machine.get("cores")
        if cores:
            return f"{cpu_name}, {cores} cores, {day}"
        return f"{cpu_name}, {day}"

    def reference(self, data) -> "Reference":
        """Pair data that were made from this card with its label."""
        return Reference(data, self.label)

    def to_dict(self) -> dict:
        """The card as plain tables, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        versions = []
        for name, version in self._table("frameworks").items():
            versions.append(f"{name} {version}")
        lines = [
            f"Result card: {self.label}",
            f"  made by: {self.command}",
            f"  with: {', '.join(versions)}",
            f"  {len(self.measurements)} measurements",
        ]
        for name, measurement in sorted(self.measurements.items()):
            first_line = str(measurement).splitlines()[0]
            # The card has a name of its own for it.
            _, _, result = first_line.rpartition(": ")
            lines.append(f"    {name:<40} {result}")
        for name, values in sorted(self.numbers.items()):
            digits = [f"{value:.6g}" for value in values]
            lines.append(f"    {name:<40} {', '.join(digits)}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Reference:
    """What a picture draws in grey: data of another machine, in the form that the picture takes."""

    data: Any
    label: str  # of the machine, and the day
    alone: bool = False  # drawn in place of the learner's data, not beside them


def new_card(*, command: str) -> Card:
    """Make an empty card for this machine."""
    now = datetime.datetime.now(datetime.UTC)
    created = now.isoformat(timespec="seconds")
    machine = runtime.describe()
    return Card(created, command, machine.to_dict())


def save(card: Card, path: Path) -> None:
    """Write a card, whole or not at all, into a folder that exists."""
    tables = card.to_dict()
    text = json.dumps(tables, indent=1, ensure_ascii=False)
    write_whole(path, f"{text}\n")


def load(path) -> Card:
    """Read a card and check every field of it.

    It has `measurements`, `numbers` and `machine` by name, and a `label` in a few words. A file
    that is missing, too large, no JSON or not a card is a ValueError that names the field.

    >>> load(min(RUNS.glob("*.json"))).created[:4]
    '2026'
    """
    path = Path(path)
    tables = records.load(path, "result card")
    return records.read(Card, tables, path.name)


def card_path() -> Path:
    """Find the current card: ``ACCEL_RESULT_CARD``, or result_card.json in the working folder.

    >>> card_path().suffix
    '.json'
    """
    path = os.environ.get("ACCEL_RESULT_CARD")
    if not path:
        path = "result_card.json"
    return Path(path)


@dataclass(frozen=True)
class Saved:
    """Whether results are on the card, and a sentence that says where, or why not."""

    ok: bool
    sentence: str


def save_on_card(
    measurements: Mapping[str, Measurement],
    numbers: Mapping[str, Sequence[float]] | None = None,
    *,
    path=None,
) -> Saved:
    """Put measurements on the current card; a lesson goes on whether or not that works.

    Parameters
    ----------
    measurements : mapping of str to Measurement
        By name, such as {"03/fit/cpu": measurement}. A name that is on the card is replaced.
    numbers : mapping of str to list or tuple of float, optional
        What is no time, such as {"04/loss/2 replicas": [2.1, 1.9]}.
    path : path-like, optional
        By default `card_path`.

    Examples
    --------
    >>> save_on_card({"a": Measurement.from_samples([0.1])}, path="no such folder/card.json").ok
    False
    """
    for name, measurement in measurements.items():
        if not isinstance(measurement, Measurement):
            type_name = type(measurement).__name__
            raise TypeError(f"a card needs measurements; {name!r} is {type_name}.")
    if numbers is None:
        numbers = {}
    checked_numbers = records.read(Numbers, dict(numbers), "numbers")
    if path is None:
        path = card_path()
    path = Path(path)
    try:
        _add_to_card(path, measurements, checked_numbers)
    except DataError as error:
        sentence = f"Not saved, so that nothing is lost: {error} Move that file away to start anew."
        return Saved(False, sentence)
    except OSError as error:
        sentence = f"Not saved: {path.name} cannot be written here ({error.strerror})."
        return Saved(False, sentence)
    count = len(measurements) + len(checked_numbers)
    results = f"{count} results"
    if count == 1:
        results = "1 result"
    return Saved(True, f"Saved on your result card, {path.name}: {results}.")


def _add_to_card(path: Path, measurements: Mapping[str, Measurement], numbers: Numbers) -> None:
    """Write a card with these results beside those that are on it."""
    # A card that cannot be read raises here, and is left as it is.
    card = load(path) if path.exists() else new_card(command="lessons run by hand")
    all_measurements = {**card.measurements, **measurements}
    all_numbers = {**card.numbers, **numbers}
    card = replace(card, measurements=all_measurements, numbers=all_numbers)
    save(card, path)


def keep(name: str, measurements: Mapping[str, Measurement], numbers=None) -> None:
    """Put what a verb measured on the card, if it has a name; print only that this failed."""
    if not name:
        return
    saved = save_on_card(measurements, numbers)
    if not saved.ok:
        print(saved.sentence)


def reference_runs(folder: Path = RUNS) -> tuple[Card, ...]:
    """Load the cards of a folder, oldest first: by default the course's own."""
    cards = [load(path) for path in folder.glob("*.json")]
    cards.sort(key=lambda card: card.created)
    return tuple(cards)


def reference(*names: str, runs: Sequence[Card] | None = None) -> Card | None:
    """Find the newest reference run that has all these measurements and numbers.

    Parameters
    ----------
    names : str
        Without any it is the newest of all.
    runs : sequence of Card, optional
        Where to look, oldest first: by default `reference_runs`.

    Returns
    -------
    Card or None
        None where no run has them all.

    Examples
    --------
    >>> "03/epoch/cpu" in reference("03/epoch/cpu").measurements
    True
    >>> reference("a name that no run has") is None
    True
    """
    if runs is None:
        runs = reference_runs()
    # The newest run is the last.
    for card in reversed(runs):
        names_on_card = card.measurements.keys() | card.numbers.keys()
        if names_on_card.issuperset(names):
            return card
    return None


def reference_values(*names: str, runs: Sequence[Card] | None = None) -> Reference | None:
    """List what the newest reference run with all these names has, for a plot's grey.

    >>> [epochs] = reference_values("03/epoch/cpu").data
    >>> epochs.median > 0
    True
    """
    card = reference(*names, runs=runs)
    if card is None:
        return None
    all_values = {**card.numbers, **card.measurements}
    values = [all_values[name] for name in names]
    return card.reference(values)
