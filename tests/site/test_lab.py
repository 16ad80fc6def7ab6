"""The browser lab, as a learner uses it: a quiz is answered and found again, an error is asked."""

import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import browser_lab
import lab  # of tests/browser/
import pytest
from lesson import LESSONS, ROOT
from playwright.sync_api import expect

from accel_helpers.machine import doctor

pytest.importorskip("jupyterlite_core")  # it comes with `make site-environment`
REVIEW = LESSONS / "11_exam_review.ipynb"
LOG = ROOT / "tests" / "machine" / "logs" / "failures" / "27_out-of-memory.txt"
pytestmark = [pytest.mark.browser, pytest.mark.night, pytest.mark.timeout(1800)]
expect.set_options(timeout=300_000)  # a machine that is busy may take its time


@pytest.fixture(scope="module")
def address(tmp_path_factory, wheel):
    out = tmp_path_factory.mktemp("site") / "lab"
    browser_lab.build(out, wheel)
    handler = partial(SimpleHTTPRequestHandler, directory=out)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_wrong_answer_gets_its_feedback_and_is_there_after_a_reload(address, browser):
    lesson = lab.Lesson(browser.new_page(), REVIEW)
    notebook = f"{address}/notebooks/index.html?path={REVIEW.name}"
    fields = lab.fields(lesson.cell("lesson.quiz()"), "11")
    one = next(field for field in fields if field.question.kind == "one")
    lesson.go(notebook)
    lesson.run_all()
    expect(one.said).to_contain_text("Not answered yet.")
    one.answer(one.wrong)
    expect(one.feedback(one.wrong)).to_be_visible()
    lesson.go(notebook)
    lesson.run_all()
    expect(one.said).to_contain_text(re.compile("You answered.*: wrong", re.S))
    expect(lesson.cell("import keras")).to_contain_text("Not in a browser")
    assert {*lesson.asked} <= {lab.BADGE}


def test_an_error_that_is_pasted_gets_its_cause(address, browser):
    page, text = browser.new_page(), LOG.read_text("utf-8")
    page.goto(f"{address}/error.html")
    page.get_by_label("The error").fill(text + "<img src=x onerror=document.title='hit'>")
    page.get_by_role("button", name="Ask the doctor").click()
    expect(page.locator("#answer")).to_contain_text(doctor.diagnose(text).findings[0].cause)
    assert page.title() != "hit"
