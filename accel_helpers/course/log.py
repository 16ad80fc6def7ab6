"""The frameworks' start-up log, kept out of a page."""

import logging
import os
import sys
import tempfile


def hide_log() -> None:
    """Send what frameworks log past Python to a temporary file, for the rest of this notebook.

    TensorFlow writes a page of it when it starts. Python's own warnings and errors stay visible.
    Outside a notebook this does nothing.

    Examples
    --------
    >>> hide_log()
    """
    # Processes that the page starts inherit this.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # A filter, since TensorFlow sets the level itself when it is imported in a notebook.
    logging.getLogger("tensorflow").addFilter(_is_error)
    if "ipykernel" in sys.modules:
        # Native code writes to file descriptor 2; Python's errors go to the page another way.
        # Descriptor 2 keeps the file open when it is closed here.
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), 2)


def _is_error(record: logging.LogRecord) -> bool:
    """Return whether a message of a log is an error or worse."""
    return record.levelno >= logging.ERROR
