"""The teacher's guide and *In your CI*: a plan can be given, a workflow does what it says."""

import os
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
PLANS = re.findall(r"^## .*?(\d+) minutes\n(.*?)^\*\*Late", TEACH, re.M | re.S)
FORK, OWN, STORE, SANITIZE = re.findall(r"```(?:yaml|bash|ini)\n(.*?)```", CI, re.S)


def names(cell):
    """Give the names that a cell makes, and all that it and its functions take from outside."""
    tables = [symtable.symtable(lesson.python(cell.source), "cell", "exec")]
    made = {each.get_name() for each in tables[0].get_symbols() if each.is_assigned()}
    made |= {each.get_name() for each in tables[0].get_symbols() if each.is_imported()}
    taken = set()
    for table in tables:  # it grows
        tables += table.get_children()
        taken |= {each.get_name() for each in table.get_symbols() if each.is_global()}
    return made, taken


@pytest.mark.parametrize(("minutes", "plan"), PLANS)
def test_a_plan_fits_its_minutes_and_no_part_leans_on_one_left_out(minutes, plan):
    ends = [0]
    for start, end in re.findall(r"^\| (\d+) to (\d+) ", plan, re.M):
        assert int(start) == ends[-1]
        ends.append(int(end))
    assert 0 < ends[-1] <= int(minutes)
    parts = re.findall(r"\[(?:\d\d, )?([^]]+)\]\(\.\./notebooks/([^#]+)#", plan)
    for path in {path for _, path in parts}:
        heading, is_there = "", {}  # a name, by whether its last maker is in the plan
        notebook = lesson.parse(lesson.read(lesson.LESSONS / path))
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                *_, heading = heading, *re.findall(r"^#+ (.*)", cell.source, re.M)
            if cell.cell_type == "markdown" or "script" in lesson.tags(cell):
                continue
            is_part = (heading, path) in parts or "setup" in lesson.tags(cell)
            made, taken = names(cell)
            is_there |= dict.fromkeys(made, is_part)
            lost = {name for name in taken if not is_there.get(name, True)}
            assert not (is_part and lost), (path, heading, lost)


def test_what_the_guide_says_of_our_machine_is_what_the_lessons_store():
    rows = re.findall(r"\[(\d\d), .*?Ours: (.+?) \|", TEACH)
    assert len(rows) == 4
    for number, said in rows:
        (path,) = lesson.LESSONS.glob(f"{number}_*.ipynb")
        stored = re.sub(r'(\s|\\n|",|")+', " ", lesson.read(path))
        assert said.rstrip(".") in stored, said
    ratios = lesson_00.measured()["ratios"]
    assert f"Ours, at most: {ratios['128, 32']} at width 128" in TEACH
    assert f"{ratios['2048, 2048']} at 2,048 and 2,048" in TEACH


def test_what_the_pages_tell_to_make_can_be_made():
    makefile = lesson.read(lesson.ROOT / "Makefile")
    targets = {*re.findall(r"^([\w-]+):", makefile, re.M)}
    flows = map(lesson.read, lesson.ROOT.glob(".github/workflows/*.yml"))
    for text in (TEACH, CI, *flows):
        named = re.findall(r"(?:`|: |exec | {9})make ([\w-]+)", text)
        assert targets.issuperset(named)
    assert lesson.read(lesson.SANITIZE).endswith(f"\n\n{SANITIZE}")


@pytest.mark.night
def test_the_workflow_for_own_notebooks_finds_what_has_changed_or_was_never_run(tmp_path):
    mine = tmp_path / "notebooks" / "mine.ipynb"
    mine.parent.mkdir()
    cell = v4.new_code_cell("import os\nprint(1_984 if 'ACCEL_FAST' in os.environ else 60_000)")
    mine.write_text(lesson.dump(v4.new_notebook(cells=[cell])), "utf-8")
    (tmp_path / "nbval_sanitize.cfg").write_text(SANITIZE, "utf-8")
    job = yaml.safe_load(OWN)["jobs"]["run"]
    environ = os.environ | job["env"]
    *_, grep, test = job["steps"]

    def works(line):
        command = line.replace("python -m", f"{sys.executable} -m")
        return not subprocess.call(["bash", "-ec", command], cwd=tmp_path, env=environ)

    assert works(STORE)
    assert works(grep["run"])
    assert works(test["run"])
    assert not works(f"sed -i.b s/1984/5/ {mine}; {test['run']}")
    assert not works(f"sed -i.b 's/: 1,/: null,/' {mine}; {grep['run']}")
