"""A guess is kept, compared, and never demanded."""

import pytest

from accel_helpers.learn import predict


@pytest.fixture(autouse=True)
def forget():
    predict._guesses.clear()


@pytest.mark.parametrize(
    ("guess", "actual", "verdict"),
    [
        (10, 11, "close"),
        (10, 30, "too low"),
        (100, 30, "too high"),
        (-3, 30, "too low"),
        ("A", "A", "right"),
        ("A", "B", "wrong"),
    ],
)
def test_verdicts(guess, actual, verdict):
    predict.guess("q", guess)
    assert predict.reveal("q", actual).verdict == verdict


def test_without_a_guess_the_lesson_goes_on():
    outcome = predict.reveal("never asked", 3.0, unit="seconds")
    assert outcome.verdict == "no guess"
    assert str(outcome) == "You made no guess. What came out: 3 seconds."


def test_the_form_keeps_what_is_typed():
    question = predict.ask("q", "How long?", unit="seconds")
    form = predict._form(question)
    _, field, button, status = form.children
    button.click()
    assert "type an answer first" in status.value and "q" not in predict._guesses
    field.value = 12.5
    button.click()
    assert "Kept: 12.5 seconds" in status.value
    assert predict.reveal("q", 12.0).verdict == "close"


def test_the_form_keeps_what_is_chosen():
    form = predict._form(predict.ask("q", "Which?", choices=["A", "<b>B</b>"]))
    _, field, button, status = form.children
    assert field.value is None
    field.value = "<b>B</b>"
    button.click()
    assert predict._guesses["q"] == "<b>B</b>"
    assert "<b>B" not in status.value and "&lt;b&gt;B" in status.value


def test_the_static_form_is_stable_and_escaped():
    question = predict.ask("q", "Is 1 < 2 & 3?", choices=["yes", "no"])
    bundle = question._repr_mimebundle_()
    assert bundle["text/html"] == question._repr_html_()
    assert "1 &lt; 2 &amp; 3" in bundle["text/html"] and "<li>yes</li>" in bundle["text/html"]
    assert "ah.predict.guess('q', 'yes')" in bundle["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: predict.ask("", "?"), ValueError, "name must be"),
        (lambda: predict.ask("q", "?", choices=["one"]), ValueError, "at least two"),
        (lambda: predict.ask("q", "?", choices="AB"), ValueError, "at least two"),
        (lambda: predict.guess("q", None), TypeError, "a number or a text; got None"),
    ],
)
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
