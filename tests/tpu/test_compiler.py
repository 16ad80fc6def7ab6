"""Asking for a compiled step, of a child process that is made up; test_programs.py asks libtpu."""

import json
from pathlib import Path

import numpy as np
import pytest

from accel_helpers._values import probe
from accel_helpers._values.probe import Outcome
from accel_helpers.tpu import compiler as tpu_compiler
from accel_helpers.tpu.environment import Environment

SAMPLE = r"sample=\(x\[:1\], y\[:1\]\)"


class Child:
    """Stands for the child process: notes what it is told, and gives its answer."""

    def __init__(self):
        self.kind, self.answer = "finished", {"verdict": "fits", "peak_memory": 4000}

    def __call__(self, command, *, environ, seconds, memory):
        folder = Path(command[-1])
        assert (folder / "model.json").exists()
        self.job = json.loads((folder / "job.json").read_text())
        self.limits, self.folder = (seconds, memory), folder
        if self.answer:
            (folder / "answer.json").write_text(json.dumps(self.answer))
        return Outcome(self.kind)


@pytest.fixture
def child(monkeypatch):
    made_up = Child()
    monkeypatch.setattr(probe, "run_command", made_up)
    monkeypatch.setattr(tpu_compiler.environment, "status", lambda: Environment(Path("there")))
    return made_up


def dense(keras, loss="mse", layers=None):
    model = keras.Sequential(layers or [keras.Input((8,)), keras.layers.Dense(5)])
    model.compile("adam", loss)
    return model


def test_the_child_is_told_what_to_compile_within_which_limits_and_its_answer_is_read(keras, child):
    model = dense(keras)
    answer = tpu_compiler.compile_training_step(model, 64, "v6e", chips=8, seconds=7.0, memory=8e9)
    assert child.limits == (7.0, 8e9)
    assert child.job == {
        "batch_size": 64, "batch": ["float32 8", "float32 5"], "chip": "v6e", "chips": 8,
        "memory": int(31.25 * 2**30),
    }  # fmt: skip
    assert not child.folder.exists()
    asked = (answer.name, answer.batch_size, answer.chip, answer.chips, answer.policy)
    assert asked == (model.name, 64, "v6e", 8, "float32")
    assert (answer.verdict, answer.peak_memory) == ("fits", 4000)
    assert answer.flops == 2 * 2 * 64 * 8 * 5, "forward, and the weights' gradients"


def test_a_process_that_is_stopped_is_no_judgement_of_the_model(keras, child):
    child.kind, child.answer = "too slow", None
    answer = tpu_compiler.compile_training_step(dense(keras), 8)
    assert (answer.verdict, "give seconds= more" in answer.why) == ("unavailable", True)
    child.kind, child.answer = "too large", {"verdict": "too large", "needed": 2**40}
    answer = tpu_compiler.compile_training_step(dense(keras), 8)
    assert (answer.verdict, "give memory= more" in answer.why) == ("too large", True)
    assert answer.largest_batch is None, "what was found out before stands"


def test_the_largest_power_of_two_that_fits_is_found_by_halving(monkeypatch):
    def compiled(model, job):
        return {"verdict": "fits" if job["batch_size"] <= 300 else "too large"}

    monkeypatch.setattr(tpu_compiler.child, "_compile", compiled)
    found = {"largest_batch": 256, "tried": "512 too large, 256 fits"}
    assert tpu_compiler.child.smaller(None, {"batch_size": 3000, "chips": 4}) == found
    none = tpu_compiler.child.smaller(None, {"batch_size": 1024, "chips": 512})
    assert none["largest_batch"] == 0


def test_where_it_is_not_installed_the_answer_says_how(keras, monkeypatch, tmp_path):
    monkeypatch.setenv("ACCEL_TPU_COMPILER", str(tmp_path))
    answer = tpu_compiler.compile_training_step(dense(keras), 8)
    assert answer.verdict == "unavailable"
    assert "accel_helpers tpu install" in answer.why


def test_a_layer_of_text_is_refused_however_deep(keras, child):
    words = keras.Input((1,), dtype="string")
    found = keras.Sequential([keras.layers.Hashing(4, name="words")])(words)
    model = keras.Model(words, keras.layers.Embedding(4, 1)(found))
    model.compile("sgd", "mse")
    answer = tpu_compiler.compile_training_step(model, 8)
    assert (answer.verdict, "'words'" in answer.why) == ("refused", True)


def test_a_batch_is_read_off_the_model_and_its_loss(keras):
    named = keras.losses.SparseCategoricalCrossentropy(name="own")
    targets = {
        "sparse_categorical_crossentropy": "int32", named: "int32",
        "categorical_crossentropy": "float32 5", keras.losses.MeanSquaredError(): "float32 5",
    }  # fmt: skip
    for loss, expected in targets.items():
        assert tpu_compiler.batch_of(dense(keras, loss)) == ["float32 8", expected]


def test_what_cannot_be_read_off_asks_for_a_sample(keras):
    def own(y, prediction):
        return prediction

    make, inputs = keras.layers, keras.Input((4,))
    open_length = dense(keras, layers=[keras.Input((None, 4)), make.LSTM(3)])
    two = keras.Model(inputs, [make.Dense(1, name="a")(inputs), make.Dense(1, name="b")(inputs)])
    two.compile("sgd", "mse")
    for model in (open_length, two, dense(keras, own), dense(keras, layers=[make.Dense(3)])):
        with pytest.raises(ValueError, match=SAMPLE):
            tpu_compiler.compile_training_step(model, 8)
    sample = np.ones((1, 7, 4), "float64"), np.ones((1,), "int64")
    in_fit = ["float32 7 4", "int64"]
    assert tpu_compiler.batch_of(open_length, sample) == in_fit


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"chips": 2}, r"\[1, 4, 8\]; got 'v5e' and 2"),
        ({"batch_size": 32.0}, "batch_size .*; got 32.0"),
        ({"batch_size": 30, "chips": 4}, "multiple of 4.* 30"),
        ({"model": object()}, "compiled Keras model.*object"),
    ],
)
def test_what_was_given_wrongly_is_named(keras, options, words):
    given = {"model": dense(keras), "batch_size": 32} | options
    with pytest.raises(ValueError, match=words):
        tpu_compiler.compile_training_step(**given)
