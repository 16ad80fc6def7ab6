"""What GitHub runs is at least a script; tests/site holds what it makes."""

import subprocess

import lesson
import yaml


def test_scripts_of_workflows_are_well_formed():
    flows = [yaml.safe_load(path.read_text()) for path in lesson.ROOT.glob(".github/*/*.yml")]
    steps = [step for flow in flows for job in flow["jobs"].values() for step in job["steps"]]
    for script in (step["run"] for step in steps if "run" in step):
        subprocess.run(["bash", "-n", "-c", script], check=True)
