"""`make stamp` writes one repository and one ref everywhere, and nothing that could do harm."""

import os
import subprocess
import tomllib

import form
import lesson
import pytest
import stamp
from example import NAME, example, save
from lesson import UNSTAMPED, Refused, Stamp, badge, checked

OTHER = "98_other.ipynb"
THEIRS = "https://colab.research.google.com/github/a/b/blob/main/notebooks/theirs.ipynb"
README = f"""# The course

{badge(UNSTAMPED, NAME)} and [theirs]({THEIRS})

[{stamp.PAGES}](docs/README.md)
"""
METADATA = """[project]
name = "it"

# Where this copy lives

[project.optional-dependencies]
"""
CITATION = "cff-version: 1.2.0\n"


def git(folder, *arguments):
    names = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", folder, *names, *arguments], check=True, capture_output=True)


@pytest.fixture
def course(tmp_path):
    """Make a course of two lessons and what stands beside them, in a git checkout of its own."""
    folder = tmp_path / "course"
    (folder / "notebooks").mkdir(parents=True)
    save(folder / "notebooks", example())
    save(folder / "notebooks", example(name=OTHER), OTHER)
    (folder / "README.md").write_text(README)
    (folder / "pyproject.toml").write_text(METADATA)
    (folder / "CITATION.cff").write_text(CITATION)
    git(folder, "init", "-q", "-b", "trunk")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "all")
    return folder


@pytest.fixture
def run(course, capsys):
    def run(*arguments):
        status = stamp.main(["--root", str(course), *arguments])
        out, err = capsys.readouterr()
        return status, out + err

    return run


def texts(course):
    paths = [*course.glob("notebooks/*"), *(course / name for name in stamp.FILES)]
    return {path.name: path.read_text() for path in paths}


OURS = "some-school/course"
REMOTES = {
    f"https://github.com/{OURS}/": OURS,
    f"https://token@github.com/{OURS}.git": OURS,
    f"git@github.com:{OURS}": OURS,
    f"ssh://git@ssh.github.com:443/{OURS}.git": OURS,
    f"git@github.com.evil.org:{OURS}.git": None,
    f"https://github.com.evil.org/{OURS}": None,
    f"https://evil.org/github.com/{OURS}": None,
    "https://github.com/course": None,
}


def test_the_repository_is_read_from_an_address_at_github_only():
    assert {url: stamp.repository_of(url) for url in REMOTES} == REMOTES


def test_the_default_is_the_remote_and_its_password_is_not_shown(course, run):
    before = texts(course)
    assert run()[0] == 2, "no remote"
    git(course, "remote", "add", "one", "https://me:secret@example.org/a/b.git")
    status, said = run()
    assert status == 2
    assert "example.org/a/b.git" in said
    assert "secret" not in said
    git(course, "remote", "add", "two", f"https://github.com/{OURS}")
    status, said = run()
    assert status == 2, "which of them?"
    assert "one, two" in said, "which of them?"
    assert texts(course) == before
    git(course, "remote", "add", "origin", f"git@github.com:{OURS}.git")
    assert run()[1].startswith(f"Wrote {OURS} at trunk into badges")
    with pytest.raises(Refused):  # it lies inside a checkout, and is none of its own
        stamp.default_stamp(course / "notebooks", None, "v1")


def test_the_ref_is_the_tag_here_else_the_branch(course):
    assert stamp.default_ref(course) == "trunk"
    git(course, "tag", "v0.9.0")
    git(course, "tag", "-a", "v0.10.0", "-m", "ten")
    assert stamp.default_ref(course) == "v0.10.0"
    git(course, "commit", "-q", "--allow-empty", "-m", "more")
    assert stamp.default_ref(course) == "trunk"
    git(course, "checkout", "-q", "--detach")
    with pytest.raises(Refused):
        stamp.default_ref(course)


def test_everything_gets_the_same_stamp_and_can_be_stamped_anew_and_unstamped(course, run):
    before = texts(course)
    for repository, ref in (("a" * 39 + "/B_c.d-e", "topic/2026_11-a"), ("a/my.course", "v2")):
        new = Stamp(repository, ref)
        assert "5 files changed" in run("--repo", repository, "--ref", ref)[1]
        for name in (NAME, OTHER):
            path = course / "notebooks" / name
            assert form.check(path.read_text(), path) == []
            assert path.read_text() == lesson.dump(example(new, name))
    readme = (course / "README.md").read_text()
    assert badge(new, NAME) in readme
    assert THEIRS in readme
    assert "](https://a.github.io/my.course/)" in readme
    metadata = tomllib.loads((course / "pyproject.toml").read_text())["project"]
    assert metadata["urls"]["Source"] == "https://github.com/a/my.course"
    assert metadata["urls"]["Changelog"].endswith("/blob/v2/CHANGELOG.md")
    citation = (course / "CITATION.cff").read_text()
    assert citation.count("repository-code: https://github.com/a/my.course\n") == 1
    assert "0 files changed" in run("--repo", repository, "--ref", ref)[1]
    assert run("--unstamp")[0] == 0
    assert texts(course) == before
    assert sorted(os.listdir(course / "notebooks")) == [NAME, OTHER], "nothing is left there"


def test_a_course_that_carries_a_stamp_is_left_as_it_is_where_that_is_asked_for(course, run):
    assert run("--once", "--repo", "a/first", "--ref", "main")[0] == 0
    stamped = texts(course)
    assert "a/first" in stamped[NAME]
    status, said = run("--once", "--repo", "b/fork", "--ref", "main")
    assert (status, "a/first at main" in said) == (0, True)
    assert texts(course) == stamped


def test_a_badge_without_a_stamp_opens_colabs_own_page():
    colab = "https://colab.research.google.com/github/"
    assert badge(UNSTAMPED, NAME).endswith(f"]({colab})")
    named = Stamp("ada/course", "main")
    assert badge(named, NAME).endswith(f"]({colab}ada/course/blob/main/notebooks/{NAME})")


def test_the_pages_of_a_repository_that_is_named_as_they_are():
    assert stamp.pages_of(Stamp("Ada/ada.github.io", "main")) == "https://ada.github.io/"
    assert stamp.pages_of(Stamp("Ada/Course", "main")) == "https://ada.github.io/Course/"


BAD_REPOSITORIES = [
    *("", "course", "a/b/c", "-a/b", "a-/b", "a--b/c", "a.b/c", "a" * 40 + "/b", "a/..", "a/b.git"),
    *('a/b"\nimport os\n"', "a/b\n", "a/$(b)", "ä/b", UNSTAMPED.repository),
]
BAD_REFS = [
    *("", "a b", 'v1"', "v1\n", "-v1", ".v1", "a..b", "a//b", "/a", "a/", "a.lock", "a/.b"),
    *("$(x)", "ü", "v" * 201),
]


def test_a_stamp_that_cannot_be_is_refused():
    for bad in [Stamp(x, "v1") for x in BAD_REPOSITORIES] + [Stamp("a/b", x) for x in BAD_REFS]:
        with pytest.raises(Refused):
            pytest.fail(f"{checked(bad)!r} was taken")


def test_what_cannot_be_done_is_refused_before_anything_is_written(course, run):
    (course / "notebooks" / OTHER).write_text("{")
    before = texts(course)
    assert run("--repo=a/b", "--ref=x;y")[0] == 2
    with pytest.raises(SystemExit):
        run("--unstamp", "--repo=a/b")
    status, said = run("--repo=a/b", "--ref=v1")
    assert status == 2
    assert OTHER in said
    assert texts(course) == before
