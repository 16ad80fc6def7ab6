"""Helpers for the course "GPUs and TPUs in Colab": measure first, then believe.

``import accel_helpers as ah`` loads the standard library only. The modules below are loaded
when they are first named, so that the package works where no framework is installed.

>>> import accel_helpers as ah
>>> print(ah.timing.Measurement.from_samples([0.010, 0.011, 0.011, 0.010, 0.012], name="step"))
step: 11 ms (95 % interval 9.81 to 11.8 ms, 5 samples)
"""

import importlib

__version__ = "0.1.0"

# The verbs, flat on `ah`: what each is called here, and where it stands.
_VERBS = {
    "describe": "machine.runtime:describe",
    "diagnose": "machine.doctor:diagnose",
    "use_backend": "machine.backend:choose",
    "pick_strategy": "machine.strategy:pick",
    "benchmark": "measure.timing:benchmark",
    "compare": "measure.timing:compare",
    "time_fit": "train.epochs:time_fit",
    "fit_resident": "train.resident:fit_resident",
    "judge": "machine.hardware:judge",
    "worth_it": "train.verbs:worth_it",
    "forecast": "train.verbs:forecast",
    "plot": "plots.of_results:plot",
}
# The map of the house: `ah.NAME.verb` is in the file NAME.py of the folder it stands under here.
# Imports point one way: course -> lessons -> learn -> plots -> tpu, train -> measure -> machine.
_FOLDERS = {
    "machine": ("runtime", "hardware", "backend", "doctor", "strategy"),
    "measure": ("timing", "results", "scores", "work", "ceilings", "energy"),
    "train": ("training", "climb", "text", "worth"),
    "tpu": ("systolic",),
    "learn": (
        *("predict", "questions", "grading", "quiz", "exam", "review", "ledger"),
        *("summary", "progress"),
    ),
    "": ("plots", "probe", "course"),  # every picture; code tried in a process; a lesson's page
}
_ELSEWHERE = {"checks": "lessons", "practice": "lessons.lesson_03", "tpu_compiler": "tpu.compiler"}
_PLACES = {
    name: f"{folder}.{name}".lstrip(".") for folder, names in _FOLDERS.items() for name in names
} | _ELSEWHERE
__all__ = [*_VERBS, *_PLACES, "__version__"]


def __getattr__(name: str):
    if name in _VERBS:
        module, _, function = _VERBS[name].partition(":")
        return getattr(importlib.import_module(f"{__name__}.{module}"), function)
    if name in _PLACES:
        return importlib.import_module(f"{__name__}.{_PLACES[name]}")
    verbs, modules = ", ".join(_VERBS), ", ".join(sorted(_PLACES))
    there = f"Its verbs: {verbs}. Its modules: {modules}."
    raise AttributeError(f"accel_helpers has no verb or module {name!r}. {there}")


def __dir__():
    return sorted([*globals(), *_VERBS, *_PLACES])
