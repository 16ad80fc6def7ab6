"""Quizzes with Colab's packages: its ipywidgets is 7.7.1, a generation older than the one here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import replica

from accel_helpers.learn import exam, grading, questions, quiz

SCRIPT = Path(__file__).resolve().parent / "answer_quizzes.py"
OLD = "7.7.1"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]  # the first one makes the replica


def run(python, mode, folder, environment):
    """Run the script of `answer_quizzes.py` with this working tree's library."""
    done = subprocess.run(
        [str(python), str(SCRIPT), mode],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(replica.ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert not done.stderr.strip(), "a notebook would show this in red"
    return json.loads(done.stdout)


def here(mode, folder):
    dropped = ("ACCEL_PROGRESS", "ACCEL_RESULT_CARD")
    clean = {k: v for k, v in os.environ.items() if k not in dropped}
    return run(sys.executable, mode, folder, clean)


def there(colab, mode):
    return run(colab.python, mode, colab.environment["HOME"], colab.environment)


def test_the_form_of_colabs_generation_says_the_same_byte_for_byte(colab, tmp_path):
    new, old = here("live", tmp_path), there(colab, "live")
    assert old.pop("ipywidgets") == OLD
    assert new.pop("ipywidgets") >= "8"
    assert old == new


def test_every_question_is_answered_through_its_widgets(colab):
    out = there(colab, "live")
    bank = questions.bank()
    assert {bank[name].kind for name in out["answered"]} == set(questions.KINDS)
    assert set(out["answered"]) == set(bank), "every question, and no other"
    for name, (empty, wrong, right) in out["answered"].items():
        question = bank[name]
        assert "no answer yet" in empty.lower()
        if question.kind == "measured":
            assert "Not measured yet." in wrong and "Your guess is kept." in right
            continue
        assert "✓" not in wrong.partition("<details>")[0]
        solved = grading.grade(question, solution(question))._repr_html_()
        assert right == f'<div role="status">{solved}</div>'
    assert "✓ Passed: 14 of 20" in out["exam"]
    kept = json.loads((Path(colab.environment["HOME"]) / "course_progress.json").read_text("utf-8"))
    assert set(kept["answers"]) == set(bank)
    assert [sat["today"] for sat in kept["exams"]] == [exam.COUNT]


def test_without_widgets_the_quiz_is_printed_and_answered_by_a_call(colab, tmp_path):
    new, old = here("hidden", tmp_path), there(colab, "hidden")
    assert old == new
    for lesson, bundle in old["shown"].items():
        shown = quiz.show(lesson)
        assert bundle == {"text/plain": str(shown), "text/html": shown._repr_html_()}
    assert set(old["paper"]) == {"text/plain", "text/html"}
    for name, (_, right) in old["answered"].items():
        began = "Not measured yet." if questions.bank()[name].kind == "measured" else "Right"
        assert right.startswith(began)
    assert "Passed" in old["exam"]


def solution(question):
    if question.kind == "number":
        return next(option.value for option in question.options if option.correct)
    return question.steps() if question.kind == "order" else question.letters()
