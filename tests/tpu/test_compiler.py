"""Asking for a compiled step, of child processes that are quick; test_programs.py asks libtpu."""

import numpy as np
import pytest

from accel_helpers.tpu import compiler, environment

# What a child does -> the seconds that it has, how its answer goes on.
CHILDREN = {
    "time.sleep(60)": (1, "give seconds= more"),
    "": (60, "there"),
    "os.abort()": (60, "SIGABRT"),
    "bytearray(10**9)": (60, "give memory= more"),
}
ANSWER = """
import os, pathlib, shutil, sys, time
folder = pathlib.Path(sys.argv[1])
assert (folder / "model.json").exists()
shutil.copy(folder / "job.json", folder / "answer.json")
"""


def compiled(keras, *layers, loss="mse"):
    model = keras.Sequential(layers or [keras.Input((8,)), keras.layers.Dense(5)])
    model.compile("adam", loss)
    return model


def test_the_child_is_told_what_to_compile_within_which_limits(keras, monkeypatch):
    asked = {}

    def ask(model, job, *limits):
        asked.update(job)
        assert limits == (7.0, 8e9)
        return {"verdict": "fits"}

    monkeypatch.setattr(compiler, "ask", ask)
    model = compiled(keras)
    answer = compiler.compile_training_step(model, 64, "v6e", chips=8, seconds=7.0, memory=8e9)
    assert asked.pop("batch") == ["float32 8", "float32 5"]
    assert asked == {"batch_size": 64, "chip": "v6e", "chips": 8, "memory": 33_554_432_000}
    assert asked.items() <= vars(answer).items()
    assert answer.policy == "float32"
    assert answer.flops == 2 * 2 * 64 * 8 * 5, "forward, and the weights' gradients"


def test_a_child_that_hangs_dies_or_fills_its_memory_says_so_and_what_it_found_out_stands(
    keras, monkeypatch, tmp_path
):
    monkeypatch.setenv("ACCEL_TPU_COMPILER", str(tmp_path))
    answer = compiler.compile_training_step(compiled(keras), 8)
    assert answer.verdict == "unavailable"
    assert "accel_helpers tpu install" in answer.why

    environment.status().folder.mkdir()
    script = tmp_path / "child.py"
    model = compiled(keras)
    job = {"why": "there", "needed": 2**40}
    for code, (seconds, words) in CHILDREN.items():
        script.write_text(ANSWER + code)
        answer = compiler.ask(model, job, seconds, 1e8, str(script))
        assert words in answer["why"]
    assert answer["needed"] == 2**40


def test_the_largest_power_of_two_that_fits_is_found_by_halving(monkeypatch):
    def fits_up_to_300(model, job):
        return {"verdict": "fits" if job["batch_size"] <= 300 else "too large"}

    monkeypatch.setattr(compiler.child, "_compile", fits_up_to_300)
    found = {"largest_batch": 256, "tried": "512 too large, 256 fits"}
    assert compiler.child.smaller(None, {"batch_size": 3000, "chips": 4}) == found


def test_a_layer_of_text_is_refused_however_deep(keras):
    hashing = keras.layers.Hashing(4, name="words")
    words = keras.Sequential([hashing])
    text = keras.Input((1,), dtype="string")
    embedding = keras.layers.Embedding(4, 1)
    model = compiled(keras, text, words, embedding)
    answer = compiler.compile_training_step(model, 8)
    assert answer.verdict == "refused"
    assert "'words'" in answer.why


def test_a_batch_is_read_off_the_model_and_its_loss_or_else_off_a_sample(keras):
    sparse = keras.losses.SparseCategoricalCrossentropy(name="own")
    squares = keras.losses.MeanSquaredError()
    targets = {"sparse_categorical_crossentropy": "int32", sparse: "int32", squares: "float32 5"}
    for loss, expected in targets.items():
        model = compiled(keras, loss=loss)
        assert compiler.described_batch(model) == ["float32 8", expected]
    dense = keras.layers.Dense(3)
    tagger = compiled(keras, keras.Input((7, 4)), dense, loss=sparse)
    _, labels = compiler.described_batch(tagger)
    assert labels == "int32 7", "a label for every step of a sequence"

    open_length = compiled(keras, keras.Input((None, 4)), keras.layers.LSTM(3))
    own_loss = compiled(keras, loss=lambda y, prediction: prediction)
    no_input = compiled(keras, keras.layers.Dense(3))
    for model in (open_length, own_loss, no_input):
        with pytest.raises(ValueError, match=r"sample=\(x\[:1\], y\[:1\]\)"):
            compiler.described_batch(model)
    sample = np.ones((1, 7, 4)), np.ones(1, "int64")
    assert compiler.described_batch(open_length, sample) == ["float32 7 4", "int64"]


def test_a_batch_that_the_chips_cannot_share_is_refused(keras):
    model = compiled(keras)
    with pytest.raises(ValueError, match=r"multiple of 4.* 30"):
        compiler.compile_training_step(model, 30, chips=4)
