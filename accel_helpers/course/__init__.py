"""What the lessons' pages need beside the library; the library never imports it.

>>> import accel_helpers as ah
>>> ah.course.MatrixUnit(2, 2).cycles(2, 2, 2)
6
"""

import importlib

# What pages call, and the module that each stands in; with a dot in front it is in another room.
_MODULES = {
    "lesson": "page",
    "hide_log": ".machine.quiet",
    "guess": "predict",
    "answer": "quiz",
    "show_quiz": "quiz",
    "ask_again": "quiz",
    "overview": "quiz",
    "draw_exam": "exam",
    "hand_in": "exam",
    "last_score": "exam",
    "both_answers": "review",
    "missed": "review",
    "write_summary": "summary",
    "load_images": ".fit.images",
    "step_parts": ".fit.time_fit",
    "fit_seeds": ".fit.resident",
    "Score": ".measure.scores",
    "compare_scores": ".measure.scores",
    "quickstart_model": "quickstart",
    "load_text": "text",
    "measure_climb": "climb",
    "FourFacts": "facts",
    "MatrixUnit": "unit",
    "unit_animation": "unit_pictures",
    "unit_strip": "unit_pictures",
    "warp_animation": "warp",
    "stored_step": "stored_steps",
    "stored_product": "stored_steps",
}
__all__ = [*_MODULES]


def __getattr__(name: str):
    if name not in _MODULES:
        raise AttributeError(f"accel_helpers.course has no {name!r}.")
    module = importlib.import_module(f".{_MODULES[name]}", __name__)
    return getattr(module, name)


def __dir__():
    return sorted([*globals(), *__all__])
