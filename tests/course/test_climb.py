"""The climb: what its numbers say, and the real thing on a few pictures."""

import logging

import pytest

from accel_helpers.course import climb, quickstart
from accel_helpers.course import ways as course_ways
from accel_helpers.fit.images import load_images
from accel_helpers.fit.profile_result import Profile
from accel_helpers.machine import backend
from accel_helpers.measure.measurement import Measurement


def stage(name, seconds, accuracy=(0.9, 0.92, 0.91), batch_size=32):
    """A stage whose epochs drift by a tenth, as those of all stages do."""
    samples = [seconds * (1 + 0.02 * i) * (1 + 0.001 * (i % 2)) for i in range(6)]
    epoch = Measurement.from_samples(samples, first_call=2 * seconds, name=name)
    return climb.Stage(name, batch_size, epoch, accuracy)


WALK = climb.Climb(
    (
        stage("default", 2.0),
        stage("bigger-batches", 0.5, (0.7, 0.8, 0.89), 256),
        stage("xla", 0.5, (0.7, 0.8, 0.89), 256),
        stage("resident", 0.1),
    )
)


def test_gains_are_on_the_stage_before_and_overall_on_the_first():
    assert WALK.gains["bigger batches"].ratio == pytest.approx(4, rel=0.01)
    assert WALK.gains["XLA"].verdict == "no measurable difference"
    assert WALK.gains["resident"].ratio == pytest.approx(5, rel=0.01)
    assert WALK.overall["resident"].ratio == pytest.approx(20, rel=0.01)
    assert list(WALK.overall) == ["bigger batches", "XLA", "resident"]
    assert WALK.best == "resident"
    assert WALK.verdict == "faster"


def test_all_stages_took_turns_so_a_common_drift_hides_nothing():
    close = climb.Climb((stage("default", 1.0), stage("xla", 0.95)))
    assert close.gains["XLA"].ratio == pytest.approx(1 / 0.95, rel=0.01)


def test_where_nothing_gained_no_stage_is_best():
    level = climb.Climb((stage("default", 1.0), stage("xla", 1.0), stage("tf-data", 1.2)))
    assert level.best == "none of them"


def test_each_change_names_the_parts_of_an_epoch_that_it_makes_smaller():
    first, *changed = climb.STAGES
    assert stage(first, 1.0).takes_away == ""
    for id in changed:
        parts = stage(id, 1.0).takes_away.split(" and ")
        assert set(parts) <= set(Profile.OUTCOMES)


@pytest.mark.night
def test_every_stage_is_measured_and_tensorflow_makes_no_remark(caplog, monkeypatch):
    monkeypatch.delenv("ACCEL_FAST", raising=False)
    backend.choose()
    with caplog.at_level(logging.WARNING, "tensorflow"):
        walk = climb.measure(load_images(320, source="bundled"), seconds=600)
    assert "retracing" not in caplog.text
    sizes = {s.id: s.batch_size for s in walk.stages}
    assert list(sizes) == [id for id in climb.STAGES if id in sizes]
    if backend.choose().name == "tensorflow":
        assert len(sizes) == len(climb.STAGES)
    assert sizes["default"] == sizes["resident-small"] == 32
    assert sizes["bigger-batches"] == sizes["resident"] == 256
    for s in walk.stages:
        assert len(s.epoch.samples) == climb.ROUNDS
        assert s.epoch.first_call > 0
        assert len(s.accuracy) == 3
        assert all(0 < share <= 1 for share in s.accuracy)


@pytest.mark.slow
def test_a_full_box_leaves_stages_out_and_measures_the_others_equally(monkeypatch):
    monkeypatch.delenv("ACCEL_FAST", raising=False)
    backend.choose()
    walk = climb.measure(load_images(640, source="bundled"), seconds=0.1)
    assert {stage.id for stage in walk.stages} == set(climb.FIRST)
    assert {len(epoch.samples) for epoch in walk.epochs.values()} == {5}
    fewest = (
        climb.PART // 32,
        climb.LARGER // course_ways.BATCH_SIZE,
    )  # steps of what is scaled up
    assert min(fewest) >= 2 * course_ways.GROUP


def test_the_stages_take_turns_there_and_back_each_with_its_own_watch():
    taken = []

    def train(epochs, callbacks):
        taken.append((epochs, *callbacks))

    watches = {name: name.upper() for name in "abc"}
    course_ways.in_turns(dict.fromkeys("abc", train), watches, 9, enough=lambda turns: turns == 3)
    assert taken == [(1, name) for name in "ABCCBAABC"]


def test_each_stage_changes_what_its_name_says():
    backend.choose()
    ways, notes = course_ways.ways_on("cpu")
    settings = {
        name: (way.model.steps_per_execution, bool(way.model.jit_compile), way.data)
        for name, way in ways.items()
    }
    if backend.choose().name == "tensorflow":
        assert settings["default"] == (1, False, "arrays")
        assert not notes
        assert settings["xla"] == (course_ways.GROUP, True, "arrays")
        assert settings["tf-data"] == (course_ways.GROUP, True, "pipeline")
        assert settings["grouped-steps"] == (course_ways.GROUP, False, "arrays")
    else:
        assert {steps for steps, _, _ in settings.values()} == {1}
    assert ways["resident"].data == ways["resident-small"].data == "resident"


def test_every_seed_starts_from_its_own_weights_and_a_fresh_optimizer(digits):
    way = course_ways.Way(32)
    way.on(*digits)(epochs=1)
    way.start_anew(1)
    expected = quickstart.quickstart_model(dropout=0, seed=1).get_weights()
    assert all((a == b).all() for a, b in zip(way.model.get_weights(), expected, strict=True))
    slots = [v for v in way.model.optimizer.variables if v is not way.model.optimizer.learning_rate]
    assert len(slots) > 4
    assert not any(v.numpy().any() for v in slots)
    assert float(way.model.optimizer.learning_rate) > 0
