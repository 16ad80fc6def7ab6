"""Read data files that somebody else wrote, check every value in them, and write files whole.

A frozen dataclass is the schema of a file: each field is checked against its annotation, and a rule
about several fields is a ValueError raised by the dataclass's `__post_init__`. Every error names
the file, the place in it and the field, what must stand there and what stands there instead.

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
    """Write a text file so that a reader sees the old text or the new one, never a part of it.

    The folder of `path` must exist. Raises OSError where the file cannot be written; the old file
    then stays as it was.
    """
    # The text goes into a temporary file in the same folder, which then takes the name: on one file
    # system a move replaces the old file at once, or not at all.
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


# The largest file that is read, in bytes, and the longest text in it, in characters.
LARGEST = 5_000_000
LONGEST = 20_000
# Numbers beyond these could not be computed with, or be written and read again.
_LARGEST_FLOAT = 1e300
_LARGEST_INT = 10**18
# Type -> what an error calls a value of it.
_PLAIN = {str: "a text", bool: "true or false", int: "a whole number"}
# Dataclass -> the type of each of its fields, by name.
_field_types = functools.cache(get_type_hints)


def load(path: str | os.PathLike[str], description: str, name: str = ""):
    """Return what a TOML or JSON file contains, as plain dictionaries, lists, texts and numbers.

    A file whose name does not end in ".toml" is read as JSON. For the error, `description` says
    what the file should be, such as "list of faults", and `name` what to call the file, by default
    its name without the folder. Raises DataError where the file cannot be read, is larger than
    5 MB, or is not valid.
    """
    path = Path(path)
    name = name or path.name
    is_toml = path.suffix == ".toml"
    try:
        text = _text_of(path, description, name)
        return tomllib.loads(text) if is_toml else json.loads(text)
    except DataError:
        raise
    except OSError as reason:
        raise DataError(f"{name}: cannot be read: {reason.strerror}.") from None
    except (ValueError, RecursionError) as error:
        language = "TOML" if is_toml else "JSON"
        raise DataError(f"{name}: not valid {language} ({error!s:.100}).") from None


def _text_of(path: Path, description: str, name: str) -> str:
    """Return the text of a file.

    Raises DataError for a file that is too large or no ordinary one, and OSError for one that is
    missing or locked. `description` and `name` are those of `load`, for the error.
    """
    size = path.stat().st_size
    if not path.is_file():  # a pipe would wait for ever
        raise DataError(f"{name}: cannot be read: it is no ordinary file.")
    if size > LARGEST:
        raise DataError(f"{name}: larger than {LARGEST:,} bytes, so it is no {description}.")
    return path.read_text("utf-8")


def read(annotation, value, location: str):
    """Check a value that `load` returned, and return it as a value of the annotated type.

    Parameters
    ----------
    annotation : type
        A frozen dataclass, str, bool, int, float, or a Literal, Union, tuple or dict of these.
    value
        What `load` returned, or a part of it.
    location : str
        The file, and the place in it, for the error: such as "card.json, samples".

    Returns
    -------
    object
        A value of that type: a table becomes a dataclass or a dict, a list becomes a tuple.

    Raises
    ------
    DataError
        The value is of another type; the message says where, what must stand there and what does.
    """
    if dataclasses.is_dataclass(annotation):
        return _read_dataclass(annotation, value, location)
    if annotation is float:
        return _read_float(value, location)
    origin = get_origin(annotation)
    inner = get_args(annotation)
    if origin is Literal:
        return _read_literal(inner, value, location)
    if origin in (types.UnionType, Union):
        return _read_union(inner, value, location)
    if origin is tuple:
        return _read_tuple(inner, value, location)
    if origin in (dict, Mapping):
        return _read_table(inner, value, location)
    return _read_plain(annotation, value, location)


def _read_literal(choices: tuple, value, location: str):
    """Return the value if it is one of the choices; else raise a DataError."""
    for choice in choices:
        # True equals 1, so the types are compared, too.
        same_type = type(choice) is type(value)
        if same_type and choice == value:
            return value
    names = ", ".join(map(str, choices))
    raise _error(location, f"one of {names}", value)


def _read_union(alternatives: tuple, value, location: str):
    """Return a value as the first of some types that it fits.

    The alternatives of `int | float | None` are (int, float, NoneType). Raises DataError where the
    value fits none; its message is that of the last alternative.
    """
    nothing = type(None)
    if value is None and nothing in alternatives:
        return None
    annotations = [annotation for annotation in alternatives if annotation is not nothing]
    for annotation in annotations[:-1]:
        with contextlib.suppress(DataError):
            return read(annotation, value, location)
    return read(annotations[-1], value, location)


def _read_tuple(inner: tuple, value, location: str) -> tuple:
    """Return a list as a tuple, each item read as its type.

    `inner` has the type of each item, or for `tuple[float, ...]` is (float, Ellipsis): any number
    of items of one type. Raises DataError for no list, another length, or an item of another type.
    """
    if not isinstance(value, (list, tuple)):
        raise _error(location, "a list", value)
    count = len(value)
    annotations = list(inner)
    if inner[-1] is Ellipsis:
        annotations = [inner[0]] * count
    if len(annotations) != count:
        raise _error(location, f"a list of {len(annotations)}", value)
    items = []
    for index, annotation in enumerate(annotations):
        # A reader counts from 1.
        item_location = f"{location}, {index + 1}"
        item = read(annotation, value[index], item_location)
        items.append(item)
    return tuple(items)


def _read_table(inner: tuple, value, location: str) -> dict:
    """Return a copy of a dictionary, every key and every value checked.

    `inner` is the type of the keys and that of the values, such as (str, float). Raises DataError
    for no dictionary, or for a key or value of another type.
    """
    key_type, value_type = inner
    if not isinstance(value, dict):
        raise _error(location, "a table", value)
    # All keys are checked first, because the error about a value quotes its key.
    keys = []
    for key in value:
        keys.append(read(key_type, key, f"{location}, a name"))
    table = {}
    for key in keys:
        item_location = f"{location}, {key:.60}"
        table[key] = read(value_type, value[key], item_location)
    return table


def _read_float(value, location: str) -> float:
    """Return a number as a float; raise DataError unless it is a number below 1e300."""
    # A bool is an int for Python, and no number here; NumPy's floats are floats.
    is_number = type(value) is int or isinstance(value, float)
    if not is_number or not abs(value) < _LARGEST_FLOAT:
        raise _error(location, "a finite number", value)
    return float(value)


def _read_plain(annotation: type, value, location: str):
    """Return the value if it is exactly of the type: a text, a bool or a whole number.

    Raises DataError for another type (True is no whole number here), a number of more than 18
    digits, and a text that is too long or cannot be written as UTF-8.
    """
    if type(value) is not annotation:
        description = _PLAIN.get(annotation, f"a {annotation.__name__}")
        raise _error(location, description, value)
    if annotation is int and abs(value) >= _LARGEST_INT:
        raise _error(location, "a whole number of at most 18 digits", value)
    if annotation is str:
        # Half of a surrogate pair can be read, and not be written again.
        writable_text = value.encode("utf-8", "ignore").decode()
        if len(value) > LONGEST or value != writable_text:
            raise _error(location, f"a text of at most {LONGEST:,} characters", value)
    return value


def _read_dataclass(annotation: type, value, location: str):
    """Return an instance of a dataclass, made from a table that has its fields by name.

    Raises DataError for no table, an unknown field, a missing one, a field of another type, or
    where the dataclass's own `__post_init__` raises a ValueError.
    """
    if not isinstance(value, dict):
        raise _error(location, "a table", value)
    field_types = _field_types(annotation)
    arguments = {}
    for name, field_value in value.items():
        if name not in field_types:
            known_names = ", ".join(field_types)
            raise DataError(f"{location}: unknown field {shown(name)}. Known: {known_names}.")
        arguments[name] = read(field_types[name], field_value, f"{location}, {name}")
    try:
        return annotation(**arguments)
    # A TypeError names a field that is missing.
    except (TypeError, ValueError) as error:
        raise DataError(f"{location}: {error}") from None


def _error(location: str, accepted: str, value) -> DataError:
    """Return the error that says what is accepted at a location, and which value stands there."""
    return DataError(f"{location}: must be {accepted}; got {shown(value)}.")


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
