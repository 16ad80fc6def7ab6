"""A card is whole or not there, and nothing that it says is believed unread."""

import json
import multiprocessing as mp
import os
import re
import time
from dataclasses import replace

import pytest

from accel_helpers.measure import results
from accel_helpers.measure.results import CardError
from accel_helpers.measure.timing import Measurement

M = Measurement.from_samples([1.0, 1.1, 0.9], first_call=2.0, name="epoch")


@pytest.fixture
def card():
    machine = {"cpu_name": "Test CPU", "cores": 2, "frameworks": {"keras": "3.8"}}
    fresh = results.new_card(command="make run", machine=machine)
    return replace(fresh, measurements={"03/epoch/cpu": M}, numbers={"04/loss": (2.1, 1.9)})


def test_what_is_saved_is_what_is_loaded(card, tmp_path):
    path = results.save(card, tmp_path / "card.json")
    assert results.load(path) == card
    assert [p.name for p in tmp_path.iterdir()] == ["card.json"]  # no temporary file is left


def test_record_adds_and_replaces(tmp_path):
    path = tmp_path / "card.json"
    assert results.record({"a": M}, path=path).startswith("Saved on your result card")
    results.record({"b": M}, path=path)
    newer = Measurement.from_samples([5.0])
    results.record({"a": newer}, path=path)
    loaded = results.load(path)
    assert set(loaded.measurements) == {"a", "b"} and loaded.measurements["a"] == newer
    assert re.match(r"\d{4}-\d\d-\d\dT", loaded.created)


def test_numbers_that_are_no_times_are_kept_beside_the_measurements(tmp_path):
    path = tmp_path / "card.json"
    assert "2 results" in results.record({"a": M}, numbers={"loss": [2, 1.5]}, path=path)
    results.record({"b": M}, numbers={"loss of two": [0.0]}, path=path)
    loaded = results.load(path)
    assert loaded.numbers == {"loss": (2.0, 1.5), "loss of two": (0.0,)}
    assert set(loaded.measurements) == {"a", "b"} and "1.5" in str(loaded)


@pytest.mark.parametrize("bad", [3, "12", [True], ["1"], [float("nan")], [float("inf")], None])
def test_what_is_no_list_of_numbers_is_refused_by_name(tmp_path, bad):
    with pytest.raises((TypeError, ValueError), match="'my loss'"):
        results.record({}, numbers={"my loss": bad}, path=tmp_path / "card.json")
    assert not list(tmp_path.iterdir())


def test_a_card_from_before_there_were_numbers_is_read(card, tmp_path):
    old = card.to_dict()
    del old["numbers"]
    path = tmp_path / "card.json"
    path.write_text(json.dumps(old))
    assert results.load(path).numbers == {}


def test_the_card_names_no_person_and_no_path(tmp_path):
    path = tmp_path / "card.json"
    results.record({"a": M}, path=path)
    text = path.read_text()
    for private in {os.path.expanduser("~"), os.uname().nodename, str(tmp_path)}:
        assert private not in text


def test_a_damaged_card_is_left_alone(tmp_path):
    path = tmp_path / "card.json"
    path.write_text('{"schema": 1, "crea')
    said = results.record({"a": M}, path=path)
    assert said.startswith("Not saved, so that nothing is lost: card.json: not valid JSON")
    assert path.read_text() == '{"schema": 1, "crea'


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    said = results.record({"a": M}, path=tmp_path / "missing" / "card.json")
    assert said == "Not saved: card.json cannot be written here (No such file or directory)."


def good():
    return {
        "schema": 1,
        "created": "2026-11-21T10:00:00+00:00",
        "command": "make run",
        "machine": {},
        "measurements": {"a": {"samples": [1.0, 2.0]}},
    }


def change(**changes):
    return json.dumps({**good(), **changes})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not valid JSON"),
        ("[1]", "the file must be an object"),
        (change(schema=2), "field 'schema' is 2; this version of the course reads 1"),
        (change(schema="<script>alert(1)</script>"), "field 'schema'"),
        (change(created=5), "field 'created' must be a text"),
        (change(created="yesterday"), "field 'created' must be a date"),
        (change(machine=[]), "field 'machine' must be an object"),
        (change(measurements={"a": 3}), "'a': a measurement needs a field 'samples'"),
        (change(measurements={"a": {"samples": [1, -2]}}), "'a': sample 1 must be above zero"),
        (change(measurements={"a": {"samples": ["x"]}}), "sample 0 must be a number"),
        (change(numbers=[]), "field 'numbers' must be an object"),
        (change(numbers={"loss": 3}), "'loss': needs a list of numbers"),
        (change(numbers={"loss": ["x"]}), "'loss': needs numbers"),
        (change().replace("1.0", "NaN"), "NaN is no number"),
        (change().replace("1.0", "1e999"), "must be above zero and finite"),
        ("[" * 100_000, "not valid JSON"),
        ("\udcff", None),
    ],
)
def test_hostile_cards_are_named_not_believed(text, words, tmp_path):
    path = tmp_path / "card.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(CardError) as caught:
        results.load(path)
    assert str(caught.value).startswith("card.json: ")
    assert (words or "not UTF-8") in str(caught.value)


def test_a_huge_card_is_not_read(tmp_path):
    path = tmp_path / "card.json"
    path.write_bytes(b" " * (results.LARGEST + 1))
    with pytest.raises(CardError, match="larger than"):
        results.load(path)


def test_a_missing_card_is_named(tmp_path):
    with pytest.raises(CardError, match="gone.json: cannot be read: No such file"):
        results.load(tmp_path / "gone.json")


def test_reference_runs_are_real_cards_with_a_date_and_a_machine():
    cards = results.reference_runs()
    assert cards, "the lessons draw reference runs"
    for card in cards:
        assert card.machine["cpu_name"] and card.machine["cores"]
        assert card.machine["frameworks"]["keras"]
        assert re.match(r"\d{4}-\d\d-\d\d", card.created)
        assert card.label.endswith(card.created[:10])
        for name, m in card.measurements.items():
            if name.startswith("03/epoch"):
                assert len(m.samples) >= 5 and m.first_call


def _write_for_ever(path):
    card = results.load(path)
    while True:
        results.save(card, path)


def test_a_killed_writer_leaves_a_whole_card(card, tmp_path):
    path = tmp_path / "card.json"
    big = {f"m{i}": Measurement.from_samples([1.0] * 500) for i in range(50)}
    results.save(replace(card, measurements=big), path)
    context = mp.get_context("spawn")
    for _ in range(3):
        writer = context.Process(target=_write_for_ever, args=(path,))
        writer.start()
        time.sleep(0.5)
        writer.kill()
        writer.join()
        assert len(results.load(path).measurements) == 50
