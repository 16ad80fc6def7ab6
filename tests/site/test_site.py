"""The site: its links, what it asks for, its width on a phone, its search, and who can read it."""

from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag

import axe
import pytest

import accel_helpers as ah

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(1800)]
LOOKED_AT = ("index", "docs/failures", "docs/chips", "docs/status", "docs/api/timing")
LESSONS = ("00_start_here", "03_time_a_keras_model", "06_inside_a_tpu", "11_exam_review")
PAGES = (*LOOKED_AT, *(f"notebooks/{name}" for name in LESSONS))
# What the theme itself writes into the text, and how it breaks a rule.
OF_THE_THEME = ()
# Of the thousands of pieces of coloured code, one of each colour is enough.
ONE_OF_EACH = """() => { const seen = new Set()
    for (const piece of document.querySelectorAll('.highlight span[class]'))
        seen.has(piece.className) ? piece.remove() : seen.add(piece.className)
    document.querySelectorAll('details').forEach(one => { one.open = true }) }"""


class Read(HTMLParser):
    """The links of a page, and the places in it."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = set(), {""}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.places |= {found[name] for name in ("id", "name") if found.get(name)}
        self.links |= {found[name] for name in ("href", "src") if found.get(name)}


def own_pages(site):
    kinds = ("docs", "notebooks")
    return [
        *site.glob("*.html"),
        *(page for kind in kinds for page in (site / kind).rglob("*.html")),
    ]


@pytest.fixture(params=[(1280, "light"), (390, "light"), (390, "dark")], ids=str)
def page(request, browser):
    width, scheme = request.param
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.asked = []
    page.on("request", lambda asked: page.asked.append(asked.url))
    yield page
    page.close()


def test_every_link_and_anchor_leads_somewhere(site):
    read = {path.resolve(): Read(path) for path in own_pages(site)}
    assert len(read) > 50
    gone = []
    for path, found in read.items():
        for link in found.links:
            to, place = urldefrag(link)
            if ":" in to.partition("/")[0]:
                continue
            target = (path.parent / unquote(to.partition("?")[0])).resolve() if to else path
            known = read[target].places if target in read else {"", place}
            if not target.is_file() or unquote(place) not in known:
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
    page.evaluate(ONE_OF_EACH)
    found = axe.violations(page, {"include": [["article"]]})
    assert [line for line in found if not line.startswith(OF_THE_THEME)] == []


def test_a_message_is_searched_for_and_its_entry_is_what_is_shown(site, page):
    page.goto((site / "search.html").as_uri() + "?q=RESOURCE_EXHAUSTED+OOM+allocating+tensor")
    page.locator("#search-results a", has_text="What fails").first.click()
    page.locator("#out-of-memory").wait_for()
    shown = page.locator("article section section:visible").count()
    assert 1 <= shown <= 20 and page.locator("#message").input_value()


def test_a_lesson_is_folded_and_shows_its_pictures(site):
    text = (site / "notebooks" / "03_time_a_keras_model.html").read_text("utf-8")
    setup = text.index("# @title Setup")
    assert text.rindex("<details", 0, setup) > text.rindex("<h1", 0, setup)
    assert text.rindex("</details>", 0, text.index("REPOSITORY")) < text.rindex(
        "<details", 0, setup
    )
    assert 'alt="Dot plot. The first epoch' in text and "mathjax" not in text.lower()


def test_every_public_name_has_its_place(site):
    for module in set(ah.__all__) - {"__version__"}:
        places = Read(site / "docs" / "api" / f"{module}.html").places
        assert {f"ah.{module}.{name}" for name in getattr(ah, module).__all__} <= places
