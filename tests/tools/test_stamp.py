"""`make stamp` writes one repository and one ref everywhere, and nothing that could do harm."""

import subprocess
import tomllib

import lesson
import pytest
import stamp
from example import NAME, example, save
from lesson import UNSTAMPED, Stamp, badge

OTHER = "98_other.ipynb"
THEIRS = "https://colab.research.google.com/github/a/b/blob/main/notebooks/theirs.ipynb"
BESIDE = {
    "README.md": f"{badge(UNSTAMPED, NAME)} and [theirs]({THEIRS})\n"
    f"[{stamp.PAGES}](docs/README.md)\n",
    "pyproject.toml": '[project]\nname = "it"\n\n# Where this copy lives\n\n[project.scripts]\n',
    "CITATION.cff": "cff-version: 1.2.0\n",
}
OURS = [
    "https://github.com/some-school/course/",
    "https://token@github.com/some-school/course.git",
    "git@github.com:some-school/course.git",
]


@pytest.fixture
def course(tmp_path):
    """Make a course of two lessons and what stands beside them."""
    folder = tmp_path / "course"
    (folder / "notebooks").mkdir(parents=True)
    save(folder / "notebooks", example())
    save(folder / "notebooks", example(name=OTHER), OTHER)
    for name, text in BESIDE.items():
        (folder / name).write_text(text)
    return folder


def texts(course):
    paths = [*course.glob("notebooks/*"), *map(course.joinpath, BESIDE)]
    return {path.name: path.read_text() for path in paths}


def run(course, repository, ref, *more):
    return stamp.main(["--repo", repository, "--ref", ref, *more], course)


def test_everything_gets_the_same_stamp_and_can_be_stamped_anew_and_unstamped(course):
    before = texts(course)
    for repository, ref in (("Some-School/B_c.d-e", "topic/2026_11-a"), ("Ada/my.course", "v2")):
        assert run(course, repository, ref) == 0
    now, new = texts(course), Stamp(repository, ref)
    for name in (NAME, OTHER):
        assert now[name] == lesson.dump(example(new, name))
    assert badge(new, NAME) in now["README.md"]
    assert THEIRS in now["README.md"]
    assert "](https://ada.github.io/my.course/)" in now["README.md"]
    urls = tomllib.loads(now["pyproject.toml"])["project"]["urls"]
    assert urls["Source"] == "https://github.com/Ada/my.course"
    assert urls["Changelog"].endswith("/blob/v2/CHANGELOG.md")
    line = "repository-code: https://github.com/Ada/my.course\n"
    assert now["CITATION.cff"] == BESIDE["CITATION.cff"] + line
    assert stamp.main(["--unstamp"], course) == 0
    assert texts(course) == before


def test_a_course_that_carries_a_stamp_is_left_as_it_is_where_that_is_asked_for(course):
    assert run(course, "a/first", "main", "--once") == 0
    stamped = texts(course)
    assert "a/first" in stamped[NAME]
    assert run(course, "b/fork", "main", "--once") == 0
    assert texts(course) == stamped


def test_what_was_left_out_is_that_of_the_remote_at_github_and_the_branch(course):
    subprocess.run(["git", "init", "-q", "-b", "trunk", course], check=True)
    assert stamp.main([], course) == 2
    for address in OURS:
        stamp.git(course, "config", "remote.origin.url", address)
        assert stamp.asked_for(course, None, None) == Stamp("some-school/course", "trunk")
    stamp.git(course, "config", "remote.origin.url", "https://evil.org/github.com/a/b")
    assert stamp.main([], course) == 2


def test_the_pages_of_a_repository_that_is_named_as_they_are():
    assert stamp.pages_of(Stamp("Ada/ada.github.io", "main")) == "https://ada.github.io/"


def test_nothing_is_written_where_not_all_can_be(course):
    before = texts(course)
    refused = ["--repo=course --ref=v1", "--repo=a/$(b) --ref=v1", '--repo=a/b"; --ref=v1']
    refused += ["--repo=a/.. --ref=v1", "--repo=a/b --ref=$(x)", "--repo=a/b --ref=a..b"]
    for words in refused:
        assert stamp.main(words.split(), course) == 2
    assert texts(course) == before
    (course / "notebooks" / OTHER).write_text("{")
    assert run(course, "a/b", "v1") == 2
    assert texts(course) == {**before, OTHER: "{"}
