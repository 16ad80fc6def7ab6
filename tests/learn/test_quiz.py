"""A quiz is live where there are widgets, a folded page where not, and answered by a call."""

import json
import re
import subprocess
import sys

import pytest

from accel_helpers.learn import progress, questions, quiz, quiz_widget
from accel_helpers.measure import results
from accel_helpers.measure.timing import Measurement

BANK = questions.bank()
LESSONS = sorted({q.lesson for q in BANK.values()})


def of_kind(kind):
    return next(q for q in BANK.values() if q.kind == kind)


def right(question):
    if question.kind in ("one", "several"):
        return question.letters()
    if question.kind == "order":
        return question.steps()
    return next(o.value for o in question.options if o.correct)


def wrong(question):
    if question.kind == "one":
        return next(o.letter for o in question.options if not o.correct and not o.material)
    if question.kind == "several":
        return "".join(o.letter for o in question.options if not o.correct)
    if question.kind == "order":
        return question.steps()[::-1]
    return next(o.value for o in question.options if not o.correct and not o.material)


def test_questions_are_chosen_by_lesson_by_name_and_by_exam_question():
    assert {q.lesson for q in quiz.show("03").questions} == {"03"}
    assert all("E3" in q.exam for q in quiz.show("E3").questions)
    name = next(iter(BANK))
    assert quiz.show(name, name).questions == (BANK[name],)


@pytest.mark.parametrize("name", ["99", "03/none", "", None, 3, "<b>"])
def test_what_is_no_question_is_named_with_what_there_is(name):
    with pytest.raises(ValueError, match=r"Name a lesson \(00, 01.*E1"):
        quiz.show(name)
    with pytest.raises(ValueError, match="no question is called"):
        quiz.answer(name, "a")
    with pytest.raises(ValueError, match="which questions"):
        quiz.show()


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_static_page_holds_everything_and_folds_the_answers(lesson):
    shown = quiz.show(lesson)
    page = shown._repr_html_()
    assert page == shown._repr_html_() and "<script" not in page and "<style" not in page
    open_part = re.sub(r"<details>.*?</details>", "", page, flags=re.S)
    for question in shown.questions:
        assert question.options[0].feedback[:20].split("`")[0] not in open_part
        assert "details" in page
    assert page.count("<details>") == page.count("</details>") == len(shown.questions)
    assert "Answer: ah.quiz.answer(" in str(shown)


def test_the_static_page_does_not_depend_on_what_was_answered(own_progress):
    before = quiz.show("00")._repr_html_(), str(quiz.show("00"))
    quiz.answer("00/overlap", "a")
    assert (quiz.show("00")._repr_html_(), str(quiz.show("00"))) == before


@pytest.mark.parametrize("kind", ["one", "several", "number", "order"])
def test_a_call_answers_and_is_kept(kind, own_progress):
    question = of_kind(kind)
    assert not quiz.answer(question.id, wrong(question))
    assert [q.id for q in quiz.again().questions] == [question.id]
    assert quiz.answer(question.id, right(question))
    assert quiz.again().questions == ()
    kept = json.loads(own_progress.read_text())["answers"][question.id]
    assert (kept["verdict"], kept["tries"]) == ("right", 2)


def test_a_guess_is_held_against_the_learners_own_card(tmp_path, monkeypatch):
    monkeypatch.setenv("ACCEL_RESULT_CARD", str(tmp_path / "card.json"))
    question = next(q for q in BANK.values() if q.kind == "measured" and not q.over)
    assert quiz.answer(question.id, 2.0).verdict == "not measured"
    assert [q.id for q in quiz.again().questions] == [question.id]
    made = Measurement.from_samples([3.0 / question.scale] * 5)
    results.record({question.measured: made})
    assert quiz.answer(question.id, 3.0)
    assert quiz.answer(question.id, 300.0).verdict == "wrong"
    huge = '{"schema": 1, "created": "2026-11-22", "command": "", "machine": {}, '
    huge += '"measurements": {}, "numbers": {"a": [1' + "0" * 400 + "]}}"
    for hostile in ("{", huge):
        (tmp_path / "card.json").write_text(hostile)
        assert quiz.answer(question.id, 3.0).verdict == "not measured"


