"""Where the time of a ``fit`` goes: on a device whose every cost is known, with Keras's own fit."""

import functools
import threading

import numpy as np
import pytest

from accel_helpers import profile_fit, time_fit
from accel_helpers.machine import backend

PARTS = ("input", "compute", "memory", "overhead", "callbacks", "validation")
STEPS = 5  # of an epoch
SAMPLES = 8  # of a batch
WIDTH = 100  # of the layer
LARGE = 0.005  # seconds of a step: the part that is to be found
SMALL = 0.0005  # and each of the five others
POINTS = 0.05  # a share may be wrong by so much
SECONDS = 4  # on the fake clock
WEIGHTS = 2_000  # of each unit


class Clock:
    """A clock that only `advance` moves; several threads may do so."""

    def __init__(self):
        self.now = 0.0
        self._lock = threading.Lock()

    def __call__(self):
        return self.now

    def advance(self, seconds):
        with self._lock:
            self.now += seconds


class FakeDevice:
    """A training whose step costs so many seconds of a clock for each of its parts.

    The clock is moved by the data, by the callback, by the data of the validation, and by a layer:
    when a compiled step runs, and by `compiling` when a framework first traces it.
    """

    def __init__(self, keras, costs, compiling=0.0, weights=WEIGHTS):
        self.keras = keras
        self.clock = Clock()
        self.costs = dict.fromkeys(PARTS, SMALL) | costs
        self.compiling = compiling
        self.weights = weights
        self.layer = self._make_layer_class()

    def profile(self, seconds=SECONDS, steps=STEPS, **arguments):
        x = self.data(steps, self.costs["input"])
        arguments["callbacks"] = [self.callback()]
        if self.costs["validation"]:
            arguments["validation_data"] = self.data(4, steps / 4 * self.costs["validation"])
        return profile_fit(self.model, x, seconds=seconds, clock=self.clock, **arguments)

    def expected(self):
        """The share of each part: what is there at width 1 and with one sample is overhead."""
        costs = self.costs
        narrow = (costs["memory"] + costs["compute"] / SAMPLES) / WIDTH
        seconds = {
            **costs,
            "memory": costs["memory"] - narrow,
            "overhead": costs["overhead"] + narrow,
        }
        epoch = sum(costs.values())
        return {part: seconds[part] / epoch for part in PARTS}

    def model(self):
        keras = self.keras
        layers = [keras.Input((3,)), self.layer(WIDTH), keras.layers.Dense(1)]
        model = keras.Sequential(layers)
        # on TensorFlow, XLA would not compile a call of Python; on JAX, this is what compiles
        model.compile("sgd", "mse", jit_compile=backend.framework() == "jax")
        return model

    def data(self, steps, seconds):
        """Batches that take so many seconds each."""
        clock = self.clock

        class Data(self.keras.utils.PyDataset):
            def __len__(self):
                return steps

            def __getitem__(self, index):
                clock.advance(seconds)
                return np.ones((SAMPLES, 3), "float32"), np.ones((SAMPLES, 1), "float32")

        return Data()

    def callback(self):
        clock = self.clock
        seconds = self.costs["callbacks"]

        class Slow(self.keras.callbacks.Callback):
            def on_train_batch_end(self, batch, logs=None):
                clock.advance(seconds)

        return Slow()

    def _make_layer_class(device):
        class Layer(device.keras.layers.Layer):
            def __init__(self, units, **settings):
                super().__init__(**settings)
                self.units = units
                self.is_traced = False

            def get_config(self):
                return {**super().get_config(), "units": self.units}

            def build(self, shape):
                size = (device.weights * self.units,)
                self.numbers = self.add_weight(shape=size, trainable=False)

            def compute_output_shape(self, shape):
                return shape

            def call(self, x, training=None):
                if not training:
                    return x
                if not self.is_traced:
                    self.is_traced = True
                    device.clock.advance(device.compiling)
                costs = device.costs
                width = self.units / WIDTH
                seconds = costs["overhead"] + costs["memory"] * width
                return x + device._zero_after(seconds, costs["compute"] * width / SAMPLES, x)

        return Layer

    def _zero_after(self, seconds, seconds_per_sample, x):
        """A zero that is ready when the clock has moved by what these samples take."""

        def advance(samples):
            self.clock.advance(seconds + seconds_per_sample * int(samples))
            return np.zeros((), "float32")

        samples = self.keras.ops.shape(x)[0]
        if backend.framework() == "jax":
            import jax

            return jax.pure_callback(advance, jax.ShapeDtypeStruct((), "float32"), samples)
        import tensorflow as tf

        zero = tf.numpy_function(advance, [samples], tf.float32)
        zero.set_shape(())
        return zero

    @property
    def epoch(self):
        return STEPS * sum(self.costs.values())


@pytest.fixture(scope="module")
def profiled(keras):
    """A device on which a part is the largest, and its profile."""

    @functools.cache
    def profiled(largest):
        device = FakeDevice(keras, {largest: LARGE})
        return device, device.profile()

    return profiled


