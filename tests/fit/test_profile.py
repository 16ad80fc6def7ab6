"""Where the time of a ``fit`` goes: on a device whose every cost is known, with Keras's own fit."""

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
        arguments["callbacks"] = [self.callback()]
        arguments["validation_data"] = self.data(4, STEPS / 4 * self.costs["validation"])
        return profile_fit(self.model, x, seconds=seconds, clock=self.clock, **arguments)

    @property
    def epoch(self):
        return STEPS * sum(self.costs.values())

    def model(self):
        keras = self.keras
        model = keras.Sequential([keras.Input((3,)), self.layer(WIDTH), keras.layers.Dense(1)])
        # on TensorFlow, XLA would not compile a call of Python; on JAX, this is what compiles
        model.compile("sgd", "mse", jit_compile=backend.framework() == "jax")
        return model

    def data(self, steps, seconds):
        """Batches that take so many seconds each."""
        ticks = self.ticks

        class Data(self.keras.utils.PyDataset):
            def __len__(self):
                return steps

            def __getitem__(self, index):
                ticks.append(seconds)
                return np.ones((SAMPLES, 3), "float32"), np.ones((SAMPLES, 1), "float32")

        return Data()

    def callback(self):
        seconds = self.costs["callbacks"]
        after = self.keras.callbacks.LambdaCallback
        return after(on_train_batch_end=lambda batch, logs: self.ticks.append(seconds))

    def _make_layer_class(device):
        class Layer(device.keras.layers.Layer):
            def __init__(self, units, **settings):
                super().__init__(**settings)
                self.units = units

            def get_config(self):
                return {**super().get_config(), "units": self.units}

            def build(self, shape):
                self.add_weight(shape=(device.weights * self.units,), trainable=False)

            def compute_output_shape(self, shape):
                return shape

            def call(self, x, training=None):
                if not training:
                    return x
                device.ticks.append(device.compiling)
                costs = device.costs
                width = self.units / WIDTH
                seconds = costs["overhead"] + costs["memory"] * width
                return x + device._zero_after(seconds, costs["compute"] * width / SAMPLES, x)

        return Layer

    def _zero_after(self, seconds, seconds_per_sample, x):
        """A zero that is ready when the clock has moved by what these samples take."""

        def advance(samples):
            self.ticks.append(seconds + seconds_per_sample * int(samples))
            return np.zeros((), "float32")

        samples = self.keras.ops.shape(x)[0]
        if backend.framework() == "jax":
            import jax

            return jax.pure_callback(advance, jax.ShapeDtypeStruct((), "float32"), samples)
        import tensorflow as tf

        zero = tf.numpy_function(advance, [samples], tf.float32)
        zero.set_shape(())
        return zero


@pytest.mark.parametrize(
    ("largest", "change", "saved"),
    [
        ("input", "", 0),
        *(
            pytest.param(part, "", 0, marks=pytest.mark.slow)
            for part in ("compute", "memory", "overhead")
        ),
        ("callbacks", "without LambdaCallback", 1),
        ("validation", "validation_freq=5", 4 / 5),
    ],
)
def test_each_part_has_the_share_that_it_costs(keras, largest, change, saved):
    device = FakeDevice(keras, **{largest: LARGE})
    profile = device.profile()
    assert profile.verdict == largest
    for part, seconds in device.costs.items():
        share = STEPS * seconds / device.epoch
        assert profile.shares[part] == pytest.approx(share, abs=POINTS), part
    assert sum(profile.parts.shares.values()) <= 1.001, "no more than an epoch"
    assert profile.epoch.median == pytest.approx(device.epoch, rel=0.05)
    assert device.clock() < 1.2 * SECONDS, "about the seconds that were given"
    if change:
        assert profile.change.name == change
        gain = device.epoch / (device.epoch - saved * STEPS * LARGE)
        assert profile.change.gain.ratio == pytest.approx(gain, rel=0.05), "what it takes away"


def test_in_a_short_time_there_is_a_verdict_all_the_same(keras):
    profile = FakeDevice(keras, callbacks=LARGE).profile(seconds=LARGE)
    assert profile.verdict == "callbacks"
    assert profile.tried == ()
    assert set(profile.not_tried.values()) == {"the time was up"}


def test_where_one_step_takes_all_of_the_time_it_ends_after_a_dozen(keras):
    device = FakeDevice(keras, compute=SECONDS)
    assert device.profile().verdict == "not told apart"
    assert device.clock() < 13 * SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("part", ["memory", "overhead"])
def test_a_part_that_takes_longer_than_the_model_allows_is_not_named(keras, part):
    """A layer whose few weights, or whose launching, could not take that long computes."""
    device = FakeDevice(keras, weights=10, **{part: 100 * LARGE})
    assert device.profile(SECONDS * 50).verdict == "not told apart"


def test_a_compilation_is_weighed_against_the_whole_training(keras):
    compiling = 100 * LARGE
    device = FakeDevice(keras, compiling, overhead=LARGE)
    profile = device.profile(epochs=2)
    share = compiling / (compiling + 2 * device.epoch)
    assert profile.verdict == "compilation"
    assert profile.compile_seconds == pytest.approx(compiling, rel=0.05)
    assert profile.shares["compilation"] == pytest.approx(share, abs=POINTS)
    assert profile.late_compilations == 0


@pytest.mark.parametrize(
    ("steps", "compiling", "validation", "every"),
    [(100, 0.0, 0.0, 1), (100, 5 * SECONDS, 0.0, 1), (400, 0.0, 0.01, 1), (400, 0.0, 0.01, 5)],
)
def test_time_fit_times_whole_epochs_in_its_seconds(keras, steps, compiling, validation, every):
    """A long epoch, or validation, is timed in part; one that compiles for longer has its time."""
    device = FakeDevice(keras, compiling, overhead=LARGE)
    timed = time_fit(
        device.model(),
        device.data(steps, SMALL),
        validation_data=device.data(100, validation),
        validation_freq=every,
        seconds=SECONDS,
        clock=device.clock,
    )
    epoch = steps * (LARGE + 3 * SMALL) + 100 * validation / every
    assert timed.epochs.median == pytest.approx(epoch, rel=0.05)
    assert len(timed.epochs.samples) >= 5
    used = device.clock() - compiling
    least = 0 if compiling else 0.9 * SECONDS
    assert least < used < 1.5 * SECONDS


@pytest.mark.slow
def test_it_holds_on_jax_too(on_jax):
    on_jax("not on_jax", __file__)
