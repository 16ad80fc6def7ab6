"""The framework under Keras: choosing it, waiting for it, placing work on its devices.

The framework is TensorFlow, JAX or PyTorch. A device is named by its kind, "cpu", "gpu" or "tpu";
of several GPUs that is the first.
"""

import functools
import importlib
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from accel_helpers.machine import faults, quiet
from accel_helpers.machine.facts import Facts, installed


@dataclass(frozen=True)
class Choice:
    """Which framework Keras runs on, and why."""

    name: str  # "tensorflow", "jax" or "torch"
    reason: str  # as the end of a sentence

    def __str__(self) -> str:
        return f"Keras runs on {self.name}: {self.reason}"


def choose(name: str = "") -> Choice:
    """Choose the framework for Keras, before Keras is imported, and load it.

    A `name` is honoured, and so is ``KERAS_BACKEND``. Without both: JAX where a TPU is attached,
    else TensorFlow where it is installed, else JAX. A framework that is known not to use the device
    is the last choice, and so is tensorflow-tpu: its import can end the kernel, so it becomes an
    ImportError. Where Keras was already imported, its framework is returned and nothing
    changes.

    Sets ``KERAS_BACKEND`` and what the framework reads when it starts in the environment, imports
    Keras, and prints a warning where the machine is another than the notebook asks for, or where
    this version of JAX computes wrongly.

    Parameters
    ----------
    name : {"tensorflow", "jax", "torch"}, optional
        The framework that you want.

    Returns
    -------
    Choice
        The framework's `name`, and the `reason` for it.

    Raises
    ------
    ValueError
        If `name` or ``KERAS_BACKEND`` names no framework, or one that is not installed; or if none
        is installed.
    RuntimeError
        If Keras was imported on another one than `name`, or if loading TensorFlow could end the
        process (tensorflow-tpu).

    Examples
    --------
    >>> print(choose())  # doctest: +ELLIPSIS
    Keras runs on ...
    """
    if "keras" in sys.modules:
        loaded = framework()
        if name not in ("", loaded):
            raise RuntimeError(
                f"Keras runs on {loaded} already, and {name!r} has to come before it is imported: "
                f"restart the runtime, and begin with ah.use_backend({name!r})."
            )
        _keep_out_tensorflow_tpu(loaded)
        return Choice(loaded, "it was already loaded; restart the runtime to change it.")
    facts = Facts()
    choice = settle(facts, name)
    _keep_out_tensorflow_tpu(choice.name)
    with quiet.held_back():
        importlib.import_module("keras")
        if choice.name == "tensorflow":
            # The rest of TensorFlow's notices come with its first operation.
            sys.modules["tensorflow"].constant(0) + 0
    for finding in faults.find(facts):
        if finding.id in ("another-chip", "jax-computes-wrongly"):
            print(finding.cause, finding.fix)
    return choice


def settle(facts: Facts, name: str = "") -> Choice:
    """Choose a framework for a machine, and set in its environment what Keras and it will read.

    Raises ValueError where the machine has none, or not the one that is asked for.
    """
    facts.asked = name or facts.asked
    mistake = faults.said(facts, "framework-missing", "keras-backend-unknown")
    if mistake:
        raise ValueError(mistake)
    choice = _decide(facts)
    facts.asked = choice.name
    facts.environ["KERAS_BACKEND"] = choice.name
    facts.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # warnings and errors stay visible
    # These versions of JAX use outdated weights without the flag. Who has set it otherwise has the
    # last word.
    if facts.frameworks.get("jax") in faults.STALE:
        flags = facts.environ.get("XLA_FLAGS", "")
        facts.environ["XLA_FLAGS"] = f"{faults.FRESH} {flags}"
    return choice


def _decide(facts: Facts) -> Choice:
    """Choose a framework for a machine on which at least one is installed."""
    if facts.asked:
        return Choice(facts.asked, "KERAS_BACKEND asks for it.")
    # First what can use the accelerator; where nothing can, what is installed.
    name = [*faults.able(facts), *facts.backends][0]
    if name != "jax":
        return Choice(name, "it is installed here.")
    if facts.kind == "TPU":
        return Choice(name, "a TPU is attached, and JAX is what drives it.")
    if "tensorflow" in facts.backends:
        return Choice(name, "TensorFlow is passed over; ah.diagnose() says why.")
    return Choice(name, "TensorFlow is not installed here.")


def _keep_out_tensorflow_tpu(name: str) -> None:
    """Have an import of tensorflow-tpu fail where Keras runs on another framework than it.

    Its import can end the process, so a RuntimeError is raised where Keras is to run on it.
    """
    if not installed("tensorflow-tpu"):
        return
    if name == "tensorflow" and name not in sys.modules:
        raise RuntimeError(
            "To import tensorflow-tpu can end this process, so it was not loaded. Keras on JAX is "
            'the way that is known: restart, then ah.use_backend("jax").'
        )
    # Keras on JAX imports TensorFlow, too, with the first seed. Of a module that is None there,
    # Python says ImportError.
    sys.modules.setdefault("tensorflow", None)  # type: ignore[arg-type]


