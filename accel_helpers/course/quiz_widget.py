"""What a notebook shows of a quiz, and its widgets: only what ipywidgets 7.7.1 and 8 share."""

import contextlib
import functools
import re
import sys
from collections.abc import Callable, Sequence
from html import unescape

from accel_helpers._values.words import fragment, marked
from accel_helpers.course.questions import Question

WHOLE_DESCRIPTION = {"description_width": "initial"}
# Labels of widgets show no mark-up, and ipywidgets 7 takes them for HTML.
PLAIN = str.maketrans({"`": "", "<": "‹", ">": "›", "&": "+"})
VIEW = "application/vnd.jupyter.widget-view+json"


class Shown:
    """What a notebook shows: its HTML, the same as text, and a live form if it has one.

    The HTML is made by a macro of ``templates/quiz.html``, which the class attribute `macro` names.
    """

    def __str__(self) -> str:
        # What is folded away would give the answers away.
        page = re.sub(r"<details>.*?</details>", "", self._repr_html_())
        page = re.sub(r"</(p|li|summary)>|<br>", "\n", page)
        return unescape(re.sub(r"<[^>]*>", "", page)).strip()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html(self.macro, self)

    def form(self):
        """Return the live form, a widget made with ipywidgets; None where there is none."""

    def _repr_mimebundle_(self, **_selection: object) -> dict[str, object]:
        """Return what IPython shows, by MIME type."""
        bundle = {"text/plain": str(self), "text/html": self._repr_html_()}
        form = None
        with contextlib.suppress(ImportError):
            form = self.form()
        if form is not None:
            bundle[VIEW] = {"version_major": 2, "version_minor": 0, "model_id": form.model_id}
            # A form beside HTML in one output has not been seen working in Colab.
            if "google.colab" in sys.modules:
                del bundle["text/html"]
        return bundle


def html(macro: str, *values: object) -> str:
    """Return the HTML that a macro of ``templates/quiz.html`` makes."""
    return fragment(f"course/templates/quiz/{macro}", *values) or "Jinja2 is not installed."


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
    """The widgets of a question: its text, those for an answer, and what is said about it.

    With `check`, a button says there what that returns for this field.
    """

    def __init__(self, question: Question, number: int, remark: str = "", check=None):
        self.question = question
        self.inputs = _inputs(question, number)
        self.status = status(remark)
        # Once an answer changes, what stands below is about the one before.
        for widget in self.inputs:
            widget.observe(lambda _change: say(self.status, "<p>Not checked yet.</p>"), "value")
        parts = [*self.inputs]
        if check:
            act = functools.partial(check, self)
            parts.append(button(f"Check answer {number}", act, self.status))
        head = html("field", question, number)
        self.box = boxed("accel-question", head, *parts, self.status)

    def read(self) -> str:
        """Return the answer as it stands; "" where there is none."""
        if self.question.kind == "several":
            # The labels of checkboxes begin with their letters.
            return "".join(box.description[0] for box in self.inputs if box.value)
        # None where no choice is made.
        return self.inputs[0].value or ""


def boxed(name: str, text: str, *parts: object):
    """Return one widget of HTML and, below it, others; `name` is its class in the style sheet."""
    import ipywidgets

    box = ipywidgets.VBox([ipywidgets.HTML(text), *parts])
    box.add_class(name)
    return box


def _inputs(question: Question, number: int) -> Sequence:
    """Return the widgets for an answer, by the question's kind."""
    import ipywidgets

    labels = {}
    for letter, option in question.options.items():
        labels[f"{letter}) {option.text.translate(PLAIN)}"] = letter
    if question.kind == "one":
        return [ipywidgets.RadioButtons(options=[*labels.items()], index=None)]
    if question.kind == "several":
        return [ipywidgets.Checkbox(description=each, indent=False) for each in labels]
    # No dropdowns for an order: JupyterLab takes their keys as its own, and "d" twice deletes the
    # cell.
    unit = question.unit or "the letters in order, such as cab"
    description = f"Answer {number} ({unit}):"
    return [ipywidgets.Text(description=description, style=WHOLE_DESCRIPTION)]
