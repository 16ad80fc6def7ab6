"""Is it worth it: verdicts, from measurements that are made up; and what real ones come to."""

from pathlib import Path

import numpy as np
import pytest

from accel_helpers.course.quickstart import quickstart_model
from accel_helpers.fit.parts import Parts
from accel_helpers.fit.profile_result import Change, Profile
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import Measurement
from accel_helpers.worth.forecast import forecast
from accel_helpers.worth.worth_it import worth_it, worth_of

# of this file and of those beside it
ON_JAX = "each_kind or refused or twice or made_up or trained"
NOISE = (1.0, 1.02, 0.99, 1.01, 0.98, 1.03, 0.97)
SHARES = {"compute": 0.6, "overhead": 0.3, "input": 0.1}


def measured(seconds, name, noise):
    return Measurement.from_samples([seconds * each for each in noise], name=name)


def without_xla(**options):
    return quickstart_model(jit_compile=False, **options)


@pytest.fixture
def asked(keras):
    """A call that asks whether a model pays, by seconds of an epoch that are made up."""

    def ask(
        *,
        cpu,
        gpu=None,
        nothing=None,
        changes=None,
        epochs=60,
        noise=NOISE,
        make_model=None,
        shares=SHARES,
    ):
        slow = measured(cpu, "cpu", noise)
        fast = measured(gpu, "gpu", noise) if gpu else measured(nothing, "", noise)
        factor = timing.compare(slow, fast, in_turns=True)
        tried = []
        for name, seconds in (changes or {}).items():
            gain = timing.compare(slow, measured(seconds, name, noise), in_turns=True)
            tried.append(Change(name, gain, "", None, alters=name.startswith("batch")))
        rounds = {part: [share * whole for whole in slow.samples] for part, share in shares.items()}
        profile = Profile(
            "compute",
            epoch=slow,
            steps=100,
            parts=Parts(slow.samples, rounds),
            compiling=0.0,
            compile_seconds=1.0,
            compilations=1,
            late_compilations=0,
            tried=tuple(tried),
            not_tried={},
            notes=(),
        )
        model = (make_model or without_xla)()
        return worth_of(profile, factor, model, 32, epochs, setup_minutes=5.0)

    return ask


def one_line(text):
    return " ".join(str(text).split())


@pytest.mark.parametrize(
    "other, epochs, verdict, opening",
    [
        ({"gpu": 10.0}, 60, "worth it", "Worth it"),  # an hour; it pays from 6 minutes on
        ({"gpu": 10.0}, 3, "not worth it", "Not worth it"),
        ({"gpu": 80.0}, 60, "not worth it", "Not worth it"),
        ({"nothing": 10.0}, 60, "worth it", "Probably worth it"),
        ({"nothing": 10.0}, 6, "not worth it", "Not worth it"),  # less than a minute is saved
        ({"nothing": 10.0}, 3, "not worth it", "Not worth it"),
        ({"nothing": 40.0}, 20, "the interval holds both", "It may be worth it"),
        ({"nothing": 60.0}, 5, "not worth it", "Not worth it"),
    ],
)
def test_the_verdict_follows_from_factor_set_up_and_length(asked, other, epochs, verdict, opening):
    found = asked(cpu=60.0, epochs=epochs, **other)
    assert found.verdict == verdict
    assert str(found).startswith(opening)
    assert repr(found) == str(found)


@pytest.mark.parametrize("other", ["gpu", "nothing"])
@pytest.mark.parametrize("seconds, pays", [(10.0, 6.0), (30.0, 10.0), (80.0, float("inf"))])
def test_what_is_faster_pays_from_set_up_and_factor_on(asked, other, seconds, pays):
    found = asked(cpu=60.0, noise=5 * (1,), **{other: seconds})
    assert found.row.pays_from[0] / 60 == pytest.approx(pays, rel=0.01)


def test_it_advises_what_leaves_the_training_as_it_is_and_then_what_alters_it(asked):
    changes = {"batch_size=256": 2.0, "KERAS_BACKEND=jax": 4.0, "a tie": 8.0}
    found = asked(cpu=8.0, nothing=1.0, changes=changes)
    lines = [line for line in str(found).splitlines() if line.startswith("Try ")]
    assert [line.split(":")[0] for line in lines] == ["Try KERAS_BACKEND=jax", "Try batch_size=256"]
    assert "2 times as fast" in lines[0]
    assert "a tie: no measurable difference" in one_line(found.details)


def test_where_nothing_helps_it_says_so(asked):
    assert "nothing was measurably faster" in str(asked(cpu=8.0, nothing=1.0))


@pytest.mark.parametrize("epochs, verdict", [(4, "not worth it"), (30, "the interval holds both")])
def test_without_a_forecast_it_decides_by_the_ceiling(asked, keras, epochs, verdict):
    class Own(keras.Model):
        """Its work cannot be counted, so that there is no forecast."""

        def __init__(self):
            super().__init__(name="own")
            self.dense = keras.layers.Dense(10)

        def call(self, x):
            return self.dense(keras.ops.reshape(x, (-1, 784)))

    def make_model():
        model = Own()
        model(np.zeros((1, 28, 28), "float32"))
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return model

    # it pays from 6 minutes on at the earliest, and an epoch takes a minute, more or less
    found = asked(cpu=60.0, nothing=10.0, epochs=epochs, make_model=make_model)
    assert found.verdict == verdict
    # which model has no forecast, and why
    assert "No forecast: 'own'" in one_line(found)
    assert ("measure first, on a T4" in one_line(found)) == (epochs == 30)


