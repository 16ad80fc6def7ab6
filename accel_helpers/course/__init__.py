"""What the lessons' pages need beside the library; the library never imports it.

>>> import accel_helpers as ah
>>> ah.course.MatrixUnit(2, 2).cycles(2, 2, 2)
6
"""

import importlib

# What a page calls each of them, the module that it stands in (with a dot in front: in another
# room), and its name there.
_NAMES = {
    "lesson": ("page", "lesson"),
    "hide_log": (".machine.quiet", "hide_log"),
    "guess": ("predict", "guess"),
    "answer": ("quiz", "answer"),
    "show_quiz": ("quiz", "show"),
    "ask_again": ("quiz", "again"),
    "overview": ("quiz", "overview"),
    "draw_exam": ("exam", "draw"),
    "hand_in": ("exam", "hand_in"),
    "last_score": ("exam", "last_score"),
    "both_answers": ("review", "both"),
    "missed": ("review", "missed"),
    "my_claims": ("ledger", "mine"),
    "write_summary": ("summary", "write"),
    "load_images": (".fit.images", "load_images"),
    "step_parts": (".fit.time_fit", "step_parts"),
    "fit_seeds": (".fit.resident", "fit_seeds"),
    "Score": (".measure.scores", "Score"),
    "compare_scores": (".measure.scores", "change"),
    "quickstart_model": ("quickstart", "quickstart_model"),
    "load_text": ("text", "load_text"),
    "measure_climb": ("climb", "measure"),
    "FourFacts": ("facts", "FourFacts"),
    "practice_device": ("lessons.lesson_03", "device_for"),
    "PRACTICE_TRUTH": ("lessons.lesson_03", "TRUTH"),
    "MatrixUnit": ("unit", "MatrixUnit"),
    "unit_animation": ("unit_pictures", "unit_animation"),
    "unit_strip": ("unit_pictures", "unit_strip"),
    "warp_animation": ("warp", "warp_animation"),
    "stored_step": ("stored_steps", "stored"),
    "stored_product": ("stored_steps", "stored_product"),
}
__all__ = [*_NAMES]


def __getattr__(name: str):
    if name not in _NAMES:
        raise AttributeError(f"accel_helpers.course has no {name!r}. It has: {', '.join(_NAMES)}.")
    module, value = _NAMES[name]
    return getattr(importlib.import_module(f".{module}", __name__), value)


def __dir__():
    return sorted([*globals(), *__all__])
