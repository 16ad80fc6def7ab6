"""Small files: read with suspicion, written whole or not at all."""

import os
import stat
import tempfile
from pathlib import Path


def read_small(path: Path, largest: int, what: str, error: type[Exception], name: str = "") -> str:
    """Read a text file of which nothing is known.

    Parameters
    ----------
    path : pathlib.Path
    largest : int
        Bytes that it may have.
    what : str
        What it should be, for the message.
    error : type
        What is raised, with a sentence that names the file.
    name : str, optional
        How the sentence calls it, by default by its name without the folder.

    Returns
    -------
    str

    Raises
    ------
    FileNotFoundError
        If there is none.
    error
        If it is no ordinary file, too large, no UTF-8, or cannot be read.
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
