"""The oldest of the runtimes that Colab still offers: what had stopped there runs."""

import shutil

import nbformat
import pytest
import replica

# Lesson 03 had stopped there as well, by what stops lesson 10 first.
HAD_STOPPED = ("08_graphs_and_compilers", "09_many_devices", "10_build_and_refine")


@pytest.mark.night
@pytest.mark.timeout(900)  # the first one makes the replica
@pytest.mark.parametrize("name", HAD_STOPPED)
def test_a_lesson_runs_on_the_oldest_keras_that_the_course_allows(
    past_colab, name, wheel, tmp_path
):
    allowed = (replica.ROOT / "pyproject.toml").read_text("utf-8")
    assert past_colab.packages()["keras"] == "3.8.0"
    assert '"keras>=3.8"' in allowed
    folder = tmp_path / "content"
    folder.mkdir()
    path = replica.ROOT / "notebooks" / f"{name}.ipynb"
    for file in (path, wheel):
        shutil.copy(file, folder)
    problem = past_colab.run(nbformat.read(path, as_version=4), folder)
    assert problem is None, problem
