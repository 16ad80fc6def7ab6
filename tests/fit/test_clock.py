"""The one clock of a training: turns, the end of an epoch, and Keras's own fit on a real clock."""

from functools import partial
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from accel_helpers.fit.clock import take_turns
from accel_helpers.fit.time_fit import time_fit
from accel_helpers.fit.watch import epoch_watch, goes_on

X, Y = np.ones((320, 4), "float32"), np.ones((320, 2), "float32")


class Late:
    """An array of a device that has taken its orders and is done with them at second 5."""

    __module__ = "jax.fake"  # by which it is told that it is waited for
    now = 0.0

    def block_until_ready(self):
        self.now = 5.0
        return self


class LateWeight(SimpleNamespace):
    """A variable of Keras's, whose value is such an array."""

    __module__ = "keras.fake"  # by which it is told that it is one


@pytest.mark.usefixtures("keras")
def test_an_epoch_ends_when_the_device_is_done_with_it():
    array = Late()
    watch = epoch_watch(lambda: array.now, warm_steps=1)
    watch.set_model(SimpleNamespace(weights=[LateWeight(value=array)], stop_training=False))
    watch.on_epoch_begin(0)
    watch.on_train_batch_begin(0)
    watch.on_epoch_end(0)
    (epoch,) = watch.epochs
    assert epoch.steps_over == 5.0


def test_the_turns_go_there_and_back():
    taken = []
    trainings = {name: SimpleNamespace(turn=partial(taken.append, name)) for name in "abc"}
    turns = take_turns(trainings, lambda turns: len(taken) > 8)
    assert "".join(taken) == "abccbaabc"
    assert turns == dict.fromkeys("abc", [None] * 3)


@pytest.fixture
def model(keras):
    dense = keras.layers.Dense(2)
    model = keras.Sequential([keras.Input((4,)), dense])
    is_jax = keras.config.backend() == "jax"
    model.compile("adam", "mse", jit_compile=is_jax)
    return model


@pytest.mark.parametrize(("batch_size", "steps", "group"), [(300, 2, 1), (160, 2, 16)])
def test_a_real_fit_is_timed(model, batch_size, steps, group):
    model.steps_per_execution = group
    timed = time_fit(model, X, Y, batch_size=batch_size, seconds=0.5)
    assert timed.steps_per_epoch == steps
    assert 0 < timed.epochs.median < timed.epochs.first_call, "the first one compiles"
    # on JAX a training that was ended within an epoch may leave a model that is deleted
    loss = model.evaluate(X, Y, verbose=0)
    assert np.isfinite(loss)


def test_a_callback_that_would_stop_a_training_does_not(keras, model):
    stops = keras.callbacks.EarlyStopping("loss", patience=0, min_delta=1e9)
    watch = epoch_watch(count().__next__)
    model.fit(X, Y, epochs=5, verbose=0, callbacks=[watch, stops, goes_on(watch)])
    assert len(watch.epochs) == 5


def test_an_epoch_of_unknown_length_is_timed_where_it_ends(model):
    def batches(number=9):
        return ((X[:32], Y[:32]) for _ in range(number))

    # each look at this clock takes a second of it
    in_looks = partial(time_fit, model, seconds=300, clock=count().__next__)
    assert in_looks(batches).steps_per_epoch == 9
    with pytest.raises(ValueError, match="steps_per_epoch"):
        in_looks(lambda: batches(10**9))
