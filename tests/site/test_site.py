"""The site: its links, what it asks for, its width on a phone, its search, and who can read it."""

import html
import json
import re
from pathlib import Path
from urllib.parse import unquote, urldefrag

import axe
import folds
import pytest
from bs4 import BeautifulSoup

import accel_helpers as ah
from accel_helpers.machine.symptoms import KNOWN, SLOW

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.night, pytest.mark.browser, pytest.mark.timeout(1800)]
LOOKED_AT = ("index", "docs/failures", "docs/chips", "docs/status", "docs/api/verbs")
LESSONS = ("00_start_here", "03_time_a_keras_model", "06_inside_a_tpu", "11_exam_review")
PAGES = (*LOOKED_AT, *(f"notebooks/{name}" for name in LESSONS))
# Of the thousands of pieces of coloured code, one of each colour is enough.
ONE_OF_EACH = """() => { const seen = new Set()
    for (const piece of document.querySelectorAll('.highlight span[class]'))
        seen.has(piece.className) ? piece.remove() : seen.add(piece.className)
    document.querySelectorAll('details').forEach(one => { one.open = true }) }"""


def values(text, keys):
    return {html.unescape(each) for each in re.findall(rf'\s(?:{keys})="([^"]*)"', text)}


def own_pages(site):
    return [path for path in site.rglob("*.html") if "_static" not in path.parts]


@pytest.fixture(params=[(1280, "light"), (390, "light"), (390, "dark")], ids=str)
def page(request, browser):
    width, scheme = request.param
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.asked = []
    page.on("request", lambda asked: page.asked.append(asked.url))
    yield page
    page.close()


def test_every_link_and_anchor_leads_somewhere(site):
    read = {path.resolve(): path.read_text("utf-8") for path in own_pages(site)}
    assert len(read) > 20
    held, gone = {path: values(text, "id|name") for path, text in read.items()}, []
    for path, link in ((p, link) for p, text in read.items() for link in values(text, "href|src")):
        to, place = urldefrag(link)
        target = (path.parent / unquote(to.partition("?")[0])).resolve() if to else path
        fits = not place or unquote(place) in held.get(target, {unquote(place)})
        if ":" not in to.partition("/")[0] and not (target.is_file() and fits):
            gone.append((path.name, link))
    assert gone == []


def test_pages_fit_a_phone_and_ask_for_nothing(site, page):
    wide = []
    for path in own_pages(site):
        page.goto(path.as_uri())
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(path.name)
    assert wide == []
    assert [url for url in page.asked if not url.startswith(("file:", "data:"))] == []


@pytest.mark.parametrize("name", PAGES)
def test_what_the_course_writes_breaks_no_rule(name, site, page):
    page.goto((site / f"{name}.html").as_uri())
    page.add_style_tag(content="* { animation: none !important }")  # what opens would fade in
    page.evaluate(ONE_OF_EACH)
    assert axe.violations(page, {"include": [["article"]]}) == []


def test_a_message_is_searched_for_and_its_entry_is_what_is_shown(site, page):
    page.goto((site / "search.html").as_uri() + "?q=RESOURCE_EXHAUSTED+OOM+allocating+tensor")
    page.locator("#search-results a", has_text="What fails").first.click()
    page.locator("#message").wait_for()
    page.locator("#out-of-memory").wait_for()
    shown = page.locator("article section section:visible").count()
    assert 1 <= shown <= 20
    assert page.locator("#message").input_value()
    page.locator("button[type=reset]").click()
    page.locator("#out-of-memory").wait_for(state="hidden")
    page.locator("#message").fill("a banana that nobody frobnicates")
    assert "doesn't know" in page.locator("[role=status]").inner_text()


def test_a_link_opens_its_failure_and_a_search_of_before_opens_none(site, page):
    page.goto((site / "search.html").as_uri() + "?q=tensor")
    page.locator("#search-results a").first.wait_for()
    for at, shown in ("", 0), ("#out-of-memory", 1):
        page.goto((site / "docs" / "failures.html").as_uri() + at)
        page.locator("#message").wait_for()
        assert page.locator("#all-of-them > section:visible").count() == shown
        assert not page.locator("#message").input_value()


def test_a_lesson_is_folded_and_shows_its_pictures(site):
    text = (site / "notebooks" / "03_time_a_keras_model.html").read_text("utf-8")
    page = BeautifulSoup(text, "html.parser")
    (folded,) = page.select("details:-soup-contains('# @title Setup')")
    assert "COURSE" in folded.text
    assert page.select("img[alt*=' of a step is ']")
    assert "mathjax" not in text.lower()


@pytest.mark.parametrize("name", LESSONS)
def test_hints_and_answers_are_folded_away_until_a_click(name, site, browser):
    page = browser.new_page()
    page.goto((site / "notebooks" / f"{name}.html").as_uri())
    text = (ROOT / "notebooks" / f"{name}.ipynb").read_text("utf-8")
    texts = ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
    folded = sum(text.count("<details>") for text in texts)
    assert folds.opened_by_a_click(page, "article") >= folded > 0
    page.close()


def test_every_failure_and_warning_has_its_place_on_the_page(site):
    page = (site / "docs" / "failures.html").read_text("utf-8")
    assert {symptom.id for symptom in (*KNOWN, *SLOW)} <= set(values(page, "id"))


def test_every_public_name_has_its_place(site):
    held = values((site / "docs" / "api" / "verbs.html").read_text("utf-8"), "id")
    verbs = {f"ah.{name}" for name in ah.__all__ if callable(getattr(ah, name))}
    assert verbs | {f"ah.tpu.{name}" for name in ah.tpu.__all__} <= held
