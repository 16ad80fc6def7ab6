"""What someone relies on who carries the course into a room without a network."""

import zipfile

import bundle
import nbformat
import pytest
import test_setup_cell as setup

machine, seen = setup.machine, setup.seen  # a learner's machine without the library or a network


@pytest.mark.timeout(600)
def test_the_zip_is_enough_and_the_same_each_time(machine, wheel, tmp_path):
    (tmp_path / "site" / "slides").mkdir(parents=True)
    (tmp_path / "site" / "slides" / "00.html").write_text("a page")
    one, two = (bundle.pack(tmp_path / f"{n}.zip", wheel, tmp_path / "site") for n in "ab")
    assert one.read_bytes() == two.read_bytes()
    zipfile.ZipFile(one).extractall(machine.folder)
    (course,) = machine.folder.iterdir()
    assert (course / "site" / "slides" / "00.html").read_text() == "a page"
    machine.folder = course / "notebooks"
    lesson = nbformat.read(machine.folder / "00_start_here.ipynb", as_version=4)
    (cell,) = (cell for cell in lesson.cells if "setup" in cell.metadata.get("tags", ()))
    assert setup.set_up(machine.run(cell.source)[0])
