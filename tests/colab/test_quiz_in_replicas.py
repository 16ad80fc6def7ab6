"""Quizzes with Colab's packages: its ipywidgets is 7.7.1, a generation older than the one here."""

import json

import pytest
import replica

from accel_helpers.course import questions

SCRIPT = replica.HERE / "answer_quizzes.py"

pytestmark = [pytest.mark.night, pytest.mark.timeout(1800)]  # the first one makes the replica


def test_every_question_is_answered_through_widgets_of_colabs_generation(colab):
    assert colab.packages()["ipywidgets"] == "7.7.1"
    out = colab.answer(SCRIPT)
    assert set(out["answers"]) == set(questions.bank())
    for empty, wrong, right in out["answers"].values():
        assert "no answer yet" in empty.lower()
        assert "✓" not in wrong.partition("<details>")[0]
        assert "✓" in right.partition("<details>")[0]
    assert "✓ Passed: 14 of 20" in out["exam"]
    kept = json.loads((colab.home / "course_record.json").read_text("utf-8"))
    places = {entry["place"] for entry in kept}
    assert {f"answer/{name}" for name in questions.bank()} <= places
    assert any(place.startswith("paper/") for place in places)
