"""The summary holds both answers, told apart, is safe to open, and is whole or not there."""

import dataclasses
import datetime
import html.parser
import re

import pytest

from accel_helpers._values.words import marked
from accel_helpers.course import exam, ledger, predict, questions, quiz, review, summary
from accel_helpers.measure import results
from accel_helpers.measure.timing import Measurement
from accel_helpers.worth.break_even import Plan, break_even

NOW = datetime.datetime(2026, 11, 22, 9, 5)
EVIL = '<script>alert(1)</script><img src=x onerror="x"> & \' \ud800\x00\u202e'
FOUR_TIMES = ("default", "bigger-batches")
E1, E5 = review.answers()[0], review.answers()[4]


@pytest.fixture(autouse=True)
def current(monkeypatch, tmp_path, own_record):
    """The place of this machine's card, where none is."""
    monkeypatch.setenv("ACCEL_RESULT_CARD", str(tmp_path / "result_card.json"))
    return tmp_path / "result_card.json"


@pytest.fixture(scope="module")
def reference():
    return results.reference_runs()[-1]


def written(tmp_path, card=None):
    if card:
        results.save(card, results.card_path())
    return summary.write(tmp_path / "s.html").read_text("utf-8")


def page_of(question, card, said=""):
    options = {"missed": [said], "answered": said, "note": said, "now": NOW}
    return summary.page([question], card, **options)


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


def test_both_answers_and_the_claims_stand_there_told_apart(tmp_path, reference):
    text = written(tmp_path, card=reference)
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
    for entry in ledger.fill(reference):
        assert marked(entry.sentence) in text
        assert marked(entry.measured) in text


def test_the_page_asks_the_network_for_nothing(tmp_path, reference):
    quiz.answer("03/speed_up", "a")
    text = written(tmp_path, card=reference)
    assert not {"script", "img", "iframe", "object", "form"} & {tag for tag, _ in tags(text)}
    assert "@import" not in text
    assert "url(" not in text
    assert "default-src 'none'" in text
    assert all(link.startswith("https://") for link in links(text))
    assert "@media print" in text
    assert "prefers-color-scheme: dark" in text


def test_what_was_measured_stands_beside_its_question_with_its_interval(tmp_path, reference):
    assert "not measured yet: lesson 07." in part(written(tmp_path), "E5")
    found = part(written(tmp_path, card=reference), "E5")
    measured = str(reference.measurements["07/cpu/add"]).splitlines()[0]
    assert "interval" in measured
    assert f"<code>07/cpu/add</code>: {measured}" in found
    assert "not measured yet" not in found
    slow, fast = (reference.measurements[f"03/climb/epoch/{way}"] for way in FOUR_TIMES)
    race = {"03/race/cpu": slow, "03/race/gpu": fast}  # borrowed from a CPU
    found = part(written(tmp_path, card=dataclasses.replace(reference, measurements=race)), "E3")
    assert re.search(r"<strong>Supported here</strong>: GPU is [\d.]+ times as fast", found)


def test_where_you_stand_when_and_on_which_machine(tmp_path, reference):
    empty = written(tmp_path)
    assert "No answers of yours" in empty
    assert "nothing measured yet" in empty
    text = written(tmp_path, card=reference)
    assert reference.machine["cpu_name"] in text
    assert "22 November 2026, 09:05" in page_of(E1, reference)


def test_what_was_wrong_is_still_to_be_learned_and_what_was_right_is_counted(tmp_path):
    stem = questions.bank()["03/speed_up"].stem
    quiz.answer("03/speed_up", "a")
    quiz.answer("00/overlap", "c")
    text = written(tmp_path)
    assert f"<li>Lesson 03: {marked(stem)}</li>" in text
    assert "Right answers: lesson 00 1 of" in text
    quiz.answer("03/speed_up", "c")
    assert "Still to be learned" not in written(tmp_path)


def test_the_last_paper_is_on_the_summary_with_both_marks(tmp_path):
    result = exam.hand_in(1, {1: "a"})
    said = f"{result.material} of 20 as the material answers, {result.today} as is true today"
    assert said in " ".join(written(tmp_path).split())


def test_the_verdict_of_lesson_05_stands_there_once_it_was_reached(tmp_path, monkeypatch):
    assert "worth it for your model" not in written(tmp_path)
    plans = Plan("this CPU", (60, 60)), Plan("a T4", (10, 20), setup_minutes=5)
    found = break_even(*plans, epochs=50)
    predict.guess("05/verdict", str(found))
    text = " ".join(written(tmp_path).split())
    assert "worth it for your model" in text
    assert " ".join(str(found).split()) in text


def test_the_current_card_is_used_and_a_damaged_one_is_named(tmp_path, reference, current):
    results.save(reference, current)
    assert reference.machine["cpu_name"] in written(tmp_path)
    current.write_text('{"schema": 1, "cr')
    text = written(tmp_path)
    assert "result_card.json: not valid JSON" in text
    assert "nothing measured yet" in text


def test_everything_from_files_is_escaped():
    machine = {"cpu_name": EVIL + "x" * 10_000, "accelerator": {"name": EVIL}, "cores": 10**400}
    question = dataclasses.replace(
        E5,
        **dict.fromkeys(("number", "asks", "label", "page", "heading", "says"), EVIL),
        **dict.fromkeys(("material", "today"), (EVIL, EVIL)),
        **dict.fromkeys(("material_source", "today_source"), (f'https://x/" on="{EVIL}', "js:1")),
        card=(EVIL, "06/product/128"),
    )
    sample = Measurement.from_samples([1.0, 1.1, 0.9, 1.0, 1.1, 1.0], name=EVIL)
    measured = dict.fromkeys(("06/product/128", "07/cpu/add", EVIL), sample)
    card = results.Card("2026-11-22", EVIL, machine, measured, {EVIL: (1.0,)})
    text = page_of(question, card, EVIL)
    plain = {tag for tag, _ in tags(page_of(E5, None, "x"))}
    assert {tag for tag, _ in tags(text)} <= plain | {"p", "a", "wbr"}
    assert not any(name.startswith("on") for _, given in tags(text) for name in given)
    assert all(link.startswith("https://") for link in links(text))
    assert text.count("&lt;script&gt;") > 10
    assert "\u202e" not in text
    assert "\x00" not in text
    assert "x" * 301 not in text
