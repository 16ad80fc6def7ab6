"""Where the time of a ``fit`` goes: on a device whose every cost is known, with Keras's own fit."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from accel_helpers import profile_fit, time_fit
from accel_helpers.machine import backend

OF_A_STEP = ("compute", "memory", "overhead")
PARTS = ("input", "callbacks", "validation", *OF_A_STEP)
SLOW = [pytest.param(part, marks=pytest.mark.slow) for part in OF_A_STEP]
STEPS = 5  # of an epoch
SAMPLES = 8  # of a batch
WIDTH = 100  # of the layer
LARGE = 0.005  # seconds of a step: the part that is to be found
SMALL = 0.0005  # and each of the five others
POINTS = 0.05  # a share may be wrong by so much
SECONDS = 4  # on the fake clock
CASES = tomllib.loads(Path(__file__).with_name("profiles.toml").read_text())


class FakeDevice:
    """A training whose step costs so many seconds of a clock for each of its parts.

    The clock is moved by the data, by the callback, by the data of the validation, and by a layer:
    when a compiled step runs, and by `compiling` when a framework first traces it.
    """

    def __init__(self, keras, compiling=0.0, weights=2_000, **costs):
        self.keras = keras
        # a list, since several threads add to it
        self.ticks = []
        self.costs = dict.fromkeys(PARTS, SMALL) | costs
        self.compiling = compiling
        self.weights = weights  # of each unit
        self.layer = self._make_layer_class()

    def clock(self):
        return sum(self.ticks)

    def profile(self, seconds=SECONDS, **arguments):
        x = self.data(STEPS, self.costs["input"])
        validation = STEPS * self.costs["validation"]
        arguments["validation_data"] = self.data(4, validation / 4)
        arguments["callbacks"] = [self.callback()]
        return profile_fit(self.model, x, seconds=seconds, clock=self.clock, **arguments)

    @property
    def epoch(self):
        step = sum(self.costs.values())
        return STEPS * step

    def model(self):
        layers = self.keras.layers
        model = self.keras.Sequential()
        model.add(layers.Input((3,)))
        model.add(self.layer(WIDTH))
        model.add(layers.Dense(1))
        # on TensorFlow, XLA would not compile a call of Python; on JAX, this is what compiles
        is_jax = backend.framework() == "jax"
        model.compile("sgd", "mse", jit_compile=is_jax)
        return model

    def data(self, steps, seconds):
        """Batches that take so many seconds each."""
        ticks = self.ticks
        x = np.ones((SAMPLES, 3), "float32")
        y = x[:, :1]

        class Data(self.keras.utils.PyDataset):
            def __len__(self):
                return steps

            def __getitem__(self, index):
                ticks.append(seconds)
                return x, y

        return Data()

    def callback(self):
        def advance(batch, logs):
            self.ticks.append(self.costs["callbacks"])

        return self.keras.callbacks.LambdaCallback(on_train_batch_end=advance)

    def _make_layer_class(device):
        class Layer(device.keras.layers.Layer):
            def __init__(self, units, **settings):
                super().__init__(**settings)
                self.units = units

            def build(self, shape):
                count = device.weights * self.units
                self.add_weight(shape=(count,), trainable=False)

            def call(self, x, training=None):
                if not training:
                    return x
                device.ticks.append(device.compiling)
                costs = device.costs
                width = self.units / WIDTH
                seconds = costs["overhead"] + costs["memory"] * width
                seconds_per_sample = costs["compute"] * width / SAMPLES
                return x + device._zero_after(seconds, seconds_per_sample, x)

        return Layer

    def _zero_after(self, seconds, seconds_per_sample, x):
        """A zero that is ready when the clock has moved by what these samples take."""

        def advance(samples):
            self.ticks.append(seconds + seconds_per_sample * int(samples))
            return np.zeros((), "float32")

        samples, _ = self.keras.ops.shape(x)
        if backend.framework() == "jax":
            import jax

            number = jax.ShapeDtypeStruct((), "float32")
            return jax.pure_callback(advance, number, samples)
        import tensorflow as tf

        zero = tf.numpy_function(advance, [samples], tf.float32)
        zero.set_shape(())
        return zero


@pytest.mark.parametrize("part", [*PARTS[:3], *SLOW])
def test_each_part_has_the_share_that_it_costs(keras, part):
    device = FakeDevice(keras, **{part: LARGE})
    profile = device.profile()
    assert profile.verdict == part
    for name, seconds in device.costs.items():
        share = STEPS * seconds / device.epoch
        assert profile.shares[name] == pytest.approx(share, abs=POINTS), name
    assert profile.epoch.median == pytest.approx(device.epoch, rel=0.05)
    assert device.clock() < 1.2 * SECONDS, "about the seconds that were given"
    case = CASES["device"].get(part)
    if case:
        assert profile.change.name == case["change"]
        gain = profile.change.gain
        assert gain.ratio == pytest.approx(case["gain"], rel=0.05), "what it takes away"


def test_in_a_short_time_there_is_a_verdict_all_the_same(keras):
    device = FakeDevice(keras, callbacks=LARGE)
    profile = device.profile(seconds=LARGE)
    assert profile.verdict == "callbacks"
    assert profile.tried == ()
    for reason in profile.not_tried.values():
        assert reason == "the time was up"


def test_where_one_step_takes_all_of_the_time_it_ends_after_a_dozen(keras):
    device = FakeDevice(keras, compute=SECONDS)
    profile = device.profile()
    assert profile.verdict == "not told apart"
    assert device.clock() < 13 * SECONDS


@pytest.mark.slow
def test_a_part_that_takes_longer_than_the_model_allows_is_not_named(keras):
    """A layer whose few weights could not take that long to read computes."""
    device = FakeDevice(keras, weights=10, memory=100 * LARGE)
    profile = device.profile(SECONDS * 50)
    assert profile.verdict == "not told apart"


def test_a_compilation_is_weighed_against_the_whole_training(keras):
    compiling = 100 * LARGE
    device = FakeDevice(keras, compiling, overhead=LARGE)
    profile = device.profile(epochs=2)
    share = compiling / (compiling + 2 * device.epoch)
    assert profile.verdict == "compilation"
    assert profile.compile_seconds == pytest.approx(compiling, rel=0.05)
    assert profile.shares["compilation"] == pytest.approx(share, abs=POINTS)


@pytest.mark.parametrize("case", CASES["time_fit"])
def test_time_fit_times_whole_epochs_in_its_seconds(keras, case):
    """A long epoch, or validation, is timed in part; one that compiles for longer has its time."""
    device = FakeDevice(keras, case["compiling"], overhead=LARGE)
    model = device.model()
    x = device.data(case["steps"], SMALL)
    timed = time_fit(
        model,
        x,
        validation_data=device.data(100, case["validation"]),
        validation_freq=case["every"],
        seconds=SECONDS,
        clock=device.clock,
    )
    epochs = timed.epochs
    assert epochs.median == pytest.approx(case["epoch"], rel=0.1)
    assert len(epochs.samples) >= 5
    least, most = case["used"]
    assert least < device.clock() < most


@pytest.mark.slow
def test_it_holds_on_jax_too(on_jax):
    on_jax("not on_jax", __file__)
