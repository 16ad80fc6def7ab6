"""Sphinx: the pages of the EPUB, which are XML without scripts, and the one that is printed."""

import re

from bs4 import BeautifulSoup

NOT_HERE = "details.hide, script, style, .animation, a:has(> img[src*=badge]), "
NOT_HERE += ":is(#look-it-up, #take-it-along) > :is(h2, ul)"
NO_STYLE = re.compile("mystnb|copybutton|print")


def tidied(app, pagename, templatename, context, doctree):
    """Make a page well-formed; leave out what is for Colab alone, and links out of the book."""
    book = app.builder.name == "epub"
    if not (book or app.builder.name == "singlehtml"):
        return
    page = BeautifulSoup(context.get("body", ""), "html.parser")
    for part in page.select(NOT_HERE):
        part.decompose()
    for said in page.select("summary p"):
        said.name = "span"
    for link in page.find_all(
        href=re.compile(r"^(?!https?:).*\.(html|md|ipynb|py|toml|csv)(#.*)?$")
    ):
        link["href"] = re.sub(r"^(\w+)\.html", r"\1.xhtml", link["href"])
        if not link["href"].split("#")[0].endswith(".xhtml"):
            link.unwrap()
    if book:
        sheets = context.get("css_files", ())
        context["css_files"] = [sheet for sheet in sheets if not NO_STYLE.search(str(sheet))]
    for fold in () if book else page.select("details"):
        fold["open"] = ""
    context["body"] = str(page)


def setup(app):
    """Tell Sphinx."""
    app.connect("html-page-context", tidied)
