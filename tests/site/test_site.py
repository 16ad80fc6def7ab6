"""The site and the slides: links, what they ask for, phones, search, and who can read them."""

import re
from urllib.parse import unquote, urldefrag

import axe
import chromium
import lesson
import pytest
from bs4 import BeautifulSoup

import accel_helpers as ah
from accel_helpers.machine.symptoms import KNOWN, SLOW

make_site = pytest.importorskip("make_site")  # what it needs comes with `make site-environment`
questions_out = pytest.importorskip("questions_out")
slides = pytest.importorskip("slides")
pytestmark = [pytest.mark.night, pytest.mark.browser, pytest.mark.timeout(1800)]
LESSONS = [path.stem for path in lesson.chosen([])]
PAGES = ("index", "docs/failures", "docs/chips", "docs/verbs", "notebooks/06_inside_a_tpu")
OUT_OF_MEMORY = "CUDA+memory+allocate"
# Slides of which something is cut off, or too small to be read.
BAD = """() => Reveal.getSlides().flatMap(slide => {
    Reveal.slide(Reveal.getIndices(slide).h)
    const parts = [...slide.querySelectorAll('.page, .page *')]
    const whole = slide.getBoundingClientRect()
    const fits = parts.map(e => e.getBoundingClientRect()).every(
        b => b.bottom <= whole.bottom + 1 && b.right <= whole.right + 1)
    const large = parts.every(e => parseFloat(getComputedStyle(e).fontSize) >= 14)
    return fits && large && whole.height > 300 ? [] : [slide.innerText.slice(0, 80)]
})"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, as `make site` makes it."""
    out = tmp_path_factory.mktemp("course_site")
    slides.write(out / "slides")
    questions_out.write(out / "take")
    make_site.build(out)
    return out


@pytest.fixture(scope="module")
def read(site):
    """The pages, by their names, each as a tree."""
    paths = [path for path in site.rglob("*.html") if not {"_static", "reveal"} & {*path.parts}]
    return {path: BeautifulSoup(path.read_text("utf-8"), "html.parser") for path in paths}


@pytest.fixture(scope="module")
def browser(needed):
    with chromium.launched() as browser:
        yield browser


@pytest.fixture
def page(browser):
    """A page on a phone in the dark; what it asks of others is an error."""
    page = browser.new_page(viewport={"width": 390, "height": 900}, color_scheme="dark")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    yield page
    page.close()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_every_link_and_anchor_leads_somewhere(read):
    assert len(read) > 30
    anchors = {path: {tag["id"] for tag in tree.select("[id]")} for path, tree in read.items()}
    gone = []
    for path, tree in read.items():
        links = [tag.get("href") or tag.get("src") for tag in tree.select("[href], [src]")]
        for link in links:
            address, place = urldefrag(link)
            if re.match(r"\w+:", address):
                continue
            target = (path.parent / unquote(address.partition("?")[0])).resolve()
            target = target if address else path
            if not target.is_file() or (place and unquote(place) not in anchors.get(target, place)):
                gone.append((path.name, link))
    assert gone == []


def test_pages_fit_a_phone_and_ask_for_nothing(read, page):
    wide = []
    for path in read:
        page.goto(path.as_uri())
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(path.name)
    assert wide == []


@pytest.mark.parametrize("colours", ["dark", "light"])
@pytest.mark.parametrize("name", PAGES)
def test_what_the_course_writes_breaks_no_rule(name, colours, site, page):
    page.emulate_media(color_scheme=colours)
    page.goto((site / f"{name}.html").as_uri())
    page.add_style_tag(content="* { animation: none !important }")  # what opens would fade in
    page.evaluate(axe.PREPARE)
    assert axe.violations(page, {"include": [["article"]]}) == []


def test_a_message_is_searched_for_and_its_entry_is_what_is_shown(site, page):
    page.goto((site / "search.html").as_uri() + f"?q={OUT_OF_MEMORY}")
    page.locator("#search-results a", has_text="What fails").first.click()
    page.locator("#out-of-memory").wait_for()
    assert page.locator("#message").input_value()
    page.locator("button[type=reset]").click()
    page.locator("#out-of-memory").wait_for(state="hidden")
    page.locator("#message").fill("a banana that nobody frobnicates")
    assert "doesn't know" in page.locator("[role=status]").inner_text()
    page.goto((site / "docs" / "failures.html").as_uri() + "#out-of-memory")
    page.locator("#out-of-memory").wait_for()
    assert page.locator("#all-of-them > section:visible").count() == 1


def test_every_failure_and_public_name_has_its_place(site, read):
    failures = read[site / "docs" / "failures.html"]
    verbs = read[site / "docs" / "verbs.html"]
    names = {f"ah.{name}" for name in ah.__all__ if callable(getattr(ah, name))}
    names |= {f"ah.tpu.{name}" for name in ah.tpu.__all__}
    assert {it.id for it in (*KNOWN, *SLOW)} <= {tag["id"] for tag in failures.select("[id]")}
    assert names <= {tag["id"] for tag in verbs.select("[id]")}


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_folds_its_setup_and_answers_shows_pictures_and_links_words(name, site, read):
    tree = read[site / "notebooks" / f"{name}.html"]
    assert tree.select("details:-soup-contains('# @title Setup')")
    assert not tree.select("article details[open]")
    assert all(len(image["alt"]) > 15 for image in tree.select(".cell_output img"))
    terms = [link["href"] for link in tree.select("a.term")]
    assert len(terms) > 9
    assert len(terms) == len({*terms})
    assert not tree.select(":is(h1, h2, h3, h4, pre, code, .cell, a) a.term")


@pytest.mark.parametrize("name", LESSONS)
def test_slides_have_every_heading_of_the_core_and_none_is_cut_off(name, site, read, page):
    notebook = lesson.parse(lesson.read(lesson.LESSONS / f"{name}.ipynb"))
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    core = re.split(slides.END, "\n".join(texts), maxsplit=1, flags=re.M)[0]
    wanted = {re.sub(r"[`*]", "", head) for head in re.findall(r"^##? (.+)$", core, re.M)}
    path = site / "slides" / f"{name}.html"
    assert wanted <= {head.text for head in read[path].select(":is(h1, h2)")}
    for size in ({"width": 1280, "height": 720}, {"width": 1024, "height": 768}):
        page.set_viewport_size(size)
        page.goto(path.as_uri())
        page.wait_for_function("window.Reveal && Reveal.isReady()")
        assert page.evaluate(BAD) == []
