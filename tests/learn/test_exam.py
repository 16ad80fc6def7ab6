"""Who knows the material passes, who knows today passes, and who guesses does not."""

import random

import pytest

from accel_helpers.learn import exam, grading, progress, questions, quiz
from accel_helpers.learn.grading import AnswerError

PAPERS = [exam.draw(number) for number in range(40)]
WHO = ("the material's answers", "today's answers")


def known(question, material):
    if question.kind in ("one", "several"):
        return question.letters(material)
    if question.kind == "order":
        return question.steps(material)
    return next(o.value for o in question.options if (o.material if material else o.correct))


def guess(question, dice):
    options = question.options
    if question.kind == "number":
        return dice.choice(options).value
    letters = [o.letter for o in options]
    if question.kind == "several":
        return "".join(dice.sample(letters, len(question.letters())))
    if question.kind == "order":
        return "".join(dice.sample(question.steps(), len(question.steps())))
    return dice.choice(letters)


def test_a_paper_covers_every_question_of_the_exam_and_can_be_drawn_again():
    for paper in PAPERS:
        assert len(paper.questions) == len(set(paper.questions)) == exam.COUNT
        assert {n for q in paper.questions for n in q.exam} == {f"E{n}" for n in range(1, 15)}
        assert all(exam.may_be_drawn(q) for q in paper.questions)
        assert exam.draw(paper.number) == paper
        ids = {q.id for q in paper.questions}
        assert not any(ids & set(q.apart) for q in paper.questions)  # none gives another away
    assert len({paper.questions for paper in PAPERS}) == len(PAPERS)


@pytest.mark.parametrize("material", [True, False], ids=WHO)
def test_who_knows_passes_every_paper(material):
    for paper in PAPERS:
        answers = {n: known(q, material) for n, q in enumerate(paper.questions, 1)}
        result = exam.mark(paper, answers)
        assert result.passed, paper.number
        assert (result.material if material else result.today) == exam.COUNT
        assert "Wrong or empty" not in str(result)


def test_the_two_kinds_of_knowledge_are_told_apart():
    """On every paper there are questions where the material and today differ."""
    for paper in PAPERS:
        answers = {n: known(q, True) for n, q in enumerate(paper.questions, 1)}
        result = exam.mark(paper, answers)
        differ = sum(q.differs for q in paper.questions)
        assert differ >= 2 and result.today == exam.COUNT - differ
        assert f"As is true today: {result.today} of {exam.COUNT}." in str(result)
        assert "Outside the exam, look at" in str(result) or result.today >= exam.PASS


def test_who_mixes_the_two_is_told_so():
    paper = next(p for p in PAPERS if sum(q.differs for q in p.questions) >= 8)
    answers, turn = {}, 0
    for place, question in enumerate(paper.questions, 1):
        turn += question.differs
        answers[place] = known(question, material=turn % 2 == 0)
    lost = [n for n, q in enumerate(paper.questions, 1) if not q.differs][:4]
    for place in lost:
        del answers[place]
    result = exam.mark(paper, answers)
    assert not result.passed and "16 answers are one or the other: you mixed" in str(result)
    assert "In the exam you would lose" in str(result)


def test_who_guesses_fails_and_the_odds_are_stated():
    worst = max(exam.odds(paper) for paper in PAPERS)
    assert worst < 1 / 1000
    dice = random.Random(0)
    passed = 0
    for turn in range(2000):
        paper = PAPERS[turn % len(PAPERS)]
        answers = {n: guess(q, dice) for n, q in enumerate(paper.questions, 1)}
        passed += exam.mark(paper, answers).passed
    assert passed <= 2
    chance = 1 / exam.odds(PAPERS[1])
    assert f"once in {exam.readable(chance)} papers" in str(exam.mark(PAPERS[1], {}))


def test_the_odds_are_those_of_a_guesser_who_is_watched():
    """With a low mark: an upper bound, and not far above four thousand guessers."""
    dice = random.Random(1)
    paper, need, turns = PAPERS[0], 8, 4000
    passed = 0
    for _ in range(turns):
        answers = {n: guess(q, dice) for n, q in enumerate(paper.questions, 1)}
        result = exam.mark(paper, answers)
        passed += max(result.material, result.today) >= need
    expected = exam.odds(paper, need)
    spread = (expected * (1 - expected) / turns) ** 0.5
    assert passed / turns < expected + 4 * spread and expected < 2 * passed / turns


