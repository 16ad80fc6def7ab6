"""Show a lesson and the report as they are: the two pictures of them in the README."""

import argparse
import io
import sys
from pathlib import Path

import chromium
from lesson import ROOT, Refused
from PIL import Image

WIDTH = 840  # CSS pixels: wide enough for a table, and its code can be read at the README's 620
SCALE = 2  # dots of a picture for each of these, for sharp screens
MARGIN = 14  # CSS pixels above and below what is shown
COLOURS = 96  # of a picture: fewer bytes, and nobody sees it
# From a plain Keras model through the line that asks about it to the answer.
LESSON = Path("notebooks", "05_is_it_worth_it.html")
MODEL, ANSWER = "def make_model():", "forecast = ah.forecast(make_model"
REPORTED = "03", "05"  # from its clock to its verdict: most pictures are there
# A picture that waits until it is scrolled to would be missing.
LOAD = """() => Promise.all([...document.images].map(image => {
    image.loading = 'eager'
    return image.decode()
}))"""


def of_lesson(page):
    """Give the first and the last element that are shown of a lesson."""
    cells = page.locator("div.cell")
    return cells.filter(has_text=MODEL).first, cells.filter(has_text=ANSWER).first


def of_report(page):
    """Give the first and the last lesson that are shown of the report."""
    lessons = page.locator("ol > li")
    first, last = (page.locator(f'h3 a[href^="{number}_"]') for number in REPORTED)
    return lessons.filter(has=first), lessons.filter(has=last)


def take(file, made_by, shown, out):
    """Write the picture of a page; `Refused` where what is to be shown was not made."""
    if not file.is_file():
        raise Refused(f"{file} is missing: `{made_by}` makes it.")
    size = {"width": WIDTH, "height": 900}
    with chromium.launched() as browser:
        page = browser.new_page(viewport=size, device_scale_factor=SCALE, color_scheme="light")
        page.goto(file.resolve().as_uri())
        first, last = shown(page)
        if not (first.count() and last.count()):
            raise Refused(f"{file} lacks what {out.name} shows: `{made_by}` makes all of it.")
        page.evaluate(LOAD)
        png = page.screenshot(full_page=True, clip=between(first, last))
    few = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    out.parent.mkdir(parents=True, exist_ok=True)
    few.save(out, optimize=True)


def between(first, last):
    """Give the part of a page from one element to another, in its full width."""
    above, below = first.bounding_box(), last.bounding_box()
    top, end = above["y"] - MARGIN, below["y"] + below["height"] + MARGIN
    return {"x": 0, "y": top, "width": WIDTH, "height": end - top}


def main():
    """Take both; leave with a sentence, and another status than 0, where something is missing."""
    parser = argparse.ArgumentParser(prog="screenshots.py", description=__doc__)
    parser.add_argument("--site", type=Path, default=ROOT / "course_site", help="its folder")
    parser.add_argument("--report", type=Path, default=ROOT / "course_report", help="its folder")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures", help="a folder")
    given = parser.parse_args()
    try:
        take(given.site / LESSON, "make site", of_lesson, given.out / "lesson.png")
        take(given.report / "index.html", "make run", of_report, given.out / "report.png")
    except Refused as reason:
        sys.exit(str(reason))


if __name__ == "__main__":
    main()
