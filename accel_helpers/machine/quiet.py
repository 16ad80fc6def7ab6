"""What frameworks write to a log, held back."""

import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial


def _is_error(record: logging.LogRecord) -> bool:
    """Return whether a message of a log is an error or worse."""
    return record.levelno >= logging.ERROR


def hide_log() -> None:
    """Send what frameworks log past Python to a temporary file, for the rest of this notebook.

    TensorFlow writes a page of it when it starts. Python's own warnings and errors stay visible,
    but for JAX's warning of a fork. Outside a notebook nothing is sent to a file.

    Examples
    --------
    >>> hide_log()
    """
    # Processes that the page starts inherit this.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # A filter, since TensorFlow sets the level itself when it is imported in a notebook.
    logging.getLogger("tensorflow").addFilter(_is_error)
    # A line that begins with ! forks, and starts another program at once: JAX warns needlessly.
    warnings.filterwarnings("ignore", r"os\.fork\(\)")
    if "ipykernel" in sys.modules:
        # Native code writes to file descriptor 2; Python's errors go to the page another way.
        # Descriptor 2 keeps the file open when it is closed here.
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), 2)


@contextmanager
def held_back() -> Iterator[None]:
    """Discard what a ``with`` block writes to standard error, native code included.

    Of TensorFlow's logger only errors are shown: it warns where several models are compiled one
    after the other, which is meant here. If the block raises an error, what it wrote is shown after
    all, and the error goes on.
    """
    logger = logging.getLogger("tensorflow")
    # A filter of its own for each block: they may be nested, and `hide_log` has one that stays.
    own_filter = partial(_is_error)
    logger.addFilter(own_filter)
    place = os.dup(2)
    with tempfile.TemporaryFile() as file:
        # Native code writes to the file descriptor 2, whatever sys.stderr is.
        os.dup2(file.fileno(), 2)
        try:
            yield
        except Exception:
            os.dup2(place, 2)
            file.seek(0)
            sys.stderr.write(file.read().decode(errors="replace"))
            raise
        finally:
            os.dup2(place, 2)
            os.close(place)
            logger.removeFilter(own_filter)
