"""Both answers to every exam question are there, told apart, labelled, sourced and measured."""

import html
import re

import known
import pytest

from accel_helpers.learn import questions, review
from accel_helpers.learn.review import answers
from accel_helpers.measure import results


def test_every_exam_question_has_both_answers_with_sources_a_section_and_names_on_the_card():
    names = {f"03/race/{name}" for name in ("cpu", "gpu")}
    names |= {f"02/race/gpu/{name}" for name in ("first", "second")}
    names |= {n for card in results.reference_runs() for n in (*card.measurements, *card.numbers)}
    assert [one.number for one in answers()] == [f"E{n}" for n in range(1, 15)]
    differ = {n for q in questions.bank().values() if q.differs for n in q.exam}
    assert {one.number for one in answers() if one.differs} == differ
    for one in answers():
        assert all(url.startswith("https://") for url in one.today_source + one.material_source)
        assert all((one.asks, one.material, one.today, one.today_source))
        told = review.both(one.number)
        assert one.as_of.isoformat() in str(told) and str(one.as_of) in told._repr_html_()
        assert ("further question" in str(told)) == (one.number in questions.FURTHER)
        assert one.material_source or one.label == questions.NOT_FOUND
        ((page, anchor),) = re.findall(
            r'<a href="([^"#]+)#([^"]+)">Lesson', review.both(one.number)._repr_html_()
        )
        table = {ord("*"): "", ord("`"): "", ord(" "): "-"}
        anchors = {title.translate(table) for title in known.headings(page)}
        assert html.unescape(anchor) in anchors, (one.number, anchor)
        assert set(one.card) <= names, one.number


def test_the_answers_are_folded_and_linked():
    page = review.both("E3")._repr_html_()
    before, _, folded = page.partition("<details>")
    assert "43 seconds" not in before and "43 seconds" in folded
    assert "(reported second-hand)" in folded and 'href="03_time_a_keras_model.ipynb#' in folded
    assert page.count("<details>") == 2
    assert str(review.both("E3", "E4")).count("True today (checked 2026-") == 2


def test_an_answer_whose_text_was_not_found_is_not_called_the_materials():
    not_found = [one for one in answers() if one.label == questions.NOT_FOUND]
    heads = [one.for_the_exam for one in not_found]
    asked = [q for q in questions.bank().values() if q.label == questions.NOT_FOUND]
    heads += [question.two_answers[0][0] for question in asked]
    assert len(heads) > len(not_found) > 0
    assert not any("material answers" in head for head in heads)
    assert "What the exam's material answers (reported second-hand)" in str(review.both("E3"))


@pytest.mark.parametrize("numbers", [(), ("E99",), ("e3",), (3,), ("<b>",), (["E1", "E2"],)])
def test_what_is_no_exam_question_is_named_with_what_there_is(numbers):
    with pytest.raises(ValueError, match=r"E1, E2, .*; got "):
        review.both(*numbers)
