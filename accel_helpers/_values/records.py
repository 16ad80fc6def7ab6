"""One reader for what somebody else wrote: files read with suspicion, and written whole.

A frozen dataclass is its own schema: its fields are checked against their annotations, and what
holds across them stands in its `__post_init__` as a ValueError. Every complaint names the file, the
place in it and the field, what must stand there and what does.

>>> read(tuple[float, ...], [1, 2.5], "card.json, samples")
(1.0, 2.5)
"""

import contextlib
import dataclasses
import functools
import json
import math
import operator
import os
import tempfile
import tomllib
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Union, get_args, get_origin, get_type_hints

from accel_helpers._values.words import shown


class DataError(ValueError):
    """A data file that cannot be used; the message names the file and the field."""


def write_whole(path: Path, text: str) -> None:
    """Write a text file beside its place, in a folder that exists, and move it there when whole."""
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


LARGEST, LONGEST = 5_000_000, 20_000  # bytes of a file, characters of a text
_hints = functools.cache(get_type_hints)
_PLAIN = {str: "a text", bool: "true or false", int: "a whole number"}


def load(path, what: str, name: str = ""):
    """The plain tables of a TOML or JSON file of which nothing is known; `what` it should be."""
    path = Path(path)
    name = name or path.name
    kind = "TOML" if path.suffix == ".toml" else "JSON"
    try:
        size = path.stat().st_size
        if not path.is_file():  # a pipe would wait for ever
            raise DataError(f"{name}: cannot be read: it is no ordinary file.")
        if size > LARGEST:
            raise DataError(f"{name}: larger than {LARGEST:,} bytes, so it is no {what}.")
        text = path.read_text("utf-8")
        return tomllib.loads(text) if kind == "TOML" else json.loads(text)
    except DataError:
        raise
    except OSError as reason:
        raise DataError(f"{name}: cannot be read: {reason.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name}: not valid {kind} ({error!s:.100}).") from None


def read(kind, value, where: str):
    """Make a value of a type out of plain tables, lists, texts and numbers, or say what is off."""
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, value, where)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        known = [(type(each), each) for each in inner]
        _must((type(value), value) in known, where, f"one of {', '.join(map(str, inner))}", value)
    elif origin in (types.UnionType, Union):
        if value is None and type(None) in inner:
            return None
        *others, last = (each for each in inner if each is not type(None))
        for each in others:
            with contextlib.suppress(DataError):
                return read(each, value, where)
        return read(last, value, where)
    elif origin is tuple:
        _must(isinstance(value, (list, tuple)), where, "a list", value)
        kinds = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        _must(len(kinds) == len(value), where, f"a list of {len(kinds)}", value)
        if kinds[:1] == (float,) == tuple({*kinds}) and {*map(type, value)} <= {int, float}:
            if all(map((1e300).__gt__, map(abs, value))):  # what most of a card is, and quick
                return tuple(map(float, value))
        pairs = zip(kinds, value, strict=True)
        return tuple(read(one, each, f"{where}, {n}") for n, (one, each) in enumerate(pairs, 1))
    elif origin in (dict, Mapping):
        _must(isinstance(value, dict), where, "a table", value)
        keys = [read(inner[0], key, f"{where}, a name") for key in value]
        return {key: read(inner[1], value[key], f"{where}, {key:.60}") for key in keys}
    elif kind is float:
        number = type(value) is int or isinstance(value, float)  # NumPy's floats are floats
        _must(number and abs(value) < 1e300, where, "a finite number", value)
        return float(value)
    else:
        _must(type(value) is kind, where, _PLAIN.get(kind, f"a {kind.__name__}"), value)
    if kind is int:
        _must(abs(value) < 10**18, where, "a whole number of at most 18 digits", value)
    if kind is str:  # half of a surrogate pair can be read, and not be written again
        fine = len(value) <= LONGEST and value == value.encode("utf-8", "ignore").decode()
        _must(fine, where, f"a text of at most {LONGEST:,} characters", value)
    return value


def _dataclass(kind, value, where: str):
    _must(isinstance(value, dict), where, "a table", value)
    fields = {field.name: field for field in dataclasses.fields(kind) if field.init}
    if unknown := sorted(set(value) - set(fields), key=str):
        raise DataError(f"{where}: unknown field {shown(unknown[0])}. Known: {', '.join(fields)}.")
    for name, field in fields.items():
        needed = field.default is field.default_factory is dataclasses.MISSING
        if needed and name not in value:
            raise DataError(f"{where}: the field {name!r} is missing.")
    hints = _hints(kind)
    found = {name: read(hints[name], each, f"{where}, {name}") for name, each in value.items()}
    try:
        return kind(**found)
    except ValueError as error:  # what the dataclass itself asks for
        raise DataError(f"{where}: {error}") from None


def _must(fine: bool, where: str, wanted: str, got) -> None:
    if not fine:
        raise DataError(f"{where}: must be {wanted}; got {shown(got)}.")


def whole(value, name: str, least: int = 1) -> int:
    """A whole number, also one of NumPy's, that is not below the least; or a ValueError."""
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise ValueError(f"{name} must be a whole number, {least} or more; got {shown(value)}.")
    return number


def positive(value, name: str, *, zero: bool = False) -> float:
    """A finite number above zero, or from zero on; or a ValueError."""
    try:
        number = math.nan if isinstance(value, (bool, str)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (0 < number < math.inf or zero and number == 0):
        wanted = f"a finite number, {'0 or more' if zero else 'above zero'}"
        raise ValueError(f"{name} must be {wanted}; got {shown(value)}.")
    return number
