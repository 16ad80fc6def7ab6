"""Who knows the material passes, at the first try; what the exam would cost comes back."""

import known
import pytest

from accel_helpers.course import exam, quiz, record

PAPERS = [exam.draw_exam(number) for number in range(40)]
PAPER = PAPERS[1]
RIGHT = known.whole(PAPER, "by_material")
# A question with choices, and its place on the paper.
PLACE, ONE = next((n, q) for n, q in enumerate(PAPER.questions, 1) if q.kind == "one")


def test_a_paper_covers_the_exam_gives_nothing_away_and_can_be_drawn_again():
    for number, paper in enumerate(PAPERS):
        ids, giving_away, asked = set(), set(), set()
        for question in paper.questions:
            ids.add(question.id)
            giving_away.update(question.apart)
            asked.update(question.exam)
        assert len(ids) == 20
        assert ids.isdisjoint(giving_away)
        assert asked == {f"E{n}" for n in range(1, 11)}
        assert exam.draw_exam(number) == paper


def test_who_knows_the_material_passes_every_paper_and_today_is_told_apart(own_record):
    for number, paper in enumerate(PAPERS):
        material = exam.hand_in(number, known.whole(paper, "by_material"))
        own_record.unlink()
        today = exam.hand_in(number, known.whole(paper, "right"))
        differ = [str(n) for n, q in enumerate(paper.questions, 1) if q.expected]
        agree = 20 - len(differ)
        assert len(quiz.ask_again().questions) == len(differ)
        assert today.today == material.material == 20
        assert today.material == material.today == agree
        assert today.passed == (agree >= 14)
        assert material.passed
        assert f"so lost by the material: no. {', '.join(differ)}" in str(today)


def test_fourteen_answers_of_the_material_pass_and_thirteen_do_not():
    for count, said in {14: "✓ Passed. By the material: 14", 13: "13 of 20, 1 short"}.items():
        answers = [*known.whole(PAPERS[count], "by_material").items()]
        assert said in str(exam.hand_in(count, dict(answers[:count])))


def test_the_first_mark_of_a_paper_stands_and_the_last_score_is_that_of_the_last_paper():
    assert exam.last_score() is None
    exam.hand_in(1, {})
    exam.hand_in(2, known.whole(PAPERS[2], "by_material"))
    again = exam.hand_in(1, RIGHT)
    assert "second try" in again.note
    assert not again.passed
    assert exam.last_score() == 20


def test_an_answer_that_cannot_be_graded_is_named():
    with pytest.raises(ValueError, match=f"question {PLACE}"):
        exam.hand_in(1, {PLACE: "z"})
    # The first try is not used up by a slip.
    for place in 21, "1":
        with pytest.raises(ValueError, match="no question"):
            exam.hand_in(1, {place: "a"})


def test_what_was_wrong_comes_back_and_the_sitting_is_kept():
    result = exam.hand_in(1, {**RIGHT, PLACE: known.wrong(ONE)})
    assert f"Wrong or empty: no. {PLACE}." in str(result)
    assert quiz.ask_again().questions == (ONE,)
    kept = record.newest("paper/")["1"]
    assert kept.outcome == "passed"
    assert kept.numbers == {"today": result.today, "material": 19, "questions": 20}


def test_the_form_is_handed_in_as_a_whole(own_record):
    *questions, button, status = PAPER.form().children
    _, choices, said = questions[PLACE].children
    button.click()
    assert "no answer" in status.value
    assert not own_record.exists()
    choices.value = RIGHT[PLACE]
    button.click()
    assert "1 of 20, 13 short" in status.value
    assert "✓" in said.value
    assert len(quiz.ask_again().questions) == 19
