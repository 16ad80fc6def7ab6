"""Is it worth it: verdicts, on a machine that is pretended; what is tried, and why not."""

import math
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from accel_helpers.course.quickstart import quickstart_model
from accel_helpers.machine import backend
from accel_helpers.worth import time_box
from accel_helpers.worth.forecast import forecast
from accel_helpers.worth.race import LATE, NOW, OTHER, Race
from accel_helpers.worth.turns import Turns
from accel_helpers.worth.worth_it import worth_it

# of this file and of those beside it
ON_JAX = "grouped or each_kind or refused or twice or made_up or trained or xla"
NOISE = (1.0, 1.02, 0.99, 1.01, 0.98, 1.03, 0.97)


def without_xla(**options):
    return quickstart_model(jit_compile=False, **options)


class Machine:
    """A clock, and turns that give the seconds of their variant; each takes a little of it."""

    def __init__(self, compiling=0.02, noise=NOISE, **seconds):
        self.now, self.seconds, self.turns = 0.0, seconds, Counter()
        self.compiling, self.noise = compiling, noise

    def __call__(self, variant):
        name = self.named(variant)
        self.now += 0.02 if self.turns[variant] else 0.02 + self.compiling
        self.turns[variant] += 1
        if name == "resident":
            raise MemoryError("no room\nfor it")
        noise = self.noise[self.turns.total() % len(self.noise)]
        return self.seconds.get(name, self.seconds["cpu"]) * noise

    def named(self, variant):
        """What is special in a variant: the device, where nothing is changed."""
        if variant.batch_size > 32:
            return "batch"
        if variant.steps_per_execution > 1:
            return "group"
        if variant.jit_compile:
            return "xla"
        return variant.device if variant.method == "fit" else variant.method


@pytest.fixture
def asked(keras, monkeypatch):
    """A call that asks on a pretended machine whether a model, of which it knows little, pays."""

    def ask(machine, epochs=60, make_model=without_xla):
        devices = ("cpu", "gpu") if "gpu" in machine.seconds else ("cpu",)
        clock = SimpleNamespace(perf_counter=lambda: machine.now)
        monkeypatch.setattr(backend, "devices", lambda: devices)
        monkeypatch.setattr(time_box, "time", clock)
        monkeypatch.setattr(Turns, "__call__", lambda self, variant: machine(variant))
        x, y = np.zeros((3200, 28, 28), "float32"), np.zeros(3200, "int32")
        return worth_it(make_model, x, y, epochs=epochs, seconds=3)

    return ask


def one_line(found):
    return " ".join(str(found).split())


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
    found = asked(Machine(cpu=60.0, **other), epochs)
    assert found.verdict == verdict
    assert str(found)


@pytest.mark.parametrize("other", ["gpu", "nothing"])
@pytest.mark.parametrize("seconds, pays", [(10.0, 6.0), (30.0, 10.0), (80.0, math.inf)])
def test_what_is_faster_pays_from_set_up_and_factor_on(asked, other, seconds, pays):
    found = asked(Machine(cpu=60.0, noise=(1,), **{other: seconds}))
    assert found.break_even[0] == pytest.approx(pays, rel=0.01)


def test_it_advises_the_largest_gain_that_is_no_tie(asked):
    found = asked(Machine(cpu=8.0, nothing=1.0, batch=4.0, group=8.0))
    assert found.advice == "batch_size=256"
    assert "batch_size=256" in str(found)
    low, high = found.tried["batch_size=256"].interval
    assert low < 2 < high
    if backend.groups_steps():
        assert found.tried["steps_per_execution=16"].verdict == "no measurable difference"


def test_a_change_that_fails_is_not_tried_and_the_first_line_of_its_error_is_said(asked):
    found = asked(Machine(cpu=8.0, nothing=1.0))
    assert found.not_tried["fit_resident"] == "no room"
    assert "fit_resident (no room)" in one_line(found)


def test_a_change_for_which_there_is_no_time_is_not_tried(asked):
    found = asked(Machine(compiling=1.0, cpu=8.0, nothing=1.0, batch=4.0))
    assert found.advice == ""
    assert found.not_tried["batch_size=256"] == LATE


def test_the_box_is_kept(asked):
    machine = Machine(cpu=8.0, nothing=1.0)
    asked(machine)
    assert 2.5 <= machine.now <= 3.1


@pytest.mark.parametrize("epochs, verdict", [(4, "no GPU can pay"), (6, "cannot be told")])
def test_without_a_forecast_no_gpu_can_pay_only_where_that_is_sure(asked, keras, epochs, verdict):
    class Own(keras.Model):
        """Its work cannot be counted, so that there is no forecast."""

        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(10)

        def call(self, x):
            return self.dense(keras.ops.reshape(x, (-1, 784)))

    def make_model():
        model = Own()
        model(np.zeros((1, 28, 28), "float32"))
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return model

    # It pays from 6 minutes on at the earliest, and an epoch takes a minute, more or less.
    found = asked(Machine(cpu=60.0, nothing=10.0), epochs, make_model)
    assert found.verdict.startswith(verdict)


def test_every_other_round_of_a_race_goes_backwards():
    calls = []

    def turns(variant):
        calls.append(variant.device)
        return 1.0

    race = Race(turns, SimpleNamespace(seconds_left=lambda: 100.0), on_accelerator=False)
    race.enter(NOW, SimpleNamespace(device="a"))
    race.enter(OTHER, SimpleNamespace(device="b"))
    # Each is warmed up by two turns.
    assert "".join(calls[:12]) == "aabb" + "ab" + "ba" + "ab" + "ba"


