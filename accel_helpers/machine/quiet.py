"""Loading a framework without its start-up notices, and not loading one that ends the kernel."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import logging
import os
import sys
import tempfile
from contextlib import contextmanager

from accel_helpers.machine import runtime


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
    """Keep what native code writes to standard error; let it go if something fails.

    What it yields is called after the block and gives the text that was held back.
    """
    text: list[str] = []
    with tempfile.TemporaryFile() as file:
        try:
            kept = os.dup(2)
        except OSError:  # no standard error at all
            yield lambda: ""
            return
        failed = True
        try:
            os.dup2(file.fileno(), 2)
            yield lambda: text[0]
            failed = False
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            text.append(file.read().decode(errors="replace"))
            if failed:
                sys.stderr.write(text[0])


def load_keras() -> str:
    """Import Keras, which loads its framework, and give the notices that this printed."""
    with held_back() as held:
        importlib.import_module("keras")
        tensorflow = sys.modules.get("tensorflow")
        if tensorflow is not None:
            tensorflow.constant(0) + 0  # the rest of its start-up notices come with the first op
    return held()


def watch_tensorflow(name: str) -> None:
    """See to it that TensorFlow does no harm where Keras runs on something else, on `name`.

    Keras on JAX imports TensorFlow, too, where it finds it: `keras.utils.set_random_seed` does.
    That is made quiet. Where TensorFlow is the package tensorflow-tpu, it becomes an ImportError:
    with a libtpu that does not fit, this package aborts the process when it is imported, and only
    one framework can hold a TPU.
    """
    if name == "tensorflow" or "tensorflow" in sys.modules:
        return
    if not any(isinstance(each, _Watch) for each in sys.meta_path):
        sys.meta_path.insert(0, _Watch(refuse=bool(runtime.installed("tensorflow-tpu"))))


class _Watch(importlib.abc.MetaPathFinder):
    """Finds the module tensorflow, and no other, and has it loaded quietly or not at all."""

    def __init__(self, refuse: bool):
        self.refuse, self.looking = refuse, False

    def find_spec(self, name, path=None, target=None):
        if name != "tensorflow" or self.looking:
            return None
        self.looking = True  # the other finders are asked; this one is among them
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.looking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(None if self.refuse else spec.loader)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader):
        self.loader = loader

    def create_module(self, spec):
        return self.loader.create_module(spec) if self.loader else None

    def exec_module(self, module):
        if self.loader is None:
            raise ImportError(
                "tensorflow-tpu is kept out of this kernel, since its import can end it; Keras "
                "runs on JAX. Uninstall it: pip uninstall -y tensorflow-tpu. To use it all the "
                "same, set KERAS_BACKEND=tensorflow in a fresh kernel.",
                name="tensorflow",
            )
        module.__spec__.loader = module.__loader__ = self.loader
        with held_back():
            self.loader.exec_module(module)
