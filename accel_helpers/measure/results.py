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
    """What a result card holds: measurements, other numbers, and the machine that they are of.

    Raises ValueError if "accelerator" or "frameworks" in `machine` is neither None nor a table.
    """

    created: str  # ISO 8601 in UTC, such as "2026-03-01T12:00:00+00:00"
    command: str  # what made the card, such as "lessons run by hand"
    machine: dict[str, Described | dict[str, Described]]  # as `machine.runtime.describe` gives it
    measurements: Mapping[str, Measurement] = field(default_factory=dict)  # name -> measurement
    numbers: Numbers = field(default_factory=dict)  # name -> numbers that are no times
    schema: Literal[1] = 1

    def __post_init__(self):
        for part in ("accelerator", "frameworks"):
            value = self.machine.get(part)
            if value is not None and not isinstance(value, dict):
                raise ValueError(f"machine, {part}: must be a table.")

    def _table(self, part: str) -> dict:
        """Return a table of `machine`, such as "accelerator"; an empty dict if it has none."""
        table = self.machine.get(part)
        if isinstance(table, dict):
            return table
        return {}

    @property
    def label(self) -> str:
        """The machine and the day, such as "NVIDIA T4, 2026-03-01", for a plot or a sentence.

        Without an accelerator the machine is named by its CPU, with its number of cores.
        """
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

    def reference(self, data: Any) -> "Reference":
        """Return a Reference of data that were made from this card, with the card's label."""
        return Reference(data, self.label)

    def to_dict(self) -> dict:
        """Return the card as nested dicts of plain values, ready for `json.dumps`."""
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
            # Only what follows the measurement's own name: "step: 20 ms" -> "20 ms".
            _, _, result = first_line.rpartition(": ")
            lines.append(f"    {name:<40} {result}")
        for name, values in sorted(self.numbers.items()):
            digits = [f"{value:.6g}" for value in values]
            lines.append(f"    {name:<40} {', '.join(digits)}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Reference:
    """Data of another machine, which a plot draws in grey beside the learner's own."""

    data: Any  # in the form that the plot takes for the learner's data
    label: str  # the machine and the day, such as "NVIDIA T4, 2026-03-01"
    alone: bool = False  # whether the plot draws only these data, and none of the learner's


def new_card(*, command: str) -> Card:
    """Return a card without measurements for this machine, created now.

    `command` is what makes the card, such as "lessons run by hand".
    """
    now = datetime.datetime.now(datetime.UTC)
    created = now.isoformat(timespec="seconds")
    machine = runtime.describe()
    return Card(created, command, machine.to_dict())


def save(card: Card, path: Path) -> None:
    """Write a card to a JSON file, whole or not at all; an older file is replaced.

    The folder of `path` must exist. Raises OSError where the file cannot be written.
    """
    tables = card.to_dict()
    text = json.dumps(tables, indent=1, ensure_ascii=False)
    write_whole(path, f"{text}\n")


def load(path: str | os.PathLike[str]) -> Card:
    """Read a card from a JSON file, and check every field of it.

    Parameters
    ----------
    path : path-like
        A file that `save_on_card` wrote.

    Returns
    -------
    Card
        With `measurements` and `numbers` by name, the `machine`, and a `label` in a few words.

    Raises
    ------
    ValueError
        If the file is missing, over 5 MB, no JSON or not a card; the message names the field.

    Examples
    --------
    >>> load(min(RUNS.glob("*.json"))).created[:4]
    '2026'
    """
    path = Path(path)
    tables = records.load(path, "result card")
    return records.read(Card, tables, path.name)


def card_path() -> Path:
    """Return the path of the current card, whether or not a file is there.

    It is what the environment variable ``ACCEL_RESULT_CARD`` says; where that is unset or empty,
    result_card.json in the working folder.

    >>> card_path().suffix
    '.json'
    """
    path = os.environ.get("ACCEL_RESULT_CARD")
    if not path:
        path = "result_card.json"
    return Path(path)


@dataclass(frozen=True)
class Saved:
    """The outcome of saving results on a card."""

    ok: bool  # whether the results are on the card
    sentence: str  # for the learner: on which card the results are, or why they were not saved


def save_on_card(
    measurements: Mapping[str, Measurement],
    numbers: Mapping[str, Sequence[float]] | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
) -> Saved:
    """Add measurements to the current card, which is made if it does not exist.

    A card that cannot be read or written raises nothing, so that a lesson goes on without it.

    Parameters
    ----------
    measurements : mapping of str to Measurement
        By name, such as {"03/fit/cpu": measurement}. A name that is on the card is replaced.
    numbers : mapping of str to list or tuple of float, optional
        By name, what is no time, such as {"04/loss/2 replicas": [2.1, 1.9]}.
    path : path-like, optional
        The card's file: by default `card_path()`.

    Returns
    -------
    Saved
        Its `ok` says whether the results are on the card, and its `sentence` where, or why not.

    Raises
    ------
    TypeError
        If a value in `measurements` is no Measurement.
    ValueError
        If a value in `numbers` is no list of finite numbers.

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
    """Write the card at `path` anew, with these results beside those that are already on it.

    A result whose name is on the card replaces that one; where there is no card, one is made.
    Raises DataError where the card cannot be read, and OSError where it cannot be written.
    """
    # A card that cannot be read raises here, before anything is written: its file stays as it is.
    card = load(path) if path.exists() else new_card(command="lessons run by hand")
    all_measurements = {**card.measurements, **measurements}
    all_numbers = {**card.numbers, **numbers}
    card = replace(card, measurements=all_measurements, numbers=all_numbers)
    save(card, path)


def reference_runs(folder: Path = RUNS) -> tuple[Card, ...]:
    """Return all cards of a folder, oldest first; an empty tuple where the folder has none.

    By default they are the reference runs that come with the library. Raises ValueError for a
    file that is not a card.
    """
    cards = [load(path) for path in folder.glob("*.json")]
    cards.sort(key=lambda card: card.created)
    return tuple(cards)


def reference(*names: str, runs: Sequence[Card] | None = None) -> Card | None:
    """Return the newest reference run that has measurements or numbers of all these names.

    Parameters
    ----------
    names : str
        Such as "03/epoch/cpu". Without any name, the newest of all runs is returned.
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
    """Return the values of some names from the newest reference run, for a plot's grey.

    Parameters
    ----------
    names : str
        Of measurements or numbers, such as "03/epoch/cpu".
    runs : sequence of Card, optional
        Where to look, oldest first: by default `reference_runs`.

    Returns
    -------
    Reference or None
        Its `data` is a list with one Measurement or tuple of numbers for each name, in the order
        of `names`. None where no run has them all.

    Examples
    --------
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