@functools.cache  # once in a process is enough
def look_for_idle() -> None:
    """Print a warning if an accelerator is attached and Keras trained without seeing it.

    To be called when Keras has trained; a RuntimeError if it is not even loaded.
    """
    warning = faults.said(Facts(used=devices()), "attached-and-idle")
    if warning:
        print(warning)


def wait(x: Any) -> Any:
    """Wait until every computation behind `x` has finished, and return `x` itself.

    Parameters
    ----------
    x : object
        A tensor, a Keras variable or model, or any nesting of them in lists, tuples, sets and
        dictionaries. For any other value there is nothing to wait for, so it is ignored.

    Examples
    --------
    >>> wait({"a": [1, 2.0], "b": None})
    {'a': [1, 2.0], 'b': None}
    """
    values = _values(x)
    arrays = [value for value in values if hasattr(value, "block_until_ready")]
    if arrays:
        sys.modules["jax"].block_until_ready(arrays)
        return x
    # On a CPU eager TensorFlow has finished when it returns; this waits without a copy.
    busy = {_package(value) for value in values if _kind(getattr(value, "device", "")) != "cpu"}
    if "tensorflow" in busy:
        sys.modules["tensorflow"].test.experimental.sync_devices()
    if "torch" in busy:
        sys.modules["torch"].cuda.synchronize()
    return x


def where(x: Any) -> str:
    """Return which kind of device holds `x`: "cpu", "gpu" or "tpu".

    `x` is a tensor, a Keras variable or model, or a NumPy array. Of several the first counts.
    """
    value = _values(x)[0]
    # Arrays of JAX may lie on several devices.
    if hasattr(value, "block_until_ready"):
        return _kind(value.devices())
    return _kind(getattr(value, "device", ""))


def _kind(device: Any) -> str:
    """Return "cpu", "gpu" or "tpu" for a framework's device, for several of one kind, or a name."""
    name = str(device).lower().replace("cuda", "gpu")
    for kind in ("tpu", "gpu"):
        if kind in name:
            return kind
    return "cpu"


def _values(x: Any) -> list:
    """Return the values in a nesting; a Keras model or variable is a nesting of its tensors."""
    if isinstance(x, Mapping):
        x = list(x.values())
    if hasattr(x, "weights"):
        x = x.weights
    if isinstance(x, (list, tuple, set)):
        return [value for part in x for value in _values(part)]
    if _package(x) == "keras" and hasattr(x, "value"):
        return [x.value]
    return [x]


def _package(value: Any) -> str:
    """Return the package in which the class of a value is defined, such as "tensorflow"."""
    return type(value).__module__.partition(".")[0]


def devices() -> tuple[str, ...]:
    """Return the kinds of device that Keras can use: ("cpu",), ("cpu", "gpu") or ("cpu", "tpu").

    Raises
    ------
    RuntimeError
        If Keras is not loaded yet (see `choose`).
    """
    if framework() == "torch":
        import torch

        names = ["cuda"] if torch.cuda.is_available() else []
    else:
        import keras

        names = keras.distribution.list_devices()
    return tuple(sorted({"cpu", *map(_kind, names)}))


def device_name(device: str) -> str:
    """Return the name of one of the `devices`, such as "Tesla T4"; empty for a CPU."""
    attached = Facts().device
    if device == "cpu" or attached is None:
        return ""
    return attached.name


def on(device: str) -> AbstractContextManager:
    """Place the work of a ``with`` block on one of the `devices`, such as "gpu".

    Raises ValueError if this machine has no such device: the work would silently go elsewhere; and
    RuntimeError if Keras is not loaded yet.
    """
    present = devices()
    if device not in present:
        raise ValueError(f"device must be one of those here, {present}; got {device!r}.")
    import keras

    return keras.device(f"{device}:0")


def framework() -> str:
    """Return the framework that Keras runs on: "tensorflow", "jax" or "torch".

    Raises RuntimeError if Keras is not loaded yet.
    """
    if "keras" not in sys.modules:
        raise RuntimeError("Keras is not loaded yet. Call ah.use_backend() first.")
    return sys.modules["keras"].backend.backend()


def jit(fn: Callable) -> Callable:
    """Return a function of tensors compiled with the framework under Keras; on PyTorch as it is.

    It is written with ``keras.ops``. The first call of the function that is returned compiles it.
    Raises RuntimeError if Keras is not loaded yet.
    """
    if framework() == "tensorflow":
        import tensorflow as tf

        return tf.function(fn, autograph=False)
    if framework() == "jax":
        import jax

        return jax.jit(fn)
    return fn


def groups_steps() -> bool:
    """Return whether ``steps_per_execution`` makes several training steps one program.

    On TensorFlow it does, and on PyTorch it does not. On JAX it does from Keras 3.16 on, where it
    became ``lax.scan``; before, it was a loop in Python
    (https://github.com/keras-team/keras/pull/23527).
    """
    name = framework()
    if name != "jax":
        return name == "tensorflow"
    import keras

    release = keras.__version__.split(".")[:2]
    return [*map(int, release)] >= [3, 16]
