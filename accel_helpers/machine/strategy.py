"""Where to train: on a TPU, on one GPU or several, on virtual replicas of a CPU, or on the CPU."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from accel_helpers._words import shown
from accel_helpers.machine import faults, runtime, scopes
from accel_helpers.machine.faults import Facts
from accel_helpers.machine.scopes import SPOKEN, RestartNeeded

__all__ = ["RestartNeeded", "Strategy", "pick"]

#: The kinds of strategy, and what each trains on.
KINDS = {
    "tpu on jax": "{} TPU chips",
    "tpu on tensorflow": "{} TPU chips",
    "one gpu": "one GPU",
    "several gpus": "{} GPUs",
    "virtual replicas": "{} virtual replicas on the CPU",
    "cpu": "the CPU",
}
MOST_REPLICAS = 16
_UNSEEN = (
    ", and the installed TensorFlow and libtpu fit together. The course has not seen this run on "
    "Colab's TPU: if it fails, Keras on JAX is the way that is known."
)
Decision = tuple[str, str, int, list[str]]  # kind, backend, replicas, sentences of the reason


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

    @contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Load Keras and train across the devices in this block; one scope at a time."""
        with scopes.open_scope(self.kind, self.backend, self.replicas, self.place):
            yield self

    def __str__(self) -> str:
        many = KINDS[self.kind].format(self.replicas)
        where = "a TPU" if self.kind.startswith("tpu") and self.replicas == 1 else many
        spoken = SPOKEN.get(self.backend, self.backend)
        text = f"Train on {where}, with Keras on {spoken}. {self.reason}"
        return textwrap.fill(text, 92, break_long_words=False, break_on_hyphens=False)


def pick(replicas: int | None = None, **machine) -> Strategy:
    """Choose where to train, from files, variables and metadata, in under five seconds.

    Parameters
    ----------
    replicas : int, optional
        Copies of the model to train together, 1 to 16. By default as many as there are
        accelerators, or 1. On a CPU they are virtual: they share its cores.
    **machine : optional
        A recorded machine: ``environ``, ``root``, ``run`` and ``versions`` as for
        `runtime.describe`, and ``loaded``, the modules; by default this one.
    Raises
    ------
    ValueError
        If `replicas` is not a whole number from 1 to 16.
    Examples
    --------
    >>> pick(4, environ={}, root="/nowhere", loaded={}, versions={"jax": "0.7.2"}.get).kind
    'virtual replicas'
    """
    if replicas is not None and not (type(replicas) is int and 1 <= replicas <= MOST_REPLICAS):
        raise ValueError(
            f"replicas must be a whole number from 1 to {MOST_REPLICAS}, or None for as many as "
            f"there are accelerators; got {replicas!r}."
        )
    it = runtime.look(**machine)
    kind, backend, number, sentences = _decide(it, replicas)
    return Strategy(kind, backend, number, " ".join(sentences), it.place)


def _decide(it: Facts, asked: int | None) -> Decision:
    settled, why = _settled(it)
    if not it.device:
        return _on_cpu(it, asked, settled, why + _nothing_attached(it))
    against = {name: faults.against(it, name) for name in faults.STRATEGIES_KNOW}
    able = faults.able(it)
    name = settled or (able or [""])[0]
    # A build for TPUs that cannot drive this one could not train on the CPU either.
    if it.for_tpus and name not in able and "jax" in able and not it.keras_on:
        name, why = "jax", [*why, against["tensorflow"][0].cause]
    if name not in able:
        why = [*why, f"{_attached(it)}, and not used.", *_remedies(it, against, able, name)]
        return _on_cpu(it, asked, name, why)
    count = it.visible_gpus if it.kind == "GPU" else it.device.count
    number, more = min(asked or count, count), []
    if asked is not None and asked > count:
        more = [f"{asked} replicas were asked for, and there can be {count}, one for each chip."]
    for fault in against["tensorflow"]:
        if name == "tensorflow":
            more = [fault.cause, fault.fix, *more]
        elif faults.doubtful((fault,)) and not settled:
            more = [fault.cause, "So Keras runs on JAX (we have not tried this GPU).", *more]
    if it.kind == "TPU":
        how = f", and JAX drives {'it' if it.device.count == 1 else 'them'}."
        return f"tpu on {name}", name, number, [
            *why, _attached(it) + (how if name == "jax" else _UNSEEN), *more
        ]  # fmt: skip
    if count < it.device.count:
        more.append(f"CUDA_VISIBLE_DEVICES shows {count} of {it.device.count}.")
    kind = "several gpus" if number > 1 else "one gpu"
    return kind, name, number, [*why, f"{_attached(it)}.", *more]


