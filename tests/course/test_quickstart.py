"""The lesson model, its data and the timing of fit, on real Keras."""

import math
import random
from types import SimpleNamespace

import jax  # noqa: F401 (loaded, its arrays are waited for)
import numpy as np
import pytest
from fake_fit import FakeFit

from accel_helpers.course import quickstart
from accel_helpers.fit.epochs import time_fit
from accel_helpers.fit.images import load_images
from accel_helpers.fit.stopwatch import stopwatch

pytestmark = pytest.mark.usefixtures("keras")


@pytest.fixture(scope="module")
def data():
    found = load_images(320, source="bundled")
    return (found.x_train / 255).astype("float32"), found.y_train


def test_the_quickstart_model_is_the_one_described():
    model = quickstart.quickstart_model()
    kinds = [layer.__class__.__name__ for layer in model.layers]
    assert kinds == ["Flatten", "Dense", "Dropout", "Dense"]
    assert model.count_params() == 784 * 128 + 128 + 128 * 10 + 10
    assert model.optimizer.__class__.__name__ == "Adam"
    assert model.output_shape == (None, 10)


def test_the_same_seed_gives_the_same_weights():
    a, b = quickstart.quickstart_model(seed=3), quickstart.quickstart_model(seed=3)
    assert all(np.array_equal(x, y) for x, y in zip(a.get_weights(), b.get_weights(), strict=True))


def test_the_clock_that_is_handed_in_is_the_one_used(data):
    x, y = data
    ticks = iter(range(1000))
    model = quickstart.quickstart_model()
    timed = time_fit(model, x[:70], y[:70], epochs=3, clock=lambda: float(next(ticks)))
    assert timed.epochs.first_call == 1.0
    assert timed.epochs.samples == (1.0, 1.0)
    assert timed.steps_per_epoch == 3, "the last one is not full"
    assert timed.step.samples == (1 / 3, 1 / 3)
    assert str(timed).startswith(f"{timed.epochs}\n"), "text, and not the object's fields"


@pytest.mark.parametrize("kind", [list, tuple])
def test_several_inputs_and_targets_are_timed_as_fit_takes_them(keras, data, kind):
    x, y = data[0][:70], data[1][:70]
    inputs = [keras.Input(x.shape[1:]) for _ in range(2)]
    flat = keras.layers.Flatten()(keras.layers.Add()(inputs))
    heads = [keras.layers.Dense(10, activation="softmax")(flat) for _ in range(2)]
    model = keras.Model(inputs, heads)
    model.compile("adam", ["sparse_categorical_crossentropy"] * 2)
    timed = time_fit(model, kind([x, x]), kind([y, y]), batch_size=32, epochs=2)
    assert timed.steps_per_epoch == 3


