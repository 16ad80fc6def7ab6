"""What a `Profile` says: which part is the largest, which change is the best, and by how much."""

import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from accel_helpers.fit.clock import Turn
from accel_helpers.fit.dissection import AS_IT_IS, IDLE, IN_MEMORY, Dissection
from accel_helpers.fit.parts import Parts
from accel_helpers.fit.profile import for_another_minute
from accel_helpers.fit.profile_result import Change, Profile
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import Measurement

CASES = tomllib.loads(Path(__file__).with_name("profiles.toml").read_text())
CHANGES = CASES["change"]
PARTS = Parts(**CASES["parts"])
EPOCH = Measurement.from_samples(PARTS.wholes)


def change(name):
    """A change of profiles.toml, measured beside the training as it was."""
    case = CHANGES[name]
    before = Measurement.from_samples(case.get("before", PARTS.wholes))
    after = Measurement.from_samples(case["seconds"])
    gain = timing.compare(before, after, in_turns=True)
    note = case.get("note", "")
    return Change(name, gain, note, training=None, alters="alters" in case)


def profile(*tried, verdict="input"):
    changes = tuple(map(change, tried))
    return Profile(verdict, parts=PARTS, epoch=EPOCH, tried=changes, **CASES["profile"])


def words(found):
    """What it prints, in one line."""
    lines = str(found).split()
    return " ".join(lines)


def test_a_part_is_called_the_largest_where_that_is_sure():
    for case in CASES["largest"]:
        verdict = case.pop("verdict")
        rounds = len(case["overhead"])
        found = Parts([1.0] * rounds, case)
        assert found.verdict == verdict
        assert ("Not told apart" in found.finding) == (verdict == "not told apart")
        for part in case:
            assert part in found.in_words()
            assert part in found.seconds


def test_a_picture_has_no_steps_where_their_parts_are_known():
    known = {"overhead": (0.9, 0.9, 0.8), "memory": (0.0, 0.0, 0.1), "steps": (0.0, 0.0, 0.1)}
    assert [*Parts([1.0] * 3, known).seconds] == ["overhead", "memory"]


def test_no_step_waits_longer_for_its_input_than_the_input_takes_alone():
    training = SimpleNamespace(_callbacks=[], _parts_of_steps=lambda steps, turns: {"steps": steps})
    turns = {AS_IT_IS: Turn(10.0), IN_MEMORY: Turn(6.0), IDLE: Turn(3.0)}
    parts = Dissection._parts_of(training, turns)
    assert parts["input"] == 3.0


def test_each_verdict_says_its_own_share_and_its_own_sentence():
    said = {verdict: words(profile(verdict=verdict)) for verdict in Profile.OUTCOMES}
    sentences = set(said.values())
    assert len(sentences) == len(Profile.OUTCOMES)
    assert "60% of the whole" in said["compilation"]


def test_a_profile_says_the_epoch_its_parts_and_what_was_tried():
    told = CASES["said"]
    found = profile(*told["tried"])
    said = words(found)
    for fact in told["facts"]:
        assert fact in said
    assert "validation 3%" not in said, "too small to be worth a word"
    places = [said.index(part) for part in told["advice"]]
    assert places == sorted(places)
    assert found.shares == pytest.approx(CASES["shares"])


def test_the_best_change_is_the_one_that_was_faster_by_the_most():
    for case in CASES["best"]:
        found = profile(*case["tried"])
        assert found.change.name == case["name"]
    assert profile().change is None


def test_what_was_not_faster_is_no_advice_and_what_is_unsure_no_tie():
    found = profile("prefetch(AUTOTUNE)", "run_eagerly=True", "unsure")
    assert "too short for unsure, workers=4." in words(found)
    for name, case in CHANGES.items():
        found = change(name)
        assert case.get("gain", "") in found.gain_in_words


def test_a_gain_is_promised_for_another_minute_too():
    faster = change("jit_compile=True")
    promised = for_another_minute(faster.gain)
    assert promised.interval == pytest.approx((2 / 1.15, 2 * 1.15))
    little = for_another_minute(change("little").gain)
    assert little.verdict == "no measurable difference"
