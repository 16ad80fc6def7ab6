"""The browser lab, as a learner uses it: a quiz is answered and found again, an error is asked."""

import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import browser_lab
import lab  # these two are in tests/browser/
import pytest
import quiz_page
from lesson import LESSONS, ROOT
from playwright.sync_api import expect

from accel_helpers.machine import doctor

REVIEW = LESSONS / "11_exam_review.ipynb"
ERRORS = ("04_tpu-plain-tensorflow", "20_cuda-libraries", "27_out-of-memory")
pytestmark = [pytest.mark.browser, pytest.mark.night, pytest.mark.timeout(1800)]
expect.set_options(timeout=1000 * lab.LIMIT)


class Lesson(lab.Lesson):
    """A notebook in the browser lab, where no server knows of its kernel."""

    def wait_for_kernel(self):
        self.page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for()


@pytest.fixture(scope="module")
def address(required, tmp_path_factory):
    if reason := browser_lab.build(out := tmp_path_factory.mktemp("site") / "lab"):
        required(reason)
    handler = partial(SimpleHTTPRequestHandler, directory=out)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def lesson(browser):
    """A lesson that is not open yet; whatever its page asks of another machine is a failure."""
    lesson = Lesson(browser.new_page(viewport={"width": 1280, "height": 1000}), REVIEW, "", None)
    lesson.page.context.route("**/*", lesson._only_here)  # what its service worker asks for, too
    yield lesson
    assert lesson.asked == []


def test_a_wrong_answer_gets_its_feedback_and_is_there_after_a_reload(address, lesson):
    form = quiz_page.QuizPage(lesson, "lesson.quiz()", quiz_page.of_lesson("11"))
    letter, why = quiz_page.slip(form.questions[(number := form.number("one")) - 1])
    for visit in (1, 2):
        lesson.go(f"{address}/notebooks/index.html?path={REVIEW.name}")
        lesson.run_all()
        assert lesson.problems() == []
        if visit == 1:
            form.answer(number, letter)
            expect(form.feedback(number, why)).to_be_visible()
    expect(form.said(number)).to_contain_text(re.compile("You answered.*: wrong", re.S))
    expect(lesson.cell(lesson.place("import keras"))).to_contain_text("Not in a browser")


def test_an_error_that_is_pasted_gets_its_cause(address, lesson):
    page = lesson.page
    page.goto(f"{address}/error.html")
    for name in ERRORS:
        text = (ROOT / "tests" / "machine" / "logs" / "failures" / f"{name}.txt").read_text("utf-8")
        page.get_by_label("The error").fill(text + "<img src=x onerror=document.title='hit'>")
        page.get_by_role("button", name="Ask the doctor").click()
        expect(page.locator("#answer")).to_contain_text(doctor.diagnose(text).findings[0].cause)
    assert page.title() != "hit"


def test_where_it_cannot_be_built_the_reason_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    reason = browser_lab.build(tmp_path / "lab", cache=tmp_path / "cache")
    assert "npm" in reason
    assert "\n" not in reason
    assert not (tmp_path / "lab").exists()
