"""Is it worth it: models come back as they were; verdicts, on a clock that is handed in."""

import math
import random
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from accel_helpers.course import quickstart
from accel_helpers.machine import backend
from accel_helpers.worth import lent, worth

ON_JAX = "grouped or as_it_was or goes_on or refused or moved or made_up"  # and of test_forecast.py
NOISE = (1.0, 1.02, 0.99, 1.01, 0.98, 1.03, 0.97)


def state(model):
    """All that a training can change, as bytes and plain values."""
    variables = [*model.variables, *model.metrics_variables, *model.optimizer.variables]
    settings = model.jit_compile, model.steps_per_execution, model.run_eagerly, model.stop_training
    settings += (model.train_function, model.optimizer, model.loss, vars(model).keys())
    dice = random.getstate(), np.random.get_state()[1].tobytes(), np.random.get_state()[2]
    return [np.asarray(v.value).tobytes() for v in variables], settings, dice


def plain(keras):
    return quickstart.quickstart_model()


def compiled(model, optimizer="sgd"):
    model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def own_step(keras):
    """A model with a step, a metric, dice and a counter of its own."""

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.flatten, self.out = keras.layers.Flatten(), keras.layers.Dense(10)
            self.noise = keras.layers.GaussianNoise(0.1, seed=2)
            self.norm = keras.layers.BatchNormalization()
            self.seen = self.add_weight(shape=(), initializer="zeros", trainable=False)
            self.error = keras.metrics.Mean(name="error")
            self.traced = 0

        def call(self, x, training=False):
            self.seen.assign(self.seen + 1)
            x = self.norm(self.flatten(x), training=training)
            return self.out(self.noise(x, training=training))

        def train_step(self, *given):
            self.traced += 1
            return super().train_step(*given)

    model = compiled(Own(), keras.optimizers.SGD(0.01, momentum=0.9))
    model.steps_per_execution = 2
    model(np.zeros((1, 28, 28), "float32"))
    return model


@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("make", [plain, own_step])
def test_a_model_is_afterwards_as_it_was_and_goes_on_as_if_nothing_had_been(
    keras, digits, make, trained
):
    found = []
    for measure in (False, True):
        keras.utils.set_random_seed(5)
        model = make(keras)
        if trained:
            model.fit(*digits, verbose=0)
        else:  # an optimizer and metrics that are not built are so afterwards
            model.optimizer.build(model.trainable_variables)
            model.compute_metrics(*digits, model(digits[0]))
        before = state(model)
        if measure:
            result = worth.it(model, *digits, seconds=2)
            assert result.verdict in worth.LABELS and result.epoch.median > 0
            for part, kept in zip(state(model), before, strict=True):
                assert part == kept
        model.fit(*digits, verbose=0)
        found.append([weight.tobytes() for weight in model.get_weights()])
    # for its first fit, Keras on JAX draws an order more where metrics were not built
    assert found[0] == found[1] or backend.framework() == "jax" and not trained


def test_values_are_moved_and_the_old_ones_put_back_after_an_error_too(keras, digits):
    """As for a second device: other variables on TensorFlow, and `fit` trains those."""
    model = plain(keras)
    old, values = [v._value for v in model.variables], [w.tobytes() for w in model.get_weights()]
    with pytest.raises(KeyboardInterrupt):
        with lent.lent(model, on=lambda device: nullcontext()) as place:
            place("gpu")
            model.fit(*digits, verbose=0)
            assert [w.tobytes() for w in model.get_weights()] != values
            raise KeyboardInterrupt
    assert [w.tobytes() for w in model.get_weights()] == values
    if backend.framework() == "tensorflow":
        assert all(v._value is kept for v, kept in zip(model.variables, old, strict=True))


class Machine:
    """A clock, and turns that give the seconds said for their way; each takes a little of it."""

    def __init__(self, compiling=0.02, noise=NOISE, **seconds):
        self.now, self.seconds, self.turns = 0.0, seconds, Counter()
        self.compiling, self.noise = compiling, noise

    def __call__(self, turns, way):
        changed = {"batch": way.batch_size > 32, "group": way.group > 1, "xla": way.xla}
        name = next((name for name, yes in changed.items() if yes), way.kind)
        name = way.device if name == "fit" else name
        self.now += 0.02 if self.turns[way] else 0.02 + self.compiling
        self.turns[way] += 1
        if name == "resident":
            raise MemoryError("no room\nfor it")
        noise = self.noise[self.turns.total() % len(self.noise)]
        return self.seconds.get(name, self.seconds["cpu"]) * noise


