"""A link to a heading, in the pages and the lessons, has its heading."""

import re
from functools import cache
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("notebooks/*.ipynb")]
LINK = re.compile(r"\]\(([^()\s:#]*)#([^()\s]+)\)")


@cache
def text(path):
    """Give the Markdown of a page or a lesson, without blocks of code."""
    if path.suffix == ".ipynb":
        cells = nbformat.read(path, as_version=4).cells
        return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_link_to_a_heading_has_its_heading(page):
    gone = []
    for address, place in LINK.findall(text(page)):
        target = (page.parent / address).resolve() if address else page
        headings = re.findall(r"^#+ (.*)", text(target), re.M)
        # As GitHub and the site name them. Jupyter keeps capitals.
        names = [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]
        names += re.findall(r"^\((\S+)\)=$", text(target), re.M)
        if place.lower() not in names:
            gone.append(f"{address}#{place}")
    assert gone == []
