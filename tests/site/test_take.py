"""The course as a book: an EPUB whose pages are XML and whose links lead somewhere, and a PDF."""

import posixpath
import re
import unicodedata
import zipfile
from xml.etree import ElementTree

import lesson
import pytest

pytestmark = pytest.mark.slow
STARTS = [lesson.parse(lesson.read(path)).cells[0].source for path in lesson.chosen([])]
TITLES = {start.splitlines()[0].removeprefix("# ") for start in STARTS}


def test_the_epub_is_whole(site):
    with zipfile.ZipFile(site / "take" / "course.epub") as book:
        names = set(book.namelist())
        pages = {n: ElementTree.fromstring(book.read(n)) for n in names if n.endswith(".xhtml")}
        assert book.read("mimetype") == b"application/epub+zip"
    assert not [name for name in names if name.endswith(".js")]
    contents = "".join(pages["nav.xhtml"].itertext())
    assert all(title in contents for title in TITLES)
    for name, page in pages.items():
        for key, to in (pair for part in page.iter() for pair in part.items()):
            if key == "src" or (key == "href" and not re.match("https?:|mailto:|#", to)):
                to = posixpath.join(posixpath.dirname(name), to.partition("#")[0])
                assert posixpath.normpath(to) in names, (name, to)


def test_the_pdf_has_every_lesson(site, needed):
    from pypdf import PdfReader

    pages = [page.extract_text() for page in PdfReader(site / "take" / "course.pdf").pages]
    text = " ".join(unicodedata.normalize("NFKC", " ".join(pages)).split())
    assert all(title in text for title in TITLES) and len(pages) > 2 * len(TITLES)
