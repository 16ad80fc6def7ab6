"""Sphinx: what the EPUB needs beside the site. Its pages are XML, and have no scripts."""

import re

from bs4 import BeautifulSoup

NOT_HERE = "details.hide, script, style, a:has(> img[src*=badge])"
NO_STYLE = re.compile("mystnb|copybutton|print")


def tidied(app, pagename, templatename, context, doctree):
    """Make a page of the EPUB well-formed; leave out what is for Colab alone."""
    if app.builder.name != "epub":
        return
    sheets = context.get("css_files", ())
    context["css_files"] = [sheet for sheet in sheets if not NO_STYLE.search(str(sheet))]
    page = BeautifulSoup(context.get("body", ""), "html.parser")
    for part in page.select(NOT_HERE):
        part.decompose()
    for said in page.select("summary p"):
        said.name = "span"
    for link in page.find_all(href=re.compile(r"^\w+\.html")):
        link["href"] = link["href"].replace(".html", ".xhtml")
    context["body"] = str(page)


def setup(app):
    """Tell Sphinx."""
    app.connect("html-page-context", tidied)
