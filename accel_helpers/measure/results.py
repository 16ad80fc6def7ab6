"""The result card: what was measured, on which machine, when, with which versions.

A card is one small JSON file. It is written whole or not at all, and read with suspicion:
every field is checked, and an error names the file and the field.
"""

from __future__ import annotations

import datetime
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path

from accel_helpers._records import read_small, write_whole
from accel_helpers.measure.measurement import Measurement

SCHEMA = 1
LARGEST = 5_000_000  # bytes; a card of all lessons has well under a tenth of it


class CardError(ValueError):
    """A result card that cannot be read; the message names the file and the field."""


@dataclass(frozen=True)
class Card:
    """Measurements with all that is needed to understand them later.

    Attributes
    ----------
    created : str
        Date and time, ISO 8601, UTC.
    command : str
        What was run.
    machine : dict
        What `runtime.describe` said.
    measurements : dict of str to Measurement
        By name, such as "03/fit/cpu".
    numbers : dict of str to tuple of float
        What is no time, such as the loss of every epoch, by name.
    """

    created: str
    command: str
    machine: dict
    measurements: Mapping[str, Measurement] = field(default_factory=dict)
    numbers: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The machine and the day in a few words, for a plot or a sentence."""
        accelerator = self.machine.get("accelerator") or {}
        name = accelerator.get("name") or self.machine.get("cpu_name") or "unknown machine"
        cores = self.machine.get("cores")
        if not accelerator and cores:
            name += f", {cores} cores"
        return f"{name}, {self.created[:10]}"

    def to_dict(self) -> dict:
        """The card as plain JSON types."""
        return {
            "schema": SCHEMA,
            "created": self.created,
            "command": self.command,
            "machine": self.machine,
            "measurements": {name: m.to_dict() for name, m in self.measurements.items()},
            "numbers": {name: list(values) for name, values in self.numbers.items()},
        }

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


def new_card(*, command: str, machine: dict | None = None, now=None) -> Card:
    """An empty card for this machine.

    Parameters
    ----------
    command : str
        What is being run.
    machine : dict, optional
        By default what `runtime.describe` says.
    now : datetime.datetime, optional
        By default the time of the call.

    Returns
    -------
    Card
    """
    if machine is None:
        from accel_helpers.machine import runtime

        machine = runtime.describe().to_dict()
    now = now or datetime.datetime.now(datetime.UTC)
    return Card(now.replace(microsecond=0).isoformat(), str(command), machine)


def save(card: Card, path) -> Path:
    """Write a card, whole or not at all.

    Parameters
    ----------
    card : Card
    path : path-like
        A file in a folder that exists.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    OSError
        If it cannot be written; a card that was there before is still whole.
    """
    path = Path(path)
    text = json.dumps(card.to_dict(), indent=1, ensure_ascii=False) + "\n"
    write_whole(path, text)
    return path


def load(path) -> Card:
    """Read a card and check every field of it.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    Card

    Raises
    ------
    CardError
        If the file is missing, too large, no JSON or not a card; it names the field.
    """
    path = Path(path)
    try:
        text = read_small(path, LARGEST, "result card", CardError)
    except FileNotFoundError as error:
        raise CardError(f"{path.name}: cannot be read: {error.strerror}.") from None
    return _parse(text, path.name)


def card_path() -> Path:
    """The current card file: ``ACCEL_RESULT_CARD``, or result_card.json in the working folder."""
    return Path(os.environ.get("ACCEL_RESULT_CARD") or "result_card.json")


def record(
    measurements: Mapping[str, Measurement],
    *,
    numbers: Mapping[str, Sequence[float]] | None = None,
    path=None,
) -> str:
    """Put measurements on the current card; a lesson goes on whether or not that works.

    Parameters
    ----------
    measurements : mapping of str to Measurement
        By name, such as {"03/fit/cpu": measurement}. A name that is on the card is replaced.
    numbers : mapping of str to sequence of float, optional
        What is no time, such as {"04/loss/2 replicas": [2.1, 1.9]}.
    path : path-like, optional
        The card; by default `card_path`.

    Returns
    -------
    str
        A sentence: where it was saved, or why not.
    """
    for name, m in measurements.items():
        if not isinstance(m, Measurement):
            raise TypeError(f"record needs measurements; {name!r} is {type(m).__name__}.")
    numbers = {name: _floats(values, name) for name, values in (numbers or {}).items()}
    path = card_path() if path is None else Path(path)
    try:
        card = load(path) if path.exists() else new_card(command="lessons run by hand")
        card = replace(
            card,
            measurements={**card.measurements, **measurements},
            numbers={**card.numbers, **numbers},
        )
        save(card, path)
    except CardError as error:
        return f"Not saved, so that nothing is lost: {error} Move that file away to start anew."
    except OSError as error:
        return f"Not saved: {path.name} cannot be written here ({error.strerror})."
    count = len(measurements) + len(numbers)
    return f"Saved on your result card, {path.name}: {count} result{'s' if count != 1 else ''}."


def reference_runs() -> tuple[Card, ...]:
    """The cards of named machines that come with the course, oldest first.

    Returns
    -------
    tuple of Card

    Examples
    --------
    >>> all(card.measurements for card in reference_runs())
    True
    """
    folder = resources.files("accel_helpers") / "data" / "reference_runs"
    if not folder.is_dir():
        return ()
    cards = [
        _parse(f.read_text("utf-8"), f.name) for f in folder.iterdir() if f.name[-5:] == ".json"
    ]
    return tuple(sorted(cards, key=lambda card: card.created))


# ---------------------------------------------------------------------------------------------


def _parse(text: str, name: str) -> Card:
    try:
        values = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise CardError(f"{name}: not valid JSON ({str(error)[:80]}).") from None
    _need(isinstance(values, dict), name, "the file", "an object", values)
    schema = values.get("schema")
    if schema != SCHEMA:
        raise CardError(
            f"{name}: field 'schema' is {schema!r:.40}; this version of the course reads {SCHEMA}."
        )
    for key, kind in (
        ("created", str),
        ("command", str),
        ("machine", dict),
        ("measurements", dict),
    ):
        what = {str: "a text", dict: "an object"}[kind]
        _need(isinstance(values.get(key), kind), name, f"field '{key}'", what, values.get(key))
    try:
        datetime.datetime.fromisoformat(values["created"])
    except ValueError:
        _need(
            False, name, "field 'created'", "a date such as 2026-11-21T12:00:00", values["created"]
        )
    measured = {}
    for key, value in values["measurements"].items():
        try:
            measured[key] = Measurement.from_dict(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise CardError(f"{name}: field 'measurements', {key!r:.60}: {error}") from None
    numbers = values.get("numbers", {})  # a card of an earlier version has none
    _need(isinstance(numbers, dict), name, "field 'numbers'", "an object", numbers)
    try:
        numbers = {key: _floats(value, key) for key, value in numbers.items()}
    except (TypeError, ValueError, OverflowError) as error:
        raise CardError(f"{name}: field 'numbers', {error}") from None
    return Card(values["created"], values["command"], values["machine"], measured, numbers)


def _floats(values, name: str) -> tuple[float, ...]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name!r:.60}: needs a list of numbers; got {values!r:.60}.")
    values = tuple(values)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"{name!r:.60}: needs numbers; got {value!r:.60}.")
        if not math.isfinite(value):
            raise ValueError(f"{name!r:.60}: needs finite numbers; got {value!r}.")
    return tuple(float(value) for value in values)


def _need(ok: bool, name: str, what: str, wanted: str, got) -> None:
    if not ok:
        raise CardError(f"{name}: {what} must be {wanted}; got {got!r:.60}.")


def _no_constant(text):
    raise ValueError(f"{text} is no number of a card")
