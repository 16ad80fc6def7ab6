"""Makes course_site/take/course.epub and, where a browser is there to print it, course.pdf."""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import make_site
from lesson import ROOT, Refused
from sphinx.cmd.build import build_main

TAKE = ROOT / "course_site" / "take"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def main(arguments=None):
    """Make the book; give the exit status: 0 made, 1 Sphinx failed, 2 refused."""
    parser = argparse.ArgumentParser(prog="book.py", description=__doc__)
    parser.add_argument("--results", action="store_true", help="with your own, from `make run`")
    given = parser.parse_args(arguments)
    TAKE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        source, page = Path(work, "source"), Path(work, "singlehtml", "index.html")
        try:
            make_site.stage(source, TAKE.parent, given.results)
        except (Refused, ValueError) as error:
            print(error, file=sys.stderr)
            return 2
        for left_out in (source / "docs").rglob("*.md"):
            if left_out.stem != "glossary":
                left_out.unlink()
        # Quiet: docs/book.py takes the links to what is left out away.
        words = ["-Q", "-c", str(ROOT / "docs"), "-d", f"{work}/trees", str(source)]
        for builder in ("epub", "singlehtml"):
            if build_main(["-b", builder, *words, f"{work}/{builder}"]):
                return 1
        shutil.copy(Path(work, "epub", "course.epub"), TAKE)
        browser = next(filter(None, map(shutil.which, BROWSERS)), None)
        if browser is None:
            print("No Chromium here, so the site is made without course.pdf.")
            return 0
        words = ["--headless", "--no-sandbox", "--no-pdf-header-footer", page.as_uri()]
        words += ["--generate-pdf-document-outline", f"--print-to-pdf={TAKE / 'course.pdf'}"]
        subprocess.run([browser, *words], check=True, timeout=600, capture_output=True)
    print(
        "course_site/take:", *(f"{p.name} {p.stat().st_size / 1e6:.1f} MB" for p in TAKE.iterdir())
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