def asked(digits, machine, epochs=60):
    model = quickstart.quickstart_model()
    model.jit_compile = False
    return measured(model, machine, epochs, *digits)


def measured(model, machine, epochs=60, x=None, y=None):
    if x is None:
        x, y = np.zeros((500, 28, 28), "float32"), np.zeros(500, "int32")
    x, y = (np.resize(part, (3200, *part.shape[1:])) for part in (x, y))
    options = {"devices": ("cpu", "gpu")[: 1 + ("gpu" in machine.seconds)], "seconds": 3}
    options |= {"runner": machine, "clock": lambda: machine.now}
    return worth.it(model, x, y, epochs=epochs, **options)


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
def test_the_verdict_follows_from_factor_set_up_and_length(digits, other, epochs, verdict):
    found = asked(digits, Machine(cpu=60.0, **other), epochs)
    assert found.verdict == verdict and str(found)
    exact = asked(digits, Machine(cpu=60.0, noise=(1,), **other), epochs)
    pays = 5 / (1 - min(*other.values(), 60) / 60) if min(other.values()) < 60 else math.inf
    assert exact.break_even[0] == pytest.approx(pays, rel=0.01)


def test_it_advises_the_largest_gain_that_is_no_tie_and_says_what_was_not_tried(digits):
    found = asked(digits, Machine(cpu=8.0, nothing=1.0, batch=4.0, group=8.0))
    assert found.advice == "batch_size=256" and "batch_size=256" in str(found)
    assert found.tried["batch_size=256"].interval[0] < 2 < found.tried["batch_size=256"].interval[1]
    if backend.framework() == "tensorflow":
        assert found.tried["steps_per_execution=16"].verdict == "no measurable difference"
    assert found.not_tried["fit_resident"] == "no room"
    slow = asked(digits, Machine(compiling=1.0, cpu=8.0, nothing=1.0, batch=4.0))
    assert slow.advice == "" and slow.not_tried["batch_size=256"] == worth.LATE


def test_the_box_is_kept_and_too_small_a_one_gives_no_factor(digits):
    machine = Machine(cpu=8.0, nothing=1.0)
    asked(digits, machine)
    assert 2.5 <= machine.now <= 3.1
    found = asked(digits, Machine(compiling=3.0, cpu=8.0, nothing=1.0), epochs=1)
    assert found.factor.interval == (0, math.inf) and found.verdict == "no GPU can pay"
    assert found.break_even == (5, math.inf) and "five times" in str(found)


@pytest.mark.parametrize("rebatched", [True, False])
def test_sets_that_make_their_own_batches_are_measured_too(keras, digits, rebatched):
    tf = pytest.importorskip("tensorflow")
    data = tf.data.Dataset.from_tensor_slices(digits).batch(10)
    found = worth.it(plain(keras), data if rebatched else sequence(keras, digits), seconds=2)
    own = found.not_tried.get("batch_size=80") == "your set makes its own batches"
    assert own != rebatched and found.not_tried["fit_resident"] == "it takes arrays"


def sequence(keras, digits):
    class Sequence(keras.utils.PyDataset):
        def __len__(self):
            return 50

        def __getitem__(self, at):
            return tuple(part[10 * at : 10 * at + 10] for part in digits)

    return Sequence()


@pytest.mark.parametrize(
    "given, error, named",
    [
        (lambda k, x, y: (plain, x, y), TypeError, "plain"),
        (lambda k, x, y: (k.Sequential([k.Input((28, 28))]), x, y), ValueError, "compile"),
        (lambda k, x, y: (compiled(k.Sequential([k.layers.Dense(2)])), x, y), ValueError, "once"),
        (lambda k, x, y: (plain(k), iter([(x, y)]), None), TypeError, "list_iterator"),
        (lambda k, x, y: (plain(k), x, y[:7]), ValueError, "7, 500"),
        (lambda k, x, y: (plain(k), x[:0], y[:0]), ValueError, "at least one"),
        (lambda k, x, y: (plain(k), sequence(k, (x, y)), y), ValueError, "y=None"),
        (lambda k, x, y: (plain(k), x, y, 0), ValueError, "batch_size"),
        (lambda k, x, y: (plain(k), x, y, 32, 5, -1), ValueError, "seconds"),
    ],
)
def test_what_is_refused_is_named(keras, digits, given, error, named):
    with pytest.raises(error, match=named):
        worth.it(*given(keras, *digits))


