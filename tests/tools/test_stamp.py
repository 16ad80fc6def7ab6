"""`make stamp` writes one repository and one ref everywhere, and nothing that could do harm.

What publishing does with it is in tests/test_publishing.py.
"""

import shutil
import tomllib

import lesson
import pytest
import stamp


@pytest.fixture
def course(tmp_path):
    shutil.copytree(lesson.LESSONS, tmp_path / "notebooks")
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(lesson.ROOT / name, tmp_path)
    stamp.main(["--unstamp"], tmp_path)
    return tmp_path


def texts(course):
    return {path: path.read_text("utf-8") for path in course.rglob("*.*") if path.is_file()}


def test_everything_gets_the_same_stamp_and_can_be_stamped_anew_and_unstamped(course):
    before = texts(course)
    for repository, ref in (("Some-School/B_c.d-e", "topic/2026_11-a"), ("Ada/my.course", "v2")):
        stamp.main(["--repo", repository, "--ref", ref], course)
    new, readme = lesson.Stamp(repository, ref), lesson.read(course / "README.md")
    for path in course.glob("notebooks/*.ipynb"):
        title, setup, *_ = lesson.parse(lesson.read(path)).cells
        assert lesson.badge(new, path.name) in title.source
        assert lesson.badge(new, path.name) in readme
        assert '"git+https://github.com/Ada/my.course@v2"' in setup.source
        assert f'lesson("{path.name[:2]}")' in setup.source
    assert "](https://ada.github.io/my.course/)" in readme
    urls = tomllib.loads(lesson.read(course / "pyproject.toml"))["project"]["urls"]
    assert urls["Source"] == "https://github.com/Ada/my.course"
    stamp.main(["--unstamp"], course)
    assert texts(course) == before


@pytest.mark.parametrize("repository", ["course", "a/$(b)", 'a/b";', "a/b c", ""])
def test_what_could_do_harm_is_written_nowhere(course, repository):
    before = texts(course)
    with pytest.raises(SystemExit):
        stamp.main(["--repo", repository, "--ref", "v1"], course)
    assert texts(course) == before
