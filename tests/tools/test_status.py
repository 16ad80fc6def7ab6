"""The page of what has been measured says what the lessons' last lines say."""

import measured
import status
from example import cell, code, example, printed, save


def test_the_page_says_of_each_lesson_where_it_was_measured_and_what_changed(tmp_path, capsys):
    for name, source in ("03_a.ipynb", "x = 1"), ("04_b.ipynb", "x = 2"), ("05_c.ipynb", "x = 3"):
        nb = example()
        nb.cells.append(code("more", source, printed("1\n"), tagged=[measured.TAG]))
        if name != "05_c.ipynb":
            words = "*What measures shows one run, on A chip, 2027-01-02, with keras 3.1.*"
            measured.sign(nb, words, measured.code(nb))
        if name == "04_b.ipynb":
            cell(nb, "one").source = "print(4)"
        save(tmp_path, nb, name)
    page = tmp_path / "status.md"
    assert status.main([], page, tmp_path) == 1
    assert "make fix" in capsys.readouterr().out
    assert status.main(["--fix"], page, tmp_path) == 0 == status.main([], page, tmp_path)
    rows = [line[2:-2].split(" | ") for line in page.read_text("utf-8").splitlines()[-2:]]
    assert [row[0][1:3] for row in rows] == ["03", "04"]
    assert [row[1:4] for row in rows] == [["A chip", "2027-01-02", "keras 3.1"]] * 2
    assert [row[4] for row in rows] == ["the same", "changed"]
    save(tmp_path, example(), "03_a.ipynb")
    assert status.main([], page, tmp_path) == 1
