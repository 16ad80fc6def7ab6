"""What a notebook shows of a quiz, and its widgets: only what ipywidgets 7.7.1 and 8 share."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from accel_helpers._values.words import fragment, template
from accel_helpers.course.questions import Question

WIDE = {"width": "auto", "max_width": "100%"}
LINE = {"width": "auto", "max_width": "36em"}
WHOLE_DESCRIPTION = {"description_width": "initial"}
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
        """Return the live form, made of the widgets of ipywidgets, if there is one."""

    def live(self):
        """Return the live form, where there are widgets, and Jinja2 that their HTML is made by."""
        try:
            template("course/templates/quiz.html")
            # Imported and not only looked for: one that can be found may still be broken.
            import ipywidgets
        except ImportError:
            return None
        return self.form(ipywidgets)

    def _repr_mimebundle_(self, include=None, exclude=None, modules=sys.modules):
        box = self.live()
        html = self._repr_html_()
        bundle = {"text/plain": str(self)}
        # In Colab a live form stands alone, as the class says.
        if html and (box is None or "google.colab" not in modules):
            bundle["text/html"] = html
        if box is not None:
            bundle[VIEW] = {"version_major": 2, "version_minor": 0, "model_id": box.model_id}
        return bundle


@dataclass(frozen=True)
class Field:
    """The widgets of a question."""

    box: object  # with everything that belongs to the question
    read: Callable[[], str]  # gives the answer as it stands
    tell: Callable[[str], None]  # shows HTML below the answer


def field(
    widgets,
    question: Question,
    number: int,
    remark: str,
    check: Callable[[Question, str], str] | None = None,
) -> Field:
    """Return the widgets of a question.

    Parameters
    ----------
    widgets : module
        ipywidgets.
    question : Question
        What is asked.
    number : int
        Its place in the quiz.
    remark : str
        HTML that stands below the answer at first.
    check : callable, optional
        Makes the HTML about a question and an answer; with it there is a button that asks for it.
    """
    inputs, read = _inputs(widgets, question, number)
    status, tell = note(widgets, remark)

    # Once an answer changes, what stands below is about the one before.
    def forget(_change) -> None:
        tell("<p>Not checked yet.</p>")

    for widget in inputs:
        widget.observe(forget, "value")
    head = widgets.HTML(fragment("course/templates/quiz/head", question, number))
    parts = [head, *inputs]
    if check is not None:

        def show_check(_button) -> None:
            html = check(question, read())
            tell(html)

        button = widgets.Button(description=f"Check answer {number}", layout={"width": "auto"})
        button.on_click(show_check)
        parts.append(button)
    box = widgets.VBox([*parts, status])
    box.add_class("accel-question")
    return Field(box, read, tell)


def sheet(widgets, fields: Sequence[Field], *below):
    """Put questions, and what stands below them, into one box."""
    style = widgets.HTML(fragment("course/templates/quiz/style"))
    boxes = [field.box for field in fields]
    box = widgets.VBox([style, *boxes, *below])
    box.add_class("accel-quiz")
    return box


def note(widgets, text: str):
    """Return a widget for HTML that screen readers read out when it changes, and its setter."""
    place = widgets.HTML()

    def tell(text: str) -> None:
        place.value = f'<div role="status">{text}</div>'

    tell(text)
    return place, tell


def _inputs(widgets, question: Question, number: int):
    """Return the widgets for an answer, and a function that reads the answer."""
    if question.kind == "one":
        return _radio_buttons(widgets, question)
    if question.kind == "several":
        return _checkboxes(widgets, question)
    if question.kind == "order":
        return _line_for_steps(widgets, question, number)
    return _line_for_number(widgets, question, number)


def _label(option) -> str:
    """Return an option as the label of a widget."""
    return f"{option.letter}) {option.text.translate(PLAIN)}"


def _radio_buttons(widgets, question: Question):
    """Return the buttons for one choice, and a function that reads it."""
    options = [(_label(option), option.letter) for option in question.options]
    buttons = widgets.RadioButtons(options=options, index=None, layout=WIDE)

    def read() -> str:
        # None where nothing is chosen.
        return buttons.value or ""

    return [buttons], read


def _checkboxes(widgets, question: Question):
    """Return the boxes for several choices, and a function that reads them."""
    boxes = {}
    for option in question.options:
        box = widgets.Checkbox(description=_label(option), indent=False, layout=WIDE)
        boxes[option.letter] = box

    def read() -> str:
        return "".join(letter for letter, box in boxes.items() if box.value)

    return [*boxes.values()], read


def _line_for_steps(widgets, question: Question, number: int):
    """Return the steps with a line for their letters, and a function that reads it."""
    # No dropdowns: JupyterLab takes their keys as its own, and "d" twice deletes the cell.
    steps = widgets.HTML(fragment("course/templates/quiz/choices", question))
    description = f"Answer {number}, the letters in order, such as cab:"
    line = widgets.Text(description=description, layout=LINE, style=WHOLE_DESCRIPTION)
    return [steps, line], lambda: line.value


def _line_for_number(widgets, question: Question, number: int):
    """Return a line for a number, and a function that reads it."""
    unit = ""
    if question.unit:
        unit = f" ({question.unit.translate(PLAIN)})"
    description = f"Answer {number}{unit}:"
    line = widgets.Text(description=description, layout=LINE, style=WHOLE_DESCRIPTION)
    return [line], lambda: line.value
