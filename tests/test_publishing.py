"""What GitHub is asked to do: its files are valid, and each step of a workflow does what it says.

What only GitHub has is stood in for: a bare repository is the remote, and `gh` and `docker` are
programs that write down what they were asked.
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
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
FORMS = sorted(ROOT.glob(".github/ISSUE_TEMPLATE/[!c]*.yml"))
SCHEMAS = {
    "github-workflows": WORKFLOWS,
    "github-issue-forms": FORMS,
    "github-issue-config": [ROOT / ".github/ISSUE_TEMPLATE/config.yml"],
    "dependabot": [ROOT / ".github/dependabot.yml"],
}
# What publishing reads and writes.
PARTS = ("notebooks", "tools", "accel_helpers", ".ci")
FILES = ("README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile")
FILES += ("pyproject.toml", "setup.py")


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_files_for_github_are_what_github_reads(schema):
    paths = SCHEMAS[schema]
    assert paths
    words = ["-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, paths)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_every_step_of_a_workflow_is_a_target_or_a_script_that_is_here():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    flows = [yaml.safe_load(path.read_text()) for path in WORKFLOWS]
    jobs = [job for flow in flows for job in flow["jobs"].values()]
    steps = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    steps = [step for step in steps if not step.startswith("sudo rm")]  # room on their disk
    assert len(steps) >= 8
    for step in steps:
        target = re.match(r"make ([\w-]+)", step)
        script = re.match(r"(?:ba)?sh (\.ci/\S+)", step)
        assert target or script, step
        if target:
            assert target[1] in targets, step
        else:
            assert (ROOT / script[1]).is_file(), step


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
        words = [sys.executable, "tools/stamp.py", "--unstamp"]
        subprocess.run(words, cwd=self.folder, check=True, capture_output=True)
        self.git("init", "-q", "-b", "main")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "all")
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", self.remote], check=True)
        self.git("remote", "add", "origin", "../bare")
        self.git("push", "-q", "origin", "main")

    def git(self, *words):
        owner = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=0"]
        command = ["git", "-C", str(self.folder), *owner, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def stands_in(self, name, says=""):
        """Put a program on the PATH that writes down what it was asked, then runs `says`."""
        path = self.bin / name
        path.write_text(f'#!/bin/sh\nprintf "%s\\n" "{name} $*" >> "{self.asked}"\n{says}\n')
        path.chmod(0o755)

    def run(self, script, *words, **variables):
        environ = {
            **os.environ,
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "MAKE": f"make -o environment PYTHON={sys.executable}",
            "GITHUB_REPOSITORY": "ada/course",
            "GITHUB_REF_NAME": "main",
            "GITHUB_OUTPUT": str(self.folder.parent / "output"),
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_RUN_ID": "7",
            **variables,
        }
        command = ["bash", f".ci/{script}", *words]
        done = subprocess.run(command, cwd=self.folder, env=environ, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def pushed(self):
        """Give the messages of the commits that the remote has, the last one first."""
        words = ["git", "-C", str(self.remote), "log", "--format=%s", "main"]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.split("\n")


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


def stamps(folder):
    titles = [lesson.parse(path.read_text()).cells[0] for path in folder.glob("notebooks/*.ipynb")]
    return {str(stamp) for cell in titles for stamp in lesson.badge_stamps(cell.source)}


def test_the_first_push_stamps_the_course_and_no_other_push_does(copy):
    code, said = copy.run("stamp")
    assert code == 0, said
    assert copy.pushed()[0] == "Stamp the course: it lives in ada/course"
    assert stamps(copy.folder) == {"ada/course at main"}
    assert "](https://ada.github.io/course/)" in (copy.folder / "README.md").read_text()
    assert copy.git("status", "--porcelain") == ""
    before = copy.pushed()
    code, said = copy.run("stamp")
    assert (code, "::notice" in said) == (0, False)
    assert copy.pushed() == before
    code, said = copy.run("stamp", GITHUB_REPOSITORY="bob/course")  # the copy is a fork
    assert code == 0, said
    assert copy.pushed() == before
    assert stamps(copy.folder) == {"ada/course at main"}
    assert "::notice" in said
    code, said = copy.run("stamp", GITHUB_REPOSITORY="bob/course", ANEW="true")
    assert code == 0, said
    assert "::notice" not in said
    assert stamps(copy.folder) == {"bob/course at main"}


def test_the_page_of_a_stamped_package_leads_to_the_repository(copy):
    assert copy.run("stamp")[0] == 0
    out = copy.folder.parent / "wheel"
    words = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    command = [sys.executable, *words, "--wheel-dir", out, copy.folder]
    subprocess.run(command, check=True)
    (wheel,) = out.glob("*.whl")
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = archive.read(name).decode()
    assert "Project-URL: Homepage, https://ada.github.io/course/" in metadata
    assert "(https://github.com/ada/course/blob/main/CONTRIBUTING.md)" in metadata
    assert '"https://github.com/ada/course/blob/main/docs/pictures/lesson.png?raw=true"' in metadata
    assert not re.search(r'\]\((?!https:)|src="(?!https:)', metadata)


def test_a_stamp_that_cannot_be_pushed_says_what_to_do(copy):
    refusing = copy.remote / "hooks" / "pre-receive"
    refusing.write_text("#!/bin/sh\necho protected >&2\nexit 1\n")
    refusing.chmod(0o755)
    code, said = copy.run("stamp")
    assert code == 1
    assert "make stamp" in said


@pytest.mark.parametrize("found, pages", [(0, "on"), (1, "off")])
def test_pages_are_shown_where_the_owner_has_switched_them_on(copy, found, pages):
    copy.stands_in("gh", f"exit {found}")
    code, said = copy.run("pages")
    assert code == 0
    assert (copy.folder.parent / "output").read_text() == f"pages={pages}\n"
    assert copy.asked.read_text() == "gh api repos/ada/course/pages\n"
    assert ("Settings, Pages" in said) == (pages == "off")


def test_a_tag_makes_a_release_of_the_wheel_and_the_bundle(copy):
    assert copy.run("stamp")[0] == 0
    copy.stands_in("gh")
    copy.stands_in("make")  # what it makes has tests of its own
    tag = f"v{ah.__version__}"
    code, said = copy.run("release", MAKE="make", GITHUB_REF_NAME=tag)
    assert code == 0, said
    make, gh = copy.asked.read_text().splitlines()
    assert make == "make bundle"
    assert gh.startswith(f"gh release create {tag} --verify-tag ")
    assert gh.endswith(
        f"accel_helpers-{ah.__version__}-py3-none-any.whl dist/accelerator-course.zip"
    )
    changes = (copy.folder / "dist" / "changes.md").read_text().strip()
    assert changes
    assert changes in (ROOT / "CHANGELOG.md").read_text()
    assert "## " not in changes


def test_a_release_that_would_lead_nowhere_is_not_made(copy):
    copy.stands_in("gh")
    code, said = copy.run("release", GITHUB_REF_NAME=f"v{ah.__version__}")
    assert (code, "carries no stamp" in said) == (1, True)
    assert copy.run("stamp")[0] == 0
    code, said = copy.run("release", GITHUB_REF_NAME="v0.0.1")
    assert (code, "The tag is v0.0.1" in said) == (1, True)
    assert not copy.asked.exists()


def test_a_run_in_colabs_image_that_fails_opens_an_issue_once(copy):
    copy.stands_in("docker", "echo it broke; exit 3")
    code, said = copy.run("colab", "lessons.txt")
    assert code == 3
    assert (copy.folder / "lessons.txt").read_text() == "it broke\n"
    assert "--entrypoint bash" in copy.asked.read_text()
    copy.stands_in("gh")
    assert copy.run("open-issue", "A title", "lessons.txt")[0] == 0
    assert "gh issue create --title A title" in copy.asked.read_text()
    body = (copy.folder / "body.md").read_text()
    assert "https://github.com/ada/course/actions/runs/7" in body
    assert "it broke" in body
    copy.asked.unlink()
    copy.stands_in("gh", 'if [ "$2" = list ]; then echo "A title"; fi')
    assert copy.run("open-issue", "A title", "lessons.txt")[0] == 0
    assert "create" not in copy.asked.read_text()
