"""The framework under Keras: choosing it, waiting for it, placing work on its devices."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass

from accel_helpers._words import shown
from accel_helpers.machine import faults, quiet

__all__ = ["choose", "device_name", "devices", "jit", "on", "wait", "where"]


@dataclass(frozen=True)
class Choice:
    """Which framework Keras runs on, and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"Keras runs on {self.name}: {self.reason}"


def choose(
    *, environ: MutableMapping[str, str] | None = None, load: bool = True, **machine
) -> Choice:
    """Choose the framework for Keras, before Keras is imported, and load it.

    ``KERAS_BACKEND`` is honoured. Without it: JAX where a TPU is attached, else TensorFlow where it
    is installed, else JAX; but what is known not to use the device comes last, and so does
    tensorflow-tpu without a TPU: it can end the kernel, so its import becomes an ImportError.

    Parameters
    ----------
    environ : mapping, optional
        The environment that is read, and in which ``KERAS_BACKEND`` is set.
    load : bool, optional
        Import Keras now, with the framework's start-up notices held back.
    **machine : optional
        A recorded machine: ``root``, ``run`` and ``versions`` as for `runtime.describe`.
    Returns
    -------
    Choice
        Its ``name``, and a ``reason`` in a sentence.
    Raises
    ------
    ValueError, RuntimeError
        If ``KERAS_BACKEND`` names what is not here; if no framework is here.
    Examples
    --------
    >>> print(choose(environ={}, root="/nowhere", versions={"jax": "0.7.2"}.get, load=False))
    Keras runs on jax: TensorFlow is not installed here.
    """
    environ = os.environ if environ is None else environ
    if load and "keras" in sys.modules:
        name = sys.modules["keras"].backend.backend()
        quiet.watch_tensorflow(name)
        return Choice(name, "it was already loaded; restart the runtime to change it.")
    name, reason = _decide(faults.Facts(environ, **machine, loaded={}))
    environ["KERAS_BACKEND"] = name
    environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # warnings and errors stay visible
    if load:
        quiet.watch_tensorflow(name)
        quiet.load_keras()
    return Choice(name, reason)


def wait(x, *, frameworks: Mapping | None = None):
    """Come back when every computation behind `x` has finished.

    Parameters
    ----------
    x : object
        Tensors, Keras variables and models, and any nesting of them in lists, tuples and
        dictionaries. What has nothing to wait for is passed over.
    frameworks : mapping of name to module, optional
        By default those that are loaded.
    Returns
    -------
    object
        `x` itself.
    Examples
    --------
    >>> wait({"a": [1, 2.0], "b": None})
    {'a': [1, 2.0], 'b': None}
    """
    frameworks = sys.modules if frameworks is None else frameworks
    found = _tensors(x)
    if "jax" in found:
        frameworks["jax"].block_until_ready(found["jax"])
    if any("CPU" not in (tensor.device or "CPU") for tensor in found.get("tensorflow", ())):
        # on a CPU eager TensorFlow has finished when it returns; this waits without a copy
        frameworks["tensorflow"].test.experimental.sync_devices()
    for tensor in found.get("torch", ()):
        if tensor.device.type == "cuda":
            frameworks["torch"].cuda.synchronize(tensor.device)
    return x


def devices() -> tuple[str, ...]:
    """The kinds of device that Keras can use here: ("cpu",), ("cpu", "gpu") or ("cpu", "tpu").

    Raises
    ------
    RuntimeError
        If Keras is not loaded yet (see `choose`).
    """
    name = framework()
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
    name = framework()
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
    found = _tensors(x)
    if "tensorflow" in found:
        return found["tensorflow"][0].device.rpartition("device:")[2].partition(":")[0].lower()
    if "jax" in found:
        return _jax_kind(next(iter(found["jax"][0].devices())))
    if "torch" in found:
        return found["torch"][0].device.type.replace("cuda", "gpu")
    if not hasattr(x, "__array__") and not isinstance(x, (list, tuple)):
        raise TypeError(
            "where needs a tensor, a Keras variable or model, or a NumPy array; got "
            f"{type(x).__name__}: {shown(x)}."
        )
    return "cpu"


def framework() -> str:
    """What Keras runs on here: "tensorflow", "jax" or "torch"; Keras must have been loaded."""
    if "keras" not in sys.modules:
        raise RuntimeError("Keras is not loaded yet. Call accel_helpers.backend.choose() first.")
    return sys.modules["keras"].backend.backend()


def jit(fn: Callable) -> Callable:
    """Compile a function of tensors with the framework under Keras.

    Parameters
    ----------
    fn : callable
        Written with ``keras.ops``; the first call of what comes back compiles it.
    """
    name = framework()
    if name == "tensorflow":
        return sys.modules["tensorflow"].function(fn, autograph=False)
    if name == "jax":
        return sys.modules["jax"].jit(fn)
    return fn


def _decide(it: faults.Facts) -> tuple[str, str]:
    if wrong := faults.said(it, "keras-backend-unknown", "keras-backend-not-installed"):
        raise ValueError(" ".join(wrong))
    if wrong := faults.said(it, "framework-missing"):
        raise RuntimeError(" ".join(wrong))
    if it.asked:
        return it.asked, "KERAS_BACKEND asks for it."
    there = [name for name in faults.KERAS_KNOWS if name in it.frameworks]
    name = (faults.able(it) or there)[0]
    if name == "torch":
        return name, "neither TensorFlow nor JAX is installed here."
    if name == "tensorflow":
        return name, "it is installed here."
    if it.kind == "TPU":
        return name, "a TPU is attached, and JAX is what drives it."
    if "tensorflow" not in it.frameworks:
        return name, "TensorFlow is not installed here."
    return name, f"TensorFlow is passed over. {faults.against(it, 'tensorflow')[0].cause}"


def _tensors(x) -> dict[str, list]:
    """The tensors in a nesting of things, by the framework that they belong to."""
    found: dict[str, list] = {}
    left, seen = deque([x]), set()
    while left:
        x = left.popleft()
        if x is None or isinstance(x, (bool, int, float, str, bytes)) or id(x) in seen:
            continue
        seen.add(id(x))
        family = type(x).__module__.partition(".")[0]
        if isinstance(x, Mapping):
            left += x.values()
        elif isinstance(x, (list, tuple, set, frozenset)):
            left += x
        elif family in ("jax", "jaxlib") and hasattr(x, "block_until_ready"):
            found.setdefault("jax", []).append(x)
        elif family == "tensorflow" and hasattr(x, "device") and hasattr(x, "dtype"):
            found.setdefault("tensorflow", []).append(x)
        elif family == "torch" and hasattr(x, "device"):
            found.setdefault("torch", []).append(x)
        elif hasattr(x, "weights") and hasattr(x, "fit"):  # a Keras model
            left += [weight.value for weight in x.weights]
        elif family == "keras" and hasattr(x, "value"):  # a Keras variable
            left.append(x.value)
    return found


def _check_device(device) -> None:
    here = devices()
    if device not in here:
        raise ValueError(
            "device must be one of those that the framework lists here, "
            f"{', '.join(map(repr, here))}; got {device!r}."
        )


def _jax_kind(device) -> str:
    return {"cuda": "gpu", "rocm": "gpu"}.get(device.platform, device.platform)
