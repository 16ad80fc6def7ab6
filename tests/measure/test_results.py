"""A card is whole or not there, and nothing that it says is believed unread."""

import json
import multiprocessing as mp
import os
import time
from dataclasses import replace

import pytest

from accel_helpers.measure import results
from accel_helpers.measure.timing import Measurement

M = Measurement((1.0, 1.1, 0.9), 2.0, "epoch", 2, ("a note",))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "card.json"


@pytest.fixture
def card():
    (one, *_), numbers = results.reference_runs(), {"04/loss": (2.1, 1.9)}
    return replace(one, measurements={"03/epoch/cpu": M}, numbers=numbers)


def test_what_is_saved_is_what_is_loaded(card, path):
    with pytest.raises(ValueError, match=r"card\.json"):
        results.load(path)
    results.save(card, path)
    assert results.load(path) == card
    assert [p.name for p in path.parent.iterdir()] == ["card.json"]  # no temporary file is left


def test_a_card_takes_results_one_after_the_other_and_the_newer_one_counts(path):
    first = results.save_on_card({"a": M}, {"loss": [2, 1.5]}, path=path)
    assert first.ok
    assert first.sentence == "Saved on your result card, card.json: 2 results."
    assert results.save_on_card({"b": M}, {"loss of two": [0.0]}, path=path).ok
    newer = Measurement.from_samples([5.0])
    assert "1 result." in results.save_on_card({"a": newer}, path=path).sentence
    loaded = results.load(path)
    assert loaded.measurements == {"a": newer, "b": M}
    assert "1.5" in str(loaded)
    assert loaded.numbers == {"loss": (2.0, 1.5), "loss of two": (0.0,)}
    for private in {os.path.expanduser("~"), os.uname().nodename, str(path.parent)}:
        assert private not in path.read_text()


@pytest.mark.parametrize("bad", [3, "12", [True], ["1"], [float("nan")], [float("inf")], None])
def test_what_is_no_list_of_numbers_is_refused_by_name(path, bad):
    with pytest.raises(ValueError, match="my loss"):
        results.save_on_card({}, {"my loss": bad}, path=path)
    with pytest.raises(TypeError, match="'mine'"):
        results.save_on_card({"mine": bad}, path=path)
    assert not path.exists()


def test_a_lesson_goes_on_where_nothing_can_be_saved(path):
    path.write_text('{"schema": 1, "crea')  # cut off
    saved = results.save_on_card({"a": M}, path=path)
    assert not saved.ok
    assert saved.sentence.startswith("Not saved, so that nothing is lost: ")
    assert path.read_text() == '{"schema": 1, "crea'  # a damaged card is left alone
    saved = results.save_on_card({"a": M}, path=path.parent / "missing" / "card.json")
    assert not saved.ok
    assert saved.sentence.startswith("Not saved: card.json")


def written(**changes):
    good = {"created": "2026-11-21T10:00:00+00:00", "command": "make run", "machine": {}}
    return json.dumps(good | {"measurements": {"a": {"samples": [1.0, 2.0]}}} | changes)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[1]", ""),
        (written(schema="<script>alert(1)</script>"), "schema"),
        (written(schema=2), "schema"),
        (written(machine={"accelerator": "a GPU"}), "machine, accelerator"),
        (written(measurements={"a": {"samples": [1, -2]}}), "measurements, a"),
        (written().replace("1.0", "1e999"), "measurements, a, samples, 1"),
    ],
)
def test_hostile_cards_are_named_not_believed(text, place, path):
    path.write_text(text)
    with pytest.raises(ValueError) as caught:
        results.load(path)
    said = str(caught.value)
    assert said.startswith("card.json")
    assert place in said
    assert len(said) < 400


def test_reference_runs_are_real_cards_with_a_date_and_a_machine():
    cards = results.reference_runs()
    assert cards, "the lessons draw reference runs"
    for card in cards:
        assert card.machine["cpu_name"]
        assert card.machine["frameworks"]["keras"]
        assert card.label.endswith(card.created[:10])
        assert str(card.machine["cores"]) in card.label
        epochs = [m for name, m in card.measurements.items() if name.startswith("03/epoch")]
        assert all(len(m.samples) >= 5 and m.first_call for m in epochs)


def _write_for_ever(path, begun):
    card = results.load(path)
    begun.set()
    while True:
        results.save(card, path)


def test_a_killed_writer_leaves_a_whole_card(card, path):
    big = {f"m{i}": Measurement.from_samples([1.0] * 500) for i in range(50)}
    results.save(replace(card, measurements=big), path)
    context = mp.get_context("spawn")
    for part in (0.05, 0.1, 0.2):
        begun = context.Event()
        writer = context.Process(target=_write_for_ever, args=(path, begun))
        writer.start()
        assert begun.wait(120)
        time.sleep(part)  # somewhere within a write
        writer.kill()
        writer.join()
        assert len(results.load(path).measurements) == 50