def test_it_holds_on_jax_too(on_jax):
    on_jax(ON_JAX, __file__, Path(__file__).with_name("test_forecast.py"))


def test_the_notes_of_a_forecast_are_said_by_the_verdict_too(keras):
    model = keras.Sequential([keras.Input((28, 28)), keras.layers.LSTM(8), keras.layers.Dense(10)])
    model.compile("sgd", "sparse_categorical_crossentropy", jit_compile=False)
    found = measured(model, Machine(cpu=60.0, nothing=0.1))
    assert found.notes and all(note in one_line(found) for note in found.notes)
    assert "a guess" in one_line(found) and "cuDNN" in one_line(found)


def test_a_verdict_by_forecast_says_probably_and_offers_no_ceiling(digits):
    worth_it = asked(digits, Machine(cpu=60.0, nothing=0.01))
    assert worth_it.chip
    assert "at most" not in str(worth_it)
    assert str(worth_it).startswith("Probably worth it")
    slow_at_feeding = Machine(cpu=60.0, nothing=40.0)
    assert str(asked(digits, slow_at_feeding, 6)).startswith("Probably not worth it")


def test_a_training_that_is_shorter_than_the_set_up_needs_no_forecast_to_stay(digits):
    assert str(asked(digits, Machine(cpu=60.0, nothing=1.0), 3)).startswith("Not worth it")


def test_a_forecast_never_goes_over_the_ceiling_and_says_where_it_ends_there(digits):
    for nothing in (0.5, 10.0, 40.0):
        found = asked(digits, Machine(cpu=60.0, nothing=nothing))
        assert found.expected[0] <= found.expected[1] <= found.factor.interval[1] * (1 + 1e-9)
    assert "allow" in str(found) and "so the forecast ends there" in one_line(found)


def test_the_other_backend_is_something_to_try_where_feeding_is_much(digits):
    import importlib.util

    other = {"tensorflow": "jax", "jax": "tensorflow"}[backend.framework()]
    if importlib.util.find_spec(other) is None:
        pytest.skip(f"{other} is not installed")
    assert f"KERAS_BACKEND={other}" in str(asked(digits, Machine(cpu=60.0, nothing=30.0)))
    assert "KERAS_BACKEND" not in str(asked(digits, Machine(cpu=60.0, nothing=1.0)))


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


def test_a_frozen_base_makes_a_gpu_more_worth_it_as_it_does(keras):
    frozen, whole = (
        measured(base_and_head(keras, which), Machine(cpu=60.0, nothing=0.01))
        for which in (True, False)
    )
    assert frozen.expected[0] > 2 * whole.expected[0]


def test_a_model_with_frozen_layers_comes_back_as_it_was(keras, digits):
    model = base_and_head(keras, frozen=True)
    model.optimizer.build(model.trainable_variables)
    before = [np.array(weight) for weight in model.get_weights()]
    flags = [layer.trainable for layer in model.layers]
    found = worth.it(model, digits[0][:96], digits[1][:96], seconds=2)
    assert found.verdict in worth.LABELS
    assert [layer.trainable for layer in model.layers] == flags
    for weight, kept in zip(model.get_weights(), before, strict=True):
        assert (weight == kept).all()


def test_who_has_grouped_steps_is_told_so(keras, digits):
    model = plain(keras)
    model.steps_per_execution = 16
    found = measured(model, Machine(cpu=8.0, nothing=1.0))
    assert found.not_tried["steps_per_execution=16"] == "you have it"


def test_large_factors_are_written_without_an_exponent(digits):
    for found in (
        asked(digits, Machine(cpu=600.0, gpu=1.0)),
        asked(digits, Machine(cpu=6000.0, nothing=1.0), 1),
        asked(digits, Machine(cpu=600.0, nothing=1.0, batch=1.0)),
    ):
        assert "e+" not in str(found)
