"""The framework under Keras: choosing it, waiting for it, placing work on its devices."""

import functools
import importlib
import sys
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from accel_helpers._values.words import shown
from accel_helpers.machine import faults, quiet

__all__ = ["choose", "device_name", "devices", "groups_steps", "jit", "on", "wait", "where"]


@dataclass(frozen=True)
class Choice:
    """Which framework Keras runs on, and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"Keras runs on {self.name}: {self.reason}"


def choose(**machine) -> Choice:
    """Choose the framework for Keras, before Keras is imported, and load it.

    ``KERAS_BACKEND`` is honoured. Without it: JAX where a TPU is attached, else TensorFlow where it
    is installed, else JAX; but what is known not to use the device comes last, and so does
    tensorflow-tpu without a TPU: it can end the kernel, so its import becomes an ImportError.

    Parameters
    ----------
    **machine : optional
        A recorded machine, as for `runtime.describe`: ``KERAS_BACKEND`` is set in its ``environ``,
        and nothing is loaded.

    Raises
    ------
    ValueError, RuntimeError
        If ``KERAS_BACKEND`` names what is not here; if no framework is here.

    Examples
    --------
    >>> print(choose(environ={}, root="/nowhere", versions={"jax": "0.7.2"}.get))
    Keras runs on jax: TensorFlow is not installed here.
    """
    if not machine and "keras" in sys.modules:
        name = framework()
        quiet.watch_tensorflow(name)
        return Choice(name, "it was already loaded; restart the runtime to change it.")
    it = faults.Facts(**machine, loaded={})
    choice = _decide(it)
    it.environ["KERAS_BACKEND"] = choice.name
    settle(it.environ, it.frameworks.get("jax"))
    if not machine:
        quiet.watch_tensorflow(choice.name)
        with quiet.held_back():
            importlib.import_module("keras")
            if "tensorflow" in sys.modules:  # the rest of its notices come with the first op
                sys.modules["tensorflow"].constant(0) + 0
        told = ["another-chip"]
        if choice.name == "jax":
            told.append("jax-computes-wrongly")
        print(end="".join(f"{said}\n" for said in faults.said(faults.Facts(), *told)))
    return choice


def settle(environ, jax: str | None) -> None:
    """Set what a framework reads when it starts; `jax` is the version that is installed."""
    environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # warnings and errors stay visible
    if jax in faults.STALE and faults.FRESH not in environ.get("XLA_FLAGS", ""):
        environ["XLA_FLAGS"] = f"{environ.get('XLA_FLAGS', '')} {faults.FRESH}".strip()


@functools.cache  # once is enough
def look_for_idle(root: str = "/") -> None:
    """Say where an accelerator is attached and Keras, which has trained by now, does not see it."""
    it = faults.Facts(root=root, used=devices())
    print(end="".join(f"{said}\n" for said in faults.said(it, "attached-and-idle")))


def wait(x, *, frameworks: Mapping | None = None):
    """Come back when every computation behind `x` has finished, with `x` itself.

    Parameters
    ----------
    x : object
        Tensors, Keras variables and models, and any nesting of them in lists, tuples and
        dictionaries. What has nothing to wait for is passed over.
    frameworks : mapping of name to module, optional
        By default those that are loaded.

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

    A RuntimeError if Keras is not loaded yet (see `choose`).
    """
    name = framework()
    if name == "tensorflow":
        found = sys.modules["tensorflow"].config.list_logical_devices()
        kinds = {device.device_type.lower() for device in found}
    elif name == "jax":
        kinds = {_jax_kind(device) for device in sys.modules["jax"].devices()}
    else:
        kinds = {"gpu"} if sys.modules["torch"].cuda.is_available() else set()
    return ("cpu", *sorted(kinds & {"gpu", "tpu"}))


def device_name(device: str) -> str:
    """What the framework calls one of the `devices`, such as "Tesla T4"; empty for a CPU."""
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


def on(device: str):
    """Place the work of a ``with`` block on a device, one of those that `devices` names.

    A ValueError where this machine has no such device: work would silently go elsewhere.
    """
    _check_device(device)
    return sys.modules["keras"].device(f"{device}:0")


def where(x) -> str:
    """Which kind of device holds `x`: "cpu", "gpu" or "tpu".

    Parameters
    ----------
    x : object
        A tensor, a Keras variable or model (its first weight is asked), or a NumPy array; a
        TypeError for anything else.
    """
    found = _tensors(x)
    if "tensorflow" in found:
        return found["tensorflow"][0].device.rpartition("device:")[2].partition(":")[0].lower()
    if "jax" in found:
        return _jax_kind(next(iter(found["jax"][0].devices())))
    if "torch" in found:
        return found["torch"][0].device.type.replace("cuda", "gpu")
    if not hasattr(x, "__array__") and not isinstance(x, (list, tuple)):
        raise TypeError(f"where needs a tensor, a variable, a model or an array; got {shown(x)}.")
    return "cpu"


def framework() -> str:
    """What Keras runs on here: "tensorflow", "jax" or "torch"; Keras must have been loaded."""
    if "keras" not in sys.modules:
        raise RuntimeError("Keras is not loaded yet. Call ah.use_backend() first.")
    return sys.modules["keras"].backend.backend()


def jit(fn: Callable) -> Callable:
    """Compile a function of tensors with the framework under Keras.

    It is written with ``keras.ops``; the first call of what comes back compiles it.
    """
    name = framework()
    if name == "tensorflow":
        return sys.modules["tensorflow"].function(fn, autograph=False)
    return sys.modules["jax"].jit(fn) if name == "jax" else fn


def groups_steps(keras=None) -> bool:
    """Say whether ``steps_per_execution`` makes several steps one program.

    On TensorFlow it does. On JAX it does from Keras 3.16 on, where it became ``lax.scan``; before,
    it was a loop in Python (https://github.com/keras-team/keras/pull/23527).

    Parameters
    ----------
    keras : module, optional
        By default the one that is loaded.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> on_jax = SimpleNamespace(backend=lambda: "jax")
    >>> groups_steps(SimpleNamespace(backend=on_jax, __version__="3.16.0"))
    True
    """
    if keras is None:
        framework()  # an error that says what to do, where Keras is not loaded
        keras = sys.modules["keras"]
    name = keras.backend.backend()
    if name != "jax":
        return name == "tensorflow"
    major, minor = keras.__version__.split(".")[:2]
    return (int(major), int(minor)) >= (3, 16)


def _decide(it: faults.Facts) -> Choice:
    if wrong := faults.said(it, "keras-backend-unknown", "keras-backend-not-installed"):
        raise ValueError(" ".join(wrong))
    if wrong := faults.said(it, "framework-missing"):
        raise RuntimeError(" ".join(wrong))
    if it.asked:
        return Choice(it.asked, "KERAS_BACKEND asks for it.")
    name = (faults.able(it) or it.backends)[0]
    if name in ("tensorflow", "torch"):
        return Choice(name, "it is installed here.")
    if it.kind == "TPU":
        return Choice(name, "a TPU is attached, and JAX is what drives it.")
    if "tensorflow" not in it.frameworks:
        return Choice(name, "TensorFlow is not installed here.")
    why = faults.against(it, "tensorflow")[0].cause
    return Choice(name, f"TensorFlow is passed over. {why}")


# By what a tensor of a framework is known.
_TENSORS_HAVE = {"jax": "block_until_ready", "tensorflow": "device", "torch": "device"}


def _tensors(x) -> dict[str, list]:
    """The tensors in a nesting of things, by the framework that they belong to."""
    found: dict[str, list] = {}
    left, seen = deque([x]), set()
    while left:
        x = left.popleft()
        if x is None or isinstance(x, (bool, int, float, str, bytes)) or id(x) in seen:
            continue
        seen.add(id(x))
        family = type(x).__module__.partition(".")[0].replace("jaxlib", "jax")
        if isinstance(x, Mapping):
            left += x.values()
        elif isinstance(x, (list, tuple, set, frozenset)):
            left += x
        elif hasattr(x, _TENSORS_HAVE.get(family, "")):
            found.setdefault(family, []).append(x)
        elif hasattr(x, "weights") and hasattr(x, "fit"):  # a Keras model
            left += [weight.value for weight in x.weights]
        elif family == "keras" and hasattr(x, "value"):  # a Keras variable
            left.append(x.value)
    return found


def _check_device(device) -> None:
    here = devices()
    if device not in here:
        raise ValueError(f"device must be one of those here, {here}; got {device!r}.")


def _jax_kind(device) -> str:
    return {"cuda": "gpu", "rocm": "gpu"}.get(device.platform, device.platform)
