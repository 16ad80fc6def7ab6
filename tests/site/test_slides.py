"""The slides: every lesson has them, none is cut off, and they ask nobody for anything."""

import re

import chromium
import lesson
import pytest
from nbformat.v4 import new_output

slides = pytest.importorskip("slides")  # what it needs comes with `make site-environment`
pytestmark = [pytest.mark.night, pytest.mark.browser]
LESSONS = lesson.chosen([])
BAD = """() => Reveal.getSlides().flatMap(slide => {
    const { h } = Reveal.getIndices(slide)
    Reveal.slide(h)
    const parts = [...slide.querySelectorAll('.page, .page *')]
    const whole = slide.getBoundingClientRect()
    const fits = parts.map(e => e.getBoundingClientRect()).every(
        b => b.bottom <= whole.bottom + 1 && b.right <= whole.right + 1)
    const large = parts.every(e => parseFloat(getComputedStyle(e).fontSize) >= 20)
    return fits && large && whole.height > 300 && whole.bottom <= innerHeight + 1
        ? [] : [`${h}: ${slide.innerText.slice(0, 80)}`]
})"""


def test_no_slide_is_cut_off_or_small_and_none_asks_the_network(tmp_path, required):
    slides.write(tmp_path)
    try:
        chromium.find()
    except lesson.Refused as reason:
        required(str(reason))
    with chromium.launched() as browser:
        page, asked = browser.new_page(), []
        page.on("request", lambda r: r.url.startswith(("file:", "data:")) or asked.append(r.url))
        for size in ({"width": 1280, "height": 720}, {"width": 1024, "height": 768}):
            page.set_viewport_size(size)
            for path in LESSONS:
                page.goto((tmp_path / f"{path.stem}.html").as_uri())
                page.wait_for_function("window.Reveal && Reveal.isReady()")
                assert page.evaluate(BAD) == [], (path.stem, size)
        assert not asked


@pytest.mark.parametrize(
    ("kind", "source", "shown"),
    [
        ("text/markdown", "**Yes.**", "<strong>Yes.</strong>"),
        ("text/html", "<table></table>", "<table>"),
        ("text/html", "<p>long</p>" * 40, 'href="../notebooks/03_a.html"'),
    ],
)
def test_a_slide_shows_what_a_cell_brought_and_leads_to_what_is_too_long(kind, source, shown):
    output = new_output("display_data", data={kind: source, "text/plain": "words"})
    (html,) = slides.shown(output, "03_a")
    assert shown in html


def test_every_heading_of_the_core_path_is_there():
    for path in LESSONS:
        shown = {
            slides.soup(each).get_text() for each, notes in slides.parts(path) if notes is None
        }
        cells = slides.lesson.parse(slides.lesson.read(path)).cells
        text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        core = re.split(slides.END, text, maxsplit=1, flags=re.M)[0]
        wanted = {re.sub(r"[`*]", "", each) for each in re.findall(r"^##? (.+)$", core, re.M)}
        assert wanted <= shown, path.stem
