"""The pages that the course writes break no rule of accessibility: report, summary, class board."""

import shutil
from pathlib import Path

import axe
import lesson
import pages as report_pages
import pytest

from accel_helpers import cli
from accel_helpers.course import record, summary

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900)]
HOSTILE = Path(__file__).with_name("hostile.json")


@pytest.mark.parametrize("path", lesson.chosen([]), ids=lambda path: path.stem)
def test_the_reports_page_of_a_lesson_folds_its_answers_and_breaks_no_rule(path, browser, tmp_path):
    (tmp_path / "plots").mkdir()
    notebook = lesson.parse(lesson.read(path))
    ran = report_pages.LessonRun(path.stem, path.stem, 1.0)
    made = report_pages.write_lesson(ran, notebook, path, [path.stem], tmp_path)
    page = browser.new_page(viewport={"width": 700, "height": 1000})
    page.goto((tmp_path / made.page).as_uri())
    answers = page.locator("details", has_text="Source:")
    assert answers.count() > 0
    assert not answers.locator("ul:visible").count()
    page.evaluate(axe.PREPARE)
    assert axe.violations(page) == []


def test_the_summary_breaks_no_rule(browser):
    entry = record.entry("09/batches", "always", {"value": 0.26})
    record.keep(entry)
    page = browser.new_page()
    page.goto(summary.write_summary().as_uri())
    assert axe.violations(page) == []


@pytest.mark.parametrize(("width", "colours"), [(390, "dark"), (1280, "light")])
def test_a_hostile_file_does_nothing_to_the_class_board(browser, tmp_path, width, colours):
    shutil.copy(HOSTILE, tmp_path)
    board = tmp_path / "board.html"
    assert cli.main(["board", str(tmp_path), "--names", "--out", str(board)]) == 0
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=colours)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(board.as_uri())
    assert page.locator("main circle").count() == 1
    assert page.locator("main script, main img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert axe.violations(page) == []
    assert asked == [board.as_uri()]
