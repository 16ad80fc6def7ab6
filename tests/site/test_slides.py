"""The slides: every lesson has them, none is cut off, and they ask nobody for anything."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "browser"))
import lab  # noqa: E402

slides = pytest.importorskip("slides")  # what it needs comes with `make site-environment`
pytestmark = [pytest.mark.slow, pytest.mark.browser]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
CUT_OFF = """() => Reveal.getSlides().flatMap(slide => {
    const { h, v } = Reveal.getIndices(slide)
    Reveal.slide(h, v)
    const parts = [...slide.querySelectorAll(':not(aside, aside *)')]
    const boxes = parts.map(e => e.getBoundingClientRect())
    const whole = slide.getBoundingClientRect()
    const fits = boxes.every(b => b.bottom <= Math.min(whole.bottom, innerHeight) + 1
        && b.right <= Math.min(whole.right, innerWidth) + 1)
    const seen = boxes.length > 1 && whole.height > 300
    return fits && seen ? [] : [`${h}/${v}: ${slide.innerText.slice(0, 80)}`]
})"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides")
    slides.write(folder)
    return folder


@pytest.mark.parametrize("size", [(1280, 720), (1024, 768)], ids=str)
def test_no_slide_is_cut_off_and_none_asks_the_network(written, size, required):
    try:
        lab.find_browser()
    except lab.LabError as reason:
        required(str(reason))
    with lab.launched() as browser:
        page = browser.new_page(viewport={"width": size[0], "height": size[1]})
        asked = []
        page.on("request", lambda r: r.url.startswith(("file:", "data:")) or asked.append(r.url))
        for path in LESSONS:
            page.goto((written / f"{path.stem}.html").as_uri())
            page.wait_for_function("window.Reveal && Reveal.isReady()")
            assert page.evaluate(CUT_OFF) == [], path.stem
        assert not asked


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_heading_of_the_core_path_is_there(written, path):
    page = slides.soup((written / f"{path.stem}.html").read_text("utf-8"))
    shown = {each.get_text().strip() for each in page(["h1", "h2"])}
    cells = slides.lesson.parse(slides.lesson.read(path)).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    core = re.split(slides.END, text, maxsplit=1, flags=re.M)[0]
    wanted = {re.sub(r"[`*]", "", each) for each in re.findall(r"^##? (.+)$", core, re.M)}
    assert wanted <= shown
    assert all(each.get_text(strip=True) or each.img for each in page.select("section section"))
