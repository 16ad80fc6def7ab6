"""Every plot of the course on one sheet, as large as a page shows it, each with its sentence."""

import argparse
import base64
import html
import io
import re
import textwrap
from pathlib import Path

import kernel
import lesson
from PIL import Image, ImageDraw, ImageOps

WIDE, TEXT, COLUMNS = 830, 13, 4  # dots of a column and of a letter


def plots(run=None):
    """Give where each picture is from, its base64 and its sentence; of a run's report last."""
    for path in sorted(lesson.LESSONS.glob("*.ipynb")):
        for cell in kernel.read(path)[0].cells:
            for data in (output.get("data", {}) for output in cell.get("outputs", ())):
                if "image/png" in data:
                    yield path.stem, data["image/png"], data["text/plain"]
    for path in sorted(lesson.ROOT.glob("docs/pictures/*.png")):
        yield path.name, base64.b64encode(path.read_bytes()), ""
    for page in sorted(run.glob("[0-9][0-9]_*.html")) if run else ():
        for said, png in re.findall(r'<img alt="([^"]+)"[^>]*base64,([^"]+)', page.read_text()):
            yield f"{page.stem}, own run", png, html.unescape(said)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="plot_sheet.py", description=__doc__)
    parser.add_argument("--run", type=Path, help="the folder of a report: its plots, too")
    parser.add_argument("--out", type=Path, default=Path("plots.png"), help="the sheet")
    options, ends = parser.parse_args(), [10] * COLUMNS  # where each column's pictures end
    draw = ImageDraw.Draw(sheet := Image.new("RGB", (COLUMNS * WIDE, 40_000), "#D8D8D8"))
    for where, png, said in plots(options.run):
        image = ImageOps.scale(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB"), 0.625)
        text, y = textwrap.fill(f"{where}. {said}", 95), min(ends)
        x, below = ends.index(y) * WIDE + 15, y + image.height + 5
        sheet.paste(image, (x, y))
        draw.text((x, below), text, "black", font_size=TEXT, spacing=5)
        ends[x // WIDE] = below + (TEXT + 5) * (text.count("\n") + 1) + 25
    sheet.crop((0, 0, sheet.width, max(ends))).save(options.out)
