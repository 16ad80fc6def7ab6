"""Both answers to every exam question are there, told apart, labelled, sourced and measured."""

import json
from pathlib import Path

import pytest

from accel_helpers import _words as _html
from accel_helpers.learn import questions, quiz_form, review
from accel_helpers.learn.exam_answers import Answer, answers
from accel_helpers.measure import results

NOTEBOOKS = Path(review.__file__).parents[2] / "notebooks"


def test_every_exam_question_has_both_answers_with_label_and_source():
    assert [one.number for one in answers()] == [f"E{n}" for n in range(1, 15)]
    for one in answers():
        assert one.material and one.today and one.today_source, one.number
        assert one.label in questions.LABELS
        assert bool(one.material_source) or one.label == questions.NOT_FOUND, one.number
        assert all(url.startswith("https://") for url in one.today_source + one.material_source)


def test_the_bank_and_the_answers_say_the_same_about_where_they_differ():
    """An exam question whose two answers differ is told so in one of its questions at least."""
    differ = {n for q in questions.bank().values() if q.differs for n in q.exam}
    assert {one.number for one in answers() if one.differs} == differ


def test_every_answer_leads_to_a_section_of_a_lesson_and_to_names_on_the_card():
    with_a_gpu = {f"03/race/{name}" for name in ("CPU", "GPU")}
    with_a_gpu |= {f"02/race/gpu/{name}" for name in ("first", "second")}
    names = with_a_gpu | {
        n for card in results.reference_runs() for n in (*card.measurements, *card.numbers)
    }
    for one in answers():
        page, _, anchor = one.link.partition("#")
        cells = json.loads((NOTEBOOKS / page).read_text("utf-8"))["cells"]
        text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        headings = {
            line.lstrip("#").strip().replace("*", "").replace("`", "").replace(" ", "-")
            for line in text.splitlines()
            if line.startswith("#")
        }
        assert anchor in headings, (one.number, anchor)
        assert set(one.card) <= names, one.number


def test_the_answers_are_folded_and_linked():
    page = review.both("E3")._repr_html_()
    before, _, folded = page.partition("<details>")
    assert "43 seconds" not in before and "43 seconds" in folded
    assert "(reported second-hand)" in folded and 'href="03_time_a_keras_model.ipynb#' in folded
    assert page.count("<details>") == 2
    assert "True today:" in str(review.both("E3", "E4"))


def test_an_answer_whose_text_was_not_found_is_not_called_the_materials():
    found, not_found = review.both("E3"), review.both("E8")
    assert not_found.answers[0].label == questions.NOT_FOUND
    for shown in (str(not_found), not_found._repr_html_()):
        assert "The usual answer (the material&#x27;s text was not found)" in shown.replace(
            "'", "&#x27;"
        )
        assert "material answers" not in shown
    assert "What the exam's material answers (reported second-hand)" in str(found)
    for question in questions.bank().values():
        heads = [head for head, _ in quiz_form.two_answers(question)]
        if question.label == questions.NOT_FOUND:
            assert heads[0].startswith("The usual answer"), question.id


@pytest.mark.parametrize("numbers", [(), ("E99",), ("e3",), (3,), ("<b>",), (["E1", "E2"],)])
def test_what_is_no_exam_question_is_named_with_what_there_is(numbers):
    with pytest.raises(ValueError, match=r"the questions are E1, E2, .*; got "):
        review.both(*numbers)


def test_what_stands_in_a_file_is_text():
    evil = '<img src=x onerror="alert(1)">'
    one = Answer(
        *("E1", evil, "01", (evil,), evil, (f'https://e.org/"{evil}',), (evil,)),
        *(("https://e.org/",), True, evil, evil),
    )
    assert "<img" not in review.Review((one,))._repr_html_()


@pytest.mark.parametrize(
    "rest", ["[" + "a" * 90, "[/" + "a" * 90, "x" * 90, "x" * 55 + "/page" * 9, "a.org/" + "y" * 90]
)
def test_an_address_that_is_none_becomes_a_short_text(rest):
    shown = _html.linked([f"https://{rest}"])
    text = shown.partition(">")[2].removesuffix("</a>")
    assert len(text) <= _html.LONGEST + 2 and text[0] == rest[0] and "…" in text
