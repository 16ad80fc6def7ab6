"""What a notebook shows of a quiz, and its widgets: only what ipywidgets 7.7.1 and 8 share."""

import sys
from collections.abc import Sequence

from accel_helpers._values.words import fragment, template
from accel_helpers.course.questions import Question

WIDE = {"width": "auto", "max_width": "100%"}
# Labels of widgets show no mark-up, and ipywidgets 7 takes them for HTML.
PLAIN = str.maketrans({"`": "", "<": "‹", ">": "›", "&": "+"})
VIEW = "application/vnd.jupyter.widget-view+json"


class Shown:
    """What a notebook shows: text, HTML by its `macro` of the templates, and a form if it has one.

    In Colab the live form stands alone: two in one output have not been seen working there.
    """

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str | None:
        return fragment(f"course/templates/quiz/{self.macro}", self)

    def form(self, widgets):
        """The live form, if there is one."""

    def live(self):
        """The live form, where there are widgets, and Jinja2 that their HTML is made by."""
        try:
            template("course/templates/quiz.html")
            import ipywidgets  # really: one that can be found may still be broken
        except ImportError:
            return None
        return self.form(ipywidgets)

    def _repr_mimebundle_(self, include=None, exclude=None, modules=sys.modules):
        box, static = self.live(), self._repr_html_()
        data = {"text/plain": str(self)}
        if static and (box is None or "google.colab" not in modules):
            data["text/html"] = static
        if box is not None:
            data[VIEW] = {"version_major": 2, "version_minor": 0, "model_id": box.model_id}
        return data


def field(widgets, question: Question, number: int, said: str, check=None):
    """The widgets of a question, what reads the answer, and what shows HTML beneath it."""
    answer, read = _answer(widgets, question, number)
    status, say = note(widgets, said)
    for one in answer:  # what was said is about the answer before
        one.observe(lambda _: say("<p>Not checked yet.</p>"), "value")
    parts = [widgets.HTML(fragment("course/templates/quiz/head", question, number)), *answer]
    if check:  # makes that HTML of the question and the answer
        button = widgets.Button(description=f"Check answer {number}", layout={"width": "auto"})
        button.on_click(lambda _: say(check(question, read())))
        parts.append(button)
    box = widgets.VBox([*parts, status])
    box.add_class("accel-question")
    return box, read, say


def sheet(widgets, fields: Sequence[tuple], *below):
    """Put questions, and what stands below them, into one box."""
    boxes = [box for box, _, _ in fields]
    box = widgets.VBox([widgets.HTML(fragment("course/templates/quiz/style")), *boxes, *below])
    box.add_class("accel-quiz")
    return box


def note(widgets, text: str):
    """A place for HTML, read out by screen readers when it changes; and what changes it."""
    place = widgets.HTML()

    def say(text: str) -> None:
        place.value = f'<div role="status">{text}</div>'

    say(text)
    return place, say


def _answer(widgets, question: Question, number: int):
    """The widgets for an answer, and what reads them."""
    choices = [(f"{o.letter}) {o.text.translate(PLAIN)}", o.letter) for o in question.options]
    if question.kind == "one":
        radio = widgets.RadioButtons(options=choices, index=None, layout=WIDE)
        return [radio], lambda: radio.value or ""
    if question.kind == "several":
        boxes = [
            widgets.Checkbox(description=each, indent=False, layout=WIDE) for each, _ in choices
        ]
        return boxes, lambda: "".join(box.description[0] for box in boxes if box.value)
    unit = f" ({question.unit.translate(PLAIN)})" if question.unit else ""
    label, above = f"Answer {number}{unit}:", []
    if question.kind == "order":
        # No dropdowns: JupyterLab takes their keys as its own, and "d" twice deletes the cell.
        label = f"Answer {number}, the letters in order, such as cab:"
        above = [widgets.HTML(fragment("course/templates/quiz/choices", question))]
    layout, style = {"width": "auto", "max_width": "36em"}, {"description_width": "initial"}
    text = widgets.Text(description=label, layout=layout, style=style)
    return [*above, text], lambda: text.value
