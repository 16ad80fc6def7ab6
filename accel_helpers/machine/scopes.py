"""What a strategy does to the framework: load it with enough devices, and train across them."""

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

from accel_helpers.machine import backend, faults, quiet

# At least so many, so that strategies of several sizes fit into one kernel; with eight, JAX's short
# steps take half as long again on two cores, with four hardly more.
VIRTUAL_DEVICES = 4

_open: list[str] = []  # the scope that is open now, if any: frameworks keep theirs per process


class RestartNeeded(RuntimeError):
    """The framework was started in a way that cannot be changed; a restart gives a fresh one."""

    def __init__(self, happened: str, picked):
        asked = f"replicas={picked.replicas}" if picked.replicas > 1 else ""
        super().__init__(
            f"{happened}: restart ({faults.PLACES[picked.place]['restart']}), then enter "
            f"ah.pick_strategy({asked}).scope() before anything else uses the framework."
        )


@contextmanager
def opened(picked) -> Iterator:
    """Load Keras as a strategy says and train across devices; leave the process as it was."""
    if _open:
        raise RuntimeError(f"A scope is open already ({_open[-1]}): leave its `with` block first.")
    name, kind, keras = picked.backend, picked.kind, sys.modules.get("keras")
    if keras is not None and (running := keras.backend.backend()) != name:
        raise RestartNeeded(f"Keras is already loaded on {running}, not on {name}", picked)
    quiet.watch_tensorflow(name)
    new = "tensorflow" not in sys.modules
    if name == "tensorflow" and new and faults.installed("tensorflow-tpu"):
        raise RuntimeError(
            "To import tensorflow-tpu can end this process, so it was not loaded. Keras on JAX is "
            "the way that is known: set KERAS_BACKEND=jax, then ah.pick_strategy().scope()."
        )
    backend.settle(os.environ, faults.installed("jax"))
    if kind in ("cpu", "virtual replicas"):
        _prepare_cpus(picked)
    if keras is None:
        os.environ["KERAS_BACKEND"] = name
    backend.choose()
    with (_on_tensorflow if name == "tensorflow" else _on_jax)(kind, picked.replicas):
        _open.append(kind)
        try:
            yield picked
        finally:
            _open.clear()


def _prepare_cpus(picked) -> None:
    """Give a framework its virtual CPUs, if it has not started."""
    wanted = max(VIRTUAL_DEVICES, picked.replicas)
    with quiet.held_back():
        framework = importlib.import_module(picked.backend)
        give = _tensorflow_cpus if picked.backend == "tensorflow" else _jax_cpus
        there = give(framework, wanted)
    if there < picked.replicas:
        started = f"{faults.SPOKEN[picked.backend]} has already started with {there} of the"
        raise RestartNeeded(f"{started} {picked.replicas} CPU devices", picked)


def _tensorflow_cpus(tf, wanted: int) -> int:
    (cpu, *_) = tf.config.list_physical_devices("CPU")
    slices = [tf.config.LogicalDeviceConfiguration()] * wanted
    with suppress(RuntimeError):  # it has started
        tf.config.set_logical_device_configuration(cpu, slices)
    return len(tf.config.list_logical_devices("CPU"))


def _jax_cpus(jax, wanted: int) -> int:
    if jax.config.jax_platforms:  # "tpu,cpu" would fail where there is no TPU
        jax.config.update("jax_platforms", "cpu")
    with suppress(RuntimeError):  # it has started
        jax.config.update("jax_num_cpu_devices", wanted)
    return len(jax.devices("cpu"))


def _on_tensorflow(kind: str, replicas: int):
    """The scope of TensorFlow's own strategy, or one that does nothing."""
    tf = sys.modules["tensorflow"]
    if replicas == 1:
        return nullcontext()
    device = "GPU" if kind == "several gpus" else "CPU"
    names = [each.name for each in tf.config.list_logical_devices(device)]
    _check_number(names, replicas, device, "TensorFlow")
    # The default way to add up gradients between CPUs takes one number of replicas per process;
    # adding them up on one device takes any. Between GPUs, TensorFlow's own choice is the fast one.
    across = None if device == "GPU" else tf.distribute.ReductionToOneDevice()
    return tf.distribute.MirroredStrategy(names[:replicas], cross_device_ops=across).scope()


@contextmanager
def _on_jax(kind: str, replicas: int) -> Iterator[None]:
    distribution, spread = sys.modules["keras"].distribution, None
    if replicas > 1:
        device = {"several gpus": "gpu", "tpu on jax": "tpu"}.get(kind, "cpu")
        names = []
        with suppress(RuntimeError):  # JAX knows no device of this kind
            names = distribution.list_devices(device)
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
        seen = f"{replicas} {device}s were asked for and {spoken} sees {len(names)}"
        raise RuntimeError(f"{seen}: ah.diagnose() looks for the reason.")
