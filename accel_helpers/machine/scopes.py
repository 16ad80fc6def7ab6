"""What a strategy does to the framework: load it with enough devices, and train across them.

`strategy.Strategy.scope` is the door to this module. A virtual device is a slice of the same CPU;
a framework takes their number only before it starts, so it comes first.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext

from accel_helpers import probe
from accel_helpers.machine import backend, faults, quiet, recipe, runtime

SPOKEN = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}
# At least so many, so that strategies of several sizes fit into one kernel; with eight, JAX's short
# steps take half as long again on two cores, with four hardly more.
VIRTUAL_DEVICES = 4

IMPORT_SECONDS, START_SECONDS = 60.0, 120.0  # for a try in a child process

# A resolver finds "local" also where there is no TPU; only starting one shows whether it is there.
_START_TPU = """
import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
assert tf.config.list_logical_devices("TPU")
"""

_PLACES = {"colab": "Colab", "kaggle": "Kaggle", "local": "Jupyter"}
_open: list[str] = []  # the scope that is open now, if any: frameworks keep theirs per process


class RestartNeeded(RuntimeError):
    """The framework was started in a way that cannot be changed; a restart gives a fresh one."""

    def __init__(self, happened: str, place: str, replicas: int):
        asked = f"replicas={replicas}" if replicas > 1 else ""
        super().__init__(
            f"{happened}: restart ({_PLACES[place]}: {faults.known().place[place].restart}), then "
            f"enter ah.strategy.pick({asked}).scope() before anything else uses the framework."
        )


@contextmanager
def open_scope(kind: str, name: str, replicas: int, place: str) -> Iterator[None]:
    """Load Keras on a framework and train across devices; leave the process as it was."""
    if _open:
        raise RuntimeError(
            f"A scope is open already ({_open[-1]}), and a model trains in one only: leave its "
            "`with` block, then enter this one."
        )
    _load(name, kind, replicas, place)
    with ExitStack() as opened:
        opened.enter_context({"tensorflow": _on_tensorflow, "jax": _on_jax}[name](kind, replicas))
        _open.append(kind)
        opened.callback(_open.clear)
        yield


def _load(name: str, kind: str, replicas: int, place: str) -> None:
    keras = sys.modules.get("keras")
    if keras is not None and keras.backend.backend() != name:
        happened = f"Keras is already loaded on {keras.backend.backend()}, not on {name}"
        raise RestartNeeded(happened, place, replicas)
    quiet.watch_tensorflow(name)
    if kind == "tpu on tensorflow":
        _try_tpu(place)
    elif name == "tensorflow" and runtime.installed("tensorflow-tpu"):
        _try_import()
    before = os.environ.get("KERAS_BACKEND")
    if keras is None:
        os.environ["KERAS_BACKEND"] = name
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    try:
        if kind in ("cpu", "virtual replicas"):
            _prepare_cpus(name, replicas, place)
        backend.choose()
    except BaseException:
        if "keras" not in sys.modules:  # nothing is settled: leave the choice as it was
            os.environ.pop("KERAS_BACKEND", None)
            if before is not None:
                os.environ["KERAS_BACKEND"] = before
        raise


def _try_import() -> None:
    """Import a TensorFlow that is built for TPUs in a child first: it can end the kernel."""
    if "tensorflow" in sys.modules:
        return
    os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")  # without it, minutes of asking for a TPU
    tried = probe.run("import tensorflow", seconds=IMPORT_SECONDS)
    if tried.kind != "finished":
        raise RuntimeError(
            f"tensorflow-tpu is installed, and importing it in a child process {tried.ending}. It "
            "is not imported here, since it would end the kernel. Uninstall it (pip uninstall -y "
            "tensorflow-tpu), or train with Keras on JAX: KERAS_BACKEND=jax."
        )


def _try_tpu(place: str) -> None:
    """Set what TensorFlow needs for a TPU, and try it in a child before this process."""
    missing = {k: v for k, v in recipe.settings().items() if not os.environ.get(k)}
    if "tensorflow" in sys.modules:
        if missing:
            happened = "TensorFlow is already loaded, without the settings that a TPU needs"
            raise RestartNeeded(happened, place, 1)
        return
    tried = probe.run(_START_TPU, seconds=START_SECONDS, environ=missing)
    if tried.kind != "finished":
        raise RuntimeError(
            f"Starting the TPU with TensorFlow in a child process {tried.ending}. Nothing was "
            "loaded here. Keras on JAX is the way that is known: set KERAS_BACKEND=jax, then "
            "ah.strategy.pick().scope()."
        )
    os.environ.update(missing)


def _prepare_cpus(name: str, replicas: int, place: str) -> None:
    """Give a framework its virtual CPUs, if it has not started."""
    wanted = max(VIRTUAL_DEVICES, replicas)
    with quiet.held_back():
        there = {"tensorflow": _tensorflow_cpus, "jax": _jax_cpus}[name](wanted)
    if there < replicas:
        happened = (
            f"{SPOKEN[name]} has already started with {there} CPU "
            f"device{'s' if there > 1 else ''}, and cannot be given {replicas} any more"
        )
        raise RestartNeeded(happened, place, replicas)


def _tensorflow_cpus(wanted: int) -> int:
    config = importlib.import_module("tensorflow").config
    (cpu, *_) = config.list_physical_devices("CPU")
    has = len(config.get_logical_device_configuration(cpu) or [None])
    if has >= wanted:
        return has
    try:
        config.set_logical_device_configuration(cpu, [config.LogicalDeviceConfiguration()] * wanted)
    except RuntimeError:  # it has started
        return len(config.list_logical_devices("CPU"))
    return wanted


def _jax_cpus(wanted: int) -> int:
    jax = importlib.import_module("jax")
    if jax.config.jax_platforms:  # "tpu,cpu" would fail where there is no TPU
        jax.config.update("jax_platforms", "cpu")
    try:
        jax.config.update("jax_num_cpu_devices", wanted)
    except RuntimeError:  # it has started
        pass
    return len(jax.devices("cpu"))


def _on_tensorflow(kind: str, replicas: int):
    """The scope of TensorFlow's own strategy, or one that does nothing."""
    tf = sys.modules["tensorflow"]
    if kind == "tpu on tensorflow":
        return _tpu_strategy(tf).scope()
    if replicas == 1:
        # A build for TPUs lacks the compiler for CPUs, and Keras uses none within a strategy.
        lacking = kind == "cpu" and runtime.installed("tensorflow-tpu")
        return tf.distribute.OneDeviceStrategy("CPU:0").scope() if lacking else nullcontext()
    device = "GPU" if kind == "several gpus" else "CPU"
    names = [each.name for each in tf.config.list_logical_devices(device)]
    _check_number(names, replicas, device, "TensorFlow")
    # The default way to add up gradients between CPUs takes one number of replicas per process;
    # adding them up on one device takes any. Between GPUs, TensorFlow's own choice is the fast one.
    across = None if device == "GPU" else tf.distribute.ReductionToOneDevice()
    return tf.distribute.MirroredStrategy(names[:replicas], cross_device_ops=across).scope()


@functools.cache
def _tpu_strategy(tf):
    """Start the TPU, once: to start it again loses the variables on it."""
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)


@contextmanager
def _on_jax(kind: str, replicas: int) -> Iterator[None]:
    distribution, spread = sys.modules["keras"].distribution, None
    if replicas > 1:
        device = {"several gpus": "gpu", "tpu on jax": "tpu"}.get(kind, "cpu")
        try:
            names = distribution.list_devices(device)
        except RuntimeError:  # JAX knows no device of this kind
            names = []
        _check_number(names, replicas, device.upper(), "JAX")
        spread = distribution.DataParallel(devices=names[:replicas])
    before = distribution.distribution()
    distribution.set_distribution(spread)
    try:
        yield
    finally:
        distribution.set_distribution(before)


def _check_number(names: list, replicas: int, device: str, spoken: str) -> None:
    if len(names) < replicas:
        raise RuntimeError(
            f"{replicas} {device}s were asked for and {spoken} sees {len(names)}. "
            "ah.doctor.diagnose() looks for the reason; ah.strategy.pick(replicas=1) trains on one."
        )
