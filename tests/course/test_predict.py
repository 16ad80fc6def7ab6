"""A guess is kept, compared, and never demanded."""

import re

import numpy as np
import pytest

from accel_helpers.course import predict
from accel_helpers.course.places import Place


@pytest.mark.parametrize(
    ("guess", "actual", "verdict"),
    [
        (10, 11, "Close"),
        (10, 30, "too low"),
        (100, 30, "too high"),
        (-3, 30, "too low"),
        ("A", "A", "Right"),
        ("A", "B", "Not so"),
        *((number(3), np.float32(3.1), "Close") for number in (np.int64, np.float32, np.float64)),
    ],
)
@pytest.mark.parametrize("kept", ["in the file", "in memory alone"])
def test_verdicts(guess, actual, verdict, kept, own_record):
    if kept == "in memory alone":
        own_record.mkdir()
    predict.guess("q", guess)
    assert verdict in predict.reveal("q", actual)


def test_a_guess_at_what_was_left_out_is_neither_right_nor_wrong():
    predict.guess("q", "XLA")
    left_out = predict.reveal("q", "resident", tried=("bigger batches", "resident"))
    assert "left out" in left_out
    assert "Not so" not in left_out
    assert "Not so" in predict.reveal("q", "resident", tried=("XLA", "resident"))
    assert "Right" in predict.reveal("q", "XLA", tried=("XLA", "resident"))


def test_where_nothing_could_be_measured_no_answer_is_revealed():
    predict.guess("q", 3)
    assert "Not measurable here" in predict.reveal("q", None, unit="times")


@pytest.mark.parametrize(("choices", "given"), [((), 12.5), (("A", "B"), "B")])
def test_the_form_keeps_what_is_typed_or_chosen(choices, given):
    asked = predict.Question("q", Place("q", "What?", "s", choices))
    _, field, button, status = asked.form().children
    button.click()
    assert predict.reveal("q", given).startswith("Answer:")
    assert 'role="status"' in status.value
    field.value = given
    button.click()
    assert re.search("Close|Right", predict.reveal("q", given))
    assert "Kept" in status.value


def test_the_static_form_is_stable_and_escaped():
    question = predict.Question("q", Place("q", "Is 1 < 2 & 3?", choices=("yes", "no")))
    bundle = question._repr_mimebundle_()
    assert "1 &lt; 2 &amp; 3" in bundle["text/html"]
    assert "<li>yes</li>" in bundle["text/html"]
    assert "Is 1 < 2 & 3?" in bundle["text/plain"]
    assert "ah.course.guess('q', 'yes')" in bundle["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in bundle