def _settled(it: Facts) -> tuple[str, list[str]]:
    """Which framework Keras is bound to, if it is, and why."""
    how, bound, back = "KERAS_BACKEND asks for", it.asked, ""
    if it.keras_on:
        how, bound = "Keras is already loaded on", it.keras_on
        back = f": restart first ({it.here.restart})"
    elif wrong := faults.said(it, "keras-backend-unknown", "keras-backend-not-installed"):
        return "", wrong
    if bound in faults.STRATEGIES_KNOW:
        return bound, [f"{how} {SPOKEN[bound]}."]
    unknown = f"{how} {SPOKEN.get(bound, shown(bound))}, which no strategy here knows{back}."
    return "", [unknown] if bound else []


def _nothing_attached(it: Facts) -> list[str]:
    """Why there is no accelerator, and what the variables of old TPUs are worth."""
    said = faults.said(it, "gpu-not-handed-over", "gpu-silent", "tpu-claimed")
    if not said:
        apple = " that the course can use" if it.system.startswith("macOS") else ""
        said = [f"No accelerator{apple} is attached. {it.here.accelerator}"]
    old = faults.among(it, "old-tpu-node", "grpc-address", "tpu-name")
    return said + [fault.cause for fault in old]


def _remedies(it: Facts, against: Mapping, able: list[str], name: str) -> list[str]:
    """What keeps the frameworks off the device, and the way to it."""
    held = [name] if name else list(against)
    missing = [f"{SPOKEN[each]} is not installed." for each in held if each not in it.frameworks]
    found = list(dict.fromkeys(fault for each in held for fault in against[each]))
    causes = missing + [fault.cause for fault in found]
    if not able:
        return causes + list(dict.fromkeys(fault.fix for fault in found))
    variable = "" if it.keras_on else "take KERAS_BACKEND out of the environment, "
    return [*causes, f"Keras on {SPOKEN[able[0]]} can use it, with nothing to install: {variable}"
            f"restart ({it.here.restart}) and pick before anything else."]  # fmt: skip


def _on_cpu(it: Facts, asked: int | None, settled: str, why: list[str]) -> Decision:
    there = [name for name in faults.STRATEGIES_KNOW if name in it.frameworks]
    name = settled or (there or ["tensorflow"])[0]
    if (
        it.for_tpus and name != "jax" and "jax" in there and not it.keras_on
    ):  # such a TensorFlow cannot train here
        name = "jax"
        why = [*why, "JAX trains on the CPU.", *faults.said(it, "tensorflow-tpu-without-tpu")]
    if not there:
        why = [*why, "Neither TensorFlow nor JAX is installed: pip install tensorflow"]
    if asked is None or asked == 1:
        return "cpu", name, 1, why or ["One copy of the model trains on the CPU."]
    shared = "They share the cores of this CPU: they show how it works, not how fast it is."
    return "virtual replicas", name, asked, [shared, *why]


def _attached(it: Facts) -> str:
    name = it.device.name
    if it.device.count > 1:
        return f"{it.device.count} x {name} are attached"
    return f"{'An' if name[:1] in 'AEIO' or name.startswith('NVIDIA') else 'A'} {name} is attached"
