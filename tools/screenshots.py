"""Show a lesson and the report as they are: the two pictures of them in the README.

`make site` and `make run` make what is shown.
"""

from pathlib import Path

import chromium
from lesson import ROOT
from PIL import Image

WIDTH = 840  # CSS pixels: wide enough for a table, and its code can be read at the README's 620
SCALE = 2  # dots of a picture for each of these, for sharp screens
MARGIN = 14  # CSS pixels above and below what is shown
COLOURS = 96  # of a picture: fewer bytes, and nobody sees it
# From a plain Keras model through the line that asks about it to the answer.
LESSON = Path("notebooks", "05_is_it_worth_it.html")
FROM_MODEL_TO_ANSWER = (
    "div.cell:has-text('def make_model():')",
    "div.cell:has-text('forecast = ah.forecast(make_model')",
)
FROM_03_TO_05 = ("ol > li:has(h3 a[href^='03_'])", "ol > li:has(h3 a[href^='05_'])")
# A picture that waits until it is scrolled to would be missing.
LOAD = """() => Promise.all([...document.images].map(image => {
    image.loading = 'eager'
    return image.decode()
}))"""


def take(file, first, last, out):
    """Write the picture of a page, from one element to another, in its full width."""
    size = {"width": WIDTH, "height": 900}
    with chromium.launched() as browser:
        page = browser.new_page(viewport=size, device_scale_factor=SCALE, color_scheme="light")
        page.goto(file.resolve().as_uri())
        page.evaluate(LOAD)
        above, below = (page.locator(part).first.bounding_box() for part in (first, last))
        top = above["y"] - MARGIN
        height = below["y"] + below["height"] + MARGIN - top
        clip = {"x": 0, "y": top, "width": WIDTH, "height": height}
        page.screenshot(full_page=True, clip=clip, path=out)
    few = Image.open(out).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(out, optimize=True)


if __name__ == "__main__":
    pictures = ROOT / "docs" / "pictures"
    take(ROOT / "course_site" / LESSON, *FROM_MODEL_TO_ANSWER, pictures / "lesson.png")
    take(ROOT / "course_report" / "index.html", *FROM_03_TO_05, pictures / "report.png")
