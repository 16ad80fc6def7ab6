"""Where to train: on a TPU, on one GPU or several, or on the CPU."""

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from accel_helpers._values.words import wrapped
from accel_helpers.machine import backend, faults, quiet
from accel_helpers.machine.attached import Attached
from accel_helpers.machine.faults import SPOKEN, Facts

__all__ = ["Strategy", "pick"]

#: The kinds of strategy, and what each trains on.
KINDS = {
    "tpu on jax": "{} TPU chips",
    "one gpu": "one GPU",
    "several gpus": "{} GPUs",
    "cpu": "the CPU",
}
ABORTS = (
    "To import tensorflow-tpu can end this process, so it was not loaded. Keras on JAX is "
    "the way that is known: set KERAS_BACKEND=jax, then ah.pick_strategy().scope()."
)


@dataclass(frozen=True)
class Strategy:
    """Where to train, and why there.

    Build, compile and fit a Keras model in its `scope`. With several replicas on JAX, every batch
    must be a multiple of `replicas`, or ``fit`` raises a ValueError. TensorFlow takes a last batch
    that is smaller, and then means the replicas' gradients without weights.

    Examples
    --------
    >>> with pick().scope():
    ...     import keras
    ...     model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    """

    kind: str  # one of `KINDS`
    backend: str  # what Keras runs on: "tensorflow" or "jax"
    replicas: int  # copies of the model that train together, each on its share of every batch
    reason: str  # a sentence or three; where an accelerator is missing, what to do about it

    def build(self):
        """Load Keras and give the framework's own object for these devices.

        Returns
        -------
        tf.distribute.Strategy or keras.distribution.DataParallel
            A ``MirroredStrategy`` over several GPUs; TensorFlow's default strategy on one device.

        Raises
        ------
        RuntimeError
            If Keras runs on another framework by now, or the framework sees fewer devices than the
            machine has.
        """
        if self.kind == "cpu" and self.backend == "jax":
            _keep_jax_on_the_cpu()
        _load_keras(self.backend)
        if self.backend == "tensorflow":
            return _tensorflow_strategy(self.replicas)
        return _jax_distribution(self.replicas)

    def scope(self) -> AbstractContextManager:
        """Train across the devices in this block: ``build().scope()``.

        With one device on JAX nothing is set, so that what refuses several replicas still runs.
        """
        strategy = self.build()
        if self.backend == "jax" and self.replicas == 1:
            return nullcontext(strategy)
        return strategy.scope()

    def __str__(self) -> str:
        devices = KINDS[self.kind].format(self.replicas)
        if self.kind == "tpu on jax" and self.replicas == 1:
            devices = "a TPU"
        text = f"Train on {devices}, with Keras on {SPOKEN[self.backend]}. {self.reason}"
        return wrapped(text, width=92)


def _load_keras(name: str) -> None:
    """Load Keras on the framework of this name, unless that could end the process."""
    keras = sys.modules.get("keras")
    if keras is not None and keras.backend.backend() != name:
        running = keras.backend.backend()
        raise RuntimeError(
            f"Keras is already loaded on {running}, not on {name}: restart, then enter "
            "ah.pick_strategy().scope() before anything else uses the framework."
        )
    quiet.watch_tensorflow(name)
    is_loaded = "tensorflow" in sys.modules
    if name == "tensorflow" and not is_loaded and faults.installed("tensorflow-tpu"):
        raise RuntimeError(ABORTS)
    if keras is None:
        os.environ["KERAS_BACKEND"] = name
    backend.choose()


def _tensorflow_strategy(replicas: int):
    """Give a strategy over all GPUs, or the default one where there is one device."""
    import tensorflow as tf

    if replicas == 1:
        return tf.distribute.get_strategy()
    gpus = tf.config.list_logical_devices("GPU")
    _check_number(len(gpus), replicas, "GPUs", "TensorFlow")
    return tf.distribute.MirroredStrategy()


def _keep_jax_on_the_cpu() -> None:
    """Take back a JAX_PLATFORMS such as "tpu,cpu", which fails where there is no TPU."""
    import jax

    if getattr(jax.config, "jax_platforms", None):
        jax.config.update("jax_platforms", "cpu")


def _jax_distribution(replicas: int):
    """Give the distribution that shares every batch among the devices that JAX trains on."""
    import keras

    devices = keras.distribution.list_devices()
    _check_number(len(devices), replicas, "devices", "JAX")
    return keras.distribution.DataParallel(devices=devices[:replicas])


def _check_number(seen: int, wanted: int, devices: str, framework: str) -> None:
    if seen < wanted:
        raise RuntimeError(
            f"This machine has {wanted} {devices} and {framework} sees {seen}: ah.diagnose() "
            "looks for the reason."
        )


