"""Where to train: on a TPU, on one GPU or several, on virtual replicas of a CPU, or on the CPU.

`pick` looks at files, variables and package metadata and gives a `Strategy`: what it chose, why,
and a scope to build and fit the model in. A missing accelerator is a reason, not an error.
"""

from __future__ import annotations

import os
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from accel_helpers import probe
from accel_helpers.machine import decision, runtime, scopes
from accel_helpers.machine.scopes import RestartNeeded

__all__ = ["KINDS", "MOST_REPLICAS", "RestartNeeded", "Strategy", "pick"]

KINDS = (
    "tpu on jax", "tpu on tensorflow", "one gpu", "several gpus", "virtual replicas", "cpu",
)  # fmt: skip
MOST_REPLICAS = 16
SECONDS = 4.0  # for all of pick(), nvidia-smi and child processes included


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
        where = {
            "tpu on jax": "a TPU" if self.replicas == 1 else f"{self.replicas} TPU chips",
            "tpu on tensorflow": "a TPU" if self.replicas == 1 else f"{self.replicas} TPU chips",
            "one gpu": "one GPU",
            "several gpus": f"{self.replicas} GPUs",
            "virtual replicas": f"{self.replicas} virtual replicas on the CPU",
            "cpu": "the CPU",
        }[self.kind]
        spoken = {"tensorflow": "TensorFlow", "jax": "JAX"}.get(self.backend, self.backend)
        text = f"Train on {where}, with Keras on {spoken}. {self.reason}"
        return textwrap.fill(text, 92, break_long_words=False, break_on_hyphens=False)

    def to_dict(self) -> dict:
        """Give all of it as plain JSON types.

        Examples
        --------
        >>> Strategy("cpu", "jax", 1, "No accelerator.").to_dict()["kind"]
        'cpu'
        """
        return asdict(self)


def pick(
    replicas: int | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    root: str | Path = "/",
    run: runtime.Run | None = None,
    versions: Callable[[str], str | None] | None = None,
    loaded: Mapping | None = None,
    probe: Callable[..., probe.Outcome] = probe.run,
) -> Strategy:
    """Choose where to train, from files, variables and metadata, in under five seconds.

    Nothing is imported and nothing changed; what could hang or crash is tried in a child process
    with a time limit. The keyword arguments are there so that a test can hand in a recorded
    machine.

    Parameters
    ----------
    replicas : int, optional
        How many copies of the model to train together, 1 to 16. By default as many as there are
        accelerators, or 1. On a CPU they are virtual: they share its cores.
    environ : mapping of str to str, optional
        The environment variables; by default those of this process.
    root : path
        The folder under which ``proc``, ``sys`` and ``dev`` are.
    run : callable of (list of str, seconds) -> str, optional
        Runs a command and gives its output; as for `runtime.describe`.
    versions : callable of str -> str or None, optional
        Gives the installed version of a distribution.
    loaded : mapping of name to module, optional
        The modules that are loaded; by default those of this process.
    probe : callable, optional
        Runs Python code in a child process; as `probe.run`.

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
    asked = _whole_number(replicas)
    end = time.monotonic() + SECONDS
    environ = dict(os.environ if environ is None else environ)
    loaded = sys.modules if loaded is None else loaded
    versions = versions or runtime.installed
    here = runtime.describe(environ=environ, root=root, run=run, versions=versions)
    machine = decision.Machine.of(here, environ, versions, loaded)

    def in_time(code: str, *arguments: str, seconds: float, **how):
        left = max(0.1, end - time.monotonic())
        return probe(code, *arguments, seconds=min(seconds, left), **how)

    kind, backend, number, sentences = decision.decide(machine, asked, in_time)
    return Strategy(kind, backend, number, " ".join(sentences), here.place)


def _whole_number(replicas) -> int | None:
    if replicas is None:
        return None
    whole = isinstance(replicas, int) and not isinstance(replicas, bool)
    if not whole or not 1 <= replicas <= MOST_REPLICAS:
        raise ValueError(
            f"replicas must be a whole number from 1 to {MOST_REPLICAS}, or None for as many as "
            f"there are accelerators; got {replicas!r}."
        )
    return replicas
