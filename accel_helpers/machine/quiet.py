"""Loading a framework without its start-up notices, and not loading one that ends the kernel."""

from __future__ import annotations

import importlib
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
        kept, failed = os.dup(2), True
        try:
            os.dup2(file.fileno(), 2)
            yield
            failed = False
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            if failed:
                file.seek(0)
                sys.stderr.write(file.read().decode(errors="replace"))


@held_back()
def load_keras() -> None:
    """Import Keras, which loads its framework."""
    importlib.import_module("keras")
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None:
        tensorflow.constant(0) + 0  # the rest of its start-up notices come with the first op


def watch_tensorflow(name: str) -> None:
    """See to it that TensorFlow does no harm where Keras runs on something else, on `name`."""
    # Keras on JAX imports it, too, with the first seed.
    if name == "tensorflow" or "tensorflow" in sys.modules:
        return
    if not any(isinstance(each, _Watch) for each in sys.meta_path):
        sys.meta_path.insert(0, _Watch(refuse=bool(faults.installed("tensorflow-tpu"))))


class _Watch:
    """Finds the module tensorflow, and no other, and has it loaded quietly or not at all."""

    def __init__(self, refuse: bool):
        self.refuse = refuse

    def find_spec(self, name, path=None, target=None):
        spec = PathFinder.find_spec(name) if name == "tensorflow" else None
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module
            spec.loader.exec_module = self._refuse if self.refuse else held_back()(load)
        return spec

    def _refuse(self, module):
        raise ImportError(
            "tensorflow-tpu is kept out of this kernel, since its import can end it; Keras "
            "runs on JAX. Uninstall it: pip uninstall -y tensorflow-tpu. To use it all the "
            "same, set KERAS_BACKEND=tensorflow in a fresh kernel.",
            name="tensorflow",
        )
