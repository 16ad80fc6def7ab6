"""Helpers for the course "GPUs and TPUs in Colab": measure first, then believe.

``import accel_helpers as ah`` loads the standard library only. The modules below are loaded
when they are first named, so that the package works where no framework is installed.

Examples
--------
>>> import accel_helpers as ah
>>> print(ah.timing.Measurement.from_samples([0.010, 0.011, 0.011, 0.010, 0.012], name="step"))
step: 11 ms (95 % interval 9.81 to 11.8 ms, 5 samples)
"""

import importlib

__version__ = "0.1.0"

_MODULES = (
    "runtime",  # what this machine is
    "hardware",  # published peaks, and what no device can do
    "timing",  # numbers with a spread
    "backend",  # TensorFlow or JAX under Keras; waiting; placing
    "training",  # the lesson models and data, timing of fit
    "climb",  # from default fit to resident epochs, one change at a time
    "work",  # operations and bytes of a training step, counted from its layers
    "ceilings",  # the best rates of this machine, measured
    "text",  # Shakespeare, and a small model that writes like him
    "doctor",  # what is wrong, why, and the one thing to do next
    "strategy",  # where to train: TPU, GPUs, virtual replicas, CPU
    "systolic",  # a matrix unit, cycle by cycle
    "tpu_compiler",  # a training step compiled for a TPU that is not there
    "probe",  # code tried in a process of its own, with a time limit
    "replicas",  # the same training under several strategies, each in a process of its own
    "verdicts",  # what measurements say, as one of a few words
    "scores",  # accuracies with an interval, and whether a change made them better
    "resumable",  # training that can be killed at any moment and goes on
    "serving",  # an exported model that answers over HTTP, without Keras
    "results",  # the result card
    "practice",  # a pretend device whose every cost is known
    "progress",  # what was answered, guessed and finished, in one small file
    "predict",  # the learner's guess, kept beside what came out
    "checks",  # exercise checks that return a result
    "questions",  # the question bank
    "grading",  # a question and an answer in, a grade out
    "quiz",  # questions shown as a form, or as text
    "exam",  # practice exams, marked twice
    "review",  # the exam's questions with both answers
    "ledger",  # the claims about accelerators, with the learner's own verdicts
    "summary",  # all of it in one file to keep
    "plots",  # every picture of the course
    "report",  # run the lessons, write the report
)
__all__ = [*_MODULES, "__version__"]


def __getattr__(name: str):
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    known = ", ".join(_MODULES)
    raise AttributeError(f"accel_helpers has no module {name!r}. It has: {known}.")


def __dir__():
    return sorted([*globals(), *_MODULES])
