"""The same training with several numbers of replicas, each in a process of its own."""

import json
import os
import subprocess

import pytest

from accel_helpers import probe
from accel_helpers.lessons.lesson_09 import same_loss
from accel_helpers.lessons.replicas import train_each
from accel_helpers.machine import strategy

SMALL = {"global_batch": 32, "epochs": 3}


def children():
    """The processes that train for this one."""
    listed = subprocess.run(["ps", "-wweo", "ppid,args"], capture_output=True, text=True).stdout
    rows = [line.split(None, 1) for line in listed.splitlines()[1:]]
    return [args for parent, args in rows if parent == str(os.getpid()) and "train.rep" in args]


def answer(code, **environ):
    done = probe.run(code, seconds=280, environ=environ)
    assert done.kind == "finished", done.output
    return json.loads(probe.last_line(done.output))


EACH = """
import json, accel_helpers as ah
from accel_helpers.lessons.replicas import train_each
ah.backend.choose()
runs = train_each((1, 2), global_batch=32, epochs=3)
print(json.dumps([[run.name, run.note, run.losses, len(run.epoch.samples)] for run in runs]))
"""


@pytest.mark.parametrize("framework", ["tensorflow", pytest.param("jax", marks=pytest.mark.slow)])
def test_every_number_of_replicas_has_the_same_loss_on_what_keras_runs_on_here(framework):
    names, notes, losses, samples = zip(*answer(EACH, KERAS_BACKEND=framework), strict=True)
    assert names == ("1 replica", "2 replicas") and samples == (2, 2)
    assert "CPU" in notes[0] and "2 virtual replicas" in notes[1]
    assert all(f"on {strategy.SPOKEN[framework]}" in " ".join(note.split()) for note in notes)
    assert all(len(each) == 3 and each[-1] < each[0] for each in losses)
    # far closer than the stated tolerance, so that the tolerance is not what makes it pass
    assert same_loss(dict(zip(names, losses, strict=True)), tolerance=1e-5) == "the same"


def test_a_training_that_takes_too_long_is_ended_and_leaves_nothing_behind():
    runs = train_each((1, 2), **SMALL, time_limit=0.5)
    assert children() == []
    for run in runs:
        assert run.losses == () and run.epoch is None and "0.5 s" in run.note
        assert "no result" in str(run)


def test_a_training_that_fails_says_so_in_a_sentence_and_the_others_go_on():
    """17 replicas are one more than a strategy takes: that child fails, for real."""
    good, bad = train_each((1, 17), global_batch=34, epochs=2)
    assert len(good.losses) == 2 and str(good).startswith("1 replica: loss")
    assert len(good.epoch.samples) == 1 and good.epoch.first_call is not None
    assert children() == []
    assert bad.losses == () and bad.epoch is None and "ValueError: replicas must be" in bad.note
    assert "Traceback" not in str(bad) and "\n" not in str(bad)


@pytest.mark.slow
def test_a_child_ends_by_itself_when_its_parent_is_gone():
    """As when a kernel is killed: nobody is left to end the child."""
    code = """
import os, sys
from accel_helpers.lessons import replicas
sys.stdin = open(os.devnull)  # its input has ended already
replicas.child('1', '32')
"""
    assert "JAX" in answer(code, KERAS_BACKEND="jax", JAX_PLATFORMS="cpu")


UNEVEN = """
import json
import numpy as np
import accel_helpers as ah
with ah.strategy.pick(replicas=4, root="/nowhere").scope():
    import keras
    images = ah.training.load_images(50, source="bundled")
    x, y = (images.x_train / 255).astype("float32"), images.y_train
    after = []
    for count in (44, 50):  # one full step, and one more of six pictures
        keras.utils.set_random_seed(0)
        model = keras.Sequential(
            [keras.Input((28, 28)), keras.layers.Flatten(), keras.layers.Dense(10)]
        )
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer=keras.optimizers.SGD(0.1), loss=loss)
        model.fit(x[:count], y[:count], batch_size=44, shuffle=False, verbose=0)
        after.append(model.get_weights())
(w, b), (w_last, _) = after
gradients = []
for image, digit in zip(x[44:].reshape(6, -1).astype("float64"), y[44:]):
    chances = np.exp(image @ w + b)
    chances /= chances.sum()
    chances[digit] -= 1
    gradients.append(np.outer(image, chances))
whole = -0.1 * np.mean(gradients, axis=0)
print(json.dumps([float(np.abs(w_last - w - share * whole).max()) for share in (1, 0.75)]))
"""


@pytest.mark.slow
def test_keras_on_tensorflow_averages_uneven_replicas_as_lesson_04_says():
    """Six pictures over four replicas: the step is three quarters of what it should be."""
    off_the_whole, off_three_quarters = answer(
        UNEVEN, KERAS_BACKEND="tensorflow", CUDA_VISIBLE_DEVICES="-1"
    )
    assert off_three_quarters < 1e-6 < 1e-3 < off_the_whole