def pick(**machine) -> Strategy:
    """Choose where to train, from files, variables and metadata, in under five seconds.

    Parameters
    ----------
    **machine : optional
        A recorded machine: ``environ``, ``root``, ``run`` and ``versions`` as for
        `runtime.describe`, and ``loaded``, the modules; by default this one.

    Returns
    -------
    Strategy
        Its `scope` trains on all accelerators that are here, or on the CPU; its `reason` says why.

    Examples
    --------
    >>> pick(environ={}, root="/nowhere", loaded={}, versions={"jax": "0.7.2"}.get).kind
    'cpu'
    """
    facts = faults.Facts(**machine)
    bound, reasons = _bound(facts)
    device = facts.device
    able = faults.able(facts) if device else []
    framework = bound
    if not framework and able:
        framework = able[0]
    # A build for TPUs that cannot drive this one could not train on the CPU either.
    only_jax_can = facts.for_tpus and framework not in able and "jax" in able
    if only_jax_can and not facts.keras_on:
        framework = "jax"
        reasons.append(faults.against(facts, "tensorflow")[0].cause)
    if device and framework in able:
        return _on_device(facts, device, framework, bound, reasons)
    if device:
        reasons += _remedies(facts, device, able, bound)
    else:
        reasons += _nothing_attached(facts)
    return _on_cpu(facts, bound, reasons)


def _bound(facts: Facts) -> tuple[str, list[str]]:
    """Which framework Keras is bound to, if it is, and why."""
    framework = facts.asked
    binding = "KERAS_BACKEND asks for"
    way_back = ""
    if facts.keras_on:
        framework = facts.keras_on
        binding = "Keras is already loaded on"
        way_back = f": restart first ({facts.place_words['restart']})"
    else:
        mistakes = faults.said(facts, "keras-backend-unknown", "keras-backend-not-installed")
        if mistakes:
            return "", mistakes
    if framework in faults.STRATEGIES_KNOW:
        return framework, [f"{binding} {SPOKEN[framework]}."]
    if not framework:
        return "", []
    spoken = SPOKEN.get(framework, framework)
    return "", [f"{binding} {spoken}, which no strategy here knows{way_back}."]


def _nothing_attached(facts: Facts) -> list[str]:
    """Why there is no accelerator, and what the variables of old TPUs are worth."""
    reasons = faults.said(facts, "gpu-not-handed-over", "gpu-silent", "tpu-claimed")
    if not reasons:
        usable = ""
        if facts.system.startswith("macOS"):
            usable = " that the course can use"
        reasons = [f"No accelerator{usable} is attached. {facts.place_words['accelerator']}"]
    for name in ("old-tpu-node", "grpc-address", "tpu-name"):
        if name in facts.faults:
            reasons.append(facts.faults[name].cause)
    return reasons


def _remedies(facts: Facts, device: Attached, able: list[str], bound: str) -> list[str]:
    """What keeps the frameworks off the device, and the way to it."""
    frameworks = [bound] if bound else list(faults.STRATEGIES_KNOW)
    obstacles = faults.against(facts, *frameworks)
    reasons = [f"{_attached(device)}, and not used."]
    for name in frameworks:
        if name not in facts.frameworks:
            reasons.append(f"{SPOKEN[name]} is not installed.")
    reasons += [fault.cause for fault in obstacles]
    if facts.tensorflow_drives_tpu:
        reasons.append("ah.tpu.recipe() prints the cell that starts TensorFlow's TPUStrategy.")
    if not able:
        fixes = dict.fromkeys(fault.fix for fault in obstacles)
        return reasons + list(fixes)
    variable = "take KERAS_BACKEND out of the environment, "
    if facts.keras_on:
        variable = ""
    reasons.append(
        f"Keras on {SPOKEN[able[0]]} can use it, with nothing to install: {variable}"
        f"restart ({facts.place_words['restart']}) and pick before anything else."
    )
    return reasons


def _on_device(
    facts: Facts, device: Attached, framework: str, bound: str, reasons: list[str]
) -> Strategy:
    count = device.count
    if facts.kind == "TPU":
        kind = "tpu on jax"
        pronoun = "it" if count == 1 else "them"
        reasons.append(f"{_attached(device)}, and JAX drives {pronoun}.")
    else:
        count = facts.visible_gpus
        kind = "several gpus" if count > 1 else "one gpu"
        reasons.append(f"{_attached(device)}.")
    new_gpu = facts.faults.get("gpu-too-new")
    if new_gpu and framework == "tensorflow":
        reasons += [new_gpu.cause, new_gpu.fix]
    elif new_gpu and not bound:
        reasons += [new_gpu.cause, "So Keras runs on JAX (we have not tried this GPU)."]
    if count < device.count:
        reasons.append(f"CUDA_VISIBLE_DEVICES shows {count} of {device.count}.")
    return Strategy(kind, framework, count, " ".join(reasons))


def _on_cpu(facts: Facts, bound: str, reasons: list[str]) -> Strategy:
    installed = [name for name in faults.STRATEGIES_KNOW if name in facts.frameworks]
    framework = bound
    if not framework:
        framework = installed[0] if installed else "tensorflow"
    # Such a TensorFlow cannot train here.
    for_missing_tpu = facts.for_tpus and not facts.tensorflow_drives_tpu
    jax_is_free = framework != "jax" and "jax" in installed and not facts.keras_on
    if for_missing_tpu and jax_is_free:
        framework = "jax"
        reasons += ["JAX trains on the CPU.", *faults.said(facts, "tensorflow-tpu-without-tpu")]
    if not installed:
        reasons.append("Neither TensorFlow nor JAX is installed: pip install tensorflow")
    return Strategy("cpu", framework, 1, " ".join(reasons))


def _attached(device: Attached) -> str:
    name = device.name
    if device.count > 1:
        return f"{device.count} x {name} are attached"
    # NVIDIA is spoken with a vowel first.
    has_vowel = name[:1] in "AEIO" or name.startswith("NVIDIA")
    article = "An" if has_vowel else "A"
    return f"{article} {name} is attached"
