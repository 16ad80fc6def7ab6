"""Is it worth it: verdicts, from measurements that are made up; and what real ones come to."""

import tomllib
from pathlib import Path

import pytest

from accel_helpers.course.quickstart import quickstart_model
from accel_helpers.fit.parts import Parts
from accel_helpers.fit.profile_result import Change, Profile
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.timing import compare
from accel_helpers.worth.worth_it import worth_it, worth_of

CASES = tomllib.loads(Path(__file__).with_name("verdicts.toml").read_text("utf-8"))["worth_it"]
NOISE = (1.0, 1.02, 0.99, 1.01, 0.98, 1.03, 0.97)


def taking(seconds, name, count=7):
    samples = [seconds * each for each in NOISE[:count]]
    return Measurement.from_samples(samples, name=name)


def asked(cpu, other, name="", *, epochs=60, count=7, changes=None, model=None):
    """What is said where an epoch takes so many seconds on the CPU, and on another device.

    Without a name that is the epoch around a model that computes nothing.
    """
    epoch = taking(cpu, "cpu", count)
    tried = []
    for change, seconds in (changes or {}).items():
        gain = compare(epoch, taking(seconds, change), in_turns=True)
        alters = change.startswith("batch")
        tried.append(Change(change, gain, "", training=change, alters=alters))
    parts = Parts(epoch.samples, {"compute": epoch.samples})
    profile = Profile(
        "compute",
        epoch,
        steps=100,
        parts=parts,
        compiling=0.0,
        compile_seconds=1.0,
        compilations=1,
        late_compilations=0,
        tried=tuple(tried),
        not_tried={},
        notes=(),
    )
    there = taking(other, name, count)
    factor = compare(epoch, there, in_turns=True)
    model = model or quickstart_model(jit_compile=False)
    return worth_of(profile, factor, model, 32, epochs, setup_minutes=5.0)


@pytest.mark.usefixtures("keras")
def test_the_verdict_follows_from_a_minute_an_epoch_here_and_what_is_there():
    for name, case in CASES.items():
        given = dict(case)
        verdict = given.pop("verdict")
        opening = given.pop("opening")
        found = asked(60.0, **given)
        text = " ".join(str(found).split())
        assert found.verdict == verdict, name
        assert text.startswith(opening), name
        assert ("fewer than five timings" in text) == ("count" in given), name


@pytest.mark.usefixtures("keras")
def test_it_advises_what_leaves_the_training_as_it_is_and_then_what_alters_it():
    changes = {"batch_size=256": 2.0, "KERAS_BACKEND=jax": 4.0, "a tie": 8.0}
    found = asked(8.0, 1.0, changes=changes)
    first, second = (line for line in str(found).splitlines() if line.startswith("Try "))
    assert first.startswith("Try KERAS_BACKEND=jax: ")
    assert second.startswith("Try batch_size=256: ")
    assert " answer.profile.change.apply()" in found.details
    assert "nothing was measurably faster" in str(asked(8.0, 1.0, changes={"a tie": 8.0}))


def test_without_a_forecast_it_decides_by_the_ceiling(keras):
    model = keras.Sequential([keras.Input((3, 4, 1))])
    model.add(keras.layers.ConvLSTM1D(2, 1, name="odd"))
    # it pays from 6 minutes on at the earliest, and an epoch takes a minute, more or less
    for epochs, verdict in {4: "not worth it", 30: "the interval holds both"}.items():
        found = asked(60.0, 10.0, epochs=epochs, model=model)
        assert found.verdict == verdict
        assert "layer 'odd'" in str(found)


def half_frozen(keras):
    model = quickstart_model()
    model.layers[1].trainable = False
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def test_a_model_with_frozen_layers_and_a_set_of_batches_are_measured_as_they_are(keras, digits):
    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return 50

        def __getitem__(self, index):
            x, y = digits
            batch = slice(10 * index, 10 * index + 10)
            return x[batch], y[batch]

    found = worth_it(lambda: half_frozen(keras), Batches(), seconds=2)
    assert found.verdict in found.OUTCOMES
    assert found.profile.steps == 50
    assert found.here.median > 0


def test_a_function_that_returns_the_same_model_twice_is_refused(digits):
    model = quickstart_model()
    with pytest.raises(ValueError, match="same model twice"):
        worth_it(lambda: model, *digits, seconds=1)


@pytest.mark.night
def test_it_holds_on_jax_too(on_jax):
    on_jax(
        "twice or made_up or measured_as", __file__, Path(__file__).with_name("test_forecast.py")
    )
