"""The oldest of the runtimes that Colab still offers: what had stopped there runs."""

import shutil

import lesson
import pytest
import replica

# Lesson 03 had stopped there as well, by what stops lesson 10 first.
HAD_STOPPED = ("08", "09", "10")


@pytest.mark.night
@pytest.mark.timeout(900)  # it makes the replica
@pytest.mark.parametrize("colab", [replica.PAST], indirect=True)
def test_lessons_run_on_the_oldest_keras_that_the_course_allows(colab, wheel, tmp_path):
    assert colab.packages()["keras"] == "3.8.0"
    assert '"keras>=3.8"' in (replica.ROOT / "pyproject.toml").read_text("utf-8")
    shutil.copy(wheel, tmp_path)
    for path in lesson.chosen([]):
        if path.name.startswith(HAD_STOPPED):
            assert colab.run(lesson.parse(lesson.read(path)), tmp_path) is None, path.stem
