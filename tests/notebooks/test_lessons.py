"""What every lesson keeps beside its code.

What a lesson stores is compared by nbval; that its exercises grade is in tests/course/lessons.
"""

import base64

import pytest
from cells import NOTEBOOKS, PATHS, cells, prose, the_cell

ROOT = PATHS["00"].parents[1]


@pytest.mark.parametrize("number", PATHS)
def test_a_lesson_shows_its_quiz_and_stubs_that_do_not_pass(number):
    assert the_cell(number, "lesson.quiz()").outputs
    for stub in cells(number, tag="exercise"):
        assert "Not yet." in str(stub.outputs)


@pytest.mark.parametrize("number", [n for n in PATHS if n not in ("00", "11")])
def test_beside_what_the_exams_material_answers_is_what_is_true_today_with_its_source(number):
    text = prose(number)
    _, *truths = text.split("<summary>What is true today")
    answers = text.count("<summary>What the exam's material answers")
    answers += text.count("<summary>The usual answer")
    assert len(truths) == answers > 0
    for truth in truths:
        assert "](https://" in truth.partition("</details>")[0]


def test_the_runtime_of_each_lesson_is_asked_for_in_colab():
    asked = {number: NOTEBOOKS[number].metadata.get("accelerator") for number in PATHS}
    gpus = dict.fromkeys(("01", "02", "03", "05", "07", "08"), "GPU")
    assert asked == dict.fromkeys(PATHS) | gpus | {"04": "TPU"}


def test_the_picture_of_the_readme_is_the_one_that_lesson_00_stores():
    stored = the_cell("00", 'lesson.plot("answer")').outputs[0].data["image/png"]
    picture = ROOT / "docs" / "pictures" / "is-it-worth-it.png"
    assert picture.read_bytes() == base64.b64decode(stored)
