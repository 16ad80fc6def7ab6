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

__all__ = ["Reference", "card_path", "load", "record", "reference", "reference_values"]

RUNS = Path(__file__).parents[1] / "data" / "reference_runs"
Plain = str | int | float | bool | None
Numbers = Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class Card:
    """Measurements, and numbers that are no times, with all that is needed to understand them."""

    created: str  # ISO 8601 in UTC
    command: str  # that made it
    machine: dict[str, Plain | tuple[str, ...] | dict[str, Plain | tuple[str, ...]]]
    measurements: Mapping[str, Measurement] = field(default_factory=dict)
    numbers: Numbers = field(default_factory=dict)
    schema: Literal[1] = 1

    def __post_init__(self):
        for part in ("accelerator", "frameworks"):
            if not isinstance(self.machine.get(part) or {}, dict):
                raise ValueError(f"machine, {part}: must be a table.")

    @property
    def label(self) -> str:
        """The machine and the day in a few words, for a plot or a sentence."""
        accelerator = self.machine.get("accelerator") or {}
        name = accelerator.get("name") or self.machine.get("cpu_name") or "unknown machine"
        cores = self.machine.get("cores")
        if not accelerator and cores:
            name = f"{name}, {cores} cores"
        return f"{name}, {self.created[:10]}"

    def reference(self, data) -> "Reference":
        """What was made of this card, with its label."""
        return Reference(data, self.label)

    def to_dict(self) -> dict:
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"Result card: {self.label}", f"  made by: {self.command}"]
        frameworks = self.machine.get("frameworks") or {}
        lines.append("  with: " + ", ".join(f"{k} {v}" for k, v in frameworks.items()))
        lines.append(f"  {len(self.measurements)} measurements")
        for name, m in sorted(self.measurements.items()):
            lines.append(f"    {name:<40} {str(m).splitlines()[0].rpartition(': ')[2]}")
        for name, values in sorted(self.numbers.items()):
            lines.append(f"    {name:<40} {', '.join(f'{value:.6g}' for value in values)}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Reference:
    """What a picture draws in grey: data in the form that it takes, and whose they are."""

    data: Any
    label: str  # of the machine, and the day


def new_card(*, command: str) -> Card:
    """An empty card for this machine."""
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    return Card(now.isoformat(), command, runtime.describe().to_dict())


def save(card: Card, path: Path) -> None:
    """Write a card, whole or not at all, into a folder that exists."""
    write_whole(path, json.dumps(card.to_dict(), indent=1, ensure_ascii=False) + "\n")


def load(path) -> Card:
    """Read a card and check every field of it.

    It has `measurements`, `numbers` and `machine` by name, and a `label` in a few words. A file
    that is missing, too large, no JSON or not a card is a ValueError that names the field.

    >>> load(min(RUNS.glob("*.json"))).created[:4]
    '2026'
    """
    path = Path(path)
    return records.read(Card, records.load(path, "result card"), path.name)


def card_path() -> Path:
    """The current card: ``ACCEL_RESULT_CARD``, or result_card.json in the working folder.

    >>> card_path().suffix
    '.json'
    """
    return Path(os.environ.get("ACCEL_RESULT_CARD") or "result_card.json")


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
    for name, m in measurements.items():
        if not isinstance(m, Measurement):
            raise TypeError(f"a card needs measurements; {name!r} is {type(m).__name__}.")
    numbers = records.read(Numbers, dict(numbers or {}), "numbers")
    path, count = card_path() if path is None else Path(path), len(measurements) + len(numbers)
    try:
        card = load(path) if path.exists() else new_card(command="lessons run by hand")
        measurements = {**card.measurements, **measurements}
        save(replace(card, measurements=measurements, numbers={**card.numbers, **numbers}), path)
    except DataError as error:
        why = f"Not saved, so that nothing is lost: {error} Move that file away to start anew."
        return Saved(False, why)
    except OSError as error:
        why = f"Not saved: {path.name} cannot be written here ({error.strerror})."
        return Saved(False, why)
    many = f"{count} result{'s' if count != 1 else ''}"
    return Saved(True, f"Saved on your result card, {path.name}: {many}.")


def record(
    measurements: Mapping[str, Measurement],
    *,
    numbers: Mapping[str, Sequence[float]] | None = None,
    path=None,
) -> str:
    """As `save_on_card`: its sentence.

    >>> record({"step": Measurement.from_samples([0.1])}, path="no such folder/card.json")
    'Not saved: card.json cannot be written here (No such file or directory).'
    """
    return save_on_card(measurements, numbers, path=path).sentence


def keep(name: str, measurements: Mapping[str, Measurement], numbers=None) -> None:
    """Record what a verb measured, if it has a name; a word only where that could not be saved."""
    if not name:
        return
    saved = save_on_card(measurements, numbers)
    if not saved.ok:
        print(saved.sentence)


def reference_runs(folder: Path = RUNS) -> tuple[Card, ...]:
    """The cards of named machines in a folder, oldest first: by default the course's own."""
    return tuple(sorted(map(load, folder.glob("*.json")), key=lambda card: card.created))


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
    runs = reference_runs() if runs is None else runs
    for card in reversed(runs):
        if card.measurements.keys() | card.numbers.keys() >= {*names}:
            return card
    return None


def reference_values(*names: str, runs: Sequence[Card] | None = None) -> Reference | None:
    """What the newest reference run that has all these names says: a list, for a plot's grey.

    >>> [epochs] = reference_values("03/epoch/cpu").data
    >>> epochs.median > 0
    True
    """
    card = reference(*names, runs=runs)
    if card is None:
        return None
    values = {**card.numbers, **card.measurements}
    return Reference([values[name] for name in names], card.label)
