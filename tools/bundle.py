"""Put the course into one zip, for a drive, a stick or a room without a network."""

import shutil
import tempfile
from pathlib import Path

import lesson
import template


def pack(out, wheel, site):
    """Write the zip: lessons with the wheel beside them, and the site with guide and slides."""
    with tempfile.TemporaryDirectory() as work:
        course = Path(work, "accelerator-course")
        shutil.copytree(site, course / "site")
        (course / "notebooks").mkdir()
        for path in (*lesson.chosen([]), wheel):
            shutil.copy(path, course / "notebooks")
        shutil.copy(lesson.ROOT / "LICENSE", course)
        shutil.copy(template.FOLDER / "bundle.txt", course / "README.txt")
        shutil.make_archive(out.with_suffix(""), "zip", work)


if __name__ == "__main__":
    dist = lesson.ROOT / "dist"
    (wheel,) = dist.glob("accel_helpers-*.whl")
    pack(dist / "accelerator-course.zip", wheel, lesson.ROOT / "course_site")
