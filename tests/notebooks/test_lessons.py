"""What every lesson keeps, and what single sentences of their texts promise.

What a lesson stores is compared by nbval; that its exercises grade is in tests/course/lessons.
"""

import base64
import re

import pytest
from cells import PATHS, cells, notebook, prose, the_cell

from accel_helpers.course import exam, ledger

ROOT = PATHS["00"].parents[1]


@pytest.mark.parametrize("number", PATHS)
def test_a_lesson_shows_its_quiz_and_stubs_that_do_not_pass(number):
    assert the_cell(number, "lesson.quiz()").outputs
    for stub in cells(number, tag="exercise"):
        assert "Not yet." in str(stub.outputs)


@pytest.mark.parametrize("number", [n for n in PATHS if n not in ("00", "11")])
def test_beside_what_the_exams_material_answers_is_what_is_true_today_with_its_source(number):
    text = "".join(cell.source for cell in cells(number, "What is true today", kind="markdown"))
    _, *truths = text.split("<summary>What is true today")
    answers = re.findall(r"<summary>(?:What the exam's material answers|The usual answer)", text)
    assert truths
    assert len(answers) == len(truths)
    for truth in truths:
        assert "](https://" in truth.partition("</details>")[0]


def test_the_runtime_of_each_lesson_is_asked_for_in_colab():
    asked = {number: notebook(number).metadata.get("accelerator") for number in PATHS}
    gpus = dict.fromkeys(("01", "02", "03", "05", "07", "08"), "GPU")
    assert asked == dict.fromkeys(PATHS) | gpus | {"04": "TPU"}


def test_pages_say_that_no_accelerator_has_run_them():
    assert "no GPU or TPU yet" in (ROOT / "README.md").read_text("utf-8")
    assert "No GPU or TPU was used for this page" in prose("02")
    assert "No GPU has been" in PATHS["03"].read_text("utf-8")
    assert "We have not run this on a TPU ourselves" in PATHS["04"].read_text("utf-8")
    assert "Nothing here ran on a TPU" in PATHS["06"].read_text("utf-8")


def test_the_review_counts_its_questions_and_claims_as_they_are():
    shown = "".join(str(cell.outputs) for cell in cells("11", "ah.course.both_answers("))
    assert {f"E{n}" for n in range(1, 15)} <= {*re.findall(r"\bE\d+", shown)}
    assert (exam.PASS, exam.COUNT, len(ledger.claims())) == (14, 20, 19)
    assert {"fourteen", "twenty", "nineteen"} <= {*re.findall(r"\w+", prose("11").lower())}


def test_the_picture_of_the_readme_is_the_one_that_lesson_00_stores():
    stored = the_cell("00", 'lesson.plot("answer")').outputs[0].data["image/png"]
    picture = ROOT / "docs" / "pictures" / "is-it-worth-it.png"
    assert picture.read_bytes() == base64.b64decode(stored)
