"""The summary holds both answers, told apart, is safe to open, and is whole or not there."""

import datetime
import html.parser

import pytest

from accel_helpers._values.words import marked
from accel_helpers.course import exam, ledger, predict, questions, quiz, record, review, summary
from accel_helpers.course.record import Entry

EVIL = '<script>alert(1)</script><img src=x onerror="x"> & \' \x00\u202e'


CPU = {"name": "made up, 2 cores", "kind": "cpu"}
RACE = {"times as fast low": 2.1, "times as fast": 2.5, "times as fast high": 3.0}


def entry(place, outcome="", numbers=None, **machine):
    return Entry(place, outcome, numbers or {}, "2026-11-22T10:00", {**CPU, **machine})


MEASURED = (
    entry("07/adding", "", {"cpu:0 8 seconds": 0.02, "cpu:0 8 seconds low": 0.01,
        "cpu:0 8 seconds high": 0.03, "cpu:0 8 samples": 40.0}),
    entry("09/batches", "always", {"value": 0.26}),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _own(own_record):
    """The learner's record, where none is yet."""


def written(*entries):
    record.keep(*entries)
    return summary.write_summary().read_text("utf-8")


def part(text, number):
    text = text[text.index(f'<span class="number">{number}</span>') :]
    return text[: text.index("</article>")]


def tags(text):
    """The tags of a page in their order, with their attributes."""
    found, parser = [], html.parser.HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append((tag, dict(attributes)))
    parser.feed(text)
    return found


def links(text):
    return [given["href"] for tag, given in tags(text) if tag == "a"]


def test_both_answers_and_the_claims_stand_there_told_apart():
    text = written(*MEASURED)
    addresses = {*links(text)}
    for answer in review.answers():
        found = part(text, answer.number)
        heading = "What the material says" if answer.further else "To answer in the exam"
        exam, today = found.index(heading), found.index("True today")
        for first in (answer.material[0], answer.label):
            assert exam < found.index(marked(first)) < today
        assert today < found.index(str(answer.as_of)) < found.index(marked(answer.today[0]))
        assert {*answer.material_source, *answer.today_source} <= addresses
    assert text.index("E10</span>") < text.index("<h2>Further questions") < text.index("E11</span>")
    assert text.count('<article class="claim">') == 19
    for finding in ledger.fill(MEASURED):
        assert marked(finding.sentence) in text
        assert marked(finding.measured) in text


def test_the_page_asks_the_network_for_nothing():
    quiz.answer("03/speed_up", "a")
    text = written(*MEASURED)
    assert not {"script", "img", "iframe", "object", "form"} & {tag for tag, _ in tags(text)}
    assert "@import" not in text
    assert "url(" not in text
    assert "default-src 'none'" in text
    assert all(link.startswith("https://") for link in links(text))
    assert "@media print" in text
    assert "prefers-color-scheme: dark" in text


def test_what_was_measured_stands_beside_its_question():
    assert "07/adding</strong>: not measured yet" in part(written(), "E5")
    found = part(written(*MEASURED), "E5")
    assert "cpu:0 8 seconds 0.02</li>" in found
    assert "not measured yet" not in found
    text = written(entry("03/race", "faster", RACE, kind="gpu"))
    assert "<strong>03/race</strong>: faster; times as fast 2.5</li>" in part(text, "E3")
    assert "Supported</strong> The GPU is 2.1 to 3 times as fast." in text


def test_where_you_stand_when_and_on_which_machines():
    empty = written()
    assert "Right answers: nothing yet. No practice exam yet." in empty
    assert "nothing measured yet" in empty
    text = written(*MEASURED, entry("03/race", name="a T4"))
    assert "<dd>made up, 2 cores; a T4</dd>" in text
    assert datetime.datetime.now().strftime("%B %Y") in text


def test_what_was_wrong_is_still_to_be_learned_and_what_was_right_is_counted():
    stem = questions.bank()["03/speed_up"].stem
    quiz.answer("03/speed_up", "a")
    quiz.answer("00/overlap", "c")
    text = written()
    assert f"<li>Lesson 03: {marked(stem)}</li>" in text
    assert "Right answers: lesson 00 1 of" in text
    quiz.answer("03/speed_up", "c")
    assert "Still to be learned" not in written()


def test_the_last_paper_is_on_the_summary_with_both_marks():
    result = exam.hand_in(1, {1: "a"})
    said = f"{result.material} of 20 as the material answers, {result.today} as is true today"
    assert said in " ".join(written().split())


def test_the_verdict_of_lesson_05_stands_there_once_it_was_reached():
    assert "worth it for your model" not in written()
    found = "Not worth it: small_cnn takes 39 s on this CPU."
    predict.guess("05/verdict", found)
    text = " ".join(written().split())
    assert "worth it for your model" in text
    assert found in text


def test_everything_from_a_record_is_escaped():
    plain = {tag for tag, _ in tags(written(*MEASURED))}
    numbers = {EVIL: 1.0, "value": 0.26}
    record.keep(Entry("07/adding", EVIL, numbers, EVIL, {"name": EVIL + "x" * 10_000}))
    predict.guess("05/verdict", EVIL)
    text = written()
    assert {tag for tag, _ in tags(text)} <= plain | {"p", "a"}
    assert not any(name.startswith("on") for _, given in tags(text) for name in given)
    assert text.count("&lt;script&gt;") > 3
    assert "x" * 301 not in text
