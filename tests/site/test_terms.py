"""A term's first use in a lesson leads to its entry in the glossary."""

import re

import pytest
from bs4 import BeautifulSoup

pytestmark = pytest.mark.night


def test_terms(site):
    paths = *(site / "notebooks").glob("*.html"), site / "docs" / "glossary.html"
    lessons = {path.name: BeautifulSoup(path.read_text("utf-8"), "html.parser") for path in paths}
    entries, names = lessons.pop("glossary.html").select("dl.glossary > *"), []
    for part in entries:  # used in the lesson that it names, or with a source elsewhere
        names += [part.contents[0].lower()] if part.name == "dt" else []
        if part.name == "dd":
            folder, _, leads = part.select_one("p > a:last-child")["href"].rpartition("/")
            told = "//" in folder or any(name in lessons[leads].text.lower() for name in names)
            assert told, names
            names = []
    anchors = {part["id"] for part in entries if part.name == "dt"}
    for name, lesson in lessons.items():
        links = lesson.select("a.term")
        to = [link["href"].removeprefix("../docs/glossary.html#") for link in links]
        assert len(to) > 9, name
        assert set(to) <= anchors, name
        assert len(to) == len(set(to)), name
        assert not lesson.select(":is(h1, h2, h3, h4, pre, code, .cell, a) a.term"), name
        words = [link.text.replace("\n", " ") for link in links]
        for link, word in zip(links, words, strict=True):
            link.string = f"@{word}"
        for quiet in lesson.select("article .cell, article p code, article a:not(.term)"):
            quiet.decompose()
        prose = " ".join(p.text for p in lesson.select("article section section p")).split()
        for word in words:
            use = re.search(rf"(?<![\w.@-])@?{re.escape(word)}(?![\w-])", " ".join(prose))
            assert use[0][0] == "@", (name, word)
