"""What a notebook shows of a quiz, and its widgets: only what ipywidgets 7.7.1 and 8 share."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from accel_helpers._values.words import fragment, template
from accel_helpers.course.questions import Option, Question

WIDE = {"width": "auto", "max_width": "100%"}
LINE = {"width": "auto", "max_width": "36em"}
WHOLE_DESCRIPTION = {"description_width": "initial"}
# Labels of widgets show no mark-up, and ipywidgets 7 takes them for HTML.
PLAIN = str.maketrans({"`": "", "<": "‹", ">": "›", "&": "+"})
VIEW = "application/vnd.jupyter.widget-view+json"


class Shown:
    """What a notebook shows: its text, its HTML, and a live form if it has one.

    The HTML is made by a macro of ``templates/quiz.html``, which the class attribute `macro` names.
    In Colab the live form stands alone: a form beside HTML in one output has not been seen working
    there.
    """

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str | None:
        return fragment(f"course/templates/quiz/{self.macro}", self)

    def form(self, widgets: ModuleType):
        """Return the live form, made with the module ipywidgets; None where there is none."""

    def live(self):
        """Return the live form; None without ipywidgets or Jinja2, which makes its HTML."""
        try:
            # Only for the check: it raises ImportError without Jinja2.
            template("course/templates/quiz.html")
            # Imported and not only looked for: one that can be found may still be broken.
            import ipywidgets
        except ImportError:
            return None
        return self.form(ipywidgets)

    def _repr_mimebundle_(
        self,
        include: object = None,
        exclude: object = None,
        modules: Mapping[str, ModuleType] = sys.modules,
    ) -> dict[str, object]:
        """Return what IPython shows, by MIME type; `include` and `exclude` are not used.

        `modules` are the imported ones, by which Colab is known.
        """
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

    box: object  # the widget with everything that belongs to the question
    read: Callable[[], str]  # returns the answer as it stands; "" where there is none
    tell: Callable[[str], None]  # shows HTML below the answer


def field(
    widgets: ModuleType,
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
        Its place in the quiz, from 1.
    remark : str
        HTML that stands below the answer at first; may be empty.
    check : callable, optional
        Called with the question and the answer when a button is pressed; returns the HTML to show
        below. Without it there is no button.
    """
    inputs, read = _inputs(widgets, question, number)
    status, tell = note(widgets, remark)

    # Once an answer changes, what stands below is about the one before.
    def forget(_change: object) -> None:
        tell("<p>Not checked yet.</p>")

    for widget in inputs:
        widget.observe(forget, "value")
    head = widgets.HTML(fragment("course/templates/quiz/head", question, number))
    parts = [head, *inputs]
    if check is not None:

        def show_check(_button: object) -> None:
            html = check(question, read())
            tell(html)

        button = widgets.Button(description=f"Check answer {number}", layout={"width": "auto"})
        button.on_click(show_check)
        parts.append(button)
    box = widgets.VBox([*parts, status])
    box.add_class("accel-question")
    return Field(box, read, tell)


def sheet(widgets: ModuleType, fields: Sequence[Field], *below: object):
    """Return one box with the questions and, below them, further widgets."""
    style = widgets.HTML(fragment("course/templates/quiz/style"))
    boxes = [field.box for field in fields]
    box = widgets.VBox([style, *boxes, *below])
    box.add_class("accel-quiz")
    return box


def note(widgets: ModuleType, text: str) -> tuple[object, Callable[[str], None]]:
    """Return (widget, function): a widget that shows some HTML, and a function that replaces it.

    Screen readers read it out when it is replaced.
    """
    place = widgets.HTML()

    def tell(text: str) -> None:
        place.value = f'<div role="status">{text}</div>'

    tell(text)
    return place, tell


# The widgets for an answer, and a function that returns the answer, "" where there is none.
Inputs = tuple[list[object], Callable[[], str]]


def _inputs(widgets: ModuleType, question: Question, number: int) -> Inputs:
    """Return the widgets for an answer, and the function that reads it, by the question's kind.

    `number` is the question's place in the quiz, from 1.
    """
    if question.kind == "one":
        return _radio_buttons(widgets, question)
    if question.kind == "several":
        return _checkboxes(widgets, question)
    if question.kind == "order":
        return _line_for_steps(widgets, question, number)
    return _line_for_number(widgets, question, number)


def _label(option: Option) -> str:
    """Return an option as the label of a widget: "a) a text without mark-up"."""
    return f"{option.letter}) {option.text.translate(PLAIN)}"


def _radio_buttons(widgets: ModuleType, question: Question) -> Inputs:
    """Return the buttons for one choice, and the function that reads it: "a"."""
    options = [(_label(option), option.letter) for option in question.options]
    buttons = widgets.RadioButtons(options=options, index=None, layout=WIDE)

    def read() -> str:
        # None where nothing is chosen.
        return buttons.value or ""

    return [buttons], read


def _checkboxes(widgets: ModuleType, question: Question) -> Inputs:
    """Return the boxes for several choices, and the function that reads them: "ac"."""
    boxes = {}
    for option in question.options:
        box = widgets.Checkbox(description=_label(option), indent=False, layout=WIDE)
        boxes[option.letter] = box

    def read() -> str:
        return "".join(letter for letter, box in boxes.items() if box.value)

    return [*boxes.values()], read


def _line_for_steps(widgets: ModuleType, question: Question, number: int) -> Inputs:
    """Return the steps with a line for their letters, and the function that reads it: "cab"."""
    # No dropdowns: JupyterLab takes their keys as its own, and "d" twice deletes the cell.
    steps = widgets.HTML(fragment("course/templates/quiz/choices", question))
    description = f"Answer {number}, the letters in order, such as cab:"
    line = widgets.Text(description=description, layout=LINE, style=WHOLE_DESCRIPTION)
    return [steps, line], lambda: line.value


def _line_for_number(widgets: ModuleType, question: Question, number: int) -> Inputs:
    """Return a line for a number, and the function that reads it as it is typed."""
    unit = ""
    if question.unit:
        unit = f" ({question.unit.translate(PLAIN)})"
    description = f"Answer {number}{unit}:"
    line = widgets.Text(description=description, layout=LINE, style=WHOLE_DESCRIPTION)
    return [line], lambda: line.value