class Machine(FakeFit):
    """A model whose epochs cost a fixed time and one for each step, on a clock of its own.

    The first step of all compiles. From `busy` steps on every step takes `slower` times as long.
    """

    def __init__(self, fixed, each, *, compiling=0.0, noise=0.0, busy=math.inf, slower=1.0):
        self.fixed, self.each, self.compiling = fixed, each, compiling
        self.noise, self.busy, self.slower = noise, busy, slower
        self.now, self.steps, self.longest_part = 0.0, 0, 0
        self.random = random.Random(1)

    def clock(self):
        return self.now

    def fit(self, x, y, *, batch_size, **options):
        self.longest_part = max(self.longest_part, -(-len(x) // batch_size))
        super().fit(x, y, batch_size=batch_size, **options)

    def begin_epoch(self):
        self.now += self.fixed * self.random.uniform(1 - self.noise, 1 + self.noise)

    def take_step(self, batch_size):
        self.steps += 1
        slower = self.slower if self.steps > self.busy else 1.0
        self.now += self.each * slower
        if self.steps == 1:
            self.now += self.compiling


class Late:
    """An array of a device that has taken its orders and is done with them later."""

    __module__ = "jax.fake"  # by which it is told that it is waited for

    def __init__(self, machine):
        self.machine = machine

    def block_until_ready(self):
        self.machine.now = self.machine.done_at
        return self


class LateMachine(FakeFit):
    """A model whose steps are ordered at once; each takes the device a second."""

    def __init__(self):
        self.now = self.done_at = 0.0
        self.weights = [SimpleNamespace(value=Late(self))]

    def clock(self):
        return self.now

    def take_step(self, batch_size):
        self.done_at += 1.0


def test_an_epoch_ends_when_the_device_is_done_with_it():
    machine = LateMachine()
    x = np.zeros(5 * 32)
    timed = time_fit(machine, x, x, epochs=4, clock=machine.clock)
    assert timed.epochs.first_call == 5.0
    assert timed.epochs.samples == (5.0, 5.0, 5.0)


def timed_on(machine, steps, seconds):
    x = np.zeros(steps * 32)
    return time_fit(machine, x, x, seconds=seconds, clock=machine.clock)


@pytest.mark.parametrize("steps", [5, 63, 300, 1875, 20_000])
@pytest.mark.parametrize("fixed", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("each", [0.0015, 0.03, 0.4])
def test_an_epoch_in_a_box_is_as_long_as_a_whole_one(steps, fixed, each):
    machine = Machine(fixed, each, compiling=1.0)
    timed = timed_on(machine, steps, seconds=3)
    epoch = fixed + steps * each
    assert timed.steps_per_epoch == steps
    assert timed.epochs.median == pytest.approx(epoch, rel=1e-6)
    assert timed.epochs.first_call == pytest.approx(1.0 + epoch, rel=1e-6)
    assert machine.now < 1.0 + 3 * (1 + 1 / 3) + 4 * (fixed + 2 * each)
    if len(timed.epochs.samples) < 5:
        assert "The time was up" not in timed.epochs.notes[0]


def test_what_an_epoch_begins_with_is_not_multiplied_where_it_varies():
    timed = timed_on(Machine(0.05, 0.0015, noise=0.2), steps=20_000, seconds=3)
    assert timed.epochs.median == pytest.approx(0.05 + 30, rel=0.1)


def test_a_note_says_what_was_timed_in_place_of_whole_epochs():
    whole, part = (timed_on(Machine(0.05, 0.0015), n, seconds=3).epochs for n in (63, 20_000))
    assert len(whole.notes) == 1
    assert len(whole.samples) >= 5
    assert "an epoch has 20,000" in part.notes[0]
    assert f"{len(part.samples)} samples fitted into 3 s" in part.notes[-1]


def test_a_box_ends_where_the_machine_becomes_slow_and_that_is_said():
    """Within an epoch, too: 63 steps that get 40 times as slow must not hold a learner up."""
    machine = Machine(0.01, 0.003, busy=200, slower=1000)
    timed = timed_on(machine, steps=63, seconds=3)
    assert machine.now < 3 + 2 * 3.0, "a step of 3 s may run over"
    assert timed.epochs.samples[0] == pytest.approx(0.01 + 63 * 0.003)
    early = Machine(0.01, 0.03, busy=40, slower=1000)
    timed = timed_on(early, steps=63, seconds=30)
    assert early.now < 30 + 2 * 30.0
    assert timed.epochs.median == pytest.approx(0.01 + 63 * 0.03)
    assert "38 steps were timed" in timed.epochs.notes[0]


def test_a_real_fit_is_timed_in_a_box(data):
    model = quickstart.quickstart_model()
    for batch_size, steps in ((4, 80), (300, 2)):  # the last batch of the second is not full
        timed = time_fit(model, *data, batch_size=batch_size, seconds=0.5)
        assert timed.steps_per_epoch == steps
        assert min(timed.epochs.samples) > 0
        assert timed.epochs.first_call > 0


def test_a_real_fit_ends_within_an_epoch_and_its_model_lives_on(data):
    model = quickstart.quickstart_model()
    for _ in range(6):  # on JAX a training that is stopped from another thread fails now and then
        time_fit(model, *data, batch_size=2, seconds=0.1)
        assert np.isfinite(model.evaluate(*data, verbose=0)).all()


@pytest.mark.night
def test_a_real_fit_ends_within_an_epoch_on_jax_too(on_jax):
    on_jax("lives_on", __file__)


def test_steps_that_are_reported_out_of_order_are_put_in_order():
    """Fit reports from several threads: where the second step is done, the first one is, too."""
    times = iter([0.0, 2.0, 1.0, 3.0, 4.0])
    watch = stopwatch(times.__next__, end=10.0, latest=20.0)
    watch.on_epoch_begin(0)
    for step in (1, 0, 2):
        watch.on_train_batch_end(step)
    watch.set_model(Machine(0, 0))
    watch.on_epoch_end(0)
    assert watch.marks == [[(1, 1.0), (2, 2.0), (3, 3.0)]]


def test_bundled_pictures_are_real_and_brought_to_shape():
    found = load_images(4000, source="bundled")
    assert found.x_train.shape == (4000, 28, 28)
    assert found.x_train.dtype == np.uint8
    assert set(np.unique(found.y_train)) == set(range(10))
    assert "scikit-learn digits" in str(found)
    assert "There are 1,500 of them" in found.note
    assert np.array_equal(found.x_train[0], found.x_train[1500])  # repeated, not invented
    train = {picture.tobytes() for picture in found.x_train}
    shared = sum(picture.tobytes() in train for picture in found.x_test)
    assert shared == 0  # no test picture was trained on


def test_the_pictures_can_be_learned(data):
    found = load_images(1500, source="bundled")
    model = quickstart.quickstart_model()
    model.fit(found.x_train / 255.0, found.y_train, epochs=5, verbose=0)
    _, accuracy = model.evaluate(found.x_test / 255.0, found.y_test, verbose=0)
    assert accuracy > 0.85  # 0.1 would be chance


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: load_images(0), "count .*0"),
        (lambda: time_fit(None, [], [], epochs=1), "epochs .*2 .*1"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()


def test_labels_are_of_the_type_that_every_backend_takes_as_it_is():
    assert load_images(64, source="bundled").y_train.dtype == "int32"


def test_data_that_are_no_arrays_are_refused_at_the_door(data):
    model = quickstart.quickstart_model()
    for x in (iter([1]), ["a", "b"]):
        with pytest.raises(TypeError, match="ah.profile_fit"):
            time_fit(model, x, data[1], seconds=0.1)
