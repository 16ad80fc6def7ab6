"""The climb: what its numbers say, and the real thing on a few pictures."""

import logging

import pytest

from accel_helpers.course import climb
from accel_helpers.fit.images import load_images
from accel_helpers.fit.parts import PARTS
from accel_helpers.fit.training import ARRAYS, DATASET
from accel_helpers.machine import backend
from accel_helpers.measure.measurement import Measurement


def stage(name, seconds, accuracy=(0.9, 0.92, 0.91), batch_size=32):
    """A stage whose epochs drift by a tenth, as those of all stages do."""
    samples = [seconds * (1 + 0.02 * i) * (1 + 0.001 * (i % 2)) for i in range(6)]
    epoch = Measurement.from_samples(samples, first_call=2 * seconds, name=name)
    return climb.Stage(name, batch_size, epoch, accuracy)


WALK = climb.Climb(
    (
        stage("default fit", 2.0),
        stage("bigger batches", 0.5, (0.7, 0.8, 0.89), 256),
        stage("XLA", 0.5, (0.7, 0.8, 0.89), 256),
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
    close = climb.Climb((stage("default fit", 1.0), stage("XLA", 0.95)))
    assert close.gains["XLA"].ratio == pytest.approx(1 / 0.95, rel=0.01)


def test_where_nothing_gained_no_stage_is_best():
    level = climb.Climb(
        (stage("default fit", 1.0), stage("XLA", 1.0), stage("tf.data with prefetch", 1.2))
    )
    assert level.best == "none of them"


def test_each_change_names_the_parts_of_an_epoch_that_it_makes_smaller():
    for parts in climb.TAKES_AWAY.values():
        assert set(parts.split(" and ")) <= set(PARTS)


@pytest.mark.night
def test_every_stage_is_measured_and_tensorflow_makes_no_remark(caplog, monkeypatch):
    monkeypatch.delenv("ACCEL_FAST", raising=False)
    backend.choose()
    with caplog.at_level(logging.WARNING, "tensorflow"):
        walk = climb.measure_climb(load_images(320, source="bundled"), seconds=100)
    assert "retracing" not in caplog.text
    sizes = {s.name: s.batch_size for s in walk.stages}
    assert list(sizes) == [name for name in (climb.DEFAULT, *climb.TAKES_AWAY) if name in sizes]
    if backend.choose().name == "tensorflow":
        assert len(sizes) == 1 + len(climb.TAKES_AWAY)
    assert sizes["default fit"] == sizes["resident, small batches"] == 32
    assert sizes["bigger batches"] == sizes["resident"] == 256
    for s in walk.stages:
        assert len(s.epoch.samples) >= 5
        assert len(s.accuracy) == 3
        assert all(0 < share <= 1 for share in s.accuracy)


@pytest.mark.slow
def test_a_full_box_leaves_stages_out_and_measures_the_others_equally(monkeypatch):
    monkeypatch.delenv("ACCEL_FAST", raising=False)
    backend.choose()
    walk = climb.measure_climb(load_images(640, source="bundled"), seconds=0.1)
    assert {stage.name for stage in walk.stages} == {
        "default fit",
        "bigger batches",
        "resident, small batches",
    }
    assert {len(stage.epoch.samples) for stage in walk.stages} == {climb.ROUNDS}


def test_each_stage_changes_what_its_name_says(digits):
    backend.choose()
    trainings, notes = climb.trainings_of(*digits)
    settings = {}
    for name, training in trainings.items():
        model = training.new_model()
        settings[name] = (model.steps_per_execution, bool(model.jit_compile), training.form)
    if backend.choose().name == "tensorflow":
        assert settings["default fit"] == (1, False, ARRAYS)
        assert not notes
        assert settings["XLA"] == (climb.GROUP, True, ARRAYS)
        assert settings["tf.data with prefetch"] == (climb.GROUP, True, DATASET)
        assert settings["steps per execution"] == (climb.GROUP, False, ARRAYS)
    else:
        assert {steps for steps, *_ in settings.values()} == {1}
    sizes = {name: training.batch_size for name, training in trainings.items()}
    assert sizes["default fit"] == sizes["resident, small batches"] == 32
    assert sizes["bigger batches"] == sizes["resident"] == 256
