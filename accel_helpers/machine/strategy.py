"""Where to train: on a TPU, on one GPU or several, or on the CPU.

A *strategy* is the choice of a framework and of devices. *Reasons* are the sentences that explain
it, in order. Keras is *bound* to a framework where it is loaded on it, or KERAS_BACKEND names it.
"""

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from accel_helpers._values.words import wrapped
from accel_helpers.machine import backend, faults, quiet
from accel_helpers.machine.attached import Attached
from accel_helpers.machine.faults import SPOKEN, Facts

__all__ = ["Strategy", "pick"]

#: The kinds of strategy, and what each trains on; the braces stand for the number of replicas.
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
    that is smaller, and then averages the replicas' gradients without weights.

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

    def build(self) -> Any:
        """Load Keras and return the framework's own object for these devices.

        Returns
        -------
        tf.distribute.Strategy or keras.distribution.DataParallel
            A ``MirroredStrategy`` over several GPUs; TensorFlow's default strategy on one device.

        Raises
        ------
        RuntimeError
            If Keras runs on another framework by now, if the framework sees fewer devices than the
            machine has, or if loading the framework could end the process (tensorflow-tpu).
        ValueError
            If the framework is not installed.
        """
        if self.kind == "cpu" and self.backend == "jax":
            _keep_jax_on_the_cpu()
        _load_keras(self.backend)
        if self.backend == "tensorflow":
            return _tensorflow_strategy(self.replicas)
        return _jax_distribution(self.replicas)

    def scope(self) -> AbstractContextManager:
        """Return a context manager in which Keras trains on these devices: ``build().scope()``.

        With one device on JAX it sets nothing, so that code that refuses several replicas still
        runs. It raises the errors of `build`.
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
    """Load Keras on the framework `name`, "tensorflow" or "jax".

    Raises RuntimeError if Keras is already loaded on another one, or if loading TensorFlow could
    end the process; and ValueError if the framework is not installed.
    """
    keras = sys.modules.get("keras")
    if keras is not None and keras.backend.backend() != name:
        running = keras.backend.backend()
        raise RuntimeError(
            f"Keras is already loaded on {running}, not on {name}: restart, then enter "
            "ah.pick_strategy().scope() before anything else uses the framework."
        )
    quiet.keep_out_tensorflow(name)
    is_loaded = sys.modules.get("tensorflow") is not None
    if name == "tensorflow" and not is_loaded and faults.installed("tensorflow-tpu"):
        raise RuntimeError(ABORTS)
    if keras is None:
        os.environ["KERAS_BACKEND"] = name
    backend.choose()


def _tensorflow_strategy(replicas: int) -> Any:
    """Return TensorFlow's strategy over all GPUs, or its default one for a single replica.

    Raises RuntimeError if there is more than one replica, and TensorFlow sees fewer GPUs.
    """
    import tensorflow as tf

    if replicas == 1:
        return tf.distribute.get_strategy()
    gpus = tf.config.list_logical_devices("GPU")
    _check_number(len(gpus), minimum=replicas, devices="GPUs", framework="TensorFlow")
    return tf.distribute.MirroredStrategy()


def _keep_jax_on_the_cpu() -> None:
    """Have JAX use the CPU alone if JAX_PLATFORMS is set.

    A setting such as "tpu,cpu" would fail where there is no TPU. JAX is imported for it.
    """
    import jax

    if getattr(jax.config, "jax_platforms", None):
        jax.config.update("jax_platforms", "cpu")


def _jax_distribution(replicas: int) -> Any:
    """Return Keras's distribution that shares every batch among the first devices that JAX sees.

    Raises RuntimeError if JAX sees fewer than `replicas`.
    """
    import keras

    devices = keras.distribution.list_devices()
    _check_number(len(devices), minimum=replicas, devices="devices", framework="JAX")
    return keras.distribution.DataParallel(devices=devices[:replicas])


def _check_number(count: int, *, minimum: int, devices: str, framework: str) -> None:
    """Raise a RuntimeError if a framework sees fewer devices than the machine has.

    `devices` and `framework` are words for its message, such as "GPUs" and "TensorFlow".
    """
    if count < minimum:
        raise RuntimeError(
            f"This machine has {minimum} {devices} and {framework} sees {count}: ah.diagnose() "
            "looks for the reason."
        )


def pick(**machine: Any) -> Strategy:
    """Choose where to train, from files, variables and metadata, in under five seconds.

    No framework is imported. Nothing is raised for a machine that is not as it should be: then the
    strategy trains on the CPU, and its `reason` says what is wrong.

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
    bound_framework, reasons = _bound(facts)
    device = facts.device
    able_frameworks = faults.able(facts) if device else []
    framework = bound_framework
    if not framework and able_frameworks:
        framework = able_frameworks[0]
    # A build for TPUs that cannot drive this one could not train on the CPU either.
    has_bad_build = facts.for_tpus and framework not in able_frameworks
    if has_bad_build and "jax" in able_frameworks and not facts.keras_on:
        framework = "jax"
        reasons.append(faults.against(facts, "tensorflow")[0].cause)
    if device and framework in able_frameworks:
        return _on_device(facts, device, framework, bound_framework, reasons)
    if device:
        reasons += _remedies(facts, device, able_frameworks, bound_framework)
    else:
        reasons += _nothing_attached(facts)
    return _on_cpu(facts, bound_framework, reasons)


