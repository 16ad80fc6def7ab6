"""What somebody hands to `profile_fit`: what is refused, and what is left as it was."""

import tempfile
import time
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from accel_helpers import profile_fit
from accel_helpers.fit.borrowed_callbacks import BorrowedCallbacks
from accel_helpers.fit.checked import checked, said_where_it_does_not_fit, several_devices
from accel_helpers.fit.clock import Timed
from accel_helpers.fit.watch import epoch_watch, goes_on

X, Y = np.ones((100, 3), "float32"), np.ones((100, 1), "float32")
X.flags.writeable = Y.flags.writeable = False


def batches():
    for start in range(0, 96, 32):
        yield X[start : start + 32], Y[start : start + 32]


def endless():
    while True:
        yield from batches()


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


@pytest.fixture
def py_dataset(keras):
    class Data(keras.utils.PyDataset):
        def __len__(self):
            return 7

        def __getitem__(self, index):
            return X[:32], Y[:32]

    return Data()


# What is refused


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"x": batches()}, TypeError, "without the brackets"),
        ({"x": X, "y": Y, "batchsize": 8}, TypeError, "batchsize is no argument of fit"),
        ({"x": X, "y": Y, "validation_data": batches()}, TypeError, "validation_data is a gen"),
        ({"x": batches, "y": Y}, ValueError, "y=None"),
        ({"x": X[:5], "y": Y[:6]}, ValueError, "same number of samples"),
        ({"x": X[:0], "y": Y[:0]}, ValueError, "at least one"),
        ({"x": X, "y": Y, "seconds": 0}, ValueError, "seconds"),
        ({"x": X, "y": Y, "steps_per_epoch": -1}, ValueError, "steps_per_epoch"),
    ],
)
def test_data_and_arguments_that_cannot_be_measured_are_named(make_model, arguments, error, said):
    with pytest.raises(error, match=said):
        profile_fit(make_model, **arguments)


@pytest.mark.usefixtures("keras")
@pytest.mark.parametrize("wrong", [None, "model", 3])
def test_what_is_no_function_is_refused_with_the_lines_to_write(wrong):
    with pytest.raises(TypeError, match="def make_model"):
        profile_fit(wrong, X, Y)


@pytest.mark.usefixtures("keras")
def test_a_function_that_returns_no_model_is_refused():
    with pytest.raises(TypeError, match=r"compiled keras\.Model"):
        profile_fit(lambda: None, X, Y)


@pytest.mark.parametrize("handed_over", [True, False])
def test_a_model_that_is_not_compiled_is_refused(keras, handed_over):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    with pytest.raises(ValueError, match=r"model\.compile"):
        profile_fit(model if handed_over else lambda: model, X, Y)


def test_a_model_that_cannot_be_copied_is_refused_with_the_way_out(keras):
    class Own(keras.Model):
        def __init__(self, width):
            super().__init__()
            self.dense = keras.layers.Dense(width)

        def call(self, x):
            return self.dense(x)

    model = Own(1)
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="def make_model"):
        profile_fit(model, X, Y)


def test_targets_beside_a_dataset_are_refused(make_model, dataset):
    with pytest.raises(ValueError, match="holds its targets"):
        profile_fit(make_model, dataset, Y)


def test_a_dataset_without_end_is_refused(make_model, dataset):
    with pytest.raises(ValueError, match="steps_per_epoch"):
        profile_fit(make_model, dataset.repeat())


def test_a_generator_that_does_not_end_is_refused(make_model):
    with pytest.raises(ValueError, match="steps_per_epoch"):
        profile_fit(make_model, endless, seconds=1)


# How many steps an epoch has


