"""The course as a book: an EPUB whose pages are XML and whose links lead somewhere, and a PDF."""

import json
import posixpath
import re
import unicodedata
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.slow
LESSONS = sorted(Path("notebooks").glob("[01]*.ipynb"))


def titles():
    """Give the first heading of every lesson."""
    firsts = [json.loads(path.read_text("utf-8"))["cells"][0]["source"] for path in LESSONS]
    return ["".join(first).splitlines()[0].removeprefix("# ") for first in firsts]


def test_the_epub_is_whole(site):
    with zipfile.ZipFile(site / "take" / "course.epub") as book:
        names = set(book.namelist())
        pages = {n: ElementTree.fromstring(book.read(n)) for n in names if n.endswith(".xhtml")}
        assert book.read("mimetype") == b"application/epub+zip"
        assert not [name for name in names if name.endswith(".js")]
        contents = "".join(pages["nav.xhtml"].itertext())
    assert all(title in contents for title in titles())
    for name, page in pages.items():
        for part in page.iter():
            for key in {"src", "href"} & set(part.attrib):
                to = part.get(key).partition("#")[0]
                remote = re.match(r"https?:|mailto:", to)
                assert not (remote and key == "src"), (name, to)
                here = posixpath.normpath(posixpath.join(posixpath.dirname(name), to))
                assert remote or not to or here in names, (name, to)


def test_the_pdf_has_every_lesson(site):
    reader = pytest.importorskip("pypdf").PdfReader(site / "take" / "course.pdf")
    pages = [unicodedata.normalize("NFKC", page.extract_text()) for page in reader.pages]
    text = " ".join(" ".join(pages).split())
    assert all(title in text for title in titles()) and len(pages) > 2 * len(LESSONS)
