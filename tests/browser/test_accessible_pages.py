"""The pages that the course writes break no rule of accessibility: the report, the summary."""

from pathlib import Path

import axe
import chromium
import folds
import lab
import nbformat
import pages as report_pages
import pytest
import quiz_page

from accel_helpers.course import record, summary

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]
LESSONS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("[0-9][0-9]_*.ipynb"))
FIRST, *OTHERS = LESSONS
# Of the thousands of pieces of coloured code, one of each colour is enough.
ONE_OF_EACH = """() => { const seen = new Set()
    for (const piece of document.querySelectorAll('.highlight span[class]'))
        seen.has(piece.className) ? piece.remove() : seen.add(piece.className) }"""


@pytest.fixture(scope="module")
def browser(needed):
    with chromium.launched() as browser:
        yield browser


@pytest.fixture
def page(browser):
    page = browser.new_page(viewport={"width": 700, "height": 1000})
    page.set_default_timeout(1000 * lab.LIMIT)
    yield page
    page.close()


EACH = pytest.mark.parametrize(
    "path",
    [FIRST, *(pytest.param(path, marks=pytest.mark.night) for path in OTHERS)],
    ids=lambda path: path.stem,
)


def open_report(page, path, folder):
    """Open the page that `make run` writes for a lesson."""
    (folder / "plots").mkdir(parents=True)
    ran = report_pages.LessonRun(path.stem, path.stem, 1.0)
    notebook = nbformat.read(path, as_version=4)
    made = report_pages.write_lesson(ran, notebook, path, [path.stem], folder)
    page.goto((folder / made.page).as_uri())


@EACH
def test_hints_and_answers_are_folded_away_until_a_click(path, page, tmp_path):
    open_report(page, path, tmp_path / "report")
    texts = [cell.source for cell in nbformat.read(path, as_version=4).cells]
    folded = sum(text.count("<details>") for text in texts)
    assert folds.opened_by_a_click(page, ".jp-RenderedMarkdown") == folded > 0


@EACH
def test_the_page_of_a_lesson_breaks_no_rule(path, page, tmp_path):
    open_report(page, path, tmp_path / "report")
    folded = page.locator("details", has_text="Source:")
    assert folded.count() >= len(quiz_page.of_lesson(path.name[:2]))
    assert folded.evaluate_all("all => all.every(one => !one.open)")
    folded.evaluate_all("all => all.forEach(one => { one.open = true })")
    page.evaluate(ONE_OF_EACH)
    assert axe.violations(page) == []


@pytest.mark.night
@pytest.mark.parametrize("printed", [False, True], ids=["on the screen", "printed"])
def test_the_summary_breaks_no_rule(page, printed, tmp_path):
    record.keep(record.entry("09/batches", "always", {"value": 0.26}))
    file = summary.write_summary()
    if printed:
        page.emulate_media(media="print")
    page.goto(file.as_uri())
    assert axe.violations(page) == []
