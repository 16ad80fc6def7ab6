"""What GitHub is asked to do: its files are valid, and each step of a workflow does what it says.

What only GitHub has is stood in for: a bare repository is the remote, and `gh` is a program that
writes down what it was asked.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import lesson
import pytest
import yaml

import accel_helpers as ah

ROOT = Path(__file__).resolve().parents[1]
GITHUB = ROOT / ".github"
SCHEMAS = {
    "github-workflows": "workflows/*.yml",
    "github-issue-forms": "ISSUE_TEMPLATE/[!c]*.yml",
    "github-issue-config": "ISSUE_TEMPLATE/config.yml",
    "dependabot": "dependabot.yml",
}
# What publishing reads and writes.
PARTS = ("notebooks", "tools", "accel_helpers", ".ci")
FILES = ("README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile")
FILES += ("pyproject.toml", "setup.py")
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=0"]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_files_for_github_are_what_github_reads(schema):
    paths = [str(path) for path in GITHUB.glob(SCHEMAS[schema])]
    assert paths
    words = ["-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *paths]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_every_step_of_a_workflow_is_a_target_or_a_script_that_is_here():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    flows = [yaml.safe_load(path.read_text()) for path in GITHUB.glob("workflows/*.yml")]
    jobs = [job for flow in flows for job in flow["jobs"].values()]
    steps = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    steps = [step for step in steps if not step.startswith("sudo rm")]  # room on their disk
    assert steps
    for step in steps:
        _, called, *_ = step.split()
        assert called in targets or (ROOT / called).is_file(), step


class Copy:
    """A copy of the course in a checkout of its own, whose remote is a bare repository."""

    def __init__(self, folder):
        self.folder, self.remote, self.bin = (folder / name for name in ("course", "bare", "bin"))
        self.asked = folder / "asked"

    def make(self):
        for name in PARTS:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, self.folder / name, ignore=ignored)
        for name in FILES:
            shutil.copy(ROOT / name, self.folder)
        self.bin.mkdir()
        self.call([sys.executable, "tools/stamp.py", "--unstamp"])
        self.git("init", "-q", "-b", "main")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "all")
        self.git("init", "-q", "--bare", "-b", "main", "../bare")
        self.git("remote", "add", "origin", "../bare")
        self.git("push", "-q", "origin", "main")

    def call(self, command):
        ran = subprocess.run(command, cwd=self.folder, check=True, capture_output=True, text=True)
        return ran.stdout

    def git(self, *words):
        return self.call([*GIT, *words])

    def stands_in(self, name):
        """Put a program on the PATH that writes down what it was asked."""
        path = self.bin / name
        path.write_text(f'#!/bin/sh\nprintf "%s\\n" "{name} $*" >> "{self.asked}"\n')
        path.chmod(0o755)

    def run(self, script, **variables):
        environ = {
            **os.environ,
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "MAKE": f"make -o environment PYTHON={sys.executable}",
            "GITHUB_REPOSITORY": "ada/course",
            "GITHUB_REF_NAME": "main",
            **variables,
        }
        command = ["bash", f".ci/{script}"]
        done = subprocess.run(command, cwd=self.folder, env=environ, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def pushed(self):
        """Give the messages of the commits that the remote has, the last one first."""
        return self.git("-C", str(self.remote), "log", "--format=%s", "main").splitlines()

    def stamps(self):
        """Give the places that the badges lead to."""
        pages = [lesson.parse(path.read_text()) for path in self.folder.glob("notebooks/*.ipynb")]
        return {str(stamp) for page in pages for stamp in lesson.badge_stamps(page.cells[0].source)}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    Copy(folder).make()
    return folder


@pytest.fixture
def copy(made, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(made, folder)
    return Copy(folder)


def test_the_first_push_stamps_the_course_and_no_other_push_does(copy):
    code, said = copy.run("stamp")
    assert code == 0, said
    pushed = copy.pushed()
    assert pushed[0] == "Stamp the course: it lives in ada/course"
    assert copy.stamps() == {"ada/course at main"}
    assert "](https://ada.github.io/course/)" in (copy.folder / "README.md").read_text()
    assert copy.git("status", "--porcelain") == ""
    assert copy.run("stamp")[0] == 0
    assert copy.pushed() == pushed
    # the copy is a fork
    code, said = copy.run("stamp", GITHUB_REPOSITORY="bob/course")
    assert "::notice" in said
    assert copy.stamps() == {"ada/course at main"}
    assert copy.run("stamp", GITHUB_REPOSITORY="bob/course", ANEW="true")[0] == 0
    assert copy.stamps() == {"bob/course at main"}


def test_the_page_of_a_stamped_package_leads_to_the_repository(copy):
    assert copy.run("stamp")[0] == 0
    words = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    copy.call([sys.executable, *words, "--wheel-dir", "wheel", "."])
    (wheel,) = copy.folder.glob("wheel/*.whl")
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = archive.read(name).decode()
    assert "Project-URL: Homepage, https://ada.github.io/course/" in metadata
    assert "(https://github.com/ada/course/blob/main/CONTRIBUTING.md)" in metadata
    assert not re.search(r'\]\((?!https:)|src="(?!https:)', metadata)


def test_a_tag_makes_a_release_of_the_wheel_and_the_bundle(copy):
    copy.stands_in("gh")
    tag = f"v{ah.__version__}"
    assert copy.run("release", GITHUB_REF_NAME=tag)[0] == 1, "it would lead nowhere"
    assert copy.run("stamp")[0] == 0
    assert copy.run("release", GITHUB_REF_NAME="v0.0.1")[0] == 1, "not this version"
    assert not copy.asked.exists()
    copy.stands_in("make")  # what it makes has tests of its own
    code, said = copy.run("release", MAKE="make", GITHUB_REF_NAME=tag)
    assert code == 0, said
    make, gh = copy.asked.read_text().splitlines()
    assert make == "make bundle"
    assert gh.startswith(f"gh release create {tag} --verify-tag ")
    assert gh.endswith(f"{ah.__version__}-py3-none-any.whl dist/accelerator-course.zip")
    changes = (copy.folder / "dist" / "changes.md").read_text().strip()
    assert changes
    assert changes in (ROOT / "CHANGELOG.md").read_text()
    assert "\n## " not in f"\n{changes}"
