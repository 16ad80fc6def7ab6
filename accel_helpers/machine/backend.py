"""The framework under Keras: choosing it, waiting for it, placing work on its devices."""

import functools
import importlib
import sys
from collections import deque
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import cast

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
    facts = faults.Facts(**machine, loaded={})
    choice = _decide(facts)
    environ = cast(MutableMapping[str, str], facts.environ)
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
    """Import Keras without the notices that its framework writes when it starts."""
    quiet.watch_tensorflow(name)
    with quiet.held_back():
        importlib.import_module("keras")
        if "tensorflow" in sys.modules:
            # The rest of TensorFlow's notices come with its first operation.
            sys.modules["tensorflow"].constant(0) + 0


def settle(environ, jax: str | None) -> None:
    """Set what a framework reads when it starts; `jax` is the version that is installed."""
    environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # warnings and errors stay visible
    if jax in faults.STALE and faults.FRESH not in environ.get("XLA_FLAGS", ""):
        environ["XLA_FLAGS"] = f"{environ.get('XLA_FLAGS', '')} {faults.FRESH}".strip()


@functools.cache  # once is enough
def look_for_idle(root: str = "/") -> None:
    """Say where an accelerator is attached and Keras, which has trained by now, does not see it."""
    facts = faults.Facts(root=root, used=devices())
    for sentence in faults.said(facts, "attached-and-idle"):
        print(sentence)


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
    if frameworks is None:
        frameworks = sys.modules
    tensors = _tensors(x)
    if "jax" in tensors:
        frameworks["jax"].block_until_ready(tensors["jax"])
    # On a CPU eager TensorFlow has finished when it returns; this waits without a copy.
    if any(_is_off_cpu(tensor) for tensor in tensors.get("tensorflow", ())):
        frameworks["tensorflow"].test.experimental.sync_devices()
    for tensor in tensors.get("torch", ()):
        if tensor.device.type == "cuda":
            frameworks["torch"].cuda.synchronize(tensor.device)
    return x


def _is_off_cpu(tensor) -> bool:
    """Whether a TensorFlow tensor lies on another device; inside a function it names none."""
    return bool(tensor.device) and "CPU" not in tensor.device


def devices() -> tuple[str, ...]:
    """Give the kinds of device that Keras can use: ("cpu",), ("cpu", "gpu") or ("cpu", "tpu").

    A RuntimeError if Keras is not loaded yet (see `choose`).
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
    """Give the framework's name of one of the `devices`, such as "Tesla T4"; empty for a CPU."""
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
    """Say which kind of device holds `x`: "cpu", "gpu" or "tpu".

    Parameters
    ----------
    x : object
        A tensor, a Keras variable or model (its first weight is asked), or a NumPy array; a
        TypeError for anything else.
    """
    tensors = _tensors(x)
    if "tensorflow" in tensors:
        # Such as "/job:localhost/replica:0/task:0/device:GPU:0".
        place = tensors["tensorflow"][0].device
        _, _, device = place.rpartition("device:")
        kind, _, _ = device.partition(":")
        return kind.lower()
    if "jax" in tensors:
        devices_of_array = tensors["jax"][0].devices()
        return _jax_kind(next(iter(devices_of_array)))
    if "torch" in tensors:
        return tensors["torch"][0].device.type.replace("cuda", "gpu")
    if not hasattr(x, "__array__") and not isinstance(x, (list, tuple)):
        raise TypeError(f"where needs a tensor, a variable, a model or an array; got {shown(x)}.")
    return "cpu"


def framework() -> str:
    """Give what Keras runs on: "tensorflow", "jax" or "torch"; Keras must have been loaded."""
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
    if name == "jax":
        return sys.modules["jax"].jit(fn)
    return fn


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


def _decide(facts: faults.Facts) -> Choice:
    """Choose a framework for a machine, or raise what keeps it from having one."""
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


# By what a tensor of a framework is known.
_TENSORS_HAVE = {"jax": "block_until_ready", "tensorflow": "device", "torch": "device"}


def _tensors(x) -> dict[str, list]:
    """Give the tensors in a nesting of values, by the framework that they belong to."""
    tensors: dict[str, list] = {}
    waiting = deque([x])
    # What holds itself is visited once.
    visited = set()
    while waiting:
        value = waiting.popleft()
        if id(value) in visited:
            continue
        visited.add(id(value))
        package = type(value).__module__.partition(".")[0].replace("jaxlib", "jax")
        if package in _TENSORS_HAVE and hasattr(value, _TENSORS_HAVE[package]):
            tensors.setdefault(package, []).append(value)
        else:
            waiting += _parts(value, package)
    return tensors


def _parts(value, package: str) -> list:
    """Give what a container, a Keras model or a Keras variable holds; nothing of anything else."""
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    is_model = hasattr(value, "weights") and hasattr(value, "fit")
    if is_model:
        return [weight.value for weight in value.weights]
    is_variable = package == "keras" and hasattr(value, "value")
    if is_variable:
        return [value.value]
    return []


def _check_device(device) -> None:
    present = devices()
    if device not in present:
        raise ValueError(f"device must be one of those here, {present}; got {device!r}.")


def _jax_kind(device) -> str:
    if device.platform in ("cuda", "rocm"):
        return "gpu"
    return device.platform