@pytest.mark.parametrize(
    ("arguments", "steps"),
    [
        ({"x": X, "y": Y}, 4),  # of 32 samples, Keras's own number; the last one has 4
        ({"x": X, "y": Y, "batch_size": 10}, 10),
        ({"x": {"a": X, "b": X}, "y": [Y, Y], "batch_size": 50}, 2),
        ({"x": X, "y": Y, "steps_per_epoch": 2}, 2),
        ({"x": endless, "steps_per_epoch": 9}, 9),
        ({"x": batches}, 0),  # an epoch will tell
    ],
)
def test_the_steps_of_an_epoch_are_those_of_fit(make_model, arguments, steps):
    arguments = dict(arguments)
    assert (
        checked(make_model, arguments.pop("x"), arguments.pop("y", None), arguments).steps == steps
    )


def test_data_in_batches_say_how_many_steps_an_epoch_has(make_model, dataset, py_dataset):
    assert checked(make_model, dataset, None, {}).steps == 4
    assert checked(make_model, py_dataset, None, {}).steps == 7
    assert checked(make_model, dataset.repeat(), None, {"steps_per_epoch": 5}).steps == 5
    of_unknown_length = dataset.filter(lambda x, y: True)
    assert checked(make_model, of_unknown_length, None, {}).steps == 0


@pytest.mark.parametrize("steps", [1, 3])
def test_a_part_of_an_epoch_has_the_first_samples_without_a_copy(make_model, steps):
    call = checked(make_model, {"a": X}, Y, {"batch_size": 20, "sample_weight": Y[:, 0]})
    arguments = call.shortened(steps)
    assert len(arguments["x"]["a"]) == 20 * steps
    assert len(arguments["y"]) == 20 * steps
    assert len(arguments["sample_weight"]) == 20 * steps
    assert np.shares_memory(arguments["x"]["a"], X)


# validation_split


@pytest.mark.parametrize(("count", "share"), [(10, 0.2), (11, 0.3), (100, 0.07), (10, 0.7)])
def test_a_validation_split_has_the_samples_that_fit_takes(keras, count, share):
    """The loss is the mean of the samples, and nothing is learned: it tells which they are."""
    x, y = np.arange(float(count))[:, None] ** 2, np.zeros((count, 1))
    model = keras.Sequential([keras.Input((1,)), keras.layers.Rescaling(1.0)])
    model.compile("sgd", "mae")
    expected = model.fit(x, y, validation_split=share, batch_size=count, verbose=0).history
    call = checked(lambda: model, x, y, {"validation_split": share, "batch_size": count})
    assert "validation_split" not in call.arguments
    found = model.fit(**call.arguments, verbose=0).history
    assert found["loss"] == pytest.approx(expected["loss"])
    assert found["val_loss"] == pytest.approx(expected["val_loss"])


def test_weights_are_split_too(make_model):
    weights = np.arange(100.0)
    call = checked(make_model, X, Y, {"validation_split": 0.25, "sample_weight": weights})
    assert list(call.arguments["sample_weight"]) == list(range(75))
    assert list(call.arguments["validation_data"][2]) == list(range(75, 100))


def test_validation_data_go_before_a_split_as_in_fit(make_model):
    arguments = {"validation_split": 0.5, "validation_data": (X[:7], Y[:7])}
    call = checked(make_model, X, Y, arguments)
    assert len(call.arguments["x"]) == 100
    assert len(call.arguments["validation_data"][0]) == 7


# What stays as it was


