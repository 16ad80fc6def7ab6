"""Where to train: on a TPU, on one GPU or several, on virtual replicas of a CPU, or on the CPU."""

from contextlib import AbstractContextManager
from dataclasses import dataclass

from accel_helpers._values import records
from accel_helpers._values.words import wrapped
from accel_helpers.machine import faults, scopes
from accel_helpers.machine.faults import SPOKEN, Facts
from accel_helpers.machine.scopes import RestartNeeded

__all__ = ["RestartNeeded", "Strategy", "pick"]

#: The kinds of strategy, and what each trains on.
KINDS = {
    "tpu on jax": "{} TPU chips",
    "one gpu": "one GPU",
    "several gpus": "{} GPUs",
    "virtual replicas": "{} virtual replicas on the CPU",
    "cpu": "the CPU",
}
MOST_REPLICAS = 16


@dataclass(frozen=True)
class Strategy:
    """Where to train, and why there.

    Build, compile and fit a Keras model in its `scope`. It loads Keras on `backend` and leaves the
    process as it was. With several replicas on JAX, every batch must be a multiple of `replicas`,
    or ``fit`` raises a ValueError. TensorFlow takes a last batch that is smaller, and then means
    the replicas' gradients without weights.

    Raises
    ------
    RestartNeeded
        By the scope, where the framework has started otherwise; ``pick(replicas=1)`` still trains.

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
    place: str = "local"  # it settles how a restart is called

    def scope(self) -> AbstractContextManager:
        """Load Keras and train across the devices in this block; one scope at a time."""
        return scopes.opened(self)

    def __str__(self) -> str:
        many = KINDS[self.kind].format(self.replicas)
        where = "a TPU" if self.kind.startswith("tpu") and self.replicas == 1 else many
        text = f"Train on {where}, with Keras on {SPOKEN[self.backend]}. {self.reason}"
        return wrapped(text, width=92)


def pick(replicas: int | None = None, **machine) -> Strategy:
    """Choose where to train, from files, variables and metadata, in under five seconds.

    Parameters
    ----------
    replicas : int, optional
        Copies of the model to train together, 1 to 16; a ValueError for anything else. By default
        as many as there are accelerators, or 1. On a CPU they are virtual: they share its cores.
    **machine : optional
        A recorded machine: ``environ``, ``root``, ``run`` and ``versions`` as for
        `runtime.describe`, and ``loaded``, the modules; by default this one.

    Examples
    --------
    >>> pick(4, environ={}, root="/nowhere", loaded={}, versions={"jax": "0.7.2"}.get).kind
    'virtual replicas'
    """
    if replicas is not None and records.whole(replicas, "replicas") > MOST_REPLICAS:
        raise ValueError(f"replicas must be {MOST_REPLICAS} at most; got {replicas!r}.")
    it = faults.Facts(**machine)
    bound, why = _bound(it)
    able = faults.able(it) if it.device else []
    name = bound or (able or [""])[0]
    # A build for TPUs that cannot drive this one could not train on the CPU either.
    if it.for_tpus and name not in able and "jax" in able and not it.keras_on:
        name = "jax"
        why.append(faults.against(it, "tensorflow")[0].cause)
    if name in able:
        return _on_device(it, name, bound, replicas, why)
    why += _remedies(it, able, bound) if it.device else _nothing_attached(it)
    return _on_cpu(it, bound, replicas, why)


def _bound(it: Facts) -> tuple[str, list[str]]:
    """Which framework Keras is bound to, if it is, and why."""
    bound, how, back = it.asked, "KERAS_BACKEND asks for", ""
    if it.keras_on:
        bound, how = it.keras_on, "Keras is already loaded on"
        back = f": restart first ({it.here['restart']})"
    elif wrong := faults.said(it, "keras-backend-unknown", "keras-backend-not-installed"):
        return "", wrong
    if bound in faults.STRATEGIES_KNOW:
        return bound, [f"{how} {SPOKEN[bound]}."]
    unknown = f"{how} {SPOKEN.get(bound, bound)}, which no strategy here knows{back}."
    return "", [unknown] if bound else []


def _nothing_attached(it: Facts) -> list[str]:
    """Why there is no accelerator, and what the variables of old TPUs are worth."""
    said = faults.said(it, "gpu-not-handed-over", "gpu-silent", "tpu-claimed")
    if not said:
        apple = " that the course can use" if it.system.startswith("macOS") else ""
        said = [f"No accelerator{apple} is attached. {it.here['accelerator']}"]
    old = ("old-tpu-node", "grpc-address", "tpu-name")
    return said + [it.faults[name].cause for name in old if name in it.faults]


def _remedies(it: Facts, able: list[str], bound: str) -> list[str]:
    """What keeps the frameworks off the device, and the way to it."""
    held = [bound] if bound else faults.STRATEGIES_KNOW
    found, why = faults.against(it, *held), [f"{_attached(it)}, and not used."]
    why += [f"{SPOKEN[each]} is not installed." for each in held if each not in it.frameworks]
    why += [fault.cause for fault in found]
    if it.tensorflow_drives_tpu:
        why.append("ah.tpu.recipe() prints the cell that starts TensorFlow's TPUStrategy.")
    if not able:
        return why + list(dict.fromkeys(fault.fix for fault in found))
    variable = "" if it.keras_on else "take KERAS_BACKEND out of the environment, "
    return [*why, f"Keras on {SPOKEN[able[0]]} can use it, with nothing to install: {variable}"
            f"restart ({it.here['restart']}) and pick before anything else."]  # fmt: skip


def _on_device(it: Facts, name: str, bound: str, asked: int | None, why: list[str]) -> Strategy:
    count = it.visible_gpus if it.kind == "GPU" else it.device.count
    number = min(asked or count, count)
    kind, how = "several gpus" if number > 1 else "one gpu", "."
    if it.kind == "TPU":
        kind, how = "tpu on jax", f", and JAX drives {'it' if count == 1 else 'them'}."
    why.append(_attached(it) + how)
    if new := it.faults.get("gpu-too-new"):
        if name == "tensorflow":
            why += [new.cause, new.fix]
        elif not bound:
            why += [new.cause, "So Keras runs on JAX (we have not tried this GPU)."]
    if number < (asked or 1):
        why.append(f"{asked} replicas were asked for, and there can be {count}, one for each chip.")
    if count < it.device.count:
        why.append(f"CUDA_VISIBLE_DEVICES shows {count} of {it.device.count}.")
    return Strategy(kind, name, number, " ".join(why), it.place)


def _on_cpu(it: Facts, bound: str, asked: int | None, why: list[str]) -> Strategy:
    there = [name for name in faults.STRATEGIES_KNOW if name in it.frameworks]
    name = bound or (there or ["tensorflow"])[0]
    pinned = it.for_tpus and not it.tensorflow_drives_tpu
    if pinned and name != "jax" and "jax" in there and not it.keras_on:
        name = "jax"  # such a TensorFlow cannot train here
        why += ["JAX trains on the CPU.", *faults.said(it, "tensorflow-tpu-without-tpu")]
    if not there:
        why.append("Neither TensorFlow nor JAX is installed: pip install tensorflow")
    if asked in (None, 1):
        return Strategy("cpu", name, 1, " ".join(why), it.place)
    shared = "They share the cores of this CPU: they show how it works, not how fast it is."
    return Strategy("virtual replicas", name, asked, " ".join([shared, *why]), it.place)


def _attached(it: Facts) -> str:
    name = it.device.name
    if it.device.count > 1:
        return f"{it.device.count} x {name} are attached"
    return f"{'An' if name[:1] in 'AEIO' or name.startswith('NVIDIA') else 'A'} {name} is attached"