@pytest.mark.parametrize("largest", PARTS)
def test_each_part_has_the_share_that_it_costs(profiled, largest):
    device, profile = profiled(largest)
    assert profile.verdict == largest
    for part, share in device.expected().items():
        assert profile.shares[part] == pytest.approx(share, abs=POINTS), part
    assert sum(profile.parts.shares.values()) <= 1.001, "no more than an epoch"
    assert profile.epoch.median == pytest.approx(device.epoch, rel=0.05)
    assert profile.steps == STEPS


@pytest.mark.parametrize("largest", PARTS)
def test_it_takes_about_the_seconds_that_were_given(profiled, largest):
    device, _ = profiled(largest)
    assert device.clock.now < 1.2 * SECONDS


@pytest.mark.parametrize(
    ("largest", "name", "seconds_saved"),
    [
        ("callbacks", "without Slow", STEPS * LARGE),
        ("validation", "validation_freq=5", STEPS * LARGE * 4 / 5),
    ],
)
def test_the_gain_of_a_change_is_what_it_takes_away(profiled, largest, name, seconds_saved):
    device, profile = profiled(largest)
    assert profile.change.name == name
    expected = device.epoch / (device.epoch - seconds_saved)
    assert profile.change.gain.ratio == pytest.approx(expected, rel=0.05)


def test_in_a_short_time_there_is_a_verdict_all_the_same(keras):
    device = FakeDevice(keras, {"callbacks": LARGE})
    profile = device.profile(seconds=LARGE)
    assert profile.verdict == "callbacks"
    assert len(profile.epoch.samples) < 5
    assert profile.tried == ()
    assert set(profile.not_tried.values()) == {"the time was up"}


@pytest.mark.parametrize("part", ["memory", "overhead"])
def test_a_part_that_takes_longer_than_the_model_allows_is_not_named(keras, part):
    """A layer whose few weights, or whose launching, could not take that long computes."""
    device = FakeDevice(keras, {part: 100 * LARGE}, weights=10)
    assert device.profile(SECONDS * 50).verdict == "not told apart"


def test_where_one_step_takes_all_of_the_time_it_ends_after_a_dozen(keras):
    device = FakeDevice(keras, {"compute": SECONDS})
    assert device.profile().verdict == "not told apart"
    assert device.clock.now < 13 * SECONDS


def test_a_long_epoch_is_calculated_from_a_part_of_it(keras):
    device = FakeDevice(keras, {"overhead": LARGE, "validation": 0.0})
    profile = device.profile(steps=40 * STEPS)
    assert profile.verdict == "overhead"
    assert profile.epoch.median == pytest.approx(40 * device.epoch, rel=0.1)
    assert device.clock.now < 1.5 * SECONDS


@pytest.mark.parametrize(("epochs", "verdict"), [(2, "compilation"), (1000, "overhead")])
def test_a_compilation_is_weighed_against_the_whole_training(keras, epochs, verdict):
    compiling = 100 * LARGE
    device = FakeDevice(keras, {"overhead": LARGE}, compiling)
    profile = device.profile(epochs=epochs)
    training = compiling + epochs * device.epoch
    assert profile.verdict == verdict
    assert profile.compile_seconds == pytest.approx(compiling, rel=0.05)
    assert profile.shares["compilation"] == pytest.approx(compiling / training, abs=POINTS)
    assert profile.late_compilations == 0


@pytest.mark.parametrize("compiling", [0.0, 5 * SECONDS])
def test_time_fit_uses_its_seconds_and_times_also_what_compiles_for_longer(keras, compiling):
    device = FakeDevice(keras, {"overhead": LARGE}, compiling)
    data = device.data(20 * STEPS, SMALL)
    timed = time_fit(device.model(), data, seconds=SECONDS, clock=device.clock)
    step = sum(device.costs[part] for part in ("input", "compute", "memory", "overhead"))
    assert timed.epochs.median == pytest.approx(20 * STEPS * step, rel=0.05)
    assert len(timed.epochs.samples) >= 5
    used = device.clock.now - compiling
    least = 0 if compiling else 0.9 * SECONDS
    assert least < used < 1.5 * SECONDS


@pytest.mark.parametrize(("batches", "is_tried"), [(4, True), (100, False)])
def test_a_cache_is_tried_where_whole_epochs_fit(keras, batches, is_tried):
    tf = pytest.importorskip("tensorflow")
    device = FakeDevice(keras, {})

    def read(number):
        device.clock.advance(0.02)
        return np.ones((SAMPLES, 3), "float32")

    def pair(number):
        x = tf.ensure_shape(tf.numpy_function(read, [number], tf.float32), (SAMPLES, 3))
        return x, x[:, :1]

    data = tf.data.Dataset.range(batches).map(pair)
    profile = profile_fit(device.model, data, seconds=SECONDS, clock=device.clock)
    tried = {change.name: change.gain.verdict for change in profile.tried}
    assert profile.verdict == "input"
    assert tried.get(".cache()") == ("faster" if is_tried else None)
    assert (".cache()" in profile.not_tried) != is_tried


@pytest.mark.slow
def test_it_holds_on_jax_too(on_jax):
    on_jax("not on_jax", __file__)
