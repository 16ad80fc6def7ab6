"""What `fit_resident` is asked for: taken as `fit` takes it, or refused with a sentence."""

import numpy as np
import pytest

from accel_helpers.train import training


def refusals(keras, x, y):
    class Watch(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            pass

    class NanStop(keras.callbacks.TerminateOnNaN):
        pass

    class Tests(keras.callbacks.Callback):
        def on_test_batch_end(self, batch, logs=None):
            pass

    checkpoint = keras.callbacks.ModelCheckpoint("m.keras", save_freq=10)
    return {
        "knows no sample_weight: train with model.fit": {"sample_weight": y},
        "knows no class_weight": {"class_weight": {0: 1.0}},
        "batch_size must be a whole number, 1 or more; got 0": {"batch_size": 0},
        "epochs must be .* got 1.5": {"epochs": 1.5},
        "shuffle must be True or False; got 'batch'": {"shuffle": "batch"},
        r"pair \(x, y\); sample weights are not supported": {"validation_data": (x, y, y)},
        "same number of samples.* got 400, 500": {"y": y[:400]},
        "must be arrays.*got generator.*model.fit": {"x": (row for row in x)},
        "must hold numbers": {"x": np.array(["a"] * 500)},
        r"got int.*np\.asarray": {"y": y.tolist()},
        "got NoneType. y is needed": {"y": None},
        "validation_batch_size must be .*got -5": {"validation_batch_size": -5},
        "seed must be .*0 or more; got -1": {"seed": -1},
        "memory must be .*got '8GB'": {"memory": "8GB"},
        "callbacks must be.*got int": {"callbacks": [3]},
        "NanStop wants": {"callbacks": NanStop()},
        r"Tests wants.*\(on_test_batch_end\)": {
            "callbacks": Tests(),
            "validation_data": (x, y),
        },
        "BackupAndRestore wants.*at which one": {
            "callbacks": keras.callbacks.BackupAndRestore("never_made")
        },
        r"Watch wants to be called at every batch \(on_train_batch_end\)": {"callbacks": [Watch()]},
        "TerminateOnNaN wants": {"callbacks": [keras.callbacks.TerminateOnNaN()]},
        "ModelCheckpoint wants.*save_freq=10": {"callbacks": [checkpoint]},
    }


def test_what_only_fit_can_do_is_refused_with_a_sentence(keras, digits):
    x, y = digits
    model = training.quickstart_model(dropout=0)
    before = model.get_weights()
    for sentence, options in refusals(keras, x, y).items():
        with pytest.raises((ValueError, TypeError), match=sentence):
            training.fit_resident(model, **{"x": x, "y": y, "verbose": 0, **options})
    assert all(np.array_equal(a, b) for a, b in zip(before, model.get_weights(), strict=True))
    with pytest.raises(ValueError, match="not compiled: call model.compile"):
        training.fit_resident(keras.Sequential([keras.layers.Dense(1)]), x, y)
    eager = training.quickstart_model(dropout=0)
    eager.compile("adam", "mse", run_eagerly=True)
    with pytest.raises(ValueError, match="run_eagerly=True"):
        training.fit_resident(eager, x, y)


def test_options_are_taken_as_fit_takes_them(keras, digits):
    x, y = digits
    called = []

    class Tests(keras.callbacks.Callback):
        def on_test_begin(self, logs=None):
            called.append("begin")

        def on_test_end(self, logs=None):
            called.append(sorted(logs))

    model = training.quickstart_model(dropout=0)
    options = {"shuffle": np.True_, "validation_data": (x[:40], y[:40]), "verbose": 0}
    options |= {"callbacks": Tests(), "validation_batch_size": np.int64(30)}
    training.fit_resident(model, list(x[None])[0], y, batch_size=None, **options)
    assert called == ["begin", ["accuracy", "loss"]]
    assert int(model.optimizer.iterations) == 16, "batches of 32, as with fit"
