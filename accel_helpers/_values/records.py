"""Data files read, and written whole; arguments checked."""

import contextlib
import json
import math
import operator
import os
import tomllib
from pathlib import Path

from accel_helpers._values.words import shown

LARGEST = 5_000_000  # bytes of a file that is read


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
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def load(path: Path, name: str = ""):
    """Return what a TOML or JSON file contains, as plain dictionaries, lists, texts and numbers.

    Raises DataError, which calls the file by the name, or by its own, where it cannot be read, is
    larger than 5 MB, or is not valid.
    """
    name = name or path.name
    language, parse = "JSON", json.loads
    if path.suffix == ".toml":
        language, parse = "TOML", tomllib.loads
    try:
        # A pipe would be waited for.
        if not path.is_file():
            raise ValueError("there is no ordinary file")
        if path.stat().st_size > LARGEST:
            raise ValueError(f"larger than {LARGEST:,} bytes")
        return parse(path.read_text("utf-8"))
    # Its whole text would name the path, which may be somebody's name.
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name}: not valid {language} ({error!s:.100}).") from None


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