@pytest.mark.parametrize("other", [{"gpu": 1.0}, {"nothing": 1.0}])
def test_a_training_that_is_shorter_than_the_set_up_needs_no_factor(asked, other):
    found = asked(cpu=8.0, epochs=1, noise=(1.0, 1.1), **other)
    assert found.verdict == "not worth it"
    assert "fewer than five timings" in one_line(found)


def test_few_timings_beside_a_forecast_make_a_verdict_and_no_factor(asked):
    found = asked(cpu=60.0, nothing=0.01, epochs=12, noise=(1.0, 1.1))
    assert found.verdict == "worth it"
    assert "fewer than five timings" in one_line(found)
    assert found.details.count("  ?  ") == len(found.rows)
    assert asked(cpu=60.0, gpu=1.0, noise=(1.0, 1.1)).verdict == "cannot be told yet"


def tf_data(keras, digits):
    tf = pytest.importorskip("tensorflow")
    return tf.data.Dataset.from_tensor_slices(digits).batch(10)


def sequence(keras, digits):
    class Sequence(keras.utils.PyDataset):
        def __len__(self):
            return 50

        def __getitem__(self, index):
            return tuple(part[10 * index : 10 * index + 10] for part in digits)

    return Sequence()


@pytest.mark.parametrize("make_data", [tf_data, sequence])
def test_sets_that_make_their_own_batches_are_measured_too(keras, digits, make_data):
    found = worth_it(quickstart_model, make_data(keras, digits), seconds=2)
    assert found.verdict in found.OUTCOMES
    assert found.profile.steps == 50


def test_a_model_of_two_inputs_is_measured_too(keras, digits):
    def make_model():
        inputs = {name: keras.Input((28, 28), name=name) for name in ("left", "right")}
        both = keras.layers.Concatenate()([keras.layers.Flatten()(x) for x in inputs.values()])
        model = keras.Model(inputs, keras.layers.Dense(10)(both))
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return model

    x, y = digits
    found = worth_it(make_model, {"left": x, "right": x}, y, seconds=2)
    assert found.verdict in found.OUTCOMES
    assert found.here.median > 0


@pytest.mark.parametrize("name", ["epochs", "seconds", "setup_minutes"])
def test_what_is_refused_is_named(keras, digits, name):
    with pytest.raises(ValueError, match=name):
        worth_it(quickstart_model, *digits, **{name: -1})


@pytest.mark.parametrize("verb", [worth_it, forecast])
def test_a_function_that_returns_the_same_model_twice_is_refused_before_it_is_trained(
    keras, digits, verb
):
    model = quickstart_model()
    before = model.get_weights()
    arguments = digits if verb is worth_it else (32, ("T4",))
    with pytest.raises(ValueError, match="same model twice"):
        verb(lambda: model, *arguments, seconds=1)
    for weights, kept in zip(model.get_weights(), before, strict=True):
        assert (weights == kept).all()


@pytest.mark.night
def test_it_holds_on_jax_too(on_jax):
    others = [Path(__file__).with_name("test_forecast.py")]
    on_jax(ON_JAX, __file__, *others)


@pytest.mark.parametrize("seconds", [1.3, 60.0, 9000.0])
def test_it_is_a_few_lines_and_the_chips_are_in_the_details(asked, seconds):
    found = asked(cpu=seconds, nothing=0.8, changes={"batch": 0.5, "jit_compile=True": 0.9})
    assert len(str(found).splitlines()) <= 10
    assert [row.chip for row in found.rows] == ["T4", "L4", "A100"]
    for text in ("T4, free", "jit_compile=True", "compute 60 %"):
        assert text in found.details
    assert "e+" not in str(found) + found.details


def base_and_head(keras, frozen):
    """A convolutional base and a head, in which perhaps the head alone is trained."""
    layers = [keras.layers.Conv2D(64, 3) for _ in range(6)]
    base = keras.Sequential([keras.Input((28, 28, 1)), *layers], name="base")
    base.trainable = not frozen
    ends = [keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(10)]
    reshape = keras.layers.Reshape((28, 28, 1))
    model = keras.Sequential([keras.Input((28, 28)), reshape, base, *ends])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.jit_compile = False
    return model


def test_a_frozen_base_makes_a_gpu_more_worth_it_as_it_does(keras, asked):
    def expected(frozen):
        found = asked(cpu=60.0, nothing=0.01, make_model=lambda: base_and_head(keras, frozen))
        return found.row.faster[0]

    assert expected(frozen=True) > 2 * expected(frozen=False)


def test_a_model_with_frozen_layers_is_trained_as_it_is(keras, digits):
    x, y = digits
    found = worth_it(lambda: base_and_head(keras, frozen=True), x[:96], y[:96], seconds=2)
    assert found.verdict in found.OUTCOMES
