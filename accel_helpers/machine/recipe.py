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
class Known:
    """``data/tpu_recipe.toml``: the pair of packages that fit, the settings, and the text."""

    as_of: str
    tensorflow_tpu: str
    libtpu: str
    python_at_most: tuple[int, int]
    runtime_version: str
    sources: tuple[str, ...]
    step: tuple[str, ...]
    text: str
    settings: dict[str, str]


@functools.cache
def known() -> Known:
    """The dated facts that come with the package."""
    file = resources.files("accel_helpers") / "data" / "tpu_recipe.toml"
    return _records.read(Known, _records.load(file, "recipe"), file.name)


def fits(tensorflow_tpu: str | None, libtpu: str | None) -> bool:
    """Whether a tensorflow-tpu and a libtpu belong together; None where one is missing."""
    return (tensorflow_tpu, libtpu) == (known().tensorflow_tpu, known().libtpu)


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
) -> str:
    """Give the recipe for `TPUStrategy`, for the versions at hand.

    Parameters
    ----------
    python : tuple of two ints, optional
        Such as (3, 12); by default this Python.
    versions : callable of str -> str or None, optional
        Gives the installed version of a distribution; by default of this environment.

    Returns
    -------
    str

    Examples
    --------
    >>> print(tpu_recipe(python=(3, 13), versions={}.get).splitlines()[1])
    Nobody of this course has seen it run on a v5e-1. Keras on JAX needs none of this.
    """
    if versions is None:
        from accel_helpers.machine.runtime import installed as versions
    it, python = known(), tuple(python or sys.version_info[:2])
    here = {name: versions(name) or "not installed" for name in (
        "tensorflow", "tensorflow-cpu", "tensorflow-tpu", "libtpu"
    )}  # fmt: skip
    one, other = (versions(name) for name in ("tensorflow", "tensorflow-cpu"))
    stock = "tensorflow-cpu" if other and not one else "tensorflow"
    there = fits(here["tensorflow-tpu"], here["libtpu"])
    wanted = (python > it.python_at_most, there, not there and (one or other), not there,
              not there, True)  # fmt: skip
    words = vars(it) | {
        "stock": stock,
        "newest": ".".join(map(str, it.python_at_most)),
        "python": ".".join(map(str, python)),
        "found": ", ".join(f"{name} {here[name]}" for name in (stock, "tensorflow-tpu", "libtpu")),
        "settings": "\n".join(line for pair in it.settings.items() for line in _set(*pair)),
        "sources": "\n".join(f"  {source}" for source in it.sources),
    }
    steps = [step.format(**words) for step, when in zip(it.step, wanted, strict=True) if when]
    words["steps"] = "\n".join(
        textwrap.fill(step, 92, initial_indent=f"{number}. ", subsequent_indent="   ",
                      break_on_hyphens=False)
        for number, step in enumerate(steps, 1)
    )  # fmt: skip
    return it.text.format(**words).rstrip("\n")


def _set(name: str, value: str):
    first, *more = value.split(" ")
    if not more:
        yield f'   os.environ["{name}"] = "{value}"'
        return
    yield f'   os.environ["{name}"] = ('
    yield f'       "{first}"'
    yield from (f'       " {part}"' for part in more)
    yield "   )"
