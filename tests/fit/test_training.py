"""What somebody hands to `profile_fit`: what is refused, and what is left as it was."""

import numpy as np
import pytest

from accel_helpers import profile_fit
from accel_helpers.fit.checked import checked, said_where_it_does_not_fit

X, Y = np.ones((100, 3), "float32"), np.ones((100, 1), "float32")
X.flags.writeable = Y.flags.writeable = False


@pytest.fixture
def make_model(keras):
    def make_model():
        dense = keras.layers.Dense(1)
        model = keras.Sequential([keras.Input((3,)), dense])
        model.compile("adam", "mse")
        return model

    return make_model


@pytest.fixture
def dataset(keras):
    tf = pytest.importorskip("tensorflow")
    samples = tf.data.Dataset.from_tensor_slices((X, Y))
    return samples.batch(32)


def test_what_cannot_be_profiled_is_refused_with_the_way_out(keras, make_model, dataset):
    class Own(keras.Model):
        def __init__(self, width):
            super().__init__()

    def reason(make, x, y=None, **arguments):
        with pytest.raises((TypeError, ValueError)) as error:
            profile_fit(make, x, y, seconds=2, **arguments)
        return str(error.value)

    assert "batchsize is no argument of fit" in reason(make_model, X, Y, batchsize=8)
    assert "steps_per_epoch" in reason(make_model, dataset.repeat())
    model = make_model()
    assert "same model twice" in reason(lambda: model, X, Y)
    own = Own(1)
    own.compile("sgd", "mse")
    assert "def make_model" in reason(own, X, Y)


def test_a_training_that_does_not_fit_is_told_the_way_out():
    with pytest.raises(MemoryError, match="batch_size"), said_where_it_does_not_fit():
        raise RuntimeError("RESOURCE_EXHAUSTED: Out of memory")


def test_the_steps_of_an_epoch_are_those_of_fit(make_model, dataset):
    def steps(x, y=None, **arguments):
        call = checked(make_model, x, y, arguments)
        return call.steps

    # of 32 samples, Keras's own number; the last one has 4
    assert steps(X, Y) == 4
    assert steps({"a": X, "b": X}, [Y, Y], batch_size=50) == 2
    assert steps(dataset) == 4
    # an epoch will tell
    assert steps(lambda: iter([(X, Y)])) == 0


def test_a_validation_split_has_the_samples_and_weights_that_fit_takes(keras):
    """The loss is the mean of the samples, and nothing is learned: it tells which they are."""
    model = keras.Sequential([keras.Input((1,)), keras.layers.Rescaling(1.0)])
    model.compile("sgd", "mae")
    for count in (10, 11):
        weights = np.arange(float(count))
        x = weights[:, None]
        y = 0 * x
        arguments = {"validation_split": 0.3, "sample_weight": weights, "batch_size": count}
        expected = model.fit(x, y, **arguments, verbose=0)
        call = checked(lambda: model, x, y, arguments)
        assert "validation_split" not in call.arguments
        found = model.fit(**call.arguments, verbose=0)
        for name in ("loss", "val_loss"):
            assert found.history[name] == pytest.approx(expected.history[name])


def test_model_and_callbacks_that_are_handed_over_stay_as_they_were(keras, make_model, tmp_path):
    by_all = []

    class Counts(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.seen.append(epoch)
            by_all.append(epoch)

    kinds = keras.callbacks
    counts = Counts()
    counts.seen = []
    checkpoint = kinds.ModelCheckpoint(tmp_path / "of-{epoch}.keras")
    log = kinds.CSVLogger(tmp_path / "log.csv", append=True)
    backup = kinds.BackupAndRestore(tmp_path / "backup")
    callbacks = [counts, checkpoint, log, backup]
    model = make_model()
    before = model.get_weights()
    profile_fit(model, X, Y, seconds=3, batch_size=10, callbacks=callbacks)
    assert by_all, "copies took part"
    assert counts.seen == []
    written = list(tmp_path.iterdir())
    assert written == []
    after = model.get_weights()
    assert np.array_equal(after[0], before[0])
