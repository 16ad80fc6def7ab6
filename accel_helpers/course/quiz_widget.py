"""What a notebook shows of a quiz, and its widgets: only what ipywidgets 7.7.1 and 8 share."""

import contextlib
import sys
from collections.abc import Callable, Sequence

from accel_helpers._values.words import fragment, marked
from accel_helpers.course.questions import Question

WIDE = {"width": "auto", "max_width": "100%"}
LINE = {"width": "auto", "max_width": "36em"}
WHOLE_DESCRIPTION = {"description_width": "initial"}
# Labels of widgets show no mark-up, and ipywidgets 7 takes them for HTML.
PLAIN = str.maketrans({"`": "", "<": "‹", ">": "›", "&": "+"})
VIEW = "application/vnd.jupyter.widget-view+json"


class Shown:
    """What a notebook shows: its text, its HTML, and a live form if it has one.

    The HTML is made by a macro of ``templates/quiz.html``, which the class attribute `macro` names.
    """

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str | None:
        return html(self.macro, self)

    def form(self):
        """Return the live form, a widget made with ipywidgets; None where there is none."""

    def _repr_mimebundle_(self, **_selection: object) -> dict[str, object]:
        """Return what IPython shows, by MIME type."""
        page = self._repr_html_()
        form = None
        # Without Jinja2 there is no HTML, and a form would have no text.
        if page is not None:
            with contextlib.suppress(ImportError):
                form = self.form()
        bundle = {"text/plain": str(self)}
        if form is not None:
            bundle[VIEW] = {"version_major": 2, "version_minor": 0, "model_id": form.model_id}
        # A form beside HTML in one output has not been seen working in Colab.
        if page and not (form and "google.colab" in sys.modules):
            bundle["text/html"] = page
        return bundle


def html(macro: str, *values: object) -> str | None:
    """Return the HTML that a macro of ``templates/quiz.html`` makes; None without Jinja2."""
    return fragment(f"course/templates/quiz/{macro}", *values)


# --- Parts of forms


def status(text: str):
    """Return a widget that shows HTML; `say` replaces it."""
    import ipywidgets

    widget = ipywidgets.HTML()
    say(widget, text)
    return widget


def say(widget: object, text: str) -> None:
    """Show HTML in a widget; screen readers read it out."""
    widget.value = f'<div role="status">{text}</div>'


def button(description: str, act: Callable[[], str], widget: object):
    """Return a button; what `act` returns when it is pressed, or its error, is said in a widget."""
    import ipywidgets

    def press(_button: object) -> None:
        try:
            say(widget, act())
        except ValueError as error:
            say(widget, f"<p>{marked(str(error))}</p>")

    made = ipywidgets.Button(description=description, layout={"width": "auto"})
    made.on_click(press)
    return made


class Field:
    """The widgets of a question: its text, those for an answer, and what is said about it."""

    def __init__(self, question: Question, number: int, remark: str = ""):
        import ipywidgets

        self.question = question
        self.number = number
        self.head = ipywidgets.HTML(html("head", question, number))
        self.inputs = _inputs(question, number)
        self.status = status(remark)
        # Once an answer changes, what stands below is about the one before.
        for widget in self.inputs:
            widget.observe(lambda _change: say(self.status, "<p>Not checked yet.</p>"), "value")

    def read(self) -> str:
        """Return the answer as it stands; "" where there is none."""
        if self.question.kind == "several":
            # The labels of checkboxes begin with their letters.
            return "".join(box.description[0] for box in self.inputs if box.value)
        # None where no choice is made.
        return self.inputs[-1].value or ""

    def box(self, *button: object):
        """Return one widget with all of them, and a button if there is one."""
        import ipywidgets

        box = ipywidgets.VBox([self.head, *self.inputs, *button, self.status])
        box.add_class("accel-question")
        return box


def sheet(*parts: object):
    """Return one box with questions and, below them, further widgets."""
    import ipywidgets

    box = ipywidgets.VBox([ipywidgets.HTML(html("style")), *parts])
    box.add_class("accel-quiz")
    return box


def _inputs(question: Question, number: int) -> Sequence:
    """Return the widgets for an answer, by the question's kind."""
    import ipywidgets

    labels = {}
    for letter, option in question.options.items():
        labels[f"{letter}) {option.text.translate(PLAIN)}"] = letter
    if question.kind == "one":
        options = [*labels.items()]
        return [ipywidgets.RadioButtons(options=options, index=None, layout=WIDE)]
    if question.kind == "several":
        return [ipywidgets.Checkbox(description=each, indent=False, layout=WIDE) for each in labels]
    description = f"Answer {number} ({question.unit}):"
    if question.kind == "order":
        description = f"Answer {number}, the letters in order, such as cab:"
    line = ipywidgets.Text(description=description, layout=LINE, style=WHOLE_DESCRIPTION)
    if question.kind == "order":
        # No dropdowns: JupyterLab takes their keys as its own, and "d" twice deletes the cell.
        return [ipywidgets.HTML(html("choices", question)), line]
    return [line]
