"""Quizzes with Colab's packages: its ipywidgets is 7.7.1, a generation older than the one here."""

import json
import os
import sys
from pathlib import Path

import pytest
import session

from accel_helpers.course import exam, questions

SCRIPT = Path(__file__).resolve().parent / "answer_quizzes.py"
OLD = "7.7.1"

pytestmark = [pytest.mark.night, pytest.mark.timeout(1800)]  # the first one makes the replica


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """What the script says with this Python's packages, in both of its modes."""
    dropped = ("ACCEL_RECORD",)
    clean = {k: v for k, v in os.environ.items() if k not in dropped}

    def said(mode):
        return session.said([sys.executable, SCRIPT, mode], tmp_path_factory.mktemp(mode), clean)

    return {mode: said(mode) for mode in ("live", "hidden")}


def test_every_question_is_answered_through_widgets_of_colabs_generation(colab, here):
    out = colab.answer(SCRIPT, "live")
    assert out["ipywidgets"] == OLD
    assert here["live"]["ipywidgets"] >= "8"
    assert {**out, "ipywidgets": ""} == {**here["live"], "ipywidgets": ""}, "byte for byte"
    bank = questions.bank()
    assert {bank[name].kind for name in out["answered"]} == set(questions.HOW)
    assert set(out["answered"]) == set(bank), "every question, and no other"
    for empty, wrong, right in out["answered"].values():
        assert "no answer yet" in empty.lower()
        assert "✓" not in wrong.partition("<details>")[0]
        assert "✓" in right.partition("<details>")[0]
    assert "✓ Passed: 14 of 20" in out["exam"]
    kept = json.loads((colab.home / "course_record.json").read_text("utf-8"))
    marks = {entry["place"]: entry["numbers"] for entry in kept}
    assert {f"answer/{name}" for name in bank} <= {*marks}
    papers = [place for place in marks if place.startswith("paper/")]
    assert [marks[paper]["today"] for paper in papers] == [exam.COUNT]


def test_without_widgets_the_quiz_is_printed_and_answered_by_a_call(colab, here):
    out = colab.answer(SCRIPT, "hidden")
    assert out == here["hidden"]
    for bundle in (*out["shown"].values(), out["paper"]):
        assert set(bundle) == {"text/plain", "text/html"}
    assert all(right.startswith("✓ Right") for _, right in out["answered"].values())
    assert "Passed" in out["exam"]
