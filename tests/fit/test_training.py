"""What somebody hands to `profile_fit`: what is refused, and what is left as it was."""

import time

import numpy as np
import pytest

from accel_helpers import profile_fit
from accel_helpers.fit.checked import checked, said_where_it_does_not_fit
from accel_helpers.fit.watch import epoch_watch, goes_on

X, Y = np.ones((100, 3), "float32"), np.ones((100, 1), "float32")
X.flags.writeable = Y.flags.writeable = False


def batches():
    for start in range(0, 96, 32):
        yield X[start : start + 32], Y[start : start + 32]


@pytest.fixture
def make_model(keras):
    def make_model():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
        model.compile("adam", "mse")
        return model

    return make_model


@pytest.fixture
def dataset(keras):
    tf = pytest.importorskip("tensorflow")
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(32)


def test_what_cannot_be_profiled_is_refused_with_the_way_out(keras, make_model, dataset):
    class Own(keras.Model):
        def __init__(self, width):
            super().__init__()

    model, own = make_model(), Own(1)
    own.compile("sgd", "mse")
    ends = keras.callbacks.TerminateOnNaN()
    for words, make, x, y, arguments in (
        ("batchsize is no argument of fit", make_model, X, Y, {"batchsize": 8}),
        ("validation_data is a gen", make_model, X, Y, {"validation_data": batches()}),
        ("y must be arrays of numbers", make_model, X, np.array(["a"] * 100), {}),
        ("same model twice", lambda: model, X, Y, {}),
        ("def make_model", own, X, Y, {}),
        ("steps_per_epoch", make_model, dataset.repeat(), None, {}),
        ("ended the epoch", make_model, X * np.nan, Y, {"callbacks": [ends]}),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            profile_fit(make, x, y, seconds=2, **arguments)


@pytest.mark.parametrize("text", ["RESOURCE_EXHAUSTED: Out of memory", "ResourceExhaustedError"])
def test_a_training_that_does_not_fit_is_told_the_way_out(text):
    with pytest.raises(MemoryError, match="batch_size"), said_where_it_does_not_fit():
        raise RuntimeError(text)


def test_the_steps_of_an_epoch_are_those_of_fit(make_model, dataset):
    for steps, x, y, arguments in (
        (4, X, Y, {}),  # of 32 samples, Keras's own number; the last one has 4
        (2, {"a": X, "b": X}, [Y, Y], {"batch_size": 50}),
        (2, X, Y, {"steps_per_epoch": 2}),
        (0, batches, None, {}),  # an epoch will tell
        (4, dataset, None, {}),
        (0, dataset.filter(lambda x, y: True), None, {}),
    ):
        assert checked(make_model, x, y, arguments).steps == steps


@pytest.mark.parametrize("count", [10, 11])
def test_a_validation_split_has_the_samples_and_weights_that_fit_takes(keras, count):
    """The loss is the mean of the samples, and nothing is learned: it tells which they are."""
    x = np.arange(float(count))[:, None]
    model = keras.Sequential([keras.Input((1,)), keras.layers.Rescaling(1.0)])
    model.compile("sgd", "mae")
    arguments = {"validation_split": 0.3, "sample_weight": x[:, 0], "batch_size": count}
    expected = model.fit(x, 0 * x, **arguments, verbose=0).history
    call = checked(lambda: model, x, 0 * x, arguments)
    found = model.fit(**call.arguments, verbose=0).history
    assert "validation_split" not in call.arguments
    assert found["loss"] == pytest.approx(expected["loss"])
    assert found["val_loss"] == pytest.approx(expected["val_loss"])


def test_model_and_callbacks_that_are_handed_over_stay_as_they_were(keras, make_model, tmp_path):
    by_all = []

    class Counts(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.seen.append(epoch)
            by_all.append(epoch)

    kinds = keras.callbacks
    counts = Counts()
    counts.seen = []
    callbacks = [
        counts,
        kinds.ModelCheckpoint(tmp_path / "best.keras"),
        kinds.ModelCheckpoint(tmp_path / "of-{epoch}.weights.h5", save_weights_only=True),
        kinds.CSVLogger(tmp_path / "log.csv", append=True),
        kinds.BackupAndRestore(tmp_path / "backup"),
    ]
    model = make_model()
    before = model.get_weights()
    profile_fit(model, X, Y, seconds=3, batch_size=10, callbacks=callbacks)
    assert by_all, "copies took part"
    assert counts.seen == []
    assert list(tmp_path.iterdir()) == [], "nothing is written"
    assert np.array_equal(model.get_weights()[0], before[0])
    assert int(model.optimizer.iterations) == 0
    assert "train_step" not in vars(model)


def test_a_training_is_timed_to_its_end_though_a_callback_would_stop_it(keras, make_model):
    stopping = keras.callbacks.EarlyStopping("loss", patience=0, min_delta=1e9)
    watch = epoch_watch(time.perf_counter)
    make_model().fit(X, Y, epochs=5, verbose=0, callbacks=[watch, stopping, goes_on(watch)])
    assert len(watch.epochs) == 5
