"""`make stamp` writes one repository and one ref everywhere, and nothing that could do harm.

What publishing does with it is in tests/test_publishing.py.
"""

import shutil
import tomllib

import lesson
import pytest
import stamp


def texts(course):
    return {path: path.read_bytes() for path in course.rglob("*.*") if path.is_file()}


def test_everything_is_stamped_and_can_be_stamped_anew_and_unstamped(tmp_path):
    shutil.copytree(lesson.LESSONS, tmp_path / "notebooks")
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(lesson.ROOT / name, tmp_path)
    stamp.main(["--unstamp"], tmp_path)
    before = texts(tmp_path)
    for repository in ("course", 'a/b";', ""):
        with pytest.raises(SystemExit):
            stamp.main(["--repo", repository, "--ref", "v1"], tmp_path)
    assert texts(tmp_path) == before
    for repository, ref in (("Some-School/B_c.d-e", "topic/2026_11-a"), ("Ada/my.course", "v2")):
        stamp.main(["--repo", repository, "--ref", ref], tmp_path)
    readme = lesson.read(tmp_path / "README.md")
    for path in tmp_path.glob("notebooks/*.ipynb"):
        title, setup, *_ = lesson.parse(lesson.read(path)).cells
        badge = lesson.badge(lesson.Stamp(repository, ref), path.name)
        assert badge in title.source
        assert badge in readme
        assert '"git+https://github.com/Ada/my.course@v2"' in setup.source
        assert f'lesson("{path.name[:2]}")' in setup.source
    urls = tomllib.loads(lesson.read(tmp_path / "pyproject.toml"))["project"]["urls"]
    assert urls["Source"] == "https://github.com/Ada/my.course"
    stamp.main(["--unstamp"], tmp_path)
    assert texts(tmp_path) == before
