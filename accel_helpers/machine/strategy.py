"""Where to train: on a TPU, on one GPU or several, or on the CPU."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from accel_helpers._values.words import wrapped
from accel_helpers.machine import backend, faults
from accel_helpers.machine.facts import SPOKEN, Facts

__all__ = ["Strategy", "pick"]

#: The kinds of strategy, and what each trains on; the braces stand for the number of replicas.
KINDS = {
    "tpu on jax": "the TPU (chips: {})",
    "several gpus": "{} GPUs",
    "one gpu": "one GPU",
    "cpu": "the CPU",
}
# Faults because of which the CPU trains.
_REASONS = (
    *("framework-missing", "keras-backend-unknown", "gpu-silent", "gpu-of-another-maker"),
    *("gpu-hidden", "tpu-claimed", "no-accelerator"),
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
            If Keras runs on another framework by now, if the framework sees fewer devices than the
            machine has, or if loading it could end the process (tensorflow-tpu).
        ValueError
            If the framework is not installed.
        """
        backend.choose(self.backend)
        import keras

        devices = keras.distribution.list_devices()
        if len(devices) < self.replicas:
            raise RuntimeError(
                f"This machine has {self.replicas} devices and {SPOKEN[self.backend]} sees "
                f"{len(devices)}: ah.diagnose() looks for the reason."
            )
        devices = devices[: self.replicas]
        if self.backend == "jax":
            return keras.distribution.DataParallel(devices=devices)
        import tensorflow as tf

        if self.replicas == 1:
            return tf.distribute.get_strategy()
        return tf.distribute.MirroredStrategy(devices)

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
    wanted = [facts.bound, *able, "tensorflow", "jax"]
    installed = [name for name in wanted if name in facts.backends and name != "torch"]
    framework = [*installed, "tensorflow"][0]
    if not facts.device or framework not in able:
        obstacle = f"{framework}-" if facts.device else "none"
        reason = faults.said(facts, *_REASONS, obstacle)
        reason = reason or f"No accelerator is attached. For a GPU: {facts.place_words['gpu']}."
        return Strategy("cpu", framework, 1, reason)
    reason = f"Attached: {facts.device}."
    if facts.kind == "TPU":
        return Strategy("tpu on jax", framework, facts.device.count, reason)
    visible = facts.visible_gpus
    if visible < facts.device.count:
        reason += f" CUDA_VISIBLE_DEVICES shows {visible} of them."
    # TensorFlow may fail on a GPU that is too new for it.
    doubt = faults.said(facts, "gpu-too-new")
    kind = "several gpus" if visible > 1 else "one gpu"
    return Strategy(kind, framework, visible, f"{reason} {doubt}".rstrip())
