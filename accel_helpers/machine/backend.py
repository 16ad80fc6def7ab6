"""The framework under Keras: choosing it, waiting for it, placing work on its devices.

Keras runs on TensorFlow, JAX or PyTorch. Which one is settled when Keras is first imported, so
`choose` comes before ``import keras``. A device works on its own once it has its orders, so
`wait` comes before a clock is stopped.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass

from accel_helpers.machine import quiet, runtime

KNOWN = ("tensorflow", "jax", "torch")


@dataclass(frozen=True)
class Choice:
    """Which framework Keras runs on, and why.

    Attributes
    ----------
    name : str
        "tensorflow", "jax" or "torch".
    reason : str
        One sentence.
    notices : str
        What the framework printed while it started, held back so that it does not alarm.
    """

    name: str
    reason: str
    notices: str = ""

    def __str__(self) -> str:
        return f"Keras runs on {self.name}: {self.reason}"


def choose(
    *,
    environ: MutableMapping[str, str] | None = None,
    frameworks: Mapping[str, str] | None = None,
    accelerator: str | None = None,
    load: bool = True,
) -> Choice:
    """Choose the framework for Keras, before Keras is imported, and load it.

    ``KERAS_BACKEND`` is honoured. Without it: JAX where a TPU is attached (TensorFlow has left
    Colab's TPU runtime), else TensorFlow where it is installed, else JAX. A TensorFlow that is
    built for TPUs (the package tensorflow-tpu) can end the kernel when it is imported where there
    is no TPU: JAX comes before it, and with Keras on JAX its import is an ImportError.

    Parameters
    ----------
    environ : mapping, optional
        The environment that is read, and in which ``KERAS_BACKEND`` is set.
    frameworks : mapping of name to version, optional
        What is installed; by default what `runtime.describe` finds, and "tensorflow-tpu" where
        that is the package behind TensorFlow.
    accelerator : str, optional
        "GPU", "TPU" or "none"; by default what `runtime.describe` finds.
    load : bool, optional
        Import Keras now, with the framework's start-up notices held back.

    Returns
    -------
    Choice

    Raises
    ------
    ValueError
        If ``KERAS_BACKEND`` names something unknown or not installed.
    RuntimeError
        If no framework is installed.

    Examples
    --------
    >>> print(choose(environ={}, frameworks={"jax": "0.7.2"}, accelerator="TPU", load=False))
    Keras runs on jax: a TPU is attached, and JAX is what drives it.
    """
    environ = os.environ if environ is None else environ
    if load and "keras" in sys.modules:
        name = sys.modules["keras"].backend.backend()
        quiet.watch_tensorflow(name)
        return Choice(name, "it was already loaded; restart the runtime to change it.")
    if frameworks is None or accelerator is None:
        here = runtime.describe()
        if frameworks is None:
            frameworks = dict(here.frameworks)
            if version := runtime.installed("tensorflow-tpu"):
                frameworks["tensorflow-tpu"] = version
        if accelerator is None:
            accelerator = here.accelerator.kind if here.accelerator else "none"
    name, reason = _decide(environ.get("KERAS_BACKEND", ""), frameworks, accelerator)
    environ["KERAS_BACKEND"] = name
    environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # warnings and errors stay visible
    if not load:
        return Choice(name, reason)
    quiet.watch_tensorflow(name)
    return Choice(name, reason, quiet.load_keras())


def wait(x):
    """Come back when every computation behind `x` has finished.

    Parameters
    ----------
    x : object
        A TensorFlow, JAX or PyTorch tensor, a Keras variable or model, a NumPy array, or any
        nesting of them in lists, tuples and dictionaries. What has nothing to wait for is
        passed over.

    Returns
    -------
    object
        `x` itself.

    Examples
    --------
    >>> wait({"a": [1, 2.0], "b": None})
    {'a': [1, 2.0], 'b': None}
    """
    found: dict[str, list] = {}
    _collect(x, found, set())
    _wait_for(found, sys.modules)
    return x


def devices() -> tuple[str, ...]:
    """The kinds of device that Keras can use here: ("cpu",), ("cpu", "gpu") or ("cpu", "tpu").

    Returns
    -------
    tuple of str
        "cpu" first; Keras must have been loaded (see `choose`).
    """
    name = _loaded_backend()
    if name == "tensorflow":
        found = sys.modules["tensorflow"].config.list_logical_devices()
        kinds = [device.device_type.lower() for device in found]
    elif name == "jax":
        kinds = [_jax_kind(d) for d in sys.modules["jax"].devices()]
    else:
        kinds = ["gpu"] if sys.modules["torch"].cuda.is_available() else []
    return ("cpu", *sorted({kind for kind in kinds if kind in ("gpu", "tpu")}))


def device_name(device: str) -> str:
    """What the framework calls a device, such as "Tesla T4"; empty for a CPU.

    Parameters
    ----------
    device : str
        One of `devices`.
    """
    _check_device(device)
    if device == "cpu":
        return ""
    name = _loaded_backend()
    if name == "tensorflow":
        tf = sys.modules["tensorflow"]
        physical = tf.config.list_physical_devices(device.upper())[0]
        return tf.config.experimental.get_device_details(physical).get("device_name", "")
    if name == "jax":
        return sys.modules["jax"].devices(device)[0].device_kind
    return sys.modules["torch"].cuda.get_device_name(0)


def on(device: str):
    """Place the work of a ``with`` block on a device.

    Parameters
    ----------
    device : str
        One of `devices`.

    Returns
    -------
    context manager

    Raises
    ------
    ValueError
        If this machine has no such device: work would silently go elsewhere.
    """
    _check_device(device)
    return sys.modules["keras"].device(f"{device}:0")


def where(x) -> str:
    """Which kind of device holds `x`: "cpu", "gpu" or "tpu".

    Parameters
    ----------
    x : object
        A tensor, a Keras variable or model (its first weight is asked), or a NumPy array.

    Raises
    ------
    TypeError
        If `x` is none of these.
    """
    found: dict[str, list] = {}
    _collect(x, found, set())
    if found.get("tensorflow"):
        return found["tensorflow"][0].device.rpartition("device:")[2].partition(":")[0].lower()
    if found.get("jax"):
        return _jax_kind(next(iter(found["jax"][0].devices())))
    if found.get("torch"):
        return found["torch"][0].device.type.replace("cuda", "gpu")
    if not hasattr(x, "__array__") and not isinstance(x, (list, tuple)):
        raise TypeError(
            "where needs a tensor, a Keras variable or model, or a NumPy array; got "
            f"{type(x).__name__}: {x!r:.60}."
        )
    return "cpu"


def jit(fn: Callable) -> Callable:
    """Compile a function of tensors with the framework under Keras.

    Parameters
    ----------
    fn : callable
        Takes and returns tensors; written with ``keras.ops``.

    Returns
    -------
    callable
        The same function; its first call compiles.
    """
    name = _loaded_backend()
    if name == "tensorflow":
        return sys.modules["tensorflow"].function(fn, autograph=False)
    if name == "jax":
        return sys.modules["jax"].jit(fn)
    return fn


# ---------------------------------------------------------------------------------------------


def _decide(asked: str, frameworks: Mapping[str, str], accelerator: str) -> tuple[str, str]:
    installed = [name for name in KNOWN if name in frameworks]
    if asked:
        if asked not in KNOWN:
            raise ValueError(
                f"KERAS_BACKEND is set to {asked!r}; Keras knows {', '.join(KNOWN)}. Set it to "
                "one of them, or take it out of the environment."
            )
        if asked not in installed:
            raise ValueError(
                f"KERAS_BACKEND is set to {asked!r}, which is not installed here. Installed: "
                f"{', '.join(installed) or 'none of ' + ', '.join(KNOWN)}."
            )
        return asked, "KERAS_BACKEND asks for it."
    if not installed:
        raise RuntimeError(
            "Keras needs TensorFlow or JAX, and neither is installed. Colab ships both or JAX "
            "alone; elsewhere run: pip install tensorflow"
        )
    if accelerator == "TPU" and "jax" in installed:
        return "jax", "a TPU is attached, and JAX is what drives it."
    if "tensorflow-tpu" in frameworks and "jax" in installed:
        return "jax", (
            "the installed TensorFlow (tensorflow-tpu) is built for TPUs and can end the kernel "
            "where none is attached."
        )
    if "tensorflow" in installed:
        return "tensorflow", "it is installed here."
    if "jax" in installed:
        return "jax", "TensorFlow is not installed here."
    return "torch", "neither TensorFlow nor JAX is installed here."


def _wait_for(found: Mapping[str, list], frameworks: Mapping) -> None:
    if "jax" in found:
        frameworks["jax"].block_until_ready(found["jax"])
    if any("CPU" not in (tensor.device or "CPU") for tensor in found.get("tensorflow", ())):
        # on a CPU eager TensorFlow has finished when it returns; this waits without a copy
        frameworks["tensorflow"].test.experimental.sync_devices()
    for tensor in found.get("torch", ()):
        if tensor.device.type == "cuda":
            frameworks["torch"].cuda.synchronize(tensor.device)


def _collect(x, found: dict[str, list], seen: set[int]) -> None:
    if x is None or isinstance(x, (bool, int, float, str, bytes)) or id(x) in seen:
        return
    seen.add(id(x))
    if isinstance(x, Mapping):
        for value in x.values():
            _collect(value, found, seen)
        return
    if isinstance(x, (list, tuple, set, frozenset)):
        for value in x:
            _collect(value, found, seen)
        return
    family = type(x).__module__.partition(".")[0]
    if family in ("jax", "jaxlib") and hasattr(x, "block_until_ready"):
        found.setdefault("jax", []).append(x)
    elif family == "tensorflow" and hasattr(x, "device") and hasattr(x, "dtype"):
        found.setdefault("tensorflow", []).append(x)
    elif family == "torch" and hasattr(x, "device"):
        found.setdefault("torch", []).append(x)
    elif hasattr(x, "weights") and hasattr(x, "fit"):  # a Keras model
        _collect([weight.value for weight in x.weights], found, seen)
    elif family == "keras" and hasattr(x, "value"):  # a Keras variable
        _collect(x.value, found, seen)


def _loaded_backend() -> str:
    if "keras" not in sys.modules:
        raise RuntimeError("Keras is not loaded yet. Call accel_helpers.backend.choose() first.")
    return sys.modules["keras"].backend.backend()


def _check_device(device) -> None:
    here = devices()
    if device not in here:
        raise ValueError(
            "device must be one of those that the framework lists here, "
            f"{', '.join(map(repr, here))}; got {device!r}."
        )


def _jax_kind(device) -> str:
    return {"cuda": "gpu", "rocm": "gpu"}.get(device.platform, device.platform)
