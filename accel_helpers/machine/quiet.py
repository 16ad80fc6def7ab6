"""Loading a framework without its start-up notices, and not loading one that ends the kernel."""

import logging
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

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


def watch_tensorflow(name: str) -> None:
    """Have a later import of TensorFlow done quietly, or refused, where Keras does not run on it.

    It is refused, with an ImportError, where tensorflow-tpu is installed: its import can end the
    process. Keras on JAX imports TensorFlow, too, with the first seed. Nothing changes where the
    framework `name` is "tensorflow", or where TensorFlow was imported already.
    """
    if name == "tensorflow" or "tensorflow" in sys.modules:
        return
    if _Watch not in sys.meta_path:
        sys.meta_path.insert(0, _Watch)


class _Watch:
    """An import hook: an entry of ``sys.meta_path`` that finds only the module tensorflow."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to load the module tensorflow: quietly, or with an ImportError.

        None for any other module, so that the other entries look for it, and where TensorFlow is
        not installed.
        """
        if name != "tensorflow":
            return None
        spec = PathFinder.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        # This one loader of the import system gets another method, which no type allows for.
        if faults.installed("tensorflow-tpu"):
            spec.loader.exec_module = _refuse  # type: ignore[method-assign]
        else:
            quietly = held_back()(spec.loader.exec_module)
            spec.loader.exec_module = quietly  # type: ignore[method-assign]
        return spec


def _refuse(module: ModuleType) -> None:
    """Raise the ImportError that stands for loading TensorFlow."""
    raise ImportError(
        "tensorflow-tpu is kept out of this kernel, which its import can end: Keras runs on JAX. "
        "To use it all the same, set KERAS_BACKEND=tensorflow in a fresh kernel.",
        name="tensorflow",
    )
