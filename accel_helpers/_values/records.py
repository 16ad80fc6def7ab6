"""Data files read, and written whole; what a learner hands in is refused by file, place and field.

A frozen dataclass is the schema of a file, a table for each instance.

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
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import get_args, get_origin, get_type_hints

from accel_helpers._values.words import shown

LARGEST = 5_000_000  # bytes of a file that is read
# Type -> what an error calls a value of it.
_SPOKEN = {str: "a text", float: "a finite number", list: "a list", dict: "a table"}
# Dataclass -> the type of each of its fields, by name.
_field_types = functools.cache(get_type_hints)


class DataError(ValueError):
    """A data file that cannot be used; the message names the file and the field."""


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that a reader sees the old text or the new one, never a part of it.

    Raises OSError where it cannot be written; the old file then stays as it was.
    """
    # Within a folder a file takes another one's name at once, or not at all.
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, "utf-8")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def load(path: str | os.PathLike[str], description: str, name: str = ""):
    """Return what a TOML or JSON file contains, as plain dictionaries, lists, texts and numbers.

    For the error, `description` says what the file should be, such as "record", and `name` what to
    call it. Raises DataError where it cannot be read, is larger than 5 MB, or is not valid.
    """
    path = Path(path)
    name = name or path.name
    language, parse = "JSON", json.loads
    if path.suffix == ".toml":
        language, parse = "TOML", tomllib.loads
    try:
        size = path.stat().st_size
        if not path.is_file():  # a pipe would wait for ever
            raise DataError(f"{name}: cannot be read: it is no ordinary file.")
        if size > LARGEST:
            raise DataError(f"{name}: larger than {LARGEST:,} bytes, so it is no {description}.")
        return parse(path.read_text("utf-8"))
    except DataError:
        raise
    except OSError as reason:
        raise DataError(f"{name}: cannot be read: {reason.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name}: not valid {language} ({error!s:.100}).") from None


def read(annotation, value, location: str):
    """Return what `load` returned as a value of the annotated type; lists become tuples.

    The type is a frozen dataclass, str, float, or a tuple or dict of these; others are not
    checked. Raises DataError, which begins with `location`, where something else stands there.
    """
    try:
        return _made(annotation, value)
    except KeyError as name:
        raise DataError(f"{location}: unknown field {name}.") from None
    # A TypeError of a dataclass names a field that is missing.
    except TypeError as error:
        raise DataError(f"{location}: {error}") from None


def _made(annotation, value):
    """Return a value as the annotated type; raises TypeError, and KeyError for an unknown field."""
    kind = get_origin(annotation) or annotation
    inner = get_args(annotation)
    if kind is UnionType and value is not None:
        return _made(inner[0], value)
    if dataclasses.is_dataclass(kind):
        types = _field_types(kind)
        fields = {}
        for name, field in _checked(value, dict).items():
            fields[name] = _made(types[name], field)
        return kind(**fields)
    if kind is tuple:
        items = _checked(value, list)
        # Either one type for all items, and an Ellipsis, or a type for each.
        if inner[-1] is Ellipsis:
            inner = inner[:1] * len(items)
        return tuple(map(_made, inner, items))
    if kind in (dict, Mapping):
        _, item_type = inner
        table = _checked(value, dict)
        return {name: _made(item_type, table[name]) for name in table}
    # What is larger cannot be computed with.
    if kind is float and type(value) is int and abs(value) < 1e300:
        value = float(value)
    if kind in (str, float):
        return _checked(value, kind)
    return value


def _checked(value, kind: type):
    """Return a value of a plain type; raise a TypeError for another one, and for NaN."""
    is_right = isinstance(value, kind)
    if kind is float:
        is_right = is_right and math.isfinite(value)
    if not is_right:
        raise TypeError(f"must be {_SPOKEN[kind]}; got {shown(value)}.")
    return value


def whole(value, name: str, least: int = 1) -> int:
    """Return an argument as an int, if it is a whole number (also NumPy's) of at least `least`.

    Raises ValueError for anything else, a bool too; `name` is what the message calls the argument.
    """
    number = None
    # True is a whole number for Python, and a mistake here.
    if not isinstance(value, bool):
        with contextlib.suppress(TypeError):
            number = operator.index(value)
    if number is None or number < least:
        raise ValueError(f"{name} must be a whole number, {least} or more; got {shown(value)}.")
    return number


def positive(value, name: str, *, zero: bool = False) -> float:
    """Return an argument as a float, if it is a finite number above zero (0 too, if `zero`).

    Raises ValueError for anything else; `name` is what the message calls the argument.
    """
    number = math.nan
    # float() also takes a bool and a text, which are mistakes here.
    if not isinstance(value, (bool, str)):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            number = float(value)
    if zero and number == 0:
        return number
    if not 0 < number < math.inf:
        accepted = "a finite number, 0 or more" if zero else "a finite number, above zero"
        raise ValueError(f"{name} must be {accepted}; got {shown(value)}.")
    return number
