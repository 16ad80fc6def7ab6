"""`make stamp` writes one repository and one ref everywhere, and nothing that could do harm."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import form
import lesson
import pytest
import stamp
from example import NAME, example, save
from lesson import UNSTAMPED, Refused, Stamp, checked, link, setup_source

HERE = Path(__file__).resolve().parents[2] / "tools"
OTHER = "98_other.ipynb"
THEIRS = "https://colab.research.google.com/github/a/b/blob/main/notebooks/theirs.ipynb"
README = f"""# The course

[![Open In Colab]({lesson.PICTURE})]({link(UNSTAMPED, NAME)}) and [theirs]({THEIRS})

    git clone https://github.com/{UNSTAMPED.repository}.git
    git clone --depth 1 https://github.com/{UNSTAMPED.repository} course
    pip install git+https://github.com/{UNSTAMPED.repository}@{UNSTAMPED.ref}
    git clone https://github.com/{UNSTAMPED.repository}-tools
    pip install git+https://github.com/somebody/else@main
"""


def git(folder, *arguments):
    names = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", folder, *names, *arguments], check=True, capture_output=True)


@pytest.fixture
def course(tmp_path):
    """Make a course of two lessons and a README, in a git checkout of its own."""
    folder = tmp_path / "course"
    (folder / "notebooks").mkdir(parents=True)
    save(folder / "notebooks", example())
    save(folder / "notebooks", example(name=OTHER), OTHER)
    (folder / "README.md").write_text(README)
    git(folder, "init", "-q", "-b", "trunk")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "all")
    return folder


def run(course, *arguments):
    """Run the command's own function; give what a shell would see."""
    said, complained = io.StringIO(), io.StringIO()
    with redirect_stdout(said), redirect_stderr(complained):
        try:
            status = stamp.main(["--root", str(course), *arguments])
        except SystemExit as left:
            status = left.code
    return subprocess.CompletedProcess(arguments, status, said.getvalue(), complained.getvalue())


def texts(course):
    return {p.name: p.read_text() for p in [*course.glob("notebooks/*"), course / "README.md"]}


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/some-school/course",
        "https://github.com/some-school/course.git",
        "https://github.com/some-school/course/",
        "https://token@github.com/some-school/course.git",
        "git@github.com:some-school/course.git",
        "github.com:some-school/course",
        "ssh://git@github.com/some-school/course.git",
        "ssh://git@ssh.github.com:443/some-school/course.git",
    ],
)
def test_the_repository_is_read_from_the_remote(course, url):
    git(course, "remote", "add", "origin", url)
    assert stamp.default_repository(course) == "some-school/course"


@pytest.mark.parametrize(
    "url",
    [
        "https://gitlab.com/some-school/course.git",
        "git@github.com.evil.org:some-school/course.git",
        "https://github.com.evil.org/some-school/course",
        "https://evil.org/github.com/some-school/course",
        "https://github.com/course",
        "../course.git",
    ],
)
def test_another_remote_is_named_and_refused(course, url):
    git(course, "remote", "add", "origin", url)
    before = texts(course)
    done = run(course)
    assert (done.returncode, done.stdout) == (2, "")
    assert url in done.stderr and "Pass --repo owner/name" in done.stderr
    assert texts(course) == before


def test_a_password_in_a_remote_is_not_shown(course):
    git(course, "remote", "add", "origin", "https://me:secret@example.org/a/b.git")
    done = run(course)
    assert done.returncode == 2
    assert "example.org/a/b.git" in done.stderr and "secret" not in done.stderr


def test_no_remote_or_several_is_said(course):
    assert "there is no git remote. Pass --repo" in run(course).stderr
    git(course, "remote", "add", "one", "https://github.com/a/one.git")
    assert stamp.default_repository(course) == "a/one"
    git(course, "remote", "add", "two", "https://github.com/a/two.git")
    assert "the remotes are one, two. Pass --repo" in run(course).stderr
    git(course, "remote", "add", "origin", "https://github.com/a/three.git")
    assert stamp.default_repository(course) == "a/three"


def test_the_ref_is_the_tag_here_else_the_branch(course):
    assert stamp.default_ref(course) == "trunk"
    git(course, "tag", "v0.9.0")
    git(course, "tag", "-a", "v0.10.0", "-m", "ten")
    assert stamp.default_ref(course) == "v0.10.0"
    git(course, "commit", "-q", "--allow-empty", "-m", "more")
    assert stamp.default_ref(course) == "trunk"
    git(course, "checkout", "-q", "--detach")
    with pytest.raises(Refused, match="Pass --ref"):
        stamp.default_ref(course)


def test_a_folder_inside_somebody_elses_checkout_is_none_of_its_own(course):
    git(course, "remote", "add", "origin", "https://github.com/some-school/course")
    with pytest.raises(Refused, match="pass --repo owner/name and --ref"):
        stamp.default_repository(course / "notebooks")


