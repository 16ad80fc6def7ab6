"""A walk: every lesson in JupyterLab, run, and a question of its quiz answered."""

from pathlib import Path

import lab
import pytest
import quiz_page
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]
LESSONS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("[0-9][0-9]_*.ipynb"))


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """Start JupyterLab once, with all lessons."""
    lab.need_browser()
    folder = tmp_path_factory.mktemp("walk")
    with lab.started(LESSONS, folder, lab.small(folder)) as started:
        yield started


@pytest.fixture(params=LESSONS, ids=lambda path: path.stem)
def lesson(request, walk):
    with walk.open(request.param.name) as lesson:
        yield lesson


def test_a_lesson_runs_and_a_question_is_answered(lesson):
    number = lesson.name[:2]
    lesson.run_all(seconds=240)
    assert lesson.errors() == []
    assert lesson.page.locator(".jp-Dialog").count() == 0, "nothing stands over the page"
    asked = quiz_page.of_lesson(number)
    assert asked, "every lesson has questions"
    form = quiz_page.QuizPage(lesson, f'ah.quiz.show("{number}")', asked)
    expect(form.output.locator(".accel-question")).to_have_count(len(asked))
    place = form.number("one")
    letter, why = quiz_page.slip(asked[place - 1])
    form.answer(place, letter)
    expect(form.said(place)).to_contain_text("Not right.")
    expect(form.feedback(place, why)).to_be_visible()
    form.answer(place, quiz_page.solution(asked[place - 1]))
    expect(form.said(place)).to_contain_text("✓ Right")
