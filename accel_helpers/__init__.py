"""Measure what a GPU or TPU does for a Keras model, and believe only that.

``import accel_helpers as ah`` loads the standard library only: what a verb needs is loaded when
it is first named, so that the package works where no framework is installed.

The verbs are what is promised; docs/library.md has an example of each. The rooms behind them may
change. There are two doors beside the verbs: ``ah.tpu`` compiles a training step for a TPU that
is not there, and ``ah.course`` is what the lessons' pages need.

>>> import accel_helpers as ah
>>> print(ah.judge(flops=1e12, seconds=0.001, accelerator="Tesla T4").verdict)
impossible
"""

import importlib

__version__ = "0.1.0"

# What each verb is called here, the room that it stands in, and its name there.
_VERBS = {
    "describe": ("machine.runtime", "describe"),
    "diagnose": ("machine.doctor", "diagnose"),
    "use_backend": ("machine.backend", "choose"),
    "pick_strategy": ("machine.strategy", "pick"),
    "judge": ("machine.hardware", "judge"),
    "benchmark": ("measure.timing", "benchmark"),
    "compare": ("measure.timing", "compare"),
    "time_fit": ("fit.time_fit", "time_fit"),
    "profile_fit": ("fit.profile", "profile_fit"),
    "fit_resident": ("fit.resident", "fit_resident"),
    "worth_it": ("worth.worth_it", "worth_it"),
    "forecast": ("worth.forecast", "forecast"),
    "plot": ("measure.pictures", "plot"),
}
_DOORS = ("tpu", "course")
__all__ = [*_VERBS, *_DOORS, "__version__"]


def __getattr__(name: str):
    if name in _VERBS:
        module, function = _VERBS[name]
        return getattr(importlib.import_module(f"{__name__}.{module}"), function)
    if name in _DOORS:
        return importlib.import_module(f"{__name__}.{name}")
    verbs = ", ".join(_VERBS)
    doors = " and ".join(_DOORS)
    raise AttributeError(f"accel_helpers has no {name!r}. Its verbs: {verbs}. Its doors: {doors}.")


def __dir__():
    return sorted([*globals(), *__all__])
