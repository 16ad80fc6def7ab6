"""Both answers to every exam question are there, told apart, labelled, sourced and measured."""

import html
import re

import known
import pytest

from accel_helpers.course import exam, questions, quiz, review
from accel_helpers.course.review import answers


def test_every_exam_question_has_both_answers_with_sources_a_section_and_places_of_pages():
    names = known.places()
    assert [one.number for one in answers()] == [f"E{n}" for n in range(1, 15)]
    differ = {n for q in questions.bank().values() if q.expected for n in q.exam}
    assert {one.number for one in answers() if one.differs} == differ
    for one in answers():
        assert all(url.startswith("https://") for url in one.today_source + one.material_source)
        assert all((one.asks, one.material, one.today, one.today_source))
        told = review.both_answers(one.number)
        assert one.as_of.isoformat() in str(told)
        assert str(one.as_of) in told._repr_html_()
        assert ("further question" in str(told)) == (one.number not in questions.THIS_EXAM)
        assert one.material_source or one.label == questions.NOT_FOUND
        ((page, anchor),) = re.findall(
            r'<a href="([^"#]+)#([^"]+)">Lesson', review.both_answers(one.number)._repr_html_()
        )
        table = {ord("*"): "", ord("`"): "", ord(" "): "-"}
        anchors = {title.translate(table) for title in known.headings(page)}
        assert html.unescape(anchor) in anchors, (one.number, anchor)
        assert set(one.places) <= names, one.number


def folds(shown):
    """What a notebook folds away, each with whether it is open: (open, text)."""
    page = shown._repr_html_()
    found = re.findall(r"<details[^>]*?( open)?>(.*?)</details>", page, re.S)
    return [(bool(is_open), text) for is_open, text in found]


def test_each_question_hides_both_answers_with_the_label_and_a_link_until_a_click():
    page = review.both_answers("E3")._repr_html_()
    assert "43 seconds" not in page.partition("</summary>")[0]
    ((is_open, folded),) = folds(review.both_answers("E3"))
    assert not is_open
    for text in ("43 seconds", "(reported second-hand)", "(checked 2026-"):
        assert text in folded
    assert 'href="03_time_a_keras_model.ipynb#' in folded


def test_the_plain_text_has_both_answers():
    assert str(review.both_answers("E3", "E4")).count("What is true today (checked 2026-") == 2


def test_without_a_number_the_exams_ten_are_shown_and_no_further_one():
    shown = review.both_answers()
    assert [one.number for one in shown.answers] == [f"E{n}" for n in range(1, 11)]
    assert shown == review.both_answers(*(one.number for one in shown.answers))


def test_a_question_says_above_its_fold_whether_today_differs():
    summary = {one.number: review.both_answers(one.number)._repr_html_() for one in answers()}
    for one in answers():
        assert ("Today differs" in summary[one.number].partition("</summary>")[0]) == one.differs


# What was wrong


def test_before_a_paper_is_handed_in_nothing_is_called_wrong(own_record):
    shown = review.missed()
    assert shown.answers == ()
    for said in (str(shown), shown._repr_html_()):
        assert "No wrong or empty answer" in said


def test_what_was_wrong_on_the_paper_is_shown_with_both_answers_unfolded(own_record):
    paper = exam.draw_exam(1)
    lost = next(q for q in paper.questions if q.kind == "one" and [*q.exam] == ["E3"])
    place = paper.questions.index(lost) + 1
    exam.hand_in(1, {**known.whole(paper), place: known.wrong(lost)})
    shown = review.missed()
    assert [one.number for one in shown.answers] == ["E3"]
    ((is_open, text),) = folds(shown)
    assert is_open
    assert "43 seconds" in text


def test_what_was_left_empty_is_shown_too(own_record):
    exam.hand_in(1, {})
    assert review.missed().answers == review.both_answers().answers


def test_after_a_paper_without_a_slip_nothing_is_shown(own_record):
    exam.hand_in(1, known.whole(exam.draw_exam(1)))
    assert review.missed().answers == ()
    assert "No wrong or empty answer" in str(review.missed())


def test_a_further_question_that_was_wrong_is_shown_too(own_record):
    further = quiz.show_quiz("E13").questions[0]
    quiz.answer(further.id, known.wrong(further))
    assert [one.number for one in review.missed().answers] == ["E13"]


def test_an_answer_whose_text_was_not_found_is_not_called_the_materials():
    not_found = [one for one in answers() if one.label == questions.NOT_FOUND]
    heads = [one.for_the_exam for one in not_found]
    asked = [q for q in questions.bank().values() if q.label == questions.NOT_FOUND]
    heads += [next(iter(question.two_answers)) for question in asked]
    assert len(heads) > len(not_found) > 0
    assert not any("material answers" in head for head in heads)
    assert "What the exam's material answers (reported second-hand)" in str(
        review.both_answers("E3")
    )


def test_an_id_that_is_none_is_named():
    with pytest.raises(ValueError, match="'03/speed_up'.*'03/none'"):
        quiz.answer("03/none", "a")
