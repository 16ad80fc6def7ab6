"""The widgets of a quiz: thin, and only of what ipywidgets 7.7.1 and 8 share.

A `Field` is one question on the page. It knows how to read the answer and where to say something;
what an answer is worth is none of its business.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from accel_helpers._words import marked
from accel_helpers.learn import quiz_form
from accel_helpers.learn.questions import Question

# Radio buttons and checkboxes are made for short words: let long answers wrap.
STYLE = """<style>
.accel-quiz .widget-radio-box label, .accel-quiz .widget-checkbox label,
.accel-quiz .widget-label-basic { height: auto; white-space: normal; line-height: 1.4;
  overflow: visible; }
.accel-quiz .widget-radio-box label, .accel-quiz .widget-checkbox label {
  display: flex; align-items: flex-start; padding: 4px 0; }
.accel-quiz .widget-radio-box input, .accel-quiz .widget-checkbox input {
  order: -1; flex: none; margin: 0 8px 0 3px; height: 18px; }
.accel-quiz .widget-text { height: auto; flex-wrap: wrap; }
.accel-quiz .widget-text input { flex: 1 1 8em; max-width: 16em; }
.accel-quiz .widget-radio, .accel-quiz .widget-radio-box, .accel-quiz .widget-checkbox {
  width: auto; max-width: 100%; height: auto; }
.accel-quiz .widget-html-content { line-height: 1.4; }
.accel-quiz .widget-html-content a {
  color: var(--jp-content-link-color, #1565c0); text-decoration: underline; }
.accel-quiz .widget-html-content p { margin: .4em 0; }
.accel-quiz .widget-html-content ul { margin: .3em 0; padding-left: 1.5em; }
.accel-quiz .widget-html-content li { margin: .25em 0; }
.accel-quiz .widget-html-content summary { padding: .4em 0; }
.accel-quiz .widget-button { align-self: flex-start; margin: .4em 2px; }
.accel-question { margin-top: .75em; padding-top: .25em; border-top: 1px solid #bdbdbd; }
</style>"""
KEYS = "<p><em>With the keyboard: Tab goes on, Space chooses, Enter presses a button.</em></p>"
WIDE = {"width": "auto", "max_width": "100%"}


@dataclass(frozen=True)
class Field:
    """A question on the page.

    Attributes
    ----------
    box : ipywidgets.VBox
    read : callable
        Gives the answer as `grading.grade` takes it; empty where there is none yet.
    say : callable
        Shows HTML beneath the question.
    """

    question: Question
    box: object
    read: Callable[[], object]
    say: Callable[[str], None]


def available() -> bool:
    """Whether ipywidgets can be imported."""
    try:
        # really imported: one that can be found may still be broken
        import ipywidgets  # noqa: F401
    except ImportError:
        return False
    return True


def field(question: Question, number: int, said: str, on_check=None) -> Field:
    """Make a question as widgets.

    Parameters
    ----------
    question : Question
    number : int
        Its place on the page, from 1.
    said : str
        HTML that stands beneath it at first.
    on_check : callable, optional
        Called with the field when its button is pressed; without it there is no button.

    Returns
    -------
    Field
    """
    import ipywidgets as widgets

    stem = f"<strong>{number}. {marked(question.stem)}</strong>"
    head = widgets.HTML(f"<p>{stem} <em>{html.escape(quiz_form.how(question))}</em></p>")
    answer, read = _ANSWERS[question.kind](widgets, question, number)
    status = widgets.HTML(_status(said))

    def say(text: str) -> None:
        status.value = _status(text)

    parts = [head, *answer, status]
    if on_check:
        button = widgets.Button(description=f"Check answer {number}", layout={"width": "auto"})
        parts.insert(-1, button)
    for one in answer:
        # what was said is about the answer before
        one.observe(lambda _: say("<p>Not checked yet.</p>"), "value")
    box = widgets.VBox(parts)
    box.add_class("accel-question")
    made = Field(question, box, read, say)
    if on_check:
        button.on_click(lambda _: on_check(made))
    return made


def sheet(fields: Sequence[Field], *below):
    """Put questions, and what stands below them, into one box."""
    import ipywidgets as widgets

    boxes = [field.box for field in fields]
    box = widgets.VBox([widgets.HTML(STYLE + KEYS), *boxes, *below])
    box.add_class("accel-quiz")
    return box


def note(text: str):
    """Make a place for a line of HTML that changes; its `value` is the HTML."""
    import ipywidgets as widgets

    return widgets.HTML(_status(text))


def hand_in(label: str, on_click: Callable[[Callable[[str], None]], None]):
    """Make a button and a place for what is said when it is pressed."""
    import ipywidgets as widgets

    button = widgets.Button(description=label, button_style="", layout={"width": "auto"})
    status = note("")

    def say(text: str) -> None:
        status.value = _status(text)

    button.on_click(lambda _: on_click(say))
    return button, status


def _status(text: str) -> str:
    """A place that screen readers read out when it changes."""
    return f'<div role="status">{text}</div>'


# ---------------------------------------------------------------------------------------------


def _one(widgets, question: Question, number: int):
    radio = widgets.RadioButtons(
        options=[(f"{o.letter}) {_plain(o.text)}", o.letter) for o in question.options],
        index=None,
        description="",
        layout=WIDE,
    )
    return [radio], lambda: radio.value or ""


def _several(widgets, question: Question, number: int):
    boxes = {
        o.letter: widgets.Checkbox(
            value=False,
            description=f"{o.letter}) {_plain(o.text)}",
            indent=False,
            layout=WIDE,
        )
        for o in question.options
    }
    return list(boxes.values()), lambda: "".join(k for k, box in boxes.items() if box.value)


def _number(widgets, question: Question, number: int):
    unit = f" ({_plain(question.unit)})" if question.unit else ""
    text = _text(widgets, f"Answer {number}{unit}:")
    return [text], lambda: text.value


def _order(widgets, question: Question, number: int):
    # No dropdowns: JupyterLab takes their keys as its own, and "d" twice would delete the cell.
    text = _text(widgets, f"Answer {number}, the letters in order, such as cab:")
    return [widgets.HTML(quiz_form.choices_html(question)), text], lambda: text.value


def _text(widgets, label: str):
    return widgets.Text(
        value="",
        description=label,
        style={"description_width": "initial"},
        layout={"width": "auto", "max_width": "36em"},
    )


def _plain(text: str) -> str:
    """Labels of widgets show no mark-up, and ipywidgets 7 takes them for HTML."""
    return text.replace("`", "").replace("<", "‹").replace(">", "›").replace("&", "+")


_ANSWERS = {
    "one": _one,
    "several": _several,
    "number": _number,
    "measured": _number,
    "order": _order,
}
