"""A training step, compiled for a TPU that is not there; the compiler is installed on request.

>>> import accel_helpers as ah
>>> callable(ah.tpu.compile_training_step)
True
"""

import importlib

# name here -> (module of accel_helpers, name in it)
_NAMES = {
    "compile_training_step": ("tpu.compiler", "compile_training_step"),
    "install": ("tpu.environment", "install"),
    "status": ("tpu.environment", "status"),
    "remove": ("tpu.environment", "remove"),
    "recipe": ("machine.doctor", "tpu_recipe"),
}
__all__ = [*_NAMES]


def __getattr__(name: str) -> object:
    """Return one of `_NAMES`, whose module is imported only now; AttributeError if it is none."""
    if name not in _NAMES:
        raise AttributeError(f"accel_helpers.tpu has no {name!r}. It has: {', '.join(_NAMES)}.")
    module, value = _NAMES[name]
    return getattr(importlib.import_module(f"accel_helpers.{module}"), value)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
