"""Put the course into one zip, for a drive, a stick or a room without a network."""

import shutil
import tempfile
from pathlib import Path

from lesson import ROOT, chosen


def pack(out: Path, wheel: Path, site: Path) -> None:
    """Write the zip: lessons with the wheel beside them, guide, and the site with its slides."""
    with tempfile.TemporaryDirectory() as work:
        course = Path(work, "accelerator-course")
        shutil.copytree(site, course / "site")
        shutil.copytree(ROOT / "docs", course / "docs", ignore=shutil.ignore_patterns("_*", "*.py"))
        (course / "notebooks").mkdir()
        for path in (*chosen([]), wheel):
            shutil.copy(path, course / "notebooks")
        shutil.copy(ROOT / "LICENSE", course)
        shutil.copy(ROOT / "tools" / "templates" / "bundle.txt", course / "README.txt")
        shutil.make_archive(str(out.with_suffix("")), "zip", work)


if __name__ == "__main__":
    (wheel,) = ROOT.glob("dist/accel_helpers-*.whl")
    pack(ROOT / "dist" / "accelerator-course.zip", wheel, ROOT / "course_site")
    print("dist/accelerator-course.zip")
