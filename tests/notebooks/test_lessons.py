"""What every lesson keeps beside its code.

What a lesson stores is compared by nbval; that its exercises grade is in tests/course/lessons.
"""

import base64

import pytest
from cells import NOTEBOOKS, PATHS, cells, prose, the_cell

WITH_TRUTHS = [number for number in PATHS if number not in ("00", "11")]
PICTURE = PATHS["00"].parents[1] / "docs/pictures/is-it-worth-it.png"
GPUS = dict.fromkeys(("01", "02", "03", "05", "07", "08"), "GPU")


@pytest.mark.parametrize("number", PATHS)
def test_a_lesson_shows_its_quiz_and_stubs_that_do_not_pass(number):
    assert the_cell(number, "lesson.quiz()").outputs
    for stub in cells(number, tag="exercise"):
        assert "Not yet." in str(stub.outputs)


@pytest.mark.parametrize("number", WITH_TRUTHS)
def test_beside_what_the_exams_material_answers_is_what_is_true_today_with_its_source(number):
    text = prose(number)
    _, *truths = text.split("<summary>What is true today")
    answers = text.count("<summary>What the exam's material answers")
    answers += text.count("<summary>The usual answer")
    assert len(truths) == answers > 0
    for truth in truths:
        assert "](https://" in truth.partition("</details>")[0]


def test_the_runtime_of_each_lesson_is_asked_for_in_colab():
    runtimes = GPUS | {"04": "TPU"}
    for number, notebook in NOTEBOOKS.items():
        assert notebook.metadata.get("accelerator") == runtimes.get(number)


def test_the_picture_of_the_readme_is_the_one_that_lesson_00_stores():
    (output,) = the_cell("00", 'lesson.plot("answer")').outputs
    stored = base64.b64decode(output.data["image/png"])
    assert PICTURE.read_bytes() == stored