def test_too_small_a_box_gives_no_factor(asked):
    found = asked(Machine(compiling=3.0, cpu=8.0, nothing=1.0), epochs=1)
    assert found.factor.interval == (0, math.inf)
    assert found.verdict == "no GPU can pay"
    assert found.break_even == (5, math.inf)
    assert "five times" in str(found)


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


@pytest.mark.parametrize("make_data, can_be_rebatched", [(tf_data, True), (sequence, False)])
def test_sets_that_make_their_own_batches_are_measured_too(
    keras, digits, make_data, can_be_rebatched
):
    found = worth_it(quickstart_model, make_data(keras, digits), seconds=2)
    reason = found.not_tried.get("batch_size=80")
    assert (reason == "your set makes its own batches") != can_be_rebatched
    assert found.not_tried["fit_resident"] == "it takes arrays"


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


def test_the_model_that_is_counted_is_never_trained(keras, digits):
    made = []

    def make_model():
        made.append(quickstart_model())
        return made[-1]

    found = worth_it(make_model, *digits, seconds=2)
    assert found.verdict in found.OUTCOMES
    untouched = quickstart_model()  # of the same seed
    for weights, fresh in zip(made[0].get_weights(), untouched.get_weights(), strict=True):
        assert (weights == fresh).all()
    assert made[0].optimizer.iterations == 0
    assert len({id(model) for model in made}) >= 2


def not_compiled(keras):
    return keras.Sequential([keras.Input((28, 28)), keras.layers.Dense(2)])


def not_built(keras):
    model = keras.Sequential([keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    return model


@pytest.mark.parametrize(
    "make, error, named",
    [
        (
            lambda k: quickstart_model(),
            TypeError,
            "a function that makes the model is needed; got <Seq",
        ),
        (lambda k: lambda: "resnet", TypeError, "must return a compiled keras.Model; got 'resnet'"),
        (lambda k: lambda: not_compiled(k), ValueError, "not compiled: call model.compile"),
        (lambda k: lambda: not_built(k), ValueError, "no weights yet: call it once"),
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


@pytest.mark.slow
def test_it_holds_on_jax_too(on_jax):
    others = [Path(__file__).with_name(name) for name in ("test_turns.py", "test_forecast.py")]
    on_jax(ON_JAX, __file__, *others)


def test_the_notes_of_a_forecast_are_said_by_the_verdict_too(keras, asked):
    def make_model():
        layers = [keras.layers.LSTM(8), keras.layers.Dense(10)]
        model = keras.Sequential([keras.Input((28, 28)), *layers])
        model.compile("sgd", "sparse_categorical_crossentropy", jit_compile=False)
        return model

    found = asked(Machine(cpu=60.0, nothing=0.1), make_model=make_model)
    assert found.notes
    for note in found.notes:
        assert note in one_line(found)
    assert "a guess" in one_line(found)
    assert "cuDNN" in one_line(found)


def test_a_verdict_by_forecast_says_probably_and_offers_no_ceiling(asked):
    found = asked(Machine(cpu=60.0, nothing=0.01))
    assert found.chip
    assert "at most" not in str(found)
    assert str(found).startswith("Probably worth it")
    slow_at_feeding = Machine(cpu=60.0, nothing=40.0)
    assert str(asked(slow_at_feeding, 6)).startswith("Probably not worth it")


def test_a_training_that_is_shorter_than_the_set_up_needs_no_forecast_to_stay(asked):
    assert str(asked(Machine(cpu=60.0, nothing=1.0), 3)).startswith("Not worth it")


def test_a_forecast_never_goes_over_the_ceiling_and_says_where_it_ends_there(asked):
    for nothing in (0.5, 10.0, 40.0):
        found = asked(Machine(cpu=60.0, nothing=nothing))
        assert found.expected[0] <= found.expected[1] <= found.factor.interval[1] * (1 + 1e-9)
    assert "allow" in str(found)
    assert "so the forecast ends there" in one_line(found)


def test_the_other_backend_is_something_to_try_where_feeding_is_much(asked):
    import importlib.util

    other = {"tensorflow": "jax", "jax": "tensorflow"}[backend.framework()]
    if importlib.util.find_spec(other) is None:
        pytest.skip(f"{other} is not installed")
    assert f"KERAS_BACKEND={other}" in str(asked(Machine(cpu=60.0, nothing=30.0)))
    assert "KERAS_BACKEND" not in str(asked(Machine(cpu=60.0, nothing=1.0)))


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
        machine = Machine(cpu=60.0, nothing=0.01)
        found = asked(machine, make_model=lambda: base_and_head(keras, frozen))
        return found.expected[0]

    assert expected(frozen=True) > 2 * expected(frozen=False)


def test_a_model_with_frozen_layers_is_trained_as_it_is(keras, digits):
    x, y = digits
    found = worth_it(lambda: base_and_head(keras, frozen=True), x[:96], y[:96], seconds=2)
    assert found.verdict in found.OUTCOMES


def test_who_has_grouped_steps_is_told_so(asked):
    machine = Machine(cpu=8.0, nothing=1.0)
    found = asked(machine, make_model=lambda: without_xla(steps_per_execution=16))
    assert found.not_tried["steps_per_execution=16"] == "you have it"


def test_large_factors_are_written_without_an_exponent(asked):
    for found in (
        asked(Machine(cpu=600.0, gpu=1.0)),
        asked(Machine(cpu=6000.0, nothing=1.0), 1),
        asked(Machine(cpu=600.0, nothing=1.0, batch=1.0)),
    ):
        assert "e+" not in str(found)