def test_a_lesson_is_finished_when_its_last_question_is_right(own_progress):
    for question in quiz.show("00").questions:
        assert progress.load().lessons == {}
        quiz.answer(question.id, right(question))
    assert set(progress.load().lessons) == {"00"}
    lesson, good, count, day = quiz.overview().rows[0]
    assert (lesson, good) == ("00", count) and day
    assert "lesson 00: 3 of 3" in str(quiz.overview())
    assert str(quiz.overview()).endswith(f"Kept in {own_progress}.")
    assert quiz.overview().sentence() == "Answered rightly: lesson 00 3 of 3. No practice exam yet."
    assert "<td>3 of 3</td>" in quiz.overview()._repr_html_()


def test_where_it_is_kept_is_said_once_something_is(own_progress):
    assert str(quiz.overview()).endswith("Nothing is kept yet.")
    quiz.answer("00/overlap", wrong(BANK["00/overlap"]))
    assert str(quiz.overview()).endswith(f"Kept in {own_progress}.")


def test_a_file_that_cannot_be_written_is_said_and_the_answer_is_graded(own_progress):
    own_progress.write_text("no progress")
    graded = quiz.answer("00/overlap", "c")
    assert graded and "Not saved, so that nothing is lost" in str(graded)
    assert own_progress.read_text() == "no progress"
    assert "You answered c" in quiz.earlier(BANK["00/overlap"], progress.current())


def test_what_stands_in_a_hostile_progress_file_is_text(own_progress):
    evil = "<img src=x onerror=alert(1)>"
    it = progress.answered(progress.Progress(), "00/overlap", evil, evil, "2026-11-22T00:00:00")
    it = progress.finished(it, evil, "2026-11-22T00:00:00")
    progress.save(it, own_progress)
    box = quiz.form(quiz.show("00"))
    assert not any("<img" in getattr(w, "value", "") for w in walk(box) if is_html(w))
    assert "<img" not in quiz.overview()._repr_html_()
    assert quiz.again().questions == (BANK["00/overlap"],)  # its verdict is none of ours


# ---------------------------------------------------------------------------------------------


def walk(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from walk(child)


def is_html(widget):
    return type(widget).__name__ == "HTML"


def parts(box, place=1):
    """A question's inputs, its button and its status."""
    inner = box.children[place].children
    return inner[1:-2], inner[-2], inner[-1]


@pytest.mark.parametrize("kind", questions.KINDS)
def test_the_live_form_answers_with_feedback(kind, own_progress):
    question = of_kind(kind)
    box = quiz.form(quiz.show(question.id))
    inputs, button, status = parts(box)
    assert "Not answered yet" in status.value
    button.click()
    assert "No answer yet" in status.value and not own_progress.exists()
    for answer, said in ((wrong(question) if kind != "measured" else 1e-9, "Not right"),):
        put(kind, inputs, answer)
        button.click()
        assert ("Not measured" if kind == "measured" else said) in status.value
    if kind != "measured":
        put(kind, inputs, right(question))
        button.click()
        assert "✓ Right" in status.value and "Every option, and the sources" in status.value
    again = quiz.form(quiz.show(question.id))
    assert "You answered" in parts(again)[2].value


def put(kind, inputs, answer):
    if kind == "one":
        inputs[0].value = answer
    elif kind == "several":
        for letter, box in zip("abcdefgh", inputs, strict=False):
            box.value = letter in answer
    else:
        inputs[-1].value = str(answer)


def test_colab_gets_one_form_and_everybody_else_both():
    shown = quiz.show("00")
    box = quiz.form(shown)
    view = "application/vnd.jupyter.widget-view+json"
    assert set(quiz.bundle(shown, box, {})) == {"text/plain", "text/html", view}
    assert set(quiz.bundle(shown, box, {"google.colab": 1})) == {"text/plain", view}
    assert set(quiz.bundle(shown, None, {"google.colab": 1})) == {"text/plain", "text/html"}


def test_it_uses_only_what_both_generations_of_widgets_have():
    """No Output widget, no colours that mean something."""
    text = open(quiz_widget.__file__, encoding="utf-8").read()
    used = set(re.findall(r"widgets\.(\w+)\(", text))
    assert used == {"HTML", "VBox", "Button", "RadioButtons", "Checkbox", "Text"}


def test_without_ipywidgets_it_prints_and_is_answered_by_a_call(own_progress):
    code = """
import sys
sys.modules["ipywidgets"] = None
import accel_helpers as ah
shown = ah.quiz.show("00")
assert set(shown._repr_mimebundle_()) == {"text/plain", "text/html"}
print(shown)
print(ah.quiz.answer("00/overlap", "c"))
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert "c) There is no measurable difference" in said.stdout and "Right." in said.stdout
    assert own_progress.exists()
