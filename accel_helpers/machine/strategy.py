"""Where to train: on a TPU, on one GPU or several, or on the CPU."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from accel_helpers._values.words import wrapped
from accel_helpers.machine import backend, faults
from accel_helpers.machine.facts import SPOKEN, Facts

#: The kinds of strategy, and what each trains on; the braces stand for the number of replicas.
KINDS = {
    "tpu on jax": "the TPU (chips: {})",
    "several gpus": "{} GPUs",
    "one gpu": "one GPU",
    "cpu": "the CPU",
}
# Faults because of which the CPU trains, or the beginnings of their names.
_REASONS = ("framework-missing", "keras-backend-unknown", "gpu-", "tpu-claimed", "no-accelerator")


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
    reason: str  # where an accelerator is missing or not used, what to do about it

    def build(self) -> Any:
        """Load Keras and return the framework's own object for these devices.

        Returns
        -------
        tf.distribute.Strategy or keras.distribution.DataParallel
            A ``MirroredStrategy`` over several devices; TensorFlow's default strategy on one.

        Raises
        ------
        RuntimeError
            If Keras runs on another framework by now, if it sees fewer devices than are attached,
            or if loading it could end the process (tensorflow-tpu).
        ValueError
            If the framework is not installed.
        """
        backend.choose(self.backend)
        import keras

        devices = keras.distribution.list_devices()
        if len(devices) < self.replicas or (self.kind != "cpu" and backend.devices() == ("cpu",)):
            raise RuntimeError(
                f"Keras sees only {devices}, and more is attached: ah.diagnose() looks for the "
                "reason."
            )
        if self.backend == "jax":
            return keras.distribution.DataParallel(devices=devices)
        import tensorflow as tf

        if self.replicas == 1:
            return tf.distribute.get_strategy()
        return tf.distribute.MirroredStrategy(devices)

    def scope(self) -> AbstractContextManager:
        """Return a context manager in which Keras trains on these devices: ``build().scope()``.

        With one device it sets nothing, so that code that refuses several replicas still runs. It
        raises the errors of `build`.
        """
        strategy = self.build()
        if self.replicas == 1:
            return nullcontext(strategy)
        return strategy.scope()

    def __str__(self) -> str:
        devices = KINDS[self.kind].format(self.replicas)
        text = f"Train on {devices}, with Keras on {SPOKEN[self.backend]}. {self.reason}"
        return wrapped(text, width=92)


def pick(**machine: Any) -> Strategy:
    """Choose where to train, from files, variables and metadata, in under five seconds.

    No framework is imported. Nothing is raised for a machine that is not as it should be: then the
    strategy trains on the CPU, and its `reason` says what is wrong.

    Parameters
    ----------
    **machine : optional
        A recorded machine: ``environ``, ``root``, ``run`` and ``versions`` as for `describe`, and
        ``loaded``, the modules; by default this one.

    Returns
    -------
    Strategy
        Its `scope` trains on all accelerators that are here, or on the CPU; its `reason` says why.

    Examples
    --------
    >>> pick(environ={}, root="/nowhere", loaded={}, versions={"jax": "0.7.2"}.get).kind
    'cpu'
    """
    facts = Facts(**machine)
    able = faults.able(facts)
    # There is no strategy for PyTorch here.
    installed = [name for name in facts.backends if name != "torch"]
    framework = [*able, *installed, "tensorflow"][0]
    if facts.bound in installed:
        framework = facts.bound
    obstacle = f"{framework}-" if facts.device else "none"
    fault = faults.said(facts, *_REASONS, obstacle)
    if not facts.device or framework not in able:
        advice = f"No accelerator is attached. For a GPU: {facts.place_words['gpu']}."
        return Strategy("cpu", framework, 1, fault or advice)
    kind, replicas = "tpu on jax", facts.device.count
    if facts.kind == "GPU":
        replicas = facts.visible_gpus
        kind = "several gpus" if replicas > 1 else "one gpu"
    reason = f"Attached: {facts.device}."
    if replicas < facts.device.count:
        reason += f" CUDA_VISIBLE_DEVICES shows {replicas} of them."
    # With a fault it may still train: TensorFlow does on some of the GPUs that are too new for it.
    return Strategy(kind, framework, replicas, f"{reason} {fault}".rstrip())
