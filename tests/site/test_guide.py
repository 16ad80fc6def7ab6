"""The teacher's guide and *In your CI*: a plan can be given, a workflow does what it says."""

import re
import subprocess
import symtable
import sys

import lesson
import pytest
import yaml
from nbformat import v4

from accel_helpers.course.lessons import lesson_00

TEACH, CI = (lesson.read(lesson.ROOT / "docs" / name) for name in ("teach.md", "in_your_ci.md"))
FORK, OWN, STORE, SANITIZE = re.findall(r"```(?:yaml|bash|ini)\n(.*?)```", CI, re.S)


def made(cell):
    """Give the names that a cell makes."""
    symbols = symtable.symtable(lesson.python(cell.source), "cell", "exec").get_symbols()
    return {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}


@pytest.mark.parametrize("minutes", [50, 90, 210])
def test_a_plan_fits_its_minutes_and_no_part_leans_on_one_left_out(minutes):
    plan = re.search(rf"^## .*{minutes} minutes\n(.*?)^\*\*Late", TEACH, re.M | re.S)[1]
    ends = [int(end) for end in re.findall(r"^\| \d+ to (\d+) ", plan, re.M)]
    assert ends == sorted(ends)
    assert ends[-1] <= minutes
    parts = re.findall(r"\[(?:\d\d, )?([^]]+)\]\(\.\./notebooks/([^#]+)#", plan)
    for path in {path for _, path in parts}:
        heading, known, left_out = "", set(), set()
        for cell in lesson.parse(lesson.read(lesson.LESSONS / path)).cells:
            if cell.cell_type == "markdown":
                heading = (re.findall(r"^#+ (.*)", cell.source, re.M) or [heading])[-1]
            elif (heading, path) in parts:
                known |= made(cell)
                words = {*re.findall(r"(?<![.\w])[a-z_]\w*(?! ?=)\b", cell.source)}
                assert words & left_out <= known, (path, heading)
            elif "setup" not in lesson.tags(cell):
                left_out |= made(cell)


def test_what_the_guide_says_of_our_machine_is_what_the_lessons_store():
    rows = re.findall(r"\[(\d\d), .*?Ours: (.+?) \|", TEACH)
    assert len(rows) > 5
    for number, said in rows:
        (path,) = lesson.LESSONS.glob(f"{number}_*.ipynb")
        stored = re.sub(r'\\n|",|"', " ", lesson.read(path))
        assert said.rstrip(".") in " ".join(stored.split()), said
    ratios = lesson_00.measured()["ratios"]
    assert f"Ours, at most: {ratios['128, 32']} at width 128" in TEACH
    assert f"{ratios['2048, 2048']} at 2,048 and 2,048" in TEACH


def test_what_the_pages_tell_to_make_can_be_made():
    targets = re.findall(r"^([\w-]+):", (lesson.ROOT / "Makefile").read_text(), re.M)
    flows = [lesson.read(path) for path in lesson.ROOT.glob(".github/workflows/*.yml")]
    named = re.findall(r"(?:`|: |exec | {9})make ([\w-]+)", "\n".join([TEACH, CI, *flows]))
    assert {*named} <= {*targets}
    assert lesson.read(lesson.SANITIZE).endswith(f"\n\n{SANITIZE}")


@pytest.mark.night
def test_the_workflow_for_own_notebooks_finds_what_has_changed_or_was_never_run(tmp_path):
    mine = tmp_path / "notebooks" / "mine.ipynb"
    mine.parent.mkdir()
    code = "import os\nprint(1_984 if os.environ.get('ACCEL_FAST') else 60_000)"
    mine.write_text(lesson.dump(v4.new_notebook(cells=[v4.new_code_cell(code)])), "utf-8")
    (tmp_path / "nbval_sanitize.cfg").write_text(SANITIZE, "utf-8")
    job = yaml.safe_load(OWN)["jobs"]["run"]
    settings = "".join(f"export {name}={value}; " for name, value in job["env"].items())
    *_, grep, test = (step.get("run") for step in job["steps"])

    def works(line):
        command = settings + line.replace("python -m", f"{sys.executable} -m")
        return subprocess.call(["bash", "-ec", command], cwd=tmp_path) == 0

    assert works(STORE)
    assert works(grep)
    assert works(test)
    assert not works(f"sed -i.b s/1984/5/ {mine}; {test}")
    assert not works(f"sed -i.b 's/: 1,/: null,/' {mine}; {grep}")
