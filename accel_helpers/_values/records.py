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
    # On one file system a move replaces the old file at once, or not at all.
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
_PLAIN = {str: "a text", bool: "true or false", int: "a whole number"}
_field_types = functools.cache(get_type_hints)


def load(path, description: str, name: str = ""):
    """Return the plain tables of a TOML or JSON file, or raise a DataError.

    The description says what the file should be, such as "list of faults".
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
    """Return the text of an ordinary file of a usual size."""
    size = path.stat().st_size
    if not path.is_file():  # a pipe would wait for ever
        raise DataError(f"{name}: cannot be read: it is no ordinary file.")
    if size > LARGEST:
        raise DataError(f"{name}: larger than {LARGEST:,} bytes, so it is no {description}.")
    return path.read_text("utf-8")


def read(annotation, value, location: str):
    """Make a value of a type out of plain tables, lists, texts and numbers.

    Parameters
    ----------
    annotation : type
        A frozen dataclass, str, bool, int, float, or a Literal, Union, tuple or dict of these.
    value
        What `load` gave, or a part of it.
    location : str
        The file, and the place in it, for the complaint.

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
    """Return a value that is one of the choices, and of the same type."""
    # True equals 1, so the types are compared, too.
    same = [choice for choice in choices if type(choice) is type(value) and choice == value]
    _must(bool(same), location, f"one of {', '.join(map(str, choices))}", value)
    return value


def _read_union(alternatives: tuple, value, location: str):
    """Return a value as the first of the alternatives that it fits."""
    nothing = type(None)
    if value is None and nothing in alternatives:
        return None
    *others, last = [annotation for annotation in alternatives if annotation is not nothing]
    for annotation in others:
        with contextlib.suppress(DataError):
            return read(annotation, value, location)
    # The complaint is that of the last alternative.
    return read(last, value, location)


def _read_tuple(inner: tuple, value, location: str) -> tuple:
    """Return a tuple of a fixed length, or of any length with items of one type."""
    _must(isinstance(value, (list, tuple)), location, "a list", value)
    annotations = inner
    if inner[-1] is Ellipsis:
        annotations = inner[:1] * len(value)
    _must(len(annotations) == len(value), location, f"a list of {len(annotations)}", value)
    # Samples are most of a results card; reading these one by one would be slow.
    if set(annotations) == {float} and _all_plain_numbers(value):
        return tuple(map(float, value))
    items = []
    for number, (annotation, item) in enumerate(zip(annotations, value, strict=True), 1):
        items.append(read(annotation, item, f"{location}, {number}"))
    return tuple(items)


def _all_plain_numbers(values: list | tuple) -> bool:
    """Return whether all values are ints or floats, finite and not too large."""
    if not {type(value) for value in values} <= {int, float}:
        return False
    return all(abs(value) < _LARGEST_FLOAT for value in values)


def _read_table(inner: tuple, value, location: str) -> dict:
    """Return a dictionary whose keys and values are of one type each."""
    key_type, value_type = inner
    _must(isinstance(value, dict), location, "a table", value)
    # All keys are read first: a complaint about a value quotes its key.
    keys = [read(key_type, key, f"{location}, a name") for key in value]
    return {key: read(value_type, value[key], f"{location}, {key:.60}") for key in keys}


def _read_float(value, location: str) -> float:
    """Return a finite number as a float."""
    # A bool is an int for Python, and no number here; NumPy's floats are floats.
    is_number = type(value) is int or isinstance(value, float)
    _must(is_number and abs(value) < _LARGEST_FLOAT, location, "a finite number", value)
    return float(value)


def _read_plain(annotation: type, value, location: str):
    """Return a value that is exactly of a type, such as a text, a bool or a whole number."""
    description = _PLAIN.get(annotation, f"a {annotation.__name__}")
    _must(type(value) is annotation, location, description, value)
    if annotation is int:
        fits = abs(value) < _LARGEST_INT
        _must(fits, location, "a whole number of at most 18 digits", value)
    if annotation is str:
        # Half of a surrogate pair can be read, and not be written again.
        writable = value.encode("utf-8", "ignore").decode()
        fits = len(value) <= LONGEST and value == writable
        _must(fits, location, f"a text of at most {LONGEST:,} characters", value)
    return value


def _read_dataclass(annotation: type, value, location: str):
    """Return a dataclass from a table with its fields."""
    _must(isinstance(value, dict), location, "a table", value)
    fields = {field.name: field for field in dataclasses.fields(annotation) if field.init}
    _check_names(fields, value, location)
    field_types = _field_types(annotation)
    arguments = {}
    for name, content in value.items():
        arguments[name] = read(field_types[name], content, f"{location}, {name}")
    try:
        return annotation(**arguments)
    except ValueError as error:  # what the dataclass itself asks for
        raise DataError(f"{location}: {error}") from None


def _check_names(fields: Mapping[str, dataclasses.Field], value: dict, location: str) -> None:
    """Raise a DataError where a table has an unknown field, or lacks one that must be given."""
    unknown = sorted(set(value) - set(fields), key=str)
    if unknown:
        name = shown(unknown[0])
        names = ", ".join(fields)
        raise DataError(f"{location}: unknown field {name}. Known: {names}.")
    for name, field in fields.items():
        if _has_no_default(field) and name not in value:
            raise DataError(f"{location}: the field {name!r} is missing.")


def _has_no_default(field: dataclasses.Field) -> bool:
    """Return whether a field of a dataclass must be given."""
    no_value = field.default is dataclasses.MISSING
    no_factory = field.default_factory is dataclasses.MISSING
    return no_value and no_factory


def _must(fits: bool, location: str, accepted: str, value) -> None:
    """Raise a DataError that says what is accepted, unless the value fits."""
    if not fits:
        raise DataError(f"{location}: must be {accepted}; got {shown(value)}.")


def whole(value, name: str, least: int = 1) -> int:
    """Return a whole number, also one of NumPy's, of at least `least`; or raise a ValueError."""
    number = None
    # True is a whole number for Python, and a mistake here.
    if not isinstance(value, bool):
        with contextlib.suppress(TypeError):
            number = operator.index(value)
    if number is None or number < least:
        raise ValueError(f"{name} must be a whole number, {least} or more; got {shown(value)}.")
    return number


def positive(value, name: str, *, zero: bool = False) -> float:
    """Return a finite number above zero, or from zero on; or raise a ValueError."""
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
