"""Show and answer every question of the course in this Python; print what happened as JSON.

python answer_quizzes.py live     through the widgets: values are set, buttons are pressed
python answer_quizzes.py hidden   ipywidgets cannot be imported: by a call
"""

import json
import sys

from accel_helpers.course import questions


def lessons():
    return list(dict.fromkeys(question.lesson for question in questions.bank().values()))


def right(question):
    """Give the answer that is true today."""
    if question.kind == "number":
        return f"{question.options[question.right].value:g}"
    return question.right


def wrong(question):
    if question.kind == "number":
        return "-1"
    if question.kind == "order":
        return question.right[::-1]
    return next(letter for letter in question.options if letter not in question.right)


def fill(field, given):
    """Set the values of a question's widgets as a learner does."""
    for child in field.children:
        name = type(child).__name__
        if name == "RadioButtons":
            child.value = given or None
        elif name == "Checkbox":
            child.value = child.description[0] in given
        elif name == "Text":
            child.value = given


def told(field, given):
    """Answer a question of a form and give what it says."""
    fill(field, given)
    (button,) = (child for child in field.children if type(child).__name__ == "Button")
    button.click()
    return field.children[-1].value


def fields(box):
    return [child for child in box.children if "accel-question" in child._dom_classes]


def instances():
    """Give all widgets that there are, by their model's id."""
    from ipywidgets.widgets import widget

    return getattr(widget, "_instances", None) or widget.Widget.widgets


def live(ah):
    import ipywidgets

    shown, answered = {}, {}
    for lesson in lessons():
        asked = [q for q in questions.bank().values() if q.lesson == lesson]
        bundle = ah.course.show_quiz(*(q.id for q in asked))._repr_mimebundle_()
        view = bundle.pop("application/vnd.jupyter.widget-view+json")
        box = instances()[view["model_id"]]
        shown[lesson] = bundle
        for question, field in zip(asked, fields(box), strict=True):
            given = ("", wrong(question), right(question))
            answered[question.id] = [told(field, each) for each in given]
    paper = ah.course.draw_exam(1)
    view = paper._repr_mimebundle_()["application/vnd.jupyter.widget-view+json"]
    box = instances()[view["model_id"]]
    for question, field in zip(paper.questions, fields(box), strict=True):
        fill(field, right(question))
    button, result = box.children[-2:]
    button.click()
    return {
        "ipywidgets": ipywidgets.__version__,
        "shown": shown,
        "answered": answered,
        "exam": result.value,
    }


def hidden(ah):
    sys.modules["ipywidgets"] = None  # an import of it fails from here on
    shown = {lesson: ah.course.show_quiz(lesson)._repr_mimebundle_() for lesson in lessons()}
    answered = {
        name: [str(ah.course.answer(name, each(question))) for each in (wrong, right)]
        for name, question in questions.bank().items()
    }
    paper = ah.course.draw_exam(1)
    answers = {place: right(question) for place, question in enumerate(paper.questions, 1)}
    return {
        "shown": shown,
        "answered": answered,
        "exam": str(ah.course.hand_in(1, answers)),
        "paper": paper._repr_mimebundle_(),
    }


if __name__ == "__main__":
    import accel_helpers as ah

    print(json.dumps({"live": live, "hidden": hidden}[sys.argv[1]](ah)))
