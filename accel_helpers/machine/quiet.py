"""Loading a framework without its start-up notices, and not loading one that ends the kernel."""

import logging
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from accel_helpers.machine import faults

# where standard error goes: its own place, and the file of each block that holds it back
_PLACES: list[int] = []
_LOCK = threading.Lock()


@contextmanager
def without_remarks() -> Iterator[None]:
    """Show only errors of TensorFlow's logger in a ``with`` block.

    It warns where several models are compiled one after the other, which is meant here.
    """
    logger = logging.getLogger("tensorflow")

    # a filter of its own for each block, since blocks of several threads overlap
    def is_error(record: logging.LogRecord) -> bool:
        return record.levelno >= logging.ERROR

    logger.addFilter(is_error)
    try:
        yield
    finally:
        logger.removeFilter(is_error)


@contextmanager
def held_back() -> Iterator[None]:
    """Discard what a ``with`` block writes to standard error, native code included.

    If the block raises an exception, what it wrote is shown after all, and the exception goes on.
    Blocks of several threads may overlap: the last one out puts standard error back.
    """
    with tempfile.TemporaryFile() as file:
        place = file.fileno()
        with _LOCK:
            if not _PLACES:
                _PLACES.append(os.dup(2))
            _PLACES.append(place)
            # Native code writes to the file descriptor 2, whatever sys.stderr is.
            os.dup2(place, 2)
        failed = True
        try:
            yield
            failed = False
        finally:
            with _LOCK:
                _PLACES.remove(place)
                os.dup2(_PLACES[-1], 2)
                if len(_PLACES) == 1:
                    os.close(_PLACES.pop())
            if failed:
                file.seek(0)
                sys.stderr.write(file.read().decode(errors="replace"))


def keep_out_tensorflow(name: str) -> None:
    """Have an import of tensorflow-tpu fail where Keras runs on the framework `name`, another one.

    It can end the process, and Keras on JAX imports TensorFlow, too, with the first seed.
    """
    if name != "tensorflow" and faults.installed("tensorflow-tpu"):
        # of a module that is None there, Python says ImportError
        sys.modules.setdefault("tensorflow", None)  # type: ignore[arg-type]
