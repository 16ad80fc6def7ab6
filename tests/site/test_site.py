"""The site and the slides: links, what they ask for, phones, search, and who can read them."""

import re
from urllib.parse import unquote, urldefrag

import axe
import lesson
import pytest
from bs4 import BeautifulSoup

make_site = pytest.importorskip("make_site")  # what it needs comes with `make site-environment`
slides = pytest.importorskip("slides")
questions_out = pytest.importorskip("questions_out")
pytestmark = [pytest.mark.night, pytest.mark.browser, pytest.mark.timeout(1800)]
LESSONS = [path.stem for path in lesson.chosen([])]
PAGES = ("index", "docs/failures", "docs/chips", "docs/verbs", "notebooks/06_inside_a_tpu")
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
    questions_out.write(out / "take")
    assert make_site.build(out) == 0
    slides.write(out)
    return out


@pytest.fixture(scope="module")
def read(site):
    """The pages, by their names, each as a tree."""
    read = {}
    for path in site.rglob("*.html"):
        name = path.relative_to(site).as_posix()
        if not name.startswith(("_static/", "slides/reveal/")):
            read[name] = BeautifulSoup(path.read_text("utf-8"), "html.parser")
    return read


@pytest.fixture
def page(browser):
    """A page on a phone in the dark; what it asks of others is an error."""
    page = browser.new_page(viewport={"width": 390, "height": 900}, color_scheme="dark")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    yield page
    page.close()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_every_link_and_anchor_leads_somewhere(site, read):
    assert len(read) > 30
    gone = []
    for name, tree in read.items():
        for tag in tree.select("[href], [src]"):
            link = tag.get("href") or tag.get("src")
            address, place = urldefrag(link.partition("?")[0])
            if re.match(r"\w+:", address):
                continue
            target = (site / name).parent / unquote(address) if address else site / name
            other = read.get(target.resolve().relative_to(site).as_posix())
            is_there = not place or not other or other.find(id=unquote(place))
            if not target.is_file() or not is_there:
                gone.append((name, link))
    assert gone == []


def test_pages_fit_a_phone_and_ask_for_nothing(site, read, page):
    wide = []
    for name in read:
        page.goto((site / name).as_uri())
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(name)
    assert wide == []


@pytest.mark.parametrize("name", PAGES)
def test_what_the_course_writes_breaks_no_rule(name, site, page):
    page.goto((site / f"{name}.html").as_uri())
    page.add_style_tag(content="* { animation: none !important }")  # what opens would fade in
    page.evaluate(axe.PREPARE)
    for colours in ("dark", "light"):
        page.emulate_media(color_scheme=colours)
        assert axe.violations(page, {"include": [["article"]]}) == []


def test_a_message_is_searched_for_and_its_entry_is_what_is_shown(site, page):
    page.goto((site / "search.html").as_uri() + "?q=CUDA+memory+allocate")
    page.locator("#search-results a", has_text="What fails").first.click()
    page.locator("#out-of-memory").wait_for()
    page.locator("#message").fill("a banana that nobody frobnicates")
    page.locator("#out-of-memory").wait_for(state="hidden")
    assert "doesn't know" in page.locator("[role=status]").inner_text()


def test_a_lesson_folds_its_setup_and_answers_shows_pictures_and_links_words(read):
    for name in LESSONS:
        tree = read[f"notebooks/{name}.html"]
        assert tree.select("details:-soup-contains('# @title Setup')"), name
        assert not tree.select("article details[open]"), name
        assert all(
            len(image["alt"]) > 15 for image in tree.select(".cell_output img:not(.animation *)")
        ), name
        terms = [link["href"] for link in tree.select("a.term")]
        assert len(terms) > 9, name
        assert len(terms) == len({*terms}), name


@pytest.mark.parametrize("name", LESSONS)
def test_slides_are_few_and_none_is_cut_off_or_said_again(name, site, read, page):
    slides = read[f"slides/{name}.html"]
    headings = {heading.text for heading in slides.select("h1, h2")}
    for section in read[f"notebooks/{name}.html"].select("article section section"):
        if section["id"].startswith(("going-further", "one-solution")):
            break
        if section.select(":scope > .cell img, :scope > .cell strong:-soup-contains('Your guess')"):
            assert section.find(re.compile("h[23]")).text.removesuffix("#") in headings | {"Quiz"}
    told = slides.select("aside")
    assert len(told) <= 20
    assert not slides.select(".page details")
    empty = "section:has(> .notes:empty) > .page"
    assert not slides.select(f"{empty}:not(:has(pre, img, table, li, strong, em))")
    for notes in told:
        for part in notes.parent.select(".page > p, .page > h2, .notes > p"):
            assert notes.text.count(part.text.strip()) == (part.parent is notes)
    assert slides.select(".notes summary:-soup-contains('Answer 1')"), "the quiz"
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto((site / "slides" / f"{name}.html").as_uri())
    page.wait_for_function("window.Reveal && Reveal.isReady()")
    assert page.evaluate("Reveal.getSlides().length") == len(told)
    assert page.evaluate(BAD) == []


def test_notes_ask_what_a_plan_asks_there(read):
    asked = slides.asked(read["docs/teach.html"])
    missing = []
    for address, html in asked.items():
        name = address.split("/")[-1].split(".")[0]
        said = BeautifulSoup(html, "html.parser").text
        if said not in read[f"slides/{name}.html"].text:
            missing.append(address)
    # What is asked below *Going further* has no slide.
    assert [address for address in missing if "mistake-a" not in address] == []


@pytest.mark.parametrize("name", ["06_inside_a_tpu", "07_inside_a_gpu"])
@pytest.mark.parametrize("place", ["notebooks", "slides"])
def test_players_run_on_pages_and_slides(name, place, site, page):
    page.goto((site / place / f"{name}.html").as_uri())
    picture = page.locator(".animation img")
    before = picture.get_attribute("src")
    page.get_by_role("button", name="Next frame").click()
    assert picture.get_attribute("src") != before
