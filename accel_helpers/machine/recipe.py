"""TensorFlow's TPU strategy, as dated text with its pins, for the versions at hand.

Colab's TPU runtime has had no TensorFlow since March 2025, and Keras on JAX needs none. The recipe
is for those who must have `TPUStrategy`. Nobody of this course has seen it run on a v5e-1.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources

from accel_helpers import _records


@dataclass(frozen=True)
class Pair:
    """A tensorflow-tpu that may start a TPU of today, and the libtpu that belongs to it."""

    tensorflow_tpu: str
    libtpu: str
    python_at_most: tuple[int, int]


@dataclass(frozen=True)
class Known:
    """``data/tpu_recipe.toml``: the facts, and the text with places for what is at hand."""

    as_of: str
    runtime_version: str
    sources: tuple[str, ...]
    text: str
    pair: tuple[Pair, ...]
    settings: dict[str, str]


@dataclass(frozen=True)
class Recipe:
    """The steps for one machine: the day its facts were checked (ISO 8601), and the text."""

    as_of: str
    text: str

    def __str__(self) -> str:
        return self.text


@functools.cache
def known() -> Known:
    """The dated facts that come with the package."""
    file = resources.files("accel_helpers") / "data" / "tpu_recipe.toml"
    return _records.read(Known, _records.load(file, "recipe"), file.name)


def fits(tensorflow_tpu: str | None, libtpu: str | None) -> bool:
    """Whether a tensorflow-tpu and a libtpu belong together; None where one is missing.

    2.20.0 is no such one: it ends with SIGSEGV when it starts a TPU through PJRT, with every
    libtpu from 0.0.14 to 0.0.21.1 (tried without a TPU, 2026).
    """
    return any((tensorflow_tpu, libtpu) == (one.tensorflow_tpu, one.libtpu) for one in known().pair)


def pinned(libtpu: str | None) -> bool:
    """Whether a libtpu belongs to a tensorflow-tpu; such a one is too old for JAX."""
    return any(libtpu == one.libtpu for one in known().pair)


def settings() -> dict[str, str]:
    """The variables that TensorFlow needs, before it is imported, to drive a TPU v5e or v6e.

    We have not seen it run on Colab's TPU. Without the path of libtpu where that is not installed.
    """
    found, spec = dict(known().settings), importlib.util.find_spec("libtpu")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        found["TF_PLUGGABLE_DEVICE_LIBRARY_PATH"] = os.path.join(folder, "libtpu.so")
    return found


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
        It prints as its text.

    Examples
    --------
    >>> print(tpu_recipe(python=(3, 13), versions={}.get).text.splitlines()[1])
    Nobody of this course has seen it run on a v5e-1. Keras on JAX needs none of this.
    """
    if versions is None:
        from accel_helpers.machine.runtime import installed as versions
    python = tuple(python or sys.version_info[:2])
    names = ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "libtpu")
    here = {name: versions(name) for name in names}
    stock = "tensorflow-cpu" if here["tensorflow-cpu"] and not here["tensorflow"] else "tensorflow"
    shown = (stock, "tensorflow-tpu", "libtpu")
    steps = (
        textwrap.fill(step, 92, initial_indent=f"{number}. ", subsequent_indent="   ",
                      break_on_hyphens=False)
        for number, step in enumerate(_steps(python, here, stock), 1)
    )  # fmt: skip
    text = known().text.format(
        as_of=known().as_of,
        python=".".join(map(str, python)),
        found=", ".join(f"{name} {here[name] or 'not installed'}" for name in shown),
        steps="\n".join(steps),
        settings="\n".join(line for pair in known().settings.items() for line in _set(*pair)),
        sources="\n".join(f"  {source}" for source in known().sources),
    )
    return Recipe(known().as_of, text.rstrip("\n"))


def _steps(python, here, stock):
    pair = known().pair[-1]
    wanted, most = pair.tensorflow_tpu, pair.python_at_most
    if python > most:
        yield (
            f"tensorflow-tpu {wanted} exists for Python up to {most[0]}.{most[1]}. In Colab choose "
            f"Runtime → Change runtime type → Runtime version {known().runtime_version}, then "
            "start again."
        )
    if (here["tensorflow-tpu"], here["libtpu"]) == (wanted, pair.libtpu):
        yield "The packages are there already."
    else:
        if here[stock]:
            yield f"Both packages install the module tensorflow: %pip uninstall -y {stock}"
        yield (
            f"%pip install tensorflow-tpu=={wanted} libtpu=={pair.libtpu}  (This replaces "
            "packages that Colab ships, so JAX may lose the TPU. Runtime → Disconnect and delete "
            "runtime brings all of it back.)"
        )
        yield "Runtime → Restart session"
    yield "Before anything else, in one cell:"


def _set(name: str, value: str):
    first, *more = value.split(" ")
    if not more:
        yield f'   os.environ["{name}"] = "{value}"'
        return
    yield f'   os.environ["{name}"] = ('
    yield f'       "{first}"'
    yield from (f'       " {part}"' for part in more)
    yield "   )"
