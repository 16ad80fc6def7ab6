"""What every lesson keeps, and what single sentences of their texts promise.

What a lesson stores is compared by nbval; that its exercises grade is in tests/lessons.
"""

import base64
import re

import pytest
from cells import PATHS, cells, notebook, prose, the_cell

from accel_helpers.course import exam, ledger


@pytest.mark.parametrize("number", PATHS)
def test_every_lesson_ends_with_its_quiz_and_installs_nothing(number):
    shown = ("lesson.quiz()", f'ah.course.show_quiz("{number}")')
    (quiz,) = [cell for cell in cells(number) if cell.source in shown]
    assert quiz.outputs
    assert "quiz" in notebook(number).cells[0].source
    for cell in cells(number)[1:]:  # behind the setup cell
        assert not re.search(r'^\s*[!%]\s*(pip|conda|apt)|"pip"|-m pip', cell.source, re.M)


@pytest.mark.parametrize("number", [n for n in PATHS if n not in ("00", "11")])
def test_an_answer_to_the_exam_is_folded_and_beside_it_is_what_is_true_today(number):
    text = "".join(cell.source for cell in cells(number, "What is true today", kind="markdown"))
    usual = "<summary>The usual answer (the material's text was not found)</summary>"
    material = "<summary>What the exam's material answers</summary>"
    assert text.count(usual if number == "10" else material) == (4 if number == "10" else 1)
    for today in text.split("<summary>What is true today</summary>")[1:]:
        assert "](https://" in today.split("</details>")[0]


@pytest.mark.parametrize("number", [n for n in PATHS if n > "05"])
def test_labels_to_train_on_are_no_int64_of_which_jax_warns(number):
    for cell in cells(number):
        if re.search(r"randint|load_digits(?s:.*)\.fit\(", cell.source):
            assert "int32" in cell.source


def test_the_runtime_of_each_lesson_is_asked_for_in_colab():
    asked = {n: notebook(n).metadata.get("accelerator") for n in PATHS}
    gpus = dict.fromkeys(("01", "02", "03", "05", "07", "08"), "GPU")
    assert asked == dict.fromkeys(PATHS) | gpus | {"04": "TPU"}
    chips = {"GPU": "T4", "TPU": "V5E1", None: None}
    for number, kind in asked.items():
        assert notebook(number).metadata["colab"].get("gpuType") == chips[kind]


def test_pages_say_that_no_accelerator_has_run_them():
    readme = (PATHS["03"].parents[1] / "README.md").read_text("utf-8")
    assert "no GPU or TPU yet" in readme
    assert "No GPU or TPU was used for this page" in prose("02")
    assert "No GPU has been" in PATHS["03"].read_text("utf-8")
    assert "We have not run this on a TPU ourselves" in PATHS["04"].read_text("utf-8")
    assert "Nothing here ran on a TPU" in PATHS["06"].read_text("utf-8")


def test_the_review_is_of_all_questions_and_the_paper_of_this_exam():
    reviews = [cell for cell in cells("11") if cell.source.startswith("ah.course.both_answers(")]
    shown = "\n".join(cell.outputs[0].data["text/plain"] for cell in reviews)
    assert {*re.findall(r"^E\d+", shown, re.M)} == {f"E{n}" for n in range(1, 15)}
    assert "fourteen" in prose("11").lower()
    assert exam.PASS == 14
    assert "twenty" in prose("11").lower()
    assert exam.COUNT == 20
    assert "nineteen" in prose("11")
    assert len(ledger.claims()) == 19


def test_the_picture_of_the_readme_is_the_one_that_lesson_00_stores():
    stored = the_cell("00", 'lesson.plot("answer")').outputs[0].data["image/png"]
    picture = PATHS["00"].parents[1] / "docs" / "pictures" / "is-it-worth-it.png"
    assert picture.read_bytes() == base64.b64decode(stored)
