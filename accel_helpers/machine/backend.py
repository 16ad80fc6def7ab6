"""The framework under Keras: choosing it, waiting for it, placing work on its devices.

The framework is TensorFlow, JAX or PyTorch. A device is named by its kind, "cpu", "gpu" or "tpu";
of several GPUs that is the first.
"""

import functools
import importlib
import sys
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, cast

from accel_helpers._values.words import shown
from accel_helpers.machine import faults, quiet, tensors

__all__ = ["choose", "device_name", "devices", "groups_steps", "jit", "on", "wait", "where"]


@dataclass(frozen=True)
class Choice:
    """Which framework Keras runs on, and why."""

    name: str  # "tensorflow", "jax" or "torch"
    reason: str  # as the end of a sentence

    def __str__(self) -> str:
        return f"Keras runs on {self.name}: {self.reason}"


def choose(name: str = "", **machine: Any) -> Choice:
    """Choose the framework for Keras, before Keras is imported, and load it.

    A `name` is honoured, and so is ``KERAS_BACKEND``. Without both: JAX where a TPU is attached,
    else TensorFlow where it is installed, else JAX. A framework that is known not to use the device
    is the last choice, and so is tensorflow-tpu without a TPU: its import can end the kernel, so it
    becomes an ImportError. Where Keras was already imported, its framework is returned and nothing
    changes.

    Sets ``KERAS_BACKEND`` and what the framework reads when it starts in the environment, imports
    Keras, and prints a warning where the machine is another than the notebook asks for, or where
    this version of JAX computes wrongly.

    Parameters
    ----------
    name : {"tensorflow", "jax", "torch"}, optional
        The framework that you want.
    **machine : optional
        A recorded machine, as for `runtime.describe`: ``KERAS_BACKEND`` is set in its ``environ``,
        and nothing is loaded.

    Returns
    -------
    Choice
        The framework's `name`, and the `reason` for it.

    Raises
    ------
    ValueError
        If `name` or ``KERAS_BACKEND`` names no framework, or one that is not installed.
    RuntimeError
        If no framework is installed, or if Keras was imported on another one than `name`.

    Examples
    --------
    >>> print(choose(environ={}, root="/nowhere", versions={"jax": "0.7.2"}.get))
    Keras runs on jax: TensorFlow is not installed here.
    """
    if not machine and "keras" in sys.modules:
        loaded = framework()
        if name and name != loaded:
            raise RuntimeError(
                f"Keras runs on {loaded} already, and {name!r} has to come before it is imported: "
                f"restart the runtime, and begin with ah.use_backend({name!r})."
            )
        quiet.keep_out_tensorflow(loaded)
        return Choice(loaded, "it was already loaded; restart the runtime to change it.")
    facts = faults.Facts(**machine, loaded={})
    environ = cast(MutableMapping[str, str], facts.environ)
    if name:
        environ["KERAS_BACKEND"] = facts.asked = name
    choice = _decide(facts)
    environ["KERAS_BACKEND"] = choice.name
    settle(environ, facts.frameworks.get("jax"))
    # A recorded machine is only read.
    if machine:
        return choice
    _load_keras(choice.name)
    warnings = ["another-chip"]
    if choice.name == "jax":
        warnings.append("jax-computes-wrongly")
    for sentence in faults.said(faults.Facts(), *warnings):
        print(sentence)
    return choice


def _load_keras(name: str) -> None:
    """Import Keras without the notices that its framework, `name`, writes when it starts.

    ``KERAS_BACKEND`` is set to `name` already.
    """
    quiet.keep_out_tensorflow(name)
    with quiet.held_back():
        importlib.import_module("keras")
        tensorflow = sys.modules.get("tensorflow")
        if tensorflow is not None:
            # The rest of TensorFlow's notices come with its first operation.
            tensorflow.constant(0) + 0


def settle(environ: MutableMapping[str, str], jax_version: str | None) -> None:
    """Set in `environ` what a framework reads when it starts.

    `jax_version` is the version of JAX that is installed, such as "0.8.1", or None.
    """
    environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # warnings and errors stay visible
    flags = environ.get("XLA_FLAGS", "")
    # These versions of JAX use outdated weights without the flag.
    if jax_version in faults.STALE and faults.FRESH not in flags:
        environ["XLA_FLAGS"] = f"{flags} {faults.FRESH}".strip()


