"""The fields of a table of a TOML file, each checked when it is read.

The course keeps its questions, answers and claims as data. Whoever writes them makes slips, so
every complaint names the file, the place in it and the field, what must stand there and what does.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass


class DataError(ValueError):
    """A data file that cannot be used; the message names the file and the field."""


def tables(toml: str, file: str, key: str) -> list:
    """Read the tables ``[[key]]`` of a TOML text that holds nothing else.

    Parameters
    ----------
    toml : str
    file : str
        Its name, for the messages.
    key : str

    Returns
    -------
    list
        Not empty; what its members are is still to be checked.

    Raises
    ------
    DataError

    Examples
    --------
    >>> tables("[[claim]]\\nnumber = 1", "claims.toml", "claim")
    [{'number': 1}]
    """
    values = parsed(toml, file)
    found = values.get(key)
    if set(values) != {key} or not isinstance(found, list) or not found:
        raise DataError(f"{file}: must hold tables [[{key}]] and nothing else.")
    return found


def parsed(toml: str, file: str) -> dict:
    """Read TOML; what is none is refused by the name of its file."""
    try:
        return tomllib.loads(toml)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file}: not valid TOML ({error!s:.100}).") from None


@dataclass(frozen=True)
class Fields:
    """A table that is asked for its fields, and knows where it stands.

    Attributes
    ----------
    table : dict
    where : str
        The file and the place in it.
    known : set of str
        The fields that it may have.
    """

    table: dict
    where: str
    known: set[str] | frozenset[str]

    def __post_init__(self):
        if not isinstance(self.table, dict):
            raise DataError(f"{self.where}: must be a table; got {_said(self.table)}.")
        if unknown := sorted(set(self.table) - self.known):
            known = ", ".join(sorted(self.known))
            raise DataError(f"{self.where}: unknown field {unknown[0]!r:.60}. Known: {known}.")

    def refuse(self, name: str, wanted: str, got):
        """Raise the error that says what must stand in a field."""
        raise DataError(f"{self.where}: {name!r} must be {wanted}; got {_said(got)}.")

    def text(self, name: str, default: str | None = None) -> str:
        """A text; without a default it may not be empty."""
        value = self.table.get(name, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            self.refuse(name, "a text that is not empty", value)
        return value

    def texts(self, name: str, count: int = 0, *, empty: bool = False) -> tuple[str, ...]:
        """A list of texts: so many of them, or any number; none only where `empty` allows it."""
        value = self.table.get(name, [] if empty else None)
        fits = isinstance(value, list) and (value or empty) and all(map(_is_text, value))
        if not fits or count and len(value) != count:
            wanted = f"a list of {count or ''} texts that are not empty".replace("  ", " ")
            self.refuse(name, wanted, value)
        return tuple(value)

    def sentences(self, name: str, keys: Iterable[str]) -> dict[str, str]:
        """A table with a text for each of the keys."""
        value, keys = self.table.get(name), tuple(keys)
        fits = isinstance(value, dict) and set(value) == set(keys)
        if not fits or not all(map(_is_text, value.values())):
            self.refuse(name, f"a table with a text for each of: {', '.join(keys)}", value)
        return dict(value)

    def flag(self, name: str, default: bool | None = None) -> bool:
        """True or false."""
        value = self.table.get(name, default)
        if not isinstance(value, bool):
            self.refuse(name, "true or false", value)
        return value

    def number(self, name: str, least: float, default: float | None = None) -> float:
        """A finite number that is not below the least."""
        value = self.table.get(name, default)
        usable = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not usable or not least <= value < 1e300 or not math.isfinite(value):
            self.refuse(name, f"a number of {least:g} or more", value)
        return float(value)

    def whole(self, name: str, default: int | None = None) -> int | None:
        """A whole number; None where there is none and none is needed."""
        value = self.table.get(name, default)
        if value is not None and type(value) is not int:
            self.refuse(name, "a whole number", value)
        return value


def _is_text(value) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _said(value) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number with thousands of digits
        return f"something of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
