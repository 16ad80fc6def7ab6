"""Where to train: on a TPU, on one GPU or several, on virtual replicas of a CPU, or on the CPU.

`pick` looks at files, variables and package metadata and gives a `Strategy`: what it chose, why,
and a scope to build and fit the model in. A missing accelerator is a reason, not an error.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from accel_helpers import probe
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
SECONDS = 4.0  # for all of pick(), nvidia-smi and child processes included
Decision = tuple[str, str, int, list[str]]  # kind, backend, replicas, sentences of the reason


@dataclass(frozen=True)
class Strategy:
    """Where to train, and why there.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    backend : str
        What Keras runs on: "tensorflow" or "jax".
    replicas : int
        How many copies of the model train together, each on its share of every batch.
    reason : str
        A sentence or three; where an accelerator is missing, what to do about it.
    place : str
        "colab", "kaggle" or "local": it settles how a restart is called.
    """

    kind: str
    backend: str
    replicas: int
    reason: str
    place: str = "local"

    @contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Build, compile and fit a Keras model in this scope.

        Keras is loaded on `backend` if it is not loaded yet. On a CPU the framework is started
        with four virtual devices (or `replicas`, if that is more), so that scopes of several sizes
        fit into one kernel. After the ``with`` block the process is as it was before, also after
        an error.

        With one accelerator the framework places the work itself; `backend.where` shows where it
        went. With several replicas on JAX, every batch must be a multiple of `replicas`, the last
        one too: if not, ``fit`` raises a ValueError (in newer versions IndivisibleError).
        TensorFlow takes a last batch that is smaller, but then means the replicas' gradients
        without weighing them, so a picture in it does not count like the others.

        Yields
        ------
        Strategy
            This one.

        Raises
        ------
        RestartNeeded
            If Keras is loaded on another framework, or the framework has started with too few
            devices. ``pick(replicas=1)`` still trains then.
        RuntimeError
            If another scope is open, or the framework does not see the devices.

        Examples
        --------
        >>> with pick().scope():
        ...     import keras
        ...
        ...     model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
        >>> model.count_params()
        8
        """
        with scopes.open_scope(self.kind, self.backend, self.replicas, self.place):
            yield self

    def __str__(self) -> str:
        many = KINDS[self.kind].format(self.replicas)
        where = "a TPU" if self.kind.startswith("tpu") and self.replicas == 1 else many
        spoken = SPOKEN.get(self.backend, self.backend)
        text = f"Train on {where}, with Keras on {spoken}. {self.reason}"
        return textwrap.fill(text, 92, break_long_words=False, break_on_hyphens=False)


def pick(
    replicas: int | None = None,
    *,
    probe: Callable[..., probe.Outcome] = probe.run,
    **machine,
) -> Strategy:
    """Choose where to train, from files, variables and metadata, in under five seconds.

    Nothing is imported and nothing changed; what could hang or crash is tried in a child process
    with a time limit.

    Parameters
    ----------
    replicas : int, optional
        How many copies of the model to train together, 1 to 16. By default as many as there are
        accelerators, or 1. On a CPU they are virtual: they share its cores.
    probe : callable, optional
        Runs Python code in a child process; as `probe.run`.
    **machine : optional
        A recorded machine: ``environ``, ``root``, ``run`` and ``versions`` as for
        `runtime.describe`, and ``loaded``, the modules; by default this one.

    Returns
    -------
    Strategy

    Raises
    ------
    ValueError
        If `replicas` is not a whole number from 1 to 16.

    Examples
    --------
    >>> bare = {"environ": {}, "root": "/nowhere", "loaded": {}}
    >>> picked = pick(replicas=4, versions={"jax": "0.7.2"}.get, **bare)
    >>> picked.kind, picked.backend, picked.replicas
    ('virtual replicas', 'jax', 4)
    """
    if replicas is not None and not (type(replicas) is int and 1 <= replicas <= MOST_REPLICAS):
        raise ValueError(
            f"replicas must be a whole number from 1 to {MOST_REPLICAS}, or None for as many as "
            f"there are accelerators; got {replicas!r}."
        )
    end = time.monotonic() + SECONDS
    it = runtime.look(**machine)

    def in_time(code: str, *arguments: str, seconds: float, **how):
        left = max(0.1, end - time.monotonic())
        return probe(code, *arguments, seconds=min(seconds, left), **how)

    kind, backend, number, sentences = _decide(it, replicas, in_time)
    return Strategy(kind, backend, number, " ".join(sentences), it.place)