@pytest.fixture(scope="module")
def profiled(keras, tmp_path_factory):
    """A model that was handed over with callbacks, and what came of it."""
    folder = tmp_path_factory.mktemp("callers")

    class Counts(keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.seen = []

        def on_epoch_end(self, epoch, logs=None):
            self.seen.append(epoch)

    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    before = model.get_weights()
    callbacks = [
        Counts(),
        keras.callbacks.EarlyStopping("loss", patience=0, min_delta=1e9),
        keras.callbacks.ReduceLROnPlateau("loss", patience=0, min_delta=1e9),
        keras.callbacks.ModelCheckpoint(folder / "best.keras"),
        keras.callbacks.CSVLogger(folder / "log.csv"),
    ]
    kept = list(callbacks)
    profile_fit(model, X, Y, seconds=3, epochs=4, batch_size=10, callbacks=callbacks, verbose=0)
    return model, before, folder, callbacks, kept


def test_a_model_that_is_handed_over_is_not_trained(profiled):
    model, before, *_ = profiled
    for weights, kept in zip(model.get_weights(), before, strict=True):
        assert np.array_equal(weights, kept)
    assert int(model.optimizer.iterations) == 0
    assert "train_step" not in vars(model)


def test_callbacks_write_nothing_where_the_caller_would_have_them_write(profiled):
    folder = profiled[2]
    assert list(folder.iterdir()) == []


def test_the_callers_callbacks_are_not_called(profiled):
    *_, callbacks, kept = profiled
    assert callbacks == kept
    counts, stopping, *_ = callbacks
    assert counts.seen == []
    assert stopping.stopped_epoch == 0
    assert stopping.model is None


def test_a_training_is_timed_to_its_end_though_a_callback_would_stop_it(keras, make_model):
    stopping = keras.callbacks.EarlyStopping("loss", patience=0, min_delta=1e9)
    watch = epoch_watch(time.perf_counter)
    make_model().fit(X, Y, epochs=5, verbose=0, callbacks=[watch, stopping, goes_on(watch)])
    assert len(watch.epochs) == 5


def test_a_training_ends_where_it_was_timed_for_long_enough(make_model):
    watch = epoch_watch(time.perf_counter, is_enough=lambda marks, now: marks.last_step == 1)
    make_model().fit(X, Y, epochs=5, verbose=0, callbacks=[watch, goes_on(watch)])
    [marks] = watch.epochs
    assert marks.was_cut


def trained_with_copies(make_model, callback):
    """Train with a copy of a callback; return what it wrote into the folder of the copies."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder):
        with BorrowedCallbacks(callback) as borrowed:
            make_model().fit(X, Y, epochs=2, verbose=0, callbacks=borrowed.copies())
            written = [path.name for path in Path(folder).glob("accel-profile-*/**/*")]
        assert not list(Path(folder).glob("accel-profile-*"))
    return written


@pytest.mark.parametrize(
    ("kind", "name", "settings"),
    [
        ("ModelCheckpoint", "model.keras", {}),
        ("ModelCheckpoint", "of-{epoch}.weights.h5", {"save_weights_only": True}),
        ("CSVLogger", "log.csv", {}),
        ("CSVLogger", "log.csv", {"append": True}),
        ("TensorBoard", "logs", {}),
    ],
)
def test_each_of_keras_callbacks_writes_elsewhere(
    keras, make_model, tmp_path, kind, name, settings
):
    if kind == "TensorBoard":
        pytest.importorskip("tensorboard")
    mine = tmp_path / name
    callback = getattr(keras.callbacks, kind)(str(mine), **settings)
    before = dict(vars(callback))
    assert trained_with_copies(make_model, callback), "a copy works"
    assert list(tmp_path.iterdir()) == []
    assert vars(callback) == before


def test_a_callback_that_cannot_be_copied_takes_part_itself(keras):
    class Locked(keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.generator = batches()

    callback = Locked()
    with BorrowedCallbacks([callback]) as borrowed:
        assert borrowed.copies() == [callback]


def test_a_backup_goes_elsewhere(keras, make_model, tmp_path):
    folder = tmp_path / "backup"
    mine = keras.callbacks.BackupAndRestore(str(folder), save_freq=2)
    trained_with_copies(make_model, mine)
    assert not folder.exists()


def test_two_callbacks_with_files_of_one_name_write_two(keras):
    callbacks = [keras.callbacks.CSVLogger(f"{folder}/log.csv") for folder in ("a", "b")]
    with BorrowedCallbacks(callbacks) as borrowed:
        names = {copy.filename for copy in borrowed.copies()}
    assert len(names) == 2


def test_an_epoch_of_unknown_length_is_trained_to_its_end(keras):
    tf = pytest.importorskip("tensorflow")
    data = tf.data.Dataset.range(90).filter(lambda i: i % 2 == 0).map(lambda i: ([i], [i]))

    def make_model():
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        return model

    call = checked(make_model, data.batch(5), None, {})
    assert call.steps == 0
    training = Timed(call, turn_seconds=1e-6)
    training.warm_up(most_seconds=600)
    assert training.training.steps == 9


def test_a_model_of_ones_own_class_has_no_copy_of_width_1_and_is_told_so(keras):
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(4)

        def call(self, x):
            return self.dense(x)

        def train_step(self, *arguments):
            return super().train_step(*arguments)

    def make_model():
        model = Own()
        model(X[:1])
        model.compile("sgd", "mse")
        return model

    x = np.ones((6_400, 3), "float32")
    found = profile_fit(make_model, x, np.ones((len(x), 4), "float32"), seconds=20)
    assert "memory" not in found.shares
    notes = " ".join(found.notes)
    assert "width 1" in notes
    assert "train_step" in notes


@pytest.mark.parametrize("text", ["RESOURCE_EXHAUSTED: Out of memory", "ResourceExhaustedError"])
def test_a_training_that_does_not_fit_is_told_the_way_out(text):
    with pytest.raises(MemoryError, match="batch_size"), said_where_it_does_not_fit():
        raise RuntimeError(text)


def test_another_error_of_a_training_stays_as_it_is():
    with pytest.raises(RuntimeError, match="shapes"), said_where_it_does_not_fit():
        raise RuntimeError("incompatible shapes")


def test_an_epoch_that_a_callback_ends_is_refused(keras, make_model):
    with pytest.raises(ValueError, match="ended the epoch"):
        profile_fit(
            make_model, X * np.nan, Y, callbacks=[keras.callbacks.TerminateOnNaN()], seconds=2
        )


def test_without_callbacks_none_takes_a_share(make_model):
    found = profile_fit(make_model, X, Y, validation_data=(X, Y), seconds=2)
    assert found.shares["callbacks"] == 0


def test_batches_that_are_an_iterator_too_can_be_read_again(make_model, py_dataset):
    type(py_dataset).__next__ = lambda self: self[0]
    call = checked(make_model, py_dataset, None, {"validation_data": py_dataset})
    assert call.steps == 7


@pytest.mark.parametrize("strings", [np.array(["a"] * 100), np.array(["a"] * 100, object)])
def test_strings_are_refused(make_model, strings):
    with pytest.raises(TypeError, match="y must be arrays of numbers"):
        profile_fit(make_model, X, strings)
    with pytest.raises(TypeError, match="x must be arrays of numbers"):
        profile_fit(make_model, strings, Y)


def test_a_distribution_over_one_device_is_one_replica(keras, make_model):
    keras.distribution.set_distribution(keras.distribution.DataParallel(devices=["cpu:0"]))
    try:
        assert not several_devices(make_model())
    finally:
        keras.distribution.set_distribution(None)


def test_compiling_takes_no_longer_than_the_time_that_has_passed(keras):
    tf = pytest.importorskip("tensorflow")
    lengths = tf.data.Dataset.range(4, 24)
    data = lengths.map(lambda length: (tf.ones((8, length, 3)), tf.ones((8, 1))))

    def make_model():
        pooled = keras.layers.GlobalAveragePooling1D()
        model = keras.Sequential([keras.Input((None, 3)), pooled, keras.layers.Dense(1)])
        model.compile("adam", "mse", jit_compile=True)
        return model

    start = time.perf_counter()
    found = profile_fit(make_model, data, epochs=3, seconds=4)
    assert 0 < found.compile_seconds < time.perf_counter() - start
