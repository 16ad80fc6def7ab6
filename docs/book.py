"""Sphinx: what the EPUB needs beside the site. Its pages are XML, and have no scripts."""

import re

from bs4 import BeautifulSoup


def tidied(app, pagename, templatename, context, doctree):
    """Make a page of the EPUB well-formed; leave out what is for Colab alone."""
    if app.builder.name == "epub" and doctree:
        page = BeautifulSoup(context["body"], "html.parser")
        for part in page.select(".tag_setup, script, style, a:has(> img[src*=badge])"):
            part.decompose()
        for link in page.find_all(href=re.compile(r"^\w+\.html")):
            link["href"] = link["href"].replace(".html", ".xhtml")
        context["body"] = str(page)
        context["css_files"] = [file for file in context["css_files"] if "mystnb" not in str(file)]


def setup(app):
    """Tell Sphinx."""
    app.connect("html-page-context", tidied)
