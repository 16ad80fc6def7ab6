"""The summary holds both answers, told apart, and what was measured, and is safe to open."""

import re

import pytest

from accel_helpers._values.words import marked
from accel_helpers.course import exam, predict, quiz, record, review, summary
from accel_helpers.course.record import Entry

EVIL = '<script>alert(1)</script><img src=x onerror="x"> & \' \x00\u202e'
GPU = {"name": "made up", "kind": "gpu"}
SAID = "**2.5 times as fast.** So use it."
MEASURED = [Entry("03/race", "faster", {}, "2026-11-22T10:00", GPU, said=SAID)]

pytestmark = pytest.mark.usefixtures("own_record")


def written(*entries):
    record.keep(*entries)
    return " ".join(summary.write_summary().read_text("utf-8").split())


def part(text, number):
    _, _, after = text.partition(f'<span class="number">{number}</span>')
    return after.partition("</article>")[0]


def tags(text):
    """The kinds of tags on a page."""
    return {*re.findall(r"<(\w+)", text)}


def test_both_answers_stand_there_told_apart():
    text = written(*MEASURED)
    for answer in review.answers():
        material, _, today = part(text, answer.number).partition("True today")
        assert marked(answer.material[0]) in material
        assert marked(answer.today[0]) in today


def test_what_was_measured_stands_beside_its_question():
    assert "<li>Not measured yet: run lesson 03.</li>" in part(written(), "E3")
    assert "<li>Your run: 2.5 times as fast. So use it.</li>" in part(written(*MEASURED), "E3")


def test_where_the_learner_stands():
    assert "Right answers: nothing yet. No practice exam yet." in written()
    result = exam.hand_in(1, {1: "a"})
    quiz.answer("00/overlap", "c")
    predict.guess("05/verdict", "Not worth it: small_cnn takes 39 s on this CPU.")
    text = written()
    assert f"{result.material} of 20 as the material answers, {result.today} as is true" in text
    assert "Right answers: 1 of 4 in lesson 00" in text
    assert "Not worth it: small_cnn takes 39 s on this CPU." in text


def test_everything_from_a_record_is_escaped_and_nothing_is_asked_of_the_network():
    plain = written(*MEASURED)
    assert "default-src 'none'" in plain
    predict.guess("05/verdict", EVIL)
    text = written(Entry("07/adding", EVIL, {EVIL: 1.0}, EVIL, {"name": EVIL}, said=EVIL))
    assert tags(text) <= tags(plain) | {"p", "a"}
    assert tags(text).isdisjoint({"script", "img", "iframe", "form"})
    assert text.count("&lt;script&gt;") >= 3
