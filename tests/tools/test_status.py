"""The page of what has been measured says what the lessons' last lines say."""

import measured
import status
from example import cell, code, example, printed, save

RUN = "A chip, 2027-01-02, with keras 3.1"


def last_row(page, folder):
    assert status.main(["--fix"], page, folder) == 0
    assert status.main([], page, folder) == 0
    return page.read_text("utf-8").splitlines()[-1]


def test_the_page_says_of_each_lesson_where_it_was_measured_and_whether_it_changed(tmp_path):
    nb, page = example(), tmp_path / "status.md"
    nb.cells.append(code("more", "x = 1", printed("1\n"), tagged=[measured.TAG]))
    measured.sign(nb, f"*The measurements here are of one run, on {RUN}.*", measured.code(nb))
    save(tmp_path, nb, "03_a.ipynb")
    save(tmp_path, example(), "04_never_measured.ipynb")
    row = last_row(page, tmp_path)
    assert row.startswith("| [03]")
    assert row.endswith("| A chip | 2027-01-02 | keras 3.1 | the same |")
    cell(nb, "one").source = "print(4)"
    save(tmp_path, nb, "03_a.ipynb")
    assert status.main([], page, tmp_path) == 1
    assert last_row(page, tmp_path).endswith("| changed |")
