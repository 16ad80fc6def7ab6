"""The teacher's guide and *In your CI*: a plan can be given, a workflow does what it says."""

import ast
import re
import subprocess
import sys

import lesson
import pytest
import yaml
from nbformat import v4

import accel_helpers as ah

TEACH, CI = (lesson.read(lesson.ROOT / "docs" / name) for name in ("teach.md", "in_your_ci.md"))
FORK, OWN, STORE, SANITIZE = re.findall(r"```(?:yaml|bash|ini)\n(.*?)```", CI, re.S)
FLOWS = [FORK, OWN, *(lesson.read(path) for path in lesson.ROOT.glob(".github/workflows/*.yml"))]


@pytest.mark.parametrize("most", [50, 90, 210])
def test_a_plan_fits_its_minutes_and_no_part_leans_on_one_left_out(most):
    plan = re.search(rf"^## .*{most} minutes\n(.*?)^\*\*Late", TEACH, re.M | re.S)[1]
    assert int(re.findall(r"^\| \d+ to (\d+) ", plan, re.M)[-1]) <= most
    given = re.findall(r"\[(?:\d\d, )?([^]]+)\]\(\.\./notebooks/([^#]+)#", plan)
    for path in {path for _, path in given}:
        used, made = {True: set(), False: set()}, {True: set(), False: set()}
        for cell in lesson.parse(lesson.read(lesson.LESSONS / path)).cells:
            text, code = [cell.source, ""][:: 1 - 2 * lesson.is_code(cell)]
            for head in re.findall(r"^#+ (.*)", text, re.M):
                taken = (head, path) in given
            here = taken or "setup" in lesson.tags(cell)  # which every plan runs
            for node in ast.walk(ast.parse(lesson.python(code))):
                kind = used if isinstance(getattr(node, "ctx", None), ast.Load) else made
                kind[here] |= {vars(node).get(key) for key in ("id", "name", "asname")} - {None}
        assert used[True] & made[False] <= made[True], path


def test_the_half_day_prints_in_lesson_06_what_the_whole_lesson_prints(capsys):
    """It leaves a part out in which a larger matrix unit is made."""
    path = "06_inside_a_tpu.ipynb"
    plan = re.search(r"^## .*210 minutes\n(.*?)^\*\*Late", TEACH, re.M | re.S)[1]
    given = re.findall(rf"\[(?:\d\d, )?([^]]+)\]\(\.\./notebooks/{path}#", plan)
    heading, compared = "", 0
    scope = {"ah": ah, "lesson": ah.course.lesson("06")}
    for cell in lesson.parse(lesson.read(lesson.LESSONS / path)).cells:
        if not lesson.is_code(cell):
            heading = (re.findall(r"^#+ (.*)", cell.source, re.M) or [heading])[-1]
        elif heading in given:
            exec(cell.source, scope)
            printed = capsys.readouterr().out
            if "nbval-ignore-output" not in cell.metadata.get("tags", ()):
                stored = [each.text for each in cell.outputs if each.output_type == "stream"]
                assert printed == "".join(stored)
                compared += bool(printed)
    assert compared >= 3


def test_workflows_are_yaml_and_what_they_and_the_pages_make_exists():
    ran = lesson.read(lesson.ROOT / re.search(r"bash (\S+)", FORK)[1])
    named = {*re.findall(r"(?:`|: |exec | {9})make ([\w-]+)", f"{TEACH}{CI}{ran}{FLOWS}")}
    assert named <= {*re.findall(r"^([\w-]+):", (lesson.ROOT / "Makefile").read_text(), re.M)}
    jobs = [job for flow in FLOWS for job in yaml.safe_load(flow)["jobs"].values()]
    for script in (step["run"] for job in jobs for step in job["steps"] if "run" in step):
        subprocess.run(["bash", "-n", "-c", script], check=True)
    assert lesson.read(lesson.SANITIZE).endswith(f"\n\n{SANITIZE}")
    assert len(named) > 5
    assert len(jobs) >= len(FLOWS)


@pytest.mark.night
def test_the_workflow_for_own_notebooks_finds_what_has_changed_or_was_never_run(tmp_path):
    (mine := tmp_path / "notebooks" / "mine.ipynb").parent.mkdir()
    code = "import os\nprint(1_984 if os.environ.get('ACCEL_FAST') else 60_000)"
    cells = [v4.new_code_cell(code)]
    cells += [v4.new_code_cell("id(ah) / 0", metadata={"tags": ["raises-exception"]})]
    mine.write_text(lesson.dump(v4.new_notebook(cells=cells)), "utf-8")
    job = yaml.safe_load(OWN)["jobs"]["run"]
    env = "".join(f"export {name}={value}; " for name, value in job["env"].items())
    *_, grep, test = (step.get("run") for step in job["steps"])
    (tmp_path / "nbval_sanitize.cfg").write_text(SANITIZE, "utf-8")
    good = [STORE, grep, test]
    bad = [f"sed -i.b s/1984/5/ {mine}; {test}", f"sed -i.b 's/: 1,/: null,/' {mine}; {grep}"]
    for line in good + bad:
        bash = ["bash", "-ec", env + line.replace("python -m", f"{sys.executable} -m")]
        assert (subprocess.call(bash, cwd=tmp_path) == 0) == (line in good), line
