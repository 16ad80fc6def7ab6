"""Whole models through the real compiler for TPUs. No TPU is used."""

import subprocess
import sys
import tempfile
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


@pytest.fixture
def own(keras):
    """A model with classes and a loss of one's own, which says no shapes."""

    @keras.saving.register_keras_serializable("tests")
    class Scaled(keras.layers.Layer):
        def __init__(self, factor, **options):
            super().__init__(**options)
            self.factor = keras.Variable(factor)  # of a number, and not of a shape

        def call(self, x):
            if x.shape[-1] == 13:
                raise RuntimeError("my own error")
            return self.factor * x

    @keras.saving.register_keras_serializable("tests")
    class Subclass(keras.Model):
        def __init__(self, **options):
            super().__init__(**options)
            self.parts = [Scaled(2.0), keras.layers.Dense(3)]

        def call(self, x):
            for part in self.parts:
                x = part(x)
            return x

    @keras.saving.register_keras_serializable("tests")
    def own_loss(y, prediction):
        return keras.ops.mean(keras.ops.square(y - prediction), axis=-1)

    model = Subclass()
    model.compile("adam", own_loss)
    return model


def test_models_of_others_shapes_compile_or_say_why_not(keras, own):
    make = keras.layers
    left, right = keras.Input((8,), name="left"), keras.Input((20, 8), name="right")
    measured = make.Normalization(mean=1.0, variance=2.0)(left)
    parts = [measured, make.Dropout(0.1)(make.LSTM(4)(right))]
    out = make.Dense(3, dtype="mixed_bfloat16")(make.Concatenate()(parts))
    two_inputs = keras.Model([left, right], out)
    two_inputs.compile("adam", "mse", metrics=["mae"], run_eagerly=True)
    answer = compile_training_step(two_inputs, 16)
    assert (answer.verdict, answer.why) == ("fits", "")
    assert answer.policy == "float32 and mixed_bfloat16"
    answer = compile_training_step(own, 16, sample=(np.ones((1, 8)), np.ones((1, 3))))
    assert (answer.verdict, answer.why) == ("fits", "")
    answer = compile_training_step(own, 16, sample=(np.ones((1, 13)), np.ones((1, 3))))
    assert (answer.verdict, "my own error" in answer.why) == ("unavailable", True)


def test_a_step_that_is_too_large_has_figures_and_the_batch_that_fits(keras):
    make = keras.layers
    wide = [make.Dense(4096, activation="relu") for _ in range(2)]
    model = keras.Sequential([keras.Input((8,)), *wide, make.Dense(1)])
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


def running(word):
    """Processes with this word in their command."""
    processes = psutil.process_iter(["cmdline"])
    return [process for process in processes if word in str(process.info["cmdline"])]


def wait_until(condition, seconds=120):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"seconds": 0.5}, "give seconds= more"),
        ({"memory": 5e7}, "needed more than 50 MB of memory; give memory= more"),
    ],
)
def test_a_child_that_is_stopped_gives_a_sentence_and_leaves_nothing(
    keras, tmp_path, monkeypatch, limits, words
):
    model = quickstart_model()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    answer = compile_training_step(model, 32, **limits)
    assert (answer.verdict, words in answer.why) == ("unavailable", True)
    assert not list(tmp_path.glob("accel-tpu-*"))
    assert running(str(tmp_path)) == []


def test_when_the_learners_process_is_killed_the_child_and_its_folder_go(tmp_path):
    parent = subprocess.Popen([sys.executable, "-c", ASK, str(tmp_path)])
    try:
        folder = str(wait_until(lambda: [*tmp_path.glob("accel-tpu-*")])[0])
        wait_until(lambda: running(folder))
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: not running(folder))
    assert not list(tmp_path.glob("accel-tpu-*"))


@pytest.mark.night
def test_all_of_this_holds_on_jax(on_jax):
    on_jax("not holds_on_jax", __file__)
