"""The page of what has been measured says what the lessons' last lines say."""

import lesson
import status
from example import save


def test_the_page_says_of_each_lesson_where_it_was_measured_and_whether_it_changed(tmp_path):
    (path,) = lesson.LESSONS.glob("03_*.ipynb")
    nb = lesson.parse(lesson.read(path))

    def row():
        return status.page([save(tmp_path, nb)]).splitlines()[-1]

    first = row()
    assert first.startswith("| [00](../notebooks/00_example.ipynb) | ")
    nb.cells[7].source += "  # why"
    assert row() == first
    nb.cells[7].source += "\nx = 1"
    assert row().endswith("| changed |")
