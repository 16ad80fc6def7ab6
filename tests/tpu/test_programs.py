"""Whole models through the real compiler for TPUs. No TPU is used."""

import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

from accel_helpers.course.quickstart import quickstart_model
from accel_helpers.course.stored_steps import stored_step
from accel_helpers.tpu.compiler import compile_training_step

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.usefixtures("tpu_environment"),
]
ASK = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from accel_helpers.course import quickstart
from accel_helpers.tpu import compiler
compiler.compile_training_step(quickstart.quickstart_model(), 32)
"""


@pytest.mark.parametrize(("chip", "chips"), [("v5e", 1), ("v6e", 1), ("v5e", 8)])
def test_the_quickstart_needs_what_is_stored(keras, chip, chips):
    answer = compile_training_step(quickstart_model(), 32, chip, chips=chips)
    stored = stored_step("quickstart" if chips == 1 else f"quickstart-{chips}-chips", chip)
    assert answer.verdict == "fits"
    assert (answer.flops, answer.peak_memory) == (stored.flops, stored.peak_memory)
    assert ("between chips" in dict(answer.more)) == (chips > 1)


def test_a_model_of_two_inputs_and_number_formats_compiles(keras):
    make, left, right = keras.layers, keras.Input((8,)), keras.Input((20, 8))
    measured = make.Normalization(mean=1.0, variance=2.0)(left)
    joined = make.Concatenate()([measured, make.Dropout(0.1)(make.LSTM(4)(right))])
    model = keras.Model([left, right], make.Dense(3, dtype="mixed_bfloat16")(joined))
    model.compile("adam", "mse", metrics=["mae"], run_eagerly=True)
    answer = compile_training_step(model, 16)
    assert (answer.verdict, answer.why) == ("fits", "")
    assert answer.policy == "float32 and mixed_bfloat16"


def test_a_model_of_ones_own_layer_and_loss_compiles_or_says_why_not(keras):
    @keras.saving.register_keras_serializable("tests")
    class Scaled(keras.layers.Layer):
        def __init__(self, **options):
            super().__init__(**options)
            self.factor = keras.Variable(2.0)  # of a number, and not of a shape

        def call(self, x):
            return self.factor * x

    @keras.saving.register_keras_serializable("tests")
    def own_loss(y, prediction):
        return keras.ops.mean(y - prediction, axis=-1)

    inputs = keras.Input((3,))
    model = keras.Model(inputs, keras.layers.Dense(3)(Scaled()(inputs)))
    model.compile("adam", own_loss)
    y = np.ones((1, 3))
    answer = compile_training_step(model, 16, sample=(y, y))
    assert (answer.verdict, answer.why) == ("fits", "")
    answer = compile_training_step(model, 16, sample=(y, y[:, 1:]))
    assert answer.verdict == "unavailable"
    assert "cannot be compiled: " in answer.why


def test_a_step_that_is_too_large_has_figures_and_the_batch_that_fits(keras):
    wide = [keras.layers.Dense(4096, activation="relu") for _ in range(2)]
    model = keras.Sequential([keras.Input((8,)), *wide, keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    answer = compile_training_step(model, 2**20)
    assert (answer.verdict, answer.largest_batch) == ("too large", 2**18)
    assert answer.needed > 16 * 2**30
    assert "f32[1048576,4096]" in dict(answer.more)["largest array"]
    assert answer.tried.endswith(f"{2**18} fits")


def test_two_billion_weights_are_too_many_and_take_no_room(keras):
    with keras.StatelessScope(initialize_variables=False):
        layers = [keras.layers.Dense(2**14) for _ in range(8)]
        model = keras.Sequential([keras.Input((2**14,)), *layers])
    model.compile("adam", "mse")
    answer = compile_training_step(model, 1024, memory=3e9)
    assert answer.needed > 3 * 4 * model.count_params(), "weights, and two numbers of Adam's"
    assert (answer.at_least, answer.largest_batch) == (True, 0)


def test_when_the_learners_process_is_killed_the_child_and_its_folder_go(tmp_path):
    def child_runs():
        commands = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
        return f"{tmp_path}/accel-tpu-" in str(commands)

    # The test's own time limit ends a wait in vain.
    parent = subprocess.Popen([sys.executable, "-c", ASK, str(tmp_path)])
    while not child_runs():
        assert parent.poll() is None
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    while child_runs():
        time.sleep(0.02)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.night
def test_all_of_this_holds_on_jax(on_jax):
    on_jax("not holds_on_jax", __file__)
