"""Loading a framework without its start-up notices, and not loading one that ends the kernel."""

import logging
import os
import sys
import tempfile
from contextlib import contextmanager
from importlib.machinery import PathFinder

from accel_helpers.machine import faults


@contextmanager
def without_remarks():
    """Keep TensorFlow from remarking that several models were compiled one after the other."""
    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def held_back():
    """Hold back what native code writes to standard error; let it go if something fails."""
    with tempfile.TemporaryFile() as file:
        standard_error = os.dup(2)
        failed = True
        try:
            os.dup2(file.fileno(), 2)
            yield
            failed = False
        finally:
            os.dup2(standard_error, 2)
            os.close(standard_error)
            if failed:
                file.seek(0)
                sys.stderr.write(file.read().decode(errors="replace"))


def watch_tensorflow(name: str) -> None:
    """Keep TensorFlow from doing harm where Keras runs on another framework, on `name`.

    Keras on JAX imports it, too, with the first seed.
    """
    if name == "tensorflow" or "tensorflow" in sys.modules:
        return
    if _Watch not in sys.meta_path:
        sys.meta_path.insert(0, _Watch)


class _Watch:
    """Finds the module tensorflow, and no other, and has it loaded quietly or not at all."""

    @staticmethod
    def find_spec(name, path=None, target=None):
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


def _refuse(module) -> None:
    raise ImportError(
        "tensorflow-tpu is kept out of this kernel, which its import can end: Keras runs on JAX. "
        "To use it all the same, set KERAS_BACKEND=tensorflow in a fresh kernel.",
        name="tensorflow",
    )