def _bound(facts: Facts) -> tuple[str, list[str]]:
    """Return the framework that Keras is bound to, and the reasons.

    ("jax", ["KERAS_BACKEND asks for JAX."]), or ("", []) where it is not bound. ("", reasons) is
    returned, too, where it is bound to a framework for which there is no strategy, or which is not
    installed.
    """
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
    """Return the reasons why no accelerator is used on a machine that has none; at least one.

    A reason is added for each variable that is set for an old TPU, such as COLAB_TPU_ADDR.
    """
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


def _remedies(
    facts: Facts, device: Attached, able_frameworks: list[str], bound_framework: str
) -> list[str]:
    """Return the reasons why the attached device is not used, and what to do about it.

    `able_frameworks` are installed and can use the device; Keras is not going to run on any of
    them. `bound_framework` is empty where Keras is not bound to a framework.
    """
    frameworks = [bound_framework] if bound_framework else list(faults.STRATEGIES_KNOW)
    obstacles = faults.against(facts, *frameworks)
    reasons = [f"{_attached(device)}, and not used."]
    for name in frameworks:
        if name not in facts.frameworks:
            reasons.append(f"{SPOKEN[name]} is not installed.")
    reasons += [finding.cause for finding in obstacles]
    if facts.tensorflow_drives_tpu:
        reasons.append("ah.tpu.recipe() prints the cell that starts TensorFlow's TPUStrategy.")
    if not able_frameworks:
        # Two obstacles may have the same fix.
        fixes = dict.fromkeys(finding.fix for finding in obstacles)
        return reasons + list(fixes)
    variable = "take KERAS_BACKEND out of the environment, "
    if facts.keras_on:
        variable = ""
    reasons.append(
        f"Keras on {SPOKEN[able_frameworks[0]]} can use it, with nothing to install: {variable}"
        f"restart ({facts.place_words['restart']}) and pick before anything else."
    )
    return reasons


def _on_device(
    facts: Facts, device: Attached, framework: str, bound_framework: str, reasons: list[str]
) -> Strategy:
    """Return the strategy that trains on the attached device with `framework`.

    `framework` is one that can use the device, "tensorflow" or "jax". `bound_framework` is the same
    one, or empty where Keras is not bound to a framework. More reasons are appended to `reasons` in
    place.
    """
    replicas = device.count
    if facts.kind == "TPU":
        kind = "tpu on jax"
        pronoun = "it" if replicas == 1 else "them"
        reasons.append(f"{_attached(device)}, and JAX drives {pronoun}.")
    else:
        replicas = facts.visible_gpus
        kind = "several gpus" if replicas > 1 else "one gpu"
        reasons.append(f"{_attached(device)}.")
    new_gpu = facts.faults.get("gpu-too-new")
    if new_gpu and framework == "tensorflow":
        reasons += [new_gpu.cause, new_gpu.fix]
    elif new_gpu and not bound_framework:
        reasons += [new_gpu.cause, "So Keras runs on JAX (we have not tried this GPU)."]
    if replicas < device.count:
        reasons.append(f"CUDA_VISIBLE_DEVICES shows {replicas} of {device.count}.")
    return Strategy(kind, framework, replicas, " ".join(reasons))


def _on_cpu(facts: Facts, bound_framework: str, reasons: list[str]) -> Strategy:
    """Return the strategy that trains on the CPU, with `bound_framework` if that is not empty.

    If it is empty, Keras is bound to no framework, and the first one that is installed is used. A
    TensorFlow for TPUs is replaced by JAX where that is possible. More reasons are appended to
    `reasons` in place.
    """
    installed_frameworks = [name for name in faults.STRATEGIES_KNOW if name in facts.frameworks]
    framework = bound_framework
    if not framework:
        framework = installed_frameworks[0] if installed_frameworks else "tensorflow"
    # A TensorFlow that is built for a TPU cannot train without one.
    for_missing_tpu = facts.for_tpus and not facts.tensorflow_drives_tpu
    jax_is_free = framework != "jax" and "jax" in installed_frameworks and not facts.keras_on
    if for_missing_tpu and jax_is_free:
        framework = "jax"
        reasons += ["JAX trains on the CPU.", *faults.said(facts, "tensorflow-tpu-without-tpu")]
    if not installed_frameworks:
        reasons.append("Neither TensorFlow nor JAX is installed: pip install tensorflow")
    return Strategy("cpu", framework, 1, " ".join(reasons))


def _attached(device: Attached) -> str:
    """Return that a device is attached: "A Tesla T4 is attached", "2 x Tesla T4 are attached"."""
    name = device.name
    if device.count > 1:
        return f"{device.count} x {name} are attached"
    # "NVIDIA" is pronounced with a vowel first.
    has_vowel = name[:1] in "AEIO" or name.startswith("NVIDIA")
    article = "An" if has_vowel else "A"
    return f"{article} {name} is attached"
