"""Who knows the material passes, and who knows today passes."""

import known
import pytest

from accel_helpers.course import exam, questions, quiz, record

PAPERS = [exam.draw_exam(number) for number in range(40)]
PAPER = next(p for p in PAPERS if {"one", "number"} <= {q.kind for q in p.questions})
KINDS = [q.kind for q in PAPER.questions]
ONE, NUMBER = KINDS.index("one") + 1, KINDS.index("number") + 1


def test_a_paper_covers_this_exams_ten_questions_and_no_further_one_and_can_be_drawn_again():
    for paper in PAPERS:
        assert len(paper.questions) == len(set(paper.questions)) == exam.COUNT
        assert {n for q in paper.questions for n in q.exam} == {f"E{n}" for n in range(1, 11)}
        assert all(q.practice for q in paper.questions)
        assert exam.draw_exam(paper.number) == paper
        ids = {q.id for q in paper.questions}
        assert not any(ids & set(q.apart) for q in paper.questions)  # none gives another away
    assert len({paper.questions for paper in PAPERS}) == len(PAPERS)
    assert "ah.course.hand_in(1, {1:" in str(PAPERS[1])
    assert "ah.course.answer" not in str(PAPERS[1])
    assert PAPERS[1]._repr_html_().count("<details>") == exam.COUNT


def test_who_knows_either_passes_every_paper_and_the_two_are_told_apart():
    for paper in PAPERS:
        differ = sum(bool(q.expected) for q in paper.questions)
        old, new = (
            exam.hand_in(paper.number, known.whole(paper, material)) for material in (True, False)
        )
        assert differ >= 2
        assert old.passed
        assert new.passed
        assert (old.material, old.today) == (exam.COUNT, exam.COUNT - differ)
        assert (new.today, new.material) == (exam.COUNT, exam.COUNT - differ)
        places = [str(n) for n, q in enumerate(paper.questions, 1) if q.expected]
        assert f"Outside the exam, look at {', '.join(places)}" in str(old)
        assert f"In the exam you would lose {', '.join(places)}" in str(new)


def test_fourteen_right_answers_pass_and_thirteen_do_not():
    paper = PAPERS[1]
    right = known.whole(paper, material=True)
    marked = [exam.hand_in(1, {n: right[n] for n in range(1, count + 1)}) for count in (13, 14)]
    assert [(result.material, result.passed) for result in marked] == [(13, False), (14, True)]


def test_the_last_score_is_the_better_mark_of_the_last_paper(own_record):
    assert exam.last_score() is None
    exam.hand_in(2, known.whole(exam.draw_exam(2)))
    first = exam.hand_in(1, known.whole(PAPERS[1], material=True))
    assert exam.last_score() == first.material == exam.COUNT
    exam.hand_in(1, {})
    assert exam.last_score() == 0


def test_an_answer_that_cannot_be_graded_is_named_and_nothing_is_kept(own_record):
    with pytest.raises(ValueError, match=f"question {ONE}"):
        exam.hand_in(PAPER.number, {ONE: "z"})
    assert not own_record.exists()


def test_what_was_wrong_comes_back_and_the_sitting_is_kept(own_record):
    lost, answers = PAPER.questions[ONE - 1], known.whole(PAPER)
    result = exam.hand_in(PAPER.number, {**answers, ONE: known.wrong(lost)})
    assert result.passed
    assert f"Wrong or empty: {ONE}." in str(result)
    assert quiz.ask_again().questions == (lost,)
    kept = record.newest("paper/")[str(PAPER.number)]
    assert (kept.outcome, kept.numbers["today"], kept.numbers["questions"]) == ("passed", 19, 20)
    said = quiz.overview()
    assert f"paper {PAPER.number}" in said
    assert "19 as is true today" in said
    quiz.answer(lost.id, known.right(lost))
    assert quiz.ask_again().questions == ()


def test_a_paper_that_cannot_be_kept_is_marked_and_says_so(own_record):
    own_record.write_text("{")
    result = exam.hand_in(1, known.whole(PAPERS[1]))
    assert result.passed
    assert "Not saved" in str(result)
    assert "Not saved" in result._repr_html_()
    assert own_record.read_text() == "{"


def test_the_form_is_handed_in_as_a_whole(own_record):
    box = PAPER.form()
    *_, button, status = box.children
    question, field = PAPER.questions[ONE - 1], box.children[ONE].children
    number = box.children[NUMBER].children[1]
    button.click()
    assert "no answer" in status.value
    number.value = "<b>many</b>"
    button.click()
    assert f"question {NUMBER}" in status.value
    assert "<b>" not in status.value
    assert not own_record.exists()
    number.value, field[1].value = "", known.right(question)
    button.click()
    assert "✗" in status.value
    assert "14 of 20" in status.value
    assert "✓" in field[-1].value
    assert len(quiz.answers()) == 20
    assert len(quiz.ask_again().questions) == 19
    field[1].value = known.wrong(question)
    button.click()
    assert "✗" in field[-1].value
    assert len(quiz.ask_again().questions) == 20


def test_the_answer_key_says_practice_exam_of_no_question_that_none_can_have():
    said = {q.id for q in questions.bank().values() if not (q.quiz or q.further)}
    drawn = {each.id for paper in PAPERS for each in paper.questions}
    assert said
    assert said <= drawn