@functools.cache  # once in a process is enough
def look_for_idle(root: str = "/") -> None:
    """Print a warning if an accelerator is attached and Keras trained without seeing it.

    To be called when Keras has trained; a RuntimeError if it is not even loaded.
    """
    facts = faults.Facts(root=root, used=devices())
    for sentence in faults.said(facts, "attached-and-idle"):
        print(sentence)


def wait(x: Any, *, frameworks: Mapping[str, ModuleType] | None = None) -> Any:
    """Wait until every computation behind `x` has finished, and return `x` itself.

    Parameters
    ----------
    x : object
        A tensor, a Keras variable or model, or any nesting of them in lists, tuples, sets and
        dictionaries. For any other value there is nothing to wait for, so it is ignored.
    frameworks : mapping of name to module, optional
        The modules "tensorflow", "jax" and "torch"; by default those that are loaded.

    Examples
    --------
    >>> wait({"a": [1, 2.0], "b": None})
    {'a': [1, 2.0], 'b': None}
    """
    if frameworks is None:
        frameworks = sys.modules
    found_tensors = tensors.find(x)
    if "jax" in found_tensors:
        frameworks["jax"].block_until_ready(found_tensors["jax"])
    # On a CPU eager TensorFlow has finished when it returns; this waits without a copy.
    if any(_is_off_cpu(tensor) for tensor in found_tensors.get("tensorflow", ())):
        frameworks["tensorflow"].test.experimental.sync_devices()
    for tensor in found_tensors.get("torch", ()):
        if tensor.device.type == "cuda":
            frameworks["torch"].cuda.synchronize(tensor.device)
    return x


def _is_off_cpu(tensor: Any) -> bool:
    """Return whether a TensorFlow tensor lies on another device than a CPU.

    False inside a ``tf.function``, where a tensor is symbolic and names no device.
    """
    return bool(tensor.device) and "CPU" not in tensor.device


def devices() -> tuple[str, ...]:
    """Return the kinds of device that Keras can use: ("cpu",), ("cpu", "gpu") or ("cpu", "tpu").

    Raises
    ------
    RuntimeError
        If Keras is not loaded yet (see `choose`).
    """
    name = framework()
    if name == "tensorflow":
        logical = sys.modules["tensorflow"].config.list_logical_devices()
        kinds = {device.device_type.lower() for device in logical}
    elif name == "jax":
        kinds = {_jax_kind(device) for device in sys.modules["jax"].devices()}
    elif sys.modules["torch"].cuda.is_available():
        kinds = {"gpu"}
    else:
        kinds = set()
    return ("cpu", *sorted(kinds & {"gpu", "tpu"}))


def device_name(device: str) -> str:
    """Return the name that the framework has for a device, such as "Tesla T4".

    Empty for a CPU, and for a GPU whose name TensorFlow does not know. Of several GPUs it is the
    first one's name.

    Parameters
    ----------
    device : str
        One of the `devices`, such as "gpu".

    Raises
    ------
    ValueError
        If this machine has no such device.
    RuntimeError
        If Keras is not loaded yet.
    """
    _check_device(device)
    if device == "cpu":
        return ""
    name = framework()
    if name == "tensorflow":
        config = sys.modules["tensorflow"].config
        physical = config.list_physical_devices(device.upper())[0]
        return config.experimental.get_device_details(physical).get("device_name", "")
    if name == "jax":
        return sys.modules["jax"].devices(device)[0].device_kind
    return sys.modules["torch"].cuda.get_device_name(0)


def on(device: str) -> AbstractContextManager:
    """Place the work of a ``with`` block on a device.

    Parameters
    ----------
    device : str
        One of the `devices`, such as "gpu".

    Raises
    ------
    ValueError
        If this machine has no such device: the work would silently go elsewhere.
    RuntimeError
        If Keras is not loaded yet.
    """
    _check_device(device)
    return sys.modules["keras"].device(f"{device}:0")