def _decide(it: Facts, asked: int | None, probe: Callable) -> Decision:
    settled, why = _settled(it)
    if not it.device:
        return _on_cpu(it, asked, probe, settled, why + _nothing_attached(it))
    against = {name: faults.against(it, name) for name in faults.STRATEGIES_KNOW}
    able = faults.able(it)
    name = settled or (able or [""])[0]
    # A build for TPUs that cannot drive this one could not train on the CPU either.
    if it.kind == "TPU" and name not in able and "jax" in able and not it.keras_on:
        if it.for_tpus:
            name, why = "jax", [*why, against["tensorflow"][0].cause]
    if name not in able:
        why = [*why, f"{_attached(it)}, and not used.", *_remedies(it, against, able, name)]
        return _on_cpu(it, asked, probe, name, why)
    count = it.visible_gpus if it.kind == "GPU" else it.device.count
    number, more = _number(asked, count, {"TPU": "TPU chip"}.get(it.kind, it.kind))
    for fault in against["tensorflow"]:
        if name == "tensorflow":
            more = [fault.cause, fault.fix, *more]
        elif faults.doubtful((fault,)) and not settled:
            more = [fault.cause, "So Keras runs on JAX (we have not tried this GPU).", *more]
    if it.kind == "TPU":
        return f"tpu on {name}", name, number, [*why, *_driven(it, name), *more]
    if count < it.device.count:
        more.append(f"CUDA_VISIBLE_DEVICES shows {count} of {it.device.count}.")
    kind = "several gpus" if number > 1 else "one gpu"
    return kind, name, number, [*why, f"{_attached(it)}.", *more]


def _settled(it: Facts) -> tuple[str, list[str]]:
    """Which framework Keras is bound to, if it is, and why."""
    if it.keras_on in faults.STRATEGIES_KNOW:
        return it.keras_on, [f"Keras is already loaded on {SPOKEN[it.keras_on]}."]
    if it.keras_on:
        return "", [
            f"Keras is already loaded on {SPOKEN.get(it.keras_on, shown(it.keras_on))}, which no "
            f"strategy here knows: restart first ({it.here.restart})."
        ]
    wrong = faults.said(it, "keras-backend-unknown", "keras-backend-not-installed")
    if wrong or not it.asked:
        return "", wrong
    if it.asked in faults.STRATEGIES_KNOW:
        return it.asked, [f"KERAS_BACKEND asks for {SPOKEN[it.asked]}."]
    return "", [f"KERAS_BACKEND asks for {SPOKEN[it.asked]}, which no strategy here knows."]


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


def _driven(it: Facts, name: str) -> list[str]:
    """How a TPU is driven."""
    if name == "jax":
        return [f"{_attached(it)}, and JAX drives {'it' if it.device.count == 1 else 'them'}."]
    said = [
        f"{_attached(it)}, and the installed TensorFlow and libtpu fit together. The course has "
        "not seen this run on Colab's TPU: if it fails, Keras on JAX is the way that is known."
    ]
    if it.loaded.get("tensorflow") is not None:
        said.append(
            "TensorFlow is already loaded, and it takes its settings for a TPU only before: "
            f"if the scope refuses, restart ({it.here.restart}) and pick first."
        )
    return said


def _on_cpu(it: Facts, asked, probe: Callable, settled: str, why: list[str]) -> Decision:
    there = [name for name in faults.STRATEGIES_KNOW if name in it.frameworks]
    name = settled or (there or ["tensorflow"])[0]
    if it.for_tpus and it.loaded.get("tensorflow") is None:
        name, more = _past_tensorflow_tpu(it, probe, settled)
        why = why + more
    if not there:
        why = [*why, "Neither TensorFlow nor JAX is installed: pip install tensorflow"]
    if asked is None or asked == 1:
        return "cpu", name, 1, why or ["One copy of the model trains on the CPU."]
    shared = "They share the cores of this CPU: they show how it works, not how fast it is."
    return "virtual replicas", name, asked, [shared, *why]


def _past_tensorflow_tpu(it: Facts, probe: Callable, settled: str) -> tuple[str, list[str]]:
    """Keep clear of a TensorFlow that is built for TPUs, on a CPU, where that can be done."""
    if settled == "jax":
        return "jax", []
    why = faults.said(it, "tensorflow-tpu-without-tpu")
    if not settled and "jax" in it.frameworks:
        return "jax", ["JAX trains on the CPU.", *why]
    tried = probe("import tensorflow", seconds=60, environ={"TPU_SKIP_MDS_QUERY": "1"})
    if tried.kind == "finished":
        how = "Outside of the scope, training with it needs compile(jit_compile=False)."
    else:
        how = f"Its import, tried in a child process, {tried.ending}."
    if tried.kind == "crashed" and "jax" in it.frameworks:
        return "jax", [*why, how, "So JAX trains."]
    return "tensorflow", [*why, how]


def _number(asked: int | None, count: int, what: str) -> tuple[int, list[str]]:
    if asked is not None and asked > count:
        there = f"there is one {what}" if count == 1 else f"there are {count} {what}s"
        return count, [f"{asked} replicas were asked for, and {there}."]
    return asked or count, []


def _attached(it: Facts) -> str:
    name = it.device.name
    if it.device.count > 1:
        return f"{it.device.count} x {name} are attached"
    return f"{'An' if name[:1] in 'AEIO' or name.startswith('NVIDIA') else 'A'} {name} is attached"
