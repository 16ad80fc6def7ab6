"""The fields of a table of a TOML file, each checked when it is read.

The course keeps its questions, answers and claims as data. Whoever writes them makes slips, so
every complaint names the file, the place in it and the field, what must stand there and what does.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import stat
import tempfile
import tomllib
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Union, get_args, get_origin, get_type_hints


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


def read_small(path: Path, largest: int, what: str, error: type[Exception], name: str = "") -> str:
    """Read a text file of which nothing is known.

    What is no ordinary file, larger than so many bytes or no UTF-8 is refused by its name with
    the given error; where there is none, it is a FileNotFoundError.
    """
    name = name or path.name
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # a pipe would wait for ever
            raise error(f"{name}: cannot be read: it is no ordinary file.")
        if found.st_size > largest:
            raise error(f"{name}: larger than {largest:,} bytes, so it is no {what}.")
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise
    except UnicodeDecodeError:
        raise error(f"{name}: cannot be read: it is not UTF-8 text.") from None
    except OSError as reason:
        raise error(f"{name}: cannot be read: {reason.strerror}.") from None


def write_whole(path: Path, text: str) -> None:
    """Write a text file beside its place and move it there when it is whole.

    Parameters
    ----------
    path : pathlib.Path
        In a folder that exists; a file that is there is replaced, and stays whole till then.
    text : str
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".accel-", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


# --- one reader: a frozen dataclass is its own schema --------------------------------------------

LARGEST = 5_000_000  # bytes of a file
LONGEST_TEXT = 20_000  # characters
_WANTED = {str: "a text", bool: "true or false", int: "a whole number", float: "a finite number"}


def load(path, what: str, largest: int = LARGEST):
    """The plain tables of a TOML or JSON file of which nothing is known.

    `path` is a path, or a file of the package (`importlib.resources`); `what` says for the
    message what it should be. No such file: FileNotFoundError; all else: DataError.
    """
    if isinstance(path, (str, os.PathLike)):
        path = Path(path)
        text = read_small(path, largest, what, DataError)
    else:
        text = path.read_text("utf-8")
    try:
        return tomllib.loads(text) if path.name.endswith(".toml") else json.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "TOML" if path.name.endswith(".toml") else "JSON"
        raise DataError(f"{path.name}: not valid {kind} ({error!s:.100}).") from None


def read(kind, value, where: str):
    """Make a value of a type out of plain tables, lists, texts and numbers.

    A dataclass is checked field by field against its annotations: str, int, finite float, bool,
    Literal, tuple, dict, nested dataclasses, and unions of them; what holds across fields stands
    in its `__post_init__` as a ValueError. Everything refused is a DataError that names the place.

    Examples
    --------
    >>> read(tuple[float, ...], [1, 2.5], "card.json, samples")
    (1.0, 2.5)
    >>> read(int, "x", "card.json, tries")
    Traceback (most recent call last):
    ...
    accel_helpers._records.DataError: card.json, tries: must be a whole number; got 'x'.
    """
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, value, where)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        if any(value is each or (type(value) is type(each) and value == each) for each in inner):
            return value
        _refuse(where, f"one of {', '.join(map(str, inner))}", value)
    if origin in (types.UnionType, Union):
        return _one_of(inner, value, where)
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            _refuse(where, "a list", value)
        kinds = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        if len(kinds) != len(value):
            _refuse(where, f"a list of {len(kinds)}", value)
        pairs = zip(kinds, value, strict=True)
        return tuple(read(one, each, f"{where}, {n}") for n, (one, each) in enumerate(pairs, 1))
    if origin in (dict, Mapping):
        if not isinstance(value, dict):
            _refuse(where, "a table", value)
        keys = [read(inner[0], key, f"{where}, a name") for key in value]
        return {key: read(inner[1], value[key], f"{where}, {key:.60}") for key in keys}
    if kind is float and type(value) in (int, float) and abs(value) < 1e300:
        return float(value)
    if kind in _WANTED and (type(value) is not kind or kind is float):
        _refuse(where, _WANTED[kind], value)
    if kind is int and abs(value) >= 10**18:
        _refuse(where, "a whole number of at most 18 digits", value)
    # half of a surrogate pair can be read, and not be written again
    if kind is str and (
        len(value) > LONGEST_TEXT or value != value.encode("utf-8", "ignore").decode()
    ):
        _refuse(where, f"a text of at most {LONGEST_TEXT:,} characters", value)
    return value


def _one_of(kinds, value, where: str):
    if value is None and type(None) in kinds:
        return None
    kinds = [kind for kind in kinds if kind is not type(None)]
    for kind in kinds[:-1]:
        try:
            return read(kind, value, where)
        except DataError:
            continue
    if len(kinds) > 1 and all(kind in _WANTED for kind in kinds):
        try:
            return read(kinds[-1], value, where)
        except DataError:
            _refuse(where, " or ".join(_WANTED[kind] for kind in kinds), value)
    return read(kinds[-1], value, where)


def _dataclass(kind, value, where: str):
    if not isinstance(value, dict):
        _refuse(where, "a table", value)
    fields = {field.name: field for field in dataclasses.fields(kind) if field.init}
    if unknown := sorted(set(value) - set(fields), key=str):
        known = ", ".join(fields)
        raise DataError(f"{where}: unknown field {_said(unknown[0])}. Known: {known}.")
    for name, field in fields.items():
        needed = field.default is field.default_factory is dataclasses.MISSING
        if needed and name not in value:
            raise DataError(f"{where}: the field {name!r} is missing.")
    hints = get_type_hints(kind)
    found = {name: read(hints[name], each, f"{where}, {name}") for name, each in value.items()}
    try:
        return kind(**found)
    except DataError:
        raise
    except ValueError as error:  # what the dataclass itself asks for
        raise DataError(f"{where}: {error}") from None


def _refuse(where: str, wanted: str, got):
    raise DataError(f"{where}: must be {wanted}; got {_said(got)}.")


# --- what is handed in by hand -------------------------------------------------------------------


def whole(value, name: str, least: int = 1) -> int:
    """A whole number that is not below the least; a ValueError names anything else."""
    if type(value) is not int or value < least:
        raise ValueError(f"{name} must be a whole number, {least} or more; got {_said(value)}.")
    return value


def positive(value, name: str, *, zero: bool = False) -> float:
    """A finite number above zero, or from zero on; an error names anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be a number; got {_said(value)}.") from None
    if isinstance(value, (bool, str)) or not (number > 0 or zero and number == 0):
        raise ValueError(f"{name} must be {'0 or more' if zero else 'above zero'}; got {value!r}.")
    if number == math.inf:
        raise ValueError(f"{name} must be finite; got {value!r}.")
    return number