def where(x: Any) -> str:
    """Return which kind of device holds `x`: "cpu", "gpu" or "tpu".

    Parameters
    ----------
    x : tensor, Keras variable, Keras model, NumPy array, list or tuple
        Of a model, and of a list or tuple of tensors, the place of the first tensor is returned.

    Raises
    ------
    TypeError
        If `x` is anything else.
    """
    found_tensors = tensors.find(x)
    if "tensorflow" in found_tensors:
        # Such as "/job:localhost/replica:0/task:0/device:GPU:0".
        full_name = found_tensors["tensorflow"][0].device
        _, _, short_name = full_name.rpartition("device:")
        kind, _, _ = short_name.partition(":")
        return kind.lower()
    if "jax" in found_tensors:
        # An array that is shared among devices lies on devices of one kind.
        array_devices = found_tensors["jax"][0].devices()
        return _jax_kind(next(iter(array_devices)))
    if "torch" in found_tensors:
        return found_tensors["torch"][0].device.type.replace("cuda", "gpu")
    if not hasattr(x, "__array__") and not isinstance(x, (list, tuple)):
        raise TypeError(f"where needs a tensor, a variable, a model or an array; got {shown(x)}.")
    return "cpu"


def framework() -> str:
    """Return the framework that Keras runs on: "tensorflow", "jax" or "torch".

    Raises RuntimeError if Keras is not loaded yet.
    """
    if "keras" not in sys.modules:
        raise RuntimeError("Keras is not loaded yet. Call ah.use_backend() first.")
    return sys.modules["keras"].backend.backend()


def jit(fn: Callable) -> Callable:
    """Return a function compiled with the framework under Keras.

    On PyTorch it is returned as it is.

    Parameters
    ----------
    fn : callable
        A function of tensors, written with ``keras.ops``. The first call of the function that is
        returned compiles it.

    Raises
    ------
    RuntimeError
        If Keras is not loaded yet.
    """
    name = framework()
    if name == "tensorflow":
        return sys.modules["tensorflow"].function(fn, autograph=False)
    if name == "jax":
        return sys.modules["jax"].jit(fn)
    return fn


def groups_steps(keras: Any = None) -> bool:
    """Return whether ``steps_per_execution`` makes several training steps one program.

    On TensorFlow it does, and on PyTorch it does not. On JAX it does from Keras 3.16 on, where it
    became ``lax.scan``; before, it was a loop in Python
    (https://github.com/keras-team/keras/pull/23527).

    Parameters
    ----------
    keras : module, optional
        The module Keras; by default the one that is loaded.

    Raises
    ------
    RuntimeError
        If no module is passed and Keras is not loaded yet.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> on_jax = SimpleNamespace(backend=lambda: "jax")
    >>> groups_steps(SimpleNamespace(backend=on_jax, __version__="3.16.0"))
    True
    """
    if keras is None:
        # Called for its error, which says what to do where Keras is not loaded.
        framework()
        keras = sys.modules["keras"]
    name = keras.backend.backend()
    if name != "jax":
        return name == "tensorflow"
    major, minor = keras.__version__.split(".")[:2]
    return (int(major), int(minor)) >= (3, 16)


def _decide(facts: faults.Facts) -> Choice:
    """Choose a framework for a machine, as `choose` describes it.

    Raises ValueError if KERAS_BACKEND names a framework that cannot be had, and RuntimeError if no
    framework is installed.
    """
    mistakes = faults.said(facts, "keras-backend-unknown", "keras-backend-not-installed")
    if mistakes:
        raise ValueError(" ".join(mistakes))
    missing = faults.said(facts, "framework-missing")
    if missing:
        raise RuntimeError(" ".join(missing))
    if facts.asked:
        return Choice(facts.asked, "KERAS_BACKEND asks for it.")
    # First what can use the accelerator; where nothing can, what is installed.
    candidates = faults.able(facts) or facts.backends
    name = candidates[0]
    if name in ("tensorflow", "torch"):
        return Choice(name, "it is installed here.")
    if facts.kind == "TPU":
        return Choice(name, "a TPU is attached, and JAX is what drives it.")
    if "tensorflow" not in facts.frameworks:
        return Choice(name, "TensorFlow is not installed here.")
    obstacle = faults.against(facts, "tensorflow")[0]
    return Choice(name, f"TensorFlow is passed over. {obstacle.cause}")


def _check_device(device: str) -> None:
    """Raise a ValueError unless a device is one of the `devices`.

    Raises RuntimeError if Keras is not loaded yet.
    """
    present_devices = devices()
    if device not in present_devices:
        raise ValueError(f"device must be one of those here, {present_devices}; got {device!r}.")


def _jax_kind(device: Any) -> str:
    """Return "cpu", "gpu" or "tpu" for a device of JAX."""
    if device.platform in ("cuda", "rocm"):
        return "gpu"
    return device.platform
