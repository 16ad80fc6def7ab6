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
COLOURS = 96  # of a picture: a third of the bytes, and nobody sees it
# From a plain Keras model through the line that asks about it to the answer.
LESSON = Path("notebooks", "05_is_it_worth_it.html")
MODEL, ANSWER = "def make_model():", "forecast = ah.forecast(make_model"
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
    """Give the first and the last element that are shown of the report: its title, two lessons."""
    return page.locator("h1"), page.locator("ol > li:nth-child(-n+2)").last


SHOWN = {"lesson.png": of_lesson, "report.png": of_report}


def take(site, report, out):
    """Write both pictures into a folder; `Refused` where what they show was not made."""
    files = {"lesson.png": site / LESSON, "report.png": report / "index.html"}
    for file, made_by in zip(files.values(), ("make site", "make run"), strict=True):
        if not file.is_file():
            raise Refused(f"{file} is missing: `{made_by}` makes it.")
    with chromium.launched() as browser:
        for name, file in files.items():
            size = {"width": WIDTH, "height": 900}
            page = browser.new_page(viewport=size, device_scale_factor=SCALE, color_scheme="light")
            page.goto(file.resolve().as_uri())
            write(out / name, between(page, *SHOWN[name](page)))


def between(page, first, last):
    """Give a page from one element to another as PNG, in its full width."""
    page.evaluate(LOAD)
    above, below = first.bounding_box(), last.bounding_box()
    top, end = above["y"] - MARGIN, below["y"] + below["height"] + MARGIN
    shown = {"x": 0, "y": top, "width": WIDTH, "height": end - top}
    return page.screenshot(full_page=True, clip=shown)


def write(path, png):
    """Write a picture with few colours, which takes fewer bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    few = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def main(argv=None):
    """Leave with a sentence, and another status than 0, where something is missing."""
    parser = argparse.ArgumentParser(prog="screenshots.py", description=__doc__)
    parser.add_argument("--site", type=Path, default=ROOT / "course_site", help="its folder")
    parser.add_argument("--report", type=Path, default=ROOT / "course_report", help="its folder")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures", help="a folder")
    given = parser.parse_args(argv)
    try:
        take(given.site, given.report, given.out)
    except Refused as reason:
        sys.exit(str(reason))


if __name__ == "__main__":
    main()
