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


@pytest.mark.parametrize(
    ("name", "chip", "chips"),
    [("quickstart", "v5e", 1), ("quickstart", "v6e", 1), ("quickstart-8-chips", "v5e", 8)],
)
def test_the_quickstart_needs_what_is_stored(keras, name, chip, chips):
    answer = compile_training_step(quickstart_model(), 32, chip, chips=chips)
    stored = stored_step(name, chip)
    assert answer.verdict == "fits"
    assert answer.flops == stored.flops
    assert answer.peak_memory == stored.peak_memory
    assert ("between chips" in str(answer)) == (chips > 1)


def test_a_model_of_two_inputs_and_number_formats_compiles(keras):
    make, left, right = keras.layers, keras.Input((8,)), keras.Input((20, 8))
    measured = make.Normalization(mean=1.0, variance=2.0)(left)
    last = make.LSTM(4, dropout=0.1)(right)
    joined = make.Concatenate()([measured, last])
    out = make.Dense(3, dtype="mixed_bfloat16")(joined)
    model = keras.Model([left, right], out)
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
    scaled = Scaled()(inputs)
    model = keras.Model(inputs, keras.layers.Dense(3)(scaled))
    model.compile("adam", own_loss)
    y = np.ones((1, 3))
    answer = compile_training_step(model, 16, sample=(y, y))
    assert (answer.verdict, answer.why) == ("fits", "")
    answer = compile_training_step(model, 16, sample=(y, y[:, 1:]))
    assert answer.verdict == "unavailable"
    assert "cannot be compiled: " in answer.why


def test_a_step_that_is_too_large_has_figures_and_the_batch_that_fits(keras):
    dense = keras.layers.Dense
    wide = dense(4096, "relu"), dense(4096, "relu")
    model = keras.Sequential([keras.Input((8,)), *wide, dense(1)])
    model.compile("sgd", "mse")
    answer = compile_training_step(model, 2**20)
    assert answer.verdict == "too large"
    assert answer.needed > 16 * 2**30
    assert "f32[1048576,4096]" in dict(answer.more)["largest array"]
    assert answer.largest_batch == 2**18


def test_two_billion_weights_are_too_many_and_take_no_room(keras):
    with keras.StatelessScope(initialize_variables=False):
        model = keras.Sequential([keras.Input((2**14,))])
        for _ in range(8):
            model.add(keras.layers.Dense(2**14))
    model.compile("adam", "mse")
    answer = compile_training_step(model, 1024, memory=3e9)
    assert answer.needed > 3 * 4 * model.count_params(), "weights, and two numbers of Adam's"
    assert answer.at_least
    assert answer.largest_batch == 0


def test_when_the_learners_process_is_killed_the_child_and_its_folder_go(tmp_path):
    def child_runs():
        running = [process.info for process in psutil.process_iter(["cmdline"])]
        return f"{tmp_path}/accel-tpu-" in str(running)

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
