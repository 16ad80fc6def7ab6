"""TensorFlow's TPU strategy, as dated text with its pins, for the versions at hand.

Colab's TPU runtime has had no TensorFlow since March 2025, and Keras on JAX needs none. The recipe
is for those who must have `TPUStrategy`. Nobody of this course has seen it run on a v5e-1.
"""

from __future__ import annotations

import functools
import sys
import textwrap
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class Recipe:
    """The steps for one machine, as text.

    Attributes
    ----------
    as_of : str
        The day on which its facts were checked, ISO 8601.
    text : str
    """

    as_of: str
    text: str

    def __str__(self) -> str:
        return self.text


def fits(tensorflow_tpu: str | None, libtpu: str | None) -> bool:
    """Whether a tensorflow-tpu and a libtpu belong together.

    Parameters
    ----------
    tensorflow_tpu, libtpu : str or None
        Installed versions; None where a package is missing.

    Returns
    -------
    bool

    Examples
    --------
    >>> fits("2.19.1", "0.0.10"), fits("2.20.0", "0.0.51"), fits(None, None)
    (True, False, False)
    """
    return (tensorflow_tpu, libtpu) in pairs()


def pairs() -> tuple[tuple[str, str], ...]:
    """The versions of tensorflow-tpu that may start a TPU of today, each with its libtpu.

    There are wheels up to Python 3.12, so where one is installed, Python fits. 2.20.0 is left
    out: it ends with SIGSEGV when it starts a TPU through PJRT, with every libtpu from 0.0.14 to
    0.0.21.1 (tried without a TPU, 2026). Source: ``data/tpu_recipe.toml``.

    Returns
    -------
    tuple of (str, str)
    """
    return tuple((pair["tensorflow_tpu"], pair["libtpu"]) for pair in facts()["pair"])


@functools.cache
def facts() -> dict:
    """What ``data/tpu_recipe.toml`` holds: pairs of versions, settings, sources, a date."""
    text = (resources.files("accel_helpers") / "data" / "tpu_recipe.toml").read_text("utf-8")
    return tomllib.loads(text)


def tpu_recipe(
    *,
    python: tuple[int, int] | None = None,
    versions: Callable[[str], str | None] | None = None,
) -> Recipe:
    """Give the recipe for `TPUStrategy`, for the versions at hand.

    Parameters
    ----------
    python : tuple of two ints, optional
        Such as (3, 12); by default this Python.
    versions : callable of str -> str or None, optional
        Gives the installed version of a distribution; by default of this environment.

    Returns
    -------
    Recipe

    Examples
    --------
    >>> print(tpu_recipe(python=(3, 13), versions={}.get).text.splitlines()[1])
    Nobody of this course has seen it run on a v5e-1. Keras on JAX needs none of this.
    """
    if versions is None:
        from accel_helpers.machine import runtime

        versions = runtime.installed
    python = tuple(python or sys.version_info[:2])
    known = facts()
    pair, settings = known["pair"][-1], known["settings"]
    names = ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "libtpu")
    here = {name: versions(name) for name in names}
    stock = "tensorflow-cpu" if here["tensorflow-cpu"] and not here["tensorflow"] else "tensorflow"
    shown = {name: here[name] for name in (stock, "tensorflow-tpu", "libtpu")}
    found = ", ".join(f"{name} {version or 'not installed'}" for name, version in shown.items())
    lines = [
        f"TPUStrategy with TensorFlow on a TPU: a recipe as of {known['as_of']}.",
        "Nobody of this course has seen it run on a v5e-1. Keras on JAX needs none of this.",
        f"At hand: Python {python[0]}.{python[1]}, {found}.",
        "",
        *_numbered(_steps(python, here, stock, pair, known["runtime_version"])),
        "",
        "   import os, libtpu",
        *(line for setting in settings.items() for line in _assignment(*setting)),
        '   os.environ["TF_PLUGGABLE_DEVICE_LIBRARY_PATH"] = libtpu.get_library_path()',
        "   import tensorflow as tf",
        '   resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")',
        "   tf.tpu.experimental.initialize_tpu_system(resolver)  # fails where there is no TPU",
        "   strategy = tf.distribute.TPUStrategy(resolver)",
        "   with strategy.scope():",
        "       ...  # build, compile and fit the Keras model",
        "",
        "The first step that may fail is initialize_tpu_system: the resolver succeeds anywhere.",
        "If it fails, give the error to ah.doctor.diagnose(error).",
        "Sources:",
        *(f"  {source}" for source in known["sources"]),
    ]
    return Recipe(known["as_of"], "\n".join(lines))


# ---------------------------------------------------------------------------------------------


def _steps(python, here, stock, pair, runtime_version):
    wanted, most = pair["tensorflow_tpu"], tuple(pair["python_at_most"])
    if python > most:
        yield (
            f"tensorflow-tpu {wanted} exists for Python up to {most[0]}.{most[1]}. In Colab choose "
            f"Runtime → Change runtime type → Runtime version {runtime_version}, then start again."
        )
    if (here["tensorflow-tpu"], here["libtpu"]) == (wanted, pair["libtpu"]):
        yield "The packages are there already."
    else:
        if here[stock]:
            yield f"Both packages install the module tensorflow: %pip uninstall -y {stock}"
        yield (
            f"%pip install tensorflow-tpu=={wanted} libtpu=={pair['libtpu']}  (This replaces "
            "packages that Colab ships, so JAX may lose the TPU. Runtime → Disconnect and delete "
            "runtime brings all of it back.)"
        )
        yield "Runtime → Restart session"
    yield "Before anything else, in one cell:"


def _assignment(name: str, value: str):
    first, *more = value.split(" ")
    if not more:
        yield f'   os.environ["{name}"] = "{value}"'
        return
    yield f'   os.environ["{name}"] = ('
    yield f'       "{first}"'
    yield from (f'       " {part}"' for part in more)
    yield "   )"


def _numbered(steps):
    for number, step in enumerate(steps, 1):
        yield textwrap.fill(step, 92, initial_indent=f"{number}. ", subsequent_indent="   ",
                            break_on_hyphens=False)  # fmt: skip
