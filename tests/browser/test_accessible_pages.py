"""The pages that the course writes break no rule of accessibility: report, summary, class board."""

import json

import axe
import lesson
import pages as report_pages
import pytest

from accel_helpers import cli
from accel_helpers.course import record, summary

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]
FIRST, *OTHERS = lesson.chosen([])
SCRIPT = "\"'><script>alert(1)</script><img src=https://x.example/ onerror=alert(2)><a href=js:1>"
LONG = "x" * 60


@pytest.mark.parametrize(
    "path",
    [FIRST, *(pytest.param(path, marks=pytest.mark.night) for path in OTHERS)],
    ids=lambda path: path.stem,
)
def test_the_reports_page_of_a_lesson_folds_its_answers_and_breaks_no_rule(path, browser, tmp_path):
    (tmp_path / "plots").mkdir()
    notebook = lesson.parse(lesson.read(path))
    ran = report_pages.LessonRun(path.stem, path.stem, 1.0)
    made = report_pages.write_lesson(ran, notebook, path, [path.stem], tmp_path)
    page = browser.new_page(viewport={"width": 700, "height": 1000})
    page.goto((tmp_path / made.page).as_uri())
    hint = page.locator(".jp-RenderedMarkdown details").first
    text = hint.locator("> :not(summary)").first
    assert not text.is_visible()
    hint.locator("summary").click()
    assert text.is_visible()
    assert page.locator("details:not([open])", has_text="Source:").count() > 0
    page.evaluate(axe.PREPARE)
    assert axe.violations(page) == []


@pytest.mark.night
def test_the_summary_breaks_no_rule(browser):
    record.keep(record.entry("09/batches", "always", {"value": 0.26}))
    page = browser.new_page()
    page.goto(summary.write_summary().as_uri())
    assert axe.violations(page) == []


@pytest.mark.parametrize(("width", "colours"), [(390, "dark"), (1280, "light")])
def test_a_hostile_file_does_nothing_to_the_class_board(browser, tmp_path, width, colours):
    numbers = {f"{SCRIPT} times as fast": 2.0, "far times as fast": 5134.0}
    entry = {"outcome": SCRIPT, "numbers": numbers, "machine": {"name": SCRIPT + LONG}}
    entries = [{**entry, "place": place, "when": SCRIPT} for place in (LONG, "03/race")]
    (tmp_path / f"{SCRIPT.replace('/', '')}.json").write_text(json.dumps(entries))
    (tmp_path / "cut <script>alert(3)<.json").write_text("{")
    board = tmp_path / "board.html"
    assert cli.main(["board", str(tmp_path), "--names", "--out", str(board)]) == 0
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=colours)
    happened = []
    page.on("request", lambda request: happened.append(request.url))
    page.on("dialog", lambda dialog: happened.append(dialog.message))
    page.goto(board.as_uri())
    assert page.locator("main circle").count() == 2
    assert page.locator("main script, main img, main a:not([href^='#'])").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert axe.violations(page) == []
    assert happened == [board.as_uri()]
