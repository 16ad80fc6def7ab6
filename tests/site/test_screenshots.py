"""The README's pictures of a lesson and of the report: whole, sharp, small, and not of nothing."""

import subprocess
import sys
from datetime import datetime

import chromium
import lesson
import pages
import pytest
import screenshots
from PIL import Image

from accel_helpers.machine import runtime

pytestmark = [pytest.mark.night, pytest.mark.browser, pytest.mark.timeout(1800)]
IN_THE_README = 620  # pixels: as wide as the README shows a picture
MOST_BYTES = 250_000
CUT_OFF = "one => one.scrollWidth > one.clientWidth"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The folder of a report of three lessons, with the pictures that are stored with them."""
    folder = tmp_path_factory.mktemp("course_report")
    (folder / "plots").mkdir()
    names, runs = [path.stem for path in lesson.chosen([])], []
    for path in lesson.chosen([])[3:6]:
        run = pages.LessonRun(path.stem, path.stem, 1.0)
        notebook = lesson.parse(lesson.read(path))
        runs.append(pages.write_lesson(run, notebook, path, names, folder))
    write_index(folder, runs)
    return folder


def write_index(folder, runs):
    index = pages.index(runs, runtime.describe(), datetime.now(), True, "")
    (folder / "index.html").write_text(index, "utf-8")


def take(**folders):
    """Run the tool as `make screenshots` does."""
    words = (f"--{name}={folder}" for name, folder in folders.items())
    command = [sys.executable, screenshots.__file__, *words]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def taken(needed, site, report, tmp_path_factory):
    """The folder into which the tool wrote."""
    out = tmp_path_factory.mktemp("pictures") / "new"
    child = take(site=site, report=report, out=out)
    assert child.returncode == 0, child.stderr
    return out


@pytest.mark.parametrize("name", ["lesson.png", "report.png"])
def test_a_picture_is_sharp_in_the_readme_holds_something_and_is_quickly_loaded(taken, name):
    image = Image.open(taken / name)
    assert image.format == "PNG"
    assert image.width == screenshots.WIDTH * screenshots.SCALE
    assert image.width >= 2 * IN_THE_README
    assert image.width / 2 < image.height < image.width * 3 / 2
    colours = sorted(image.convert("RGB").getcolors(image.width * image.height), reverse=True)
    assert len(colours) > 20
    assert colours[0][0] < 0.97 * image.width * image.height
    assert (taken / name).stat().st_size < MOST_BYTES


def test_the_lesson_shows_a_model_the_line_that_asks_and_the_answer_none_cut_off(needed, site):
    with chromium.launched() as browser:
        page = browser.new_page(viewport={"width": screenshots.WIDTH, "height": 900})
        page.goto((site / screenshots.LESSON).as_uri())
        first, last = screenshots.of_lesson(page)
        lines = [line for cell in (first, last) for line in cell.locator("pre").all()]
        cut_off = [line.inner_text() for line in lines if line.evaluate(CUT_OFF)]
        assert "keras.Sequential" in first.inner_text()
        assert "ah.forecast" in last.inner_text()
        assert "this CPU" in last.locator("table").inner_text()
        assert first.bounding_box()["y"] < last.bounding_box()["y"]
        assert cut_off == []


@pytest.mark.parametrize("made_by", ["make site", "make run"])
def test_what_was_not_made_is_named_with_the_command_that_makes_it(made_by, needed, site, tmp_path):
    made = {"site": site} if made_by == "make run" else {}
    child = take(**{name: tmp_path / name for name in ("site", "report", "out")} | made)
    assert child.returncode != 0
    assert child.stderr.endswith(f" is missing: `{made_by}` makes it.\n")
    assert child.stderr.count("\n") == 1
    assert not (tmp_path / "out" / "report.png").exists()


def test_a_report_of_other_lessons_is_not_shown_in_place_of_the_whole(needed, site, tmp_path):
    write_index(tmp_path, [pages.LessonRun("00_start_here", "00", 1.0, page="00_start_here.html")])
    child = take(site=site, report=tmp_path, out=tmp_path)
    assert child.returncode != 0
    assert child.stderr.endswith(" lacks what report.png shows: `make run` makes all of it.\n")
    assert child.stderr.count("\n") == 1
