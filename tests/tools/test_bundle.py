"""What someone relies on who carries the course into a room without a network."""

import zipfile

import bundle
import nbformat
import pytest
import test_setup_cell as setup

machine, seen = setup.machine, setup.seen  # a learner's machine without the library or a network


@pytest.mark.timeout(600)
def test_the_zip_is_enough(machine, wheel, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("a page")
    bundle.pack(tmp_path / "course.zip", wheel, tmp_path / "site")
    zipfile.ZipFile(tmp_path / "course.zip").extractall(machine.folder)
    (course,) = machine.folder.iterdir()
    assert (course / "site" / "index.html").read_text() == "a page"
    assert (course / "docs" / "teach.md").exists()
    machine.folder = course / "notebooks"
    lesson = nbformat.read(machine.folder / "00_start_here.ipynb", as_version=4)
    (cell,) = (cell for cell in lesson.cells if "setup" in cell.metadata.get("tags", ()))
    assert setup.set_up(machine.run(cell.source)[0])