def test_everything_gets_the_same_stamp(course):
    done = run(course, "--repo", "some-school/my.course", "--ref", "v1.0")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "Wrote some-school/my.course at v1.0 into 2 lessons and README.md: 3 files changed.\n"
    )
    new = Stamp("some-school/my.course", "v1.0")
    for name in (NAME, OTHER):
        path = course / "notebooks" / name
        nb = lesson.parse(path.read_text())
        assert nb.cells[0].source.startswith(lesson.badge(new, name))
        assert nb.cells[1].source == setup_source(new)
        assert form.check(path.read_text(), path) == []
    readme = (course / "README.md").read_text()
    assert link(new, NAME) in readme and THEIRS in readme
    assert "git clone https://github.com/some-school/my.course.git\n" in readme
    assert "git clone --depth 1 https://github.com/some-school/my.course course\n" in readme
    assert "pip install git+https://github.com/some-school/my.course@v1.0\n" in readme
    assert f"git clone https://github.com/{UNSTAMPED.repository}-tools\n" in readme
    assert "pip install git+https://github.com/somebody/else@main\n" in readme


def test_stamping_again_changes_nothing(course):
    run(course, "--repo", "a/b", "--ref", "main")
    before = texts(course)
    assert "0 files changed" in run(course, "--repo", "a/b", "--ref", "main").stdout
    assert texts(course) == before


def test_a_stamped_copy_can_be_stamped_anew_and_unstamped(course):
    before = texts(course)
    for repository, ref in (("a/b", "v1"), ("c/d.e", "topic/one"), ("a/b", "v2")):
        assert run(course, "--repo", repository, "--ref", ref).returncode == 0
        assert all(f"{repository}/blob/{ref}/" in text for text in texts(course).values())
    assert "the placeholder" in run(course, "--unstamp").stdout
    assert texts(course) == before


def test_the_defaults_are_written(course):
    git(course, "remote", "add", "origin", "git@github.com:some-school/course.git")
    done = run(course)
    assert done.stdout.startswith("Wrote some-school/course at trunk into 2 lessons")


@pytest.mark.parametrize(
    "repository",
    [
        "",
        "course",
        "a/b/c",
        "-a/b",
        "a-/b",
        "a--b/c",
        "a.b/c",
        "a" * 40 + "/b",
        "a/..",
        "a/b.git",
        "a/b c",
        'a/b"',
        "a/b'",
        'a/b"\nimport os\n"',
        "a/b\n",
        "a/{b}",
        "a/b#c",
        "a/b)",
        "ä/b",
        "a/$(b)",
        UNSTAMPED.repository,
    ],
)
def test_a_repository_that_cannot_be_is_refused(repository):
    with pytest.raises(Refused, match="give owner/name"):
        checked(Stamp(repository, "v1"))


@pytest.mark.parametrize(
    "ref",
    ["", " ", "a b", 'v1"', "v1'", "v1\n", "-v1", ".v1", "a..b", "a//b", "/a", "a/", "a.lock"]
    + ["v1)", "v1#x", "v1\\", "v1;", "$(x)", "{x}", "a/.b", "ü", "v" * 201, "v1?x"],
)
def test_a_ref_that_cannot_be_is_refused(ref):
    with pytest.raises(Refused, match="cannot be used: give a tag"):
        checked(Stamp("a/b", ref))


@pytest.mark.parametrize("ref", ["main", "v1.0", "topic/one", "0a1b2c3d", "2026_11", "a-b"])
def test_an_ordinary_ref_is_taken(ref):
    assert checked(Stamp("a" * 39 + "/B_c.d-e", ref)).ref == ref


@pytest.mark.parametrize("arguments", [("--repo=a/b", "--ref=x;y"), ("--repo=-a/b", "--ref=v1")])
def test_a_bad_stamp_is_refused_by_the_command(course, arguments):
    before = texts(course)
    done = run(course, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be" in done.stderr
    assert texts(course) == before


def test_it_runs_as_a_command(course):
    command = [sys.executable, HERE / "stamp.py", "--root", course, "--repo=a/b", "--ref=v1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Wrote a/b at v1 into 2 lessons")


def test_a_broken_lesson_stops_it_before_anything_is_written(course):
    (course / "notebooks" / OTHER).write_text("{")
    before = texts(course)
    done = run(course, "--repo", "a/b", "--ref", "v1")
    assert done.returncode == 2 and OTHER in done.stderr
    assert texts(course) == before


def test_unstamp_takes_no_stamp(course):
    assert run(course, "--unstamp", "--repo", "a/b").returncode == 2


def test_only_the_two_constants_of_a_setup_cell_change():
    old, new = setup_source(UNSTAMPED).splitlines(), setup_source(Stamp("a/b", "v1")).splitlines()
    changed = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    assert [b for _, b in changed] == ['REPOSITORY = "a/b"', 'REF = "v1"']


def test_nothing_is_left_beside_the_files(course):
    run(course, "--repo", "a/b", "--ref", "main")
    assert sorted(os.listdir(course / "notebooks")) == [OTHER, NAME]