def test_an_empty_paper_fails():
    result = exam.mark(PAPERS[0], {})
    assert not result.passed and "Wrong or empty: 1, 2, 3," in str(result)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ("a", "answers are a dictionary"),
        ({0: "a"}, "the questions are 1 to 20; got an answer to 0"),
        ({"<b>": "a"}, "got an answer to '<b>'"),
    ],
)
def test_what_is_no_paper_gets_a_sentence(answers, said):
    with pytest.raises(AnswerError, match=said):
        exam.mark(PAPERS[0], answers)


def test_a_wrong_kind_of_answer_names_its_question():
    place = next(n for n, q in enumerate(PAPERS[0].questions, 1) if q.kind == "one")
    with pytest.raises(AnswerError, match=f"question {place}: the letters go from a to"):
        exam.mark(PAPERS[0], {place: "z"})


@pytest.mark.parametrize("number", [-1, 1.5, "1", True, None, 10**10])
def test_a_paper_has_a_whole_number(number):
    with pytest.raises(ValueError, match="a paper has a whole number from 0"):
        exam.draw(number)


def test_what_was_wrong_comes_back_and_the_sitting_is_kept(own_progress):
    paper = exam.draw(3)
    answers = {n: known(q, False) for n, q in enumerate(paper.questions, 1)}
    place = next(n for n, q in enumerate(paper.questions, 1) if q.kind == "one")
    lost = paper.questions[place - 1]
    answers[place] = next(o.letter for o in lost.options if not o.correct and not o.material)
    result = exam.hand_in(3, answers)
    assert result.passed and f"Wrong or empty: {place}." in str(result)
    assert quiz.again().questions == (lost,)
    (sitting,) = progress.load().exams
    assert (sitting.paper, sitting.today, sitting.questions) == (3, 19, 20)
    assert "Last practice exam (paper 3): " in str(quiz.overview())
    assert "19 as is true today" in quiz.overview().sentence()
    quiz.answer(lost.id, known(lost, False))
    assert quiz.again().questions == ()


def test_a_lesson_is_finished_by_the_exam_too(own_progress):
    paper = exam.draw(1)
    lesson = "02"
    for question in quiz.show(lesson).questions:
        if question not in paper.questions:
            quiz.answer(question.id, known(question, False))
    assert progress.load().lessons == {}
    exam.hand_in(1, {n: known(q, False) for n, q in enumerate(paper.questions, 1)})
    assert set(progress.load().lessons) == {lesson}


def test_a_paper_that_cannot_be_kept_is_marked_and_says_so(own_progress):
    own_progress.write_text("{")
    paper = exam.draw(1)
    answers = {n: known(q, False) for n, q in enumerate(paper.questions, 1)}
    result = exam.hand_in(1, answers)
    assert result.passed and "Not saved, so that nothing is lost" in str(result)
    assert "Not saved, so that nothing is lost" in result._repr_html_()
    assert "Not saved" not in str(exam.mark(paper, answers))
    assert own_progress.read_text() == "{"


def test_the_form_is_handed_in_as_a_whole(own_progress):
    paper = exam.draw(1)
    box = exam._form(paper)
    *_, button, status = box.children
    first = next(n for n, q in enumerate(paper.questions, 1) if q.kind == "one")
    field = box.children[first].children
    button.click()
    assert "there is no answer" in status.value and not own_progress.exists()
    field[1].value = known(paper.questions[first - 1], False)
    button.click()
    assert "✗ Not passed: 14 of 20 are needed, by one of the two answers." in status.value
    assert "✓ Right" in field[-1].value and "Wrong or empty" in status.value
    assert len(progress.load().answers) == 20 and len(quiz.again().questions) == 19
    options = paper.questions[first - 1].options
    field[1].value = next(o.letter for o in options if not o.correct and not o.material)
    button.click()
    assert "✗ Not right" in field[-1].value and len(quiz.again().questions) == 20


def test_a_number_that_is_none_is_said_and_nothing_is_handed_in(own_progress):
    paper = next(p for p in PAPERS if any(q.kind == "number" for q in p.questions))
    place = next(n for n, q in enumerate(paper.questions, 1) if q.kind == "number")
    box = exam._form(paper)
    *_, button, status = box.children
    box.children[place].children[1].value = "<b>many</b>"
    button.click()
    assert "Not handed in yet: question" in status.value and "<b>" not in status.value
    assert not own_progress.exists()


def test_a_paper_reads_well_as_text_and_as_a_page():
    text, page = str(PAPERS[1]), PAPERS[1]._repr_html_()
    assert "Without the form: ah.exam.hand_in(1, {1:" in text
    assert page.count("<details>") == exam.COUNT
    assert len(page.encode()) < 150_000


def test_every_verdict_has_its_words():
    from accel_helpers.learn import quiz_form

    assert set(grading.VERDICTS) <= set(quiz_form.SAY)
    assert all(q.kind in quiz_form.HOW for q in questions.bank().values())
