"""Is it worth it: verdicts, from measurements that are made up; and what real ones come to."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from accel_helpers.course.quickstart import quickstart_model
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

    def ask(*, cpu, gpu=None, nothing=None, changes=None, epochs=60, noise=NOISE, make_model=None):
        slow = measured(cpu, "cpu", noise)
        fast = measured(gpu, "gpu", noise) if gpu else measured(nothing, "feeding", noise)
        factor = timing.compare(slow, fast, in_turns=True)
        tried = []
        for name, seconds in (changes or {}).items():
            gain = timing.compare(slow, measured(seconds, name, noise), in_turns=True)
            tried.append(Change(name, gain, "", None, alters=name.startswith("batch")))
        profile = Profile(
            "compute",
            epoch=slow,
            steps=100,
            shares=SHARES,
            intervals={part: (share, share) for part, share in SHARES.items()},
            compile_seconds=1.0,
            compilations=1,
            late_compilations=0,
            input_alone=0.1,
            slowest_callback="",
            change=best_of(tried),
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
    "other, epochs, verdict",
    [
        ({"gpu": 10.0}, 60, "worth it"),  # an hour; it pays from 6 minutes on
        ({"gpu": 10.0}, 3, "not worth it"),
        ({"gpu": 10.0}, 6, "too close to call"),
        ({"gpu": 80.0}, 60, "not worth it"),
        ({"nothing": 10.0}, 60, "worth it"),  # what is left to the T4 is a forecast of milliseconds
        ({"nothing": 10.0}, 6, "the interval holds both"),
        ({"nothing": 10.0}, 3, "not worth it"),
        ({"nothing": 60.0}, 5, "not worth it"),
    ],
)
def test_the_verdict_follows_from_factor_set_up_and_length(asked, other, epochs, verdict):
    found = asked(cpu=60.0, epochs=epochs, **other)
    assert found.verdict == verdict
    assert str(found)


@pytest.mark.parametrize("other", ["gpu", "nothing"])
@pytest.mark.parametrize("seconds, pays", [(10.0, 6.0), (30.0, 10.0), (80.0, math.inf)])
def test_what_is_faster_pays_from_set_up_and_factor_on(asked, other, seconds, pays):
    found = asked(cpu=60.0, noise=5 * (1,), **{other: seconds})
    assert found.break_even[0] == pytest.approx(pays, rel=0.01)


def test_it_advises_the_largest_gain_that_is_no_tie(asked):
    found = asked(cpu=8.0, nothing=1.0, changes={"a tie": 8.0, "batch_size=256": 4.0})
    assert found.advice == "batch_size=256"
    assert "with an eye on the accuracy: batch_size=256, 2 times as fast" in one_line(found)
    assert "a tie" not in str(found)
    assert "a tie: no measurable difference" in one_line(found.details)


def test_it_advises_first_what_leaves_the_training_as_it_is(asked):
    changes = {"batch_size=256": 2.0, "KERAS_BACKEND=jax": 4.0}
    found = asked(cpu=8.0, nothing=1.0, changes=changes)
    assert found.advice == "KERAS_BACKEND=jax"
    free, altering = (one_line(found).index(name) for name in reversed(changes))
    assert free < altering
    assert "same training: KERAS_BACKEND=jax" in one_line(found)


def test_where_nothing_helps_there_is_no_advice(asked):
    assert asked(cpu=8.0, nothing=1.0, changes={"a tie": 8.0}).advice == ""


@pytest.mark.parametrize("epochs, verdict", [(4, "not worth it"), (6, "cannot be told here")])
@pytest.mark.parametrize("noise", [NOISE, (1.0, 1.1)])
def test_without_a_forecast_it_is_no_only_where_that_is_sure(asked, keras, epochs, verdict, noise):
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

    # It pays from 6 minutes on at the earliest, and an epoch takes a minute, more or less.
    found = asked(cpu=60.0, nothing=10.0, epochs=epochs, make_model=make_model, noise=noise)
    assert found.verdict == verdict
    # which model has no forecast, and why
    assert "No forecast: 'own'" in one_line(found)
    assert "count_step" not in str(found)


@pytest.mark.parametrize("other", [{"gpu": 1.0}, {"nothing": 1.0}])
def test_a_training_that_is_shorter_than_the_set_up_needs_no_factor(asked, other):
    found = asked(cpu=8.0, epochs=1, noise=(1.0, 1.1), **other)
    assert found.factor.interval == (0, math.inf)
    assert found.verdict == "not worth it"
    assert str(found).startswith("Not worth it")
    assert found.break_even == (5, math.inf)
    assert "five times" in str(found)


@pytest.mark.parametrize("epochs, verdict", [(12, "worth it"), (6, "the interval holds both")])
def test_few_timings_beside_a_forecast_make_a_verdict_and_no_factor(asked, epochs, verdict):
    # an epoch of a minute; the T4 takes five minutes, and then next to nothing or 40 seconds
    found = asked(cpu=60.0, nothing=0.01 if epochs == 12 else 9.0, epochs=epochs, noise=(1.0, 1.1))
    assert found.verdict == found.choice.verdict == verdict
    assert {row[2] for row in found.choice.rows[1:]} == {"?"}
    assert "five times" in str(found)
    assert "any number" not in found.details


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
    assert found.epoch.median > 0


def not_compiled(keras):
    return keras.Sequential([keras.Input((28, 28)), keras.layers.Dense(2)])


@pytest.mark.parametrize(
    "make, error, named",
    [
        (lambda k: 5, TypeError, "a function that makes the model is needed; got 5"),
        (lambda k: lambda: "resnet", TypeError, "must return a compiled keras.Model; got 'resnet'"),
        (lambda k: lambda: not_compiled(k), ValueError, "not compiled: call model.compile"),
    ],
)
def test_a_make_model_that_makes_none_is_refused(keras, digits, make, error, named):
    with pytest.raises(error, match=named):
        worth_it(make(keras), *digits)


@pytest.mark.parametrize(
    "given, options, error, named",
    [
        (lambda k, x, y: (iter([(x, y)]), None), {}, TypeError, "list_iterator"),
        (lambda k, x, y: (x, y[:7]), {}, ValueError, "7, 500"),
        (lambda k, x, y: (x[:0], y[:0]), {}, ValueError, "at least one"),
        (lambda k, x, y: (sequence(k, (x, y)), y), {}, ValueError, "y=None"),
        (lambda k, x, y: (x, y), {"batch_size": 0}, ValueError, "batch_size"),
        (lambda k, x, y: (x, y), {"epochs": 0}, ValueError, "epochs"),
        (lambda k, x, y: (x, y), {"seconds": -1}, ValueError, "seconds"),
        (lambda k, x, y: (x, y), {"setup_minutes": -1}, ValueError, "setup_minutes"),
    ],
)
def test_what_is_refused_is_named(keras, digits, given, options, error, named):
    x, y = given(keras, *digits)
    with pytest.raises(error, match=named):
        worth_it(quickstart_model, x, y, **options)


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


def test_the_notes_of_a_forecast_are_said_by_the_verdict_too(keras, asked):
    def make_model():
        layers = [keras.layers.LSTM(8), keras.layers.Dense(10)]
        model = keras.Sequential([keras.Input((28, 28)), *layers])
        model.compile("sgd", "sparse_categorical_crossentropy", jit_compile=False)
        return model

    found = asked(cpu=60.0, nothing=0.1, make_model=make_model)
    assert found.notes
    for note in found.notes:
        assert note in one_line(found)
    assert "a guess" in one_line(found)
    assert "cuDNN" in one_line(found)


@pytest.mark.parametrize("seconds", [1.3, 60.0, 9000.0])
def test_one_score_is_said_and_the_text_is_what_a_cell_shows(asked, seconds):
    found = asked(cpu=seconds, nothing=0.8, changes={"batch": 0.5, "jit_compile=True": 0.9})
    said = str(found)
    assert repr(found) == said
    assert len(re.findall("[0-9]+ of [0-9]+", said)) == 1
    assert len(said.splitlines()) <= 9
    assert "details" in said
    assert "T4, free" in found.details


def test_a_verdict_by_forecast_says_probably_and_offers_no_ceiling(asked):
    found = asked(cpu=60.0, nothing=0.01)
    assert found.chip
    assert "at most" not in str(found)
    assert str(found).startswith("Probably worth it")
    slow_at_feeding = asked(cpu=60.0, nothing=40.0, epochs=6)
    assert str(slow_at_feeding).startswith("Probably not worth it")


def test_a_training_that_is_shorter_than_the_set_up_needs_no_forecast_to_stay(asked):
    assert str(asked(cpu=60.0, nothing=1.0, epochs=3)).startswith("Not worth it")


def test_a_forecast_never_goes_over_the_ceiling_and_says_where_it_ends_there(asked):
    for nothing in (0.5, 10.0, 40.0):
        found = asked(cpu=60.0, nothing=nothing)
        assert found.expected[0] <= found.expected[1] <= found.factor.interval[1] * (1 + 1e-9)
    assert "so the forecast ends there" in one_line(found.details)


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
        return found.expected[0]

    assert expected(frozen=True) > 2 * expected(frozen=False)


def test_a_model_with_frozen_layers_is_trained_as_it_is(keras, digits):
    x, y = digits
    found = worth_it(lambda: base_and_head(keras, frozen=True), x[:96], y[:96], seconds=2)
    assert found.verdict in found.OUTCOMES


def test_each_chip_has_a_row(asked):
    rows = asked(cpu=60.0, nothing=0.01).choice.rows
    assert [row[0] for row in rows] == ["this CPU", "T4, free", "L4", "A100"]


def test_large_factors_are_written_without_an_exponent(asked):
    for found in (
        asked(cpu=600.0, gpu=1.0),
        asked(cpu=6000.0, nothing=1.0, epochs=1),
        asked(cpu=600.0, nothing=1.0, changes={"batch": 1.0}),
    ):
        assert "e+" not in str(found) + found.details
