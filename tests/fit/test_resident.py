"""Training with whole epochs as one program, held against ``fit`` on real Keras models."""

import os
import subprocess
import sys

import numpy as np
import pytest

from accel_helpers.course import quickstart
from accel_helpers.fit import resident_epoch
from accel_helpers.fit.resident import fit_resident, fit_seeds

ON_JAX = (  # of the tests
    "averaged or no_trace or ones_own or fixed_order or order_is_new or dropout or callbacks or "
    "anew or refused"
)


def pair(make):
    """Two models with the same first weights."""
    first, second = make(), make()
    second.set_weights(first.get_weights())
    return first, second


def without_dropout():
    return quickstart.quickstart_model(dropout=0)


def built(keras, *layers, kind=None, optimizer="sgd", metrics=(), width=(28, 28)):
    """Those layers between an input and ten outputs, compiled."""
    model = keras.Sequential([keras.Input(width), *layers, keras.layers.Dense(10)])
    if kind:
        model = kind(model.inputs, model.outputs)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, metrics=list(metrics))
    return model


def agree(history, other, tolerance=1e-4):
    assert history.epoch == other.epoch
    assert list(history.history) == list(other.history)
    for name, values in other.history.items():
        assert history.history[name] == pytest.approx(values, rel=tolerance), name


def weigh_alike(one, other):
    for a, b in zip(one.get_weights(), other.get_weights(), strict=True):
        assert np.allclose(a, b, atol=1e-4)


@pytest.mark.parametrize("batch_size", [32, 900])
def test_in_a_fixed_order_every_loss_and_metric_is_that_of_fit(digits, batch_size):
    """500 samples: 32 leaves a last batch of 20, 900 is more than all."""
    x, y = digits
    one, other = pair(without_dropout)
    options = {"batch_size": batch_size, "epochs": 3, "shuffle": False, "verbose": 0}
    options["validation_data"] = (x[:77], y[:77])
    expected = one.fit(x, y, **options)
    found = fit_resident(other, x, y, **options)
    assert "val_loss" in found.history
    agree(found, expected)
    weigh_alike(one, other)
    assert int(other.optimizer.iterations) == int(one.optimizer.iterations)


def test_the_order_is_new_in_every_epoch_and_that_of_the_seed(keras, digits):
    x, y = digits
    one, other = pair(without_dropout)
    found = fit_resident(other, x, y, epochs=2, seed=4, verbose=0)
    random = np.random.default_rng(4)
    losses = []
    for _ in range(2):
        order = random.permutation(len(x))
        losses += one.fit(x[order], y[order], shuffle=False, verbose=0).history["loss"]
    assert found.history["loss"] == pytest.approx(losses, rel=1e-4)
    weigh_alike(one, other)


def test_by_default_the_order_is_of_the_seed_of_keras(keras, digits):
    weights = without_dropout().get_weights()

    def loss(keras_seed):
        model = without_dropout()
        model.set_weights(weights)
        keras.utils.set_random_seed(keras_seed)
        return fit_resident(model, *digits, verbose=0).history["loss"]

    assert loss(1) == loss(1) != loss(2)


def test_dropout_draws_anew_and_batch_normalisation_keeps_its_averages(keras, digits):
    x, y = digits

    def make():
        k = keras.layers
        layers = [k.Flatten(), k.Dense(16), k.BatchNormalization(), k.Dropout(0.5, seed=3)]
        return built(keras, *layers, optimizer="adam", metrics=["accuracy"])

    one, other = pair(make)
    state = next(v for v in other.non_trainable_variables if "seed" in v.path)
    before = np.asarray(state.value).copy()
    one.fit(x, y, shuffle=False, verbose=0)
    fit_resident(other, x, y, shuffle=False, verbose=0)
    assert not np.array_equal(before, np.asarray(state.value)), "dropout moved on"
    mean, expected = other.layers[2].moving_mean, one.layers[2].moving_mean
    assert np.any(np.asarray(mean)), "the averages moved"
    assert np.allclose(mean, expected, atol=0.05)  # behind no dropout, but weights differ


def test_several_inputs_and_outputs_whole_numbers_and_text(keras):
    rng = np.random.default_rng(0)
    x = {"words": rng.integers(0, 20, (90, 5)), "size": rng.standard_normal((90, 2))}
    y = {"a": rng.standard_normal((90, 1)), "b": rng.integers(0, 3, 90)}

    def make():
        words = keras.Input((5,), dtype="int32", name="words")
        size = keras.Input((2,), name="size")
        read = keras.layers.LSTM(4)(keras.layers.Embedding(20, 3)(words))
        both = keras.layers.Concatenate()([read, size])
        heads = {"a": keras.layers.Dense(1, name="a")(both)}
        heads["b"] = keras.layers.Dense(3, activation="softmax", name="b")(both)
        model = keras.Model({"words": words, "size": size}, heads)
        losses = {"a": "mse", "b": "sparse_categorical_crossentropy"}
        model.compile(keras.optimizers.RMSprop(0.01), losses, metrics={"b": ["accuracy"]})
        return model

    one, other = pair(make)
    options = {"batch_size": 30, "epochs": 2, "shuffle": False, "verbose": 0}
    found = fit_resident(other, x, y, **options)
    assert {"a_loss", "b_loss", "b_accuracy"} <= set(found.history)
    agree(found, one.fit(x, y, **options))


def test_callbacks_are_called_at_epochs_and_can_stop_training(keras, digits, capsys):
    x, y = digits
    called = []
    note = keras.callbacks.LambdaCallback(
        on_epoch_begin=lambda epoch, logs: called.append(("begin", epoch)),
        on_epoch_end=lambda epoch, logs: called.append(("end", epoch, sorted(logs))),
        on_test_end=lambda logs: called.append(("tested", sorted(logs))),
        on_train_end=lambda logs: called.append(("over",)),
    )
    halve = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    stop = keras.callbacks.EarlyStopping("loss", min_delta=100, patience=1)
    model = without_dropout()
    rate = float(model.optimizer.learning_rate)
    history = fit_resident(
        model, x, y, epochs=9, callbacks=[note, halve, stop], verbose=2, validation_data=(x, y)
    )
    assert called[:2] == [("begin", 0), ("tested", ["accuracy", "loss"])]
    assert {"accuracy", "loss", "val_loss"} <= set(called[2][2])
    assert called[-1] == ("over",), "stopped after the second"
    assert history.epoch == [0, 1], "stopped after the second"
    assert float(model.optimizer.learning_rate) == pytest.approx(rate / 4)
    assert "Epoch 1/9" in capsys.readouterr().out


def test_a_second_call_goes_on_and_compiles_nothing_until_the_model_is_compiled_anew(
    keras, digits, tmp_path
):
    x, y = (array.copy() for array in digits)
    model = without_dropout()

    def loss():
        return fit_resident(model, x, y, verbose=0).history["loss"][0]

    first = loss()
    programs = model._resident_programs
    made = dict(programs)
    assert loss() < first
    assert programs == made, "nothing was compiled"
    assert len(made) == 1
    model.fit(x, y, verbose=0)  # the two mix
    now = loss()
    y[:] = (y + 1) % 10  # the same array with other labels
    assert loss() > 2 * now, "the labels of this call are trained, not those of the last one"
    model.save(tmp_path / "model.keras")  # what is kept on it does not hinder
    model.layers[1].trainable = False
    model.compile("adam", model.loss, metrics=["accuracy"])
    before = model.get_weights()
    loss()
    after = model.get_weights()
    assert np.array_equal(before[0], after[0])
    assert not np.array_equal(before[2], after[2])
    model.compile(keras.optimizers.SGD(0.0), model.loss)
    loss()
    same = [np.array_equal(a, b) for a, b in zip(after, model.get_weights(), strict=True)]
    assert all(same), "a learning rate of 0 changes nothing"


def test_averaged_weights_are_handed_over_as_fit_does(keras, digits):
    x, y = digits

    def make():
        model = without_dropout()
        model.compile(keras.optimizers.SGD(0.5, use_ema=True, ema_momentum=0.9), model.loss)
        return model

    one, other = pair(make)
    options = {"batch_size": 64, "epochs": 2, "shuffle": False, "verbose": 0}
    one.fit(x, y, **options)
    fit_resident(other, x, y, **options)
    weigh_alike(one, other)
    again = fit_resident(other, x, y, **options)  # average and weight share one array now
    assert np.isfinite(again.history["loss"]).all()


def test_a_first_look_at_the_model_leaves_no_trace(keras, digits):
    x, y = digits

    class Counts(keras.layers.Layer):
        def build(self, shape):
            self.calls = self.add_weight(shape=(), initializer="zeros", trainable=False)

        def call(self, x):
            self.calls.assign(self.calls.value + 1.0)
            return x

    model = built(keras, Counts(), keras.layers.Flatten())
    fit_resident(model, x, y, batch_size=100, epochs=2, verbose=0)
    assert float(model.layers[0].calls.value) == 10, "ten steps, and nothing else"


def test_a_step_of_an_older_keras_finds_what_fit_notes_before_it(keras, digits):
    class Older(keras.Model):  # as on JAX in Keras 3.8 to 3.11
        def _record_training_state_sharding_spec(self):
            self.noted = len(self.optimizer.variables)

        def train_step(self, *given):
            assert self.noted, "with the optimizer's variables"
            return super().train_step(*given)

    model = built(keras, keras.layers.Flatten(), keras.layers.Dense(10), kind=Older)
    assert fit_resident(model, *digits, batch_size=100, verbose=0).epoch == [0]


def test_of_what_a_step_of_ones_own_reports_the_metrics_are_kept(keras, digits):
    x, y = digits

    class Reports(keras.Model):
        def train_step(self, *data):
            found = super().train_step(*data)
            if isinstance(found, tuple):  # on JAX: logs and state
                return {**found[0], "slope": 1.0}, found[1]
            return {**found, "slope": 1.0}

    model = built(keras, keras.layers.Flatten(), kind=Reports)
    assert list(fit_resident(model, x, y, verbose=0).history) == ["loss"]


def test_what_xla_cannot_compile_gets_a_note_that_names_fit(keras, digits):
    if keras.backend.backend() != "tensorflow":
        pytest.skip("on JAX no such operation can be written")
    import tensorflow as tf

    x, y = digits
    square = keras.layers.Lambda(
        lambda a: tf.ensure_shape(tf.py_function(tf.square, [a], a.dtype), a.shape)
    )
    model = built(keras, square, keras.layers.Flatten())
    with pytest.raises(Exception) as error:
        fit_resident(model, x, y, verbose=0)
    assert "this model needs model.fit" in "".join(error.value.__notes__)


def test_what_only_fit_can_do_is_refused_with_a_sentence(keras, digits):
    class Watch(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            pass

    x, y = digits
    checkpoint = keras.callbacks.ModelCheckpoint("m.keras", save_freq=10)
    refusals = {
        "unexpected .*sample_weight": {"sample_weight": y},
        "batch_size .*0": {"batch_size": 0},
        "epochs .*1.5": {"epochs": 1.5},
        "validation_data .*pair": {"validation_data": (x, y, y)},
        "400, 500": {"y": y[:400]},
        "generator.*model.fit": {"x": (row for row in x)},
        "int.*np.asarray": {"y": y.tolist()},
        "BackupAndRestore": {"callbacks": keras.callbacks.BackupAndRestore("never_made")},
        "Watch .*model.fit": {"callbacks": [Watch()]},
        "TerminateOnNaN": {"callbacks": [keras.callbacks.TerminateOnNaN()]},
        "ModelCheckpoint": {"callbacks": [checkpoint]},
    }
    model = without_dropout()
    for sentence, options in refusals.items():
        with pytest.raises((ValueError, TypeError), match=sentence):
            fit_resident(model, **{"x": x, "y": y, "verbose": 0, **options})
    assert not model.optimizer.built, "nothing was begun"
    with pytest.raises(ValueError, match="not compiled; call model.compile"):
        fit_resident(keras.Sequential([keras.layers.Dense(1)]), x, y)
    eager = without_dropout()
    eager.compile("adam", "mse", run_eagerly=True)
    with pytest.raises(ValueError, match="run_eagerly=True"):
        fit_resident(eager, x, y)

    class Adversaries(keras.Model):
        def train_step(self, data):
            return {}

    own = Adversaries()
    own.compile()
    with pytest.raises(ValueError, match="no call"):
        fit_resident(own, x, y)


def test_too_much_data_is_refused_before_anything_is_copied(digits):
    x, y = digits
    many = np.broadcast_to(x[0], (10**9, 28, 28)), np.broadcast_to(y[0], 10**9)  # of one picture
    model = without_dropout()
    with pytest.raises(MemoryError, match="3.14 TB.*are free.*model.fit"):
        fit_resident(model, *many, verbose=0)
    with pytest.raises(MemoryError, match="3.14 TB"):
        fit_resident(model, x, y, validation_data=many, verbose=0)


@pytest.mark.night
def test_it_holds_on_jax_too():
    child = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", ON_JAX, __file__],
        env={**os.environ, "KERAS_BACKEND": "jax"},
        capture_output=True,
        text=True,
    )
    assert child.returncode == 0, child.stdout[-3000:]
    assert " passed" in child.stdout


def test_each_seed_trains_what_a_fresh_model_of_that_seed_becomes(keras):
    """One model is compiled; its weights, random numbers and optimizer start anew each time."""

    def make_model():
        layers = [keras.layers.Dense(4), keras.layers.Dropout(0.5), keras.layers.Dense(1)]
        model = keras.Sequential([keras.Input((2,)), *layers])
        model.compile("adam", keras.losses.MeanSquaredError())
        return model

    x, y = np.random.default_rng(0).random((2, 64, 2))
    options = {"epochs": 2, "batch_size": 16}
    found = [model.get_weights() for model in fit_seeds(make_model, x, y[:, 0], seeds=2, **options)]
    for seed, weights in enumerate(found):
        keras.utils.set_random_seed(seed)
        fresh = make_model()
        fit_resident(fresh, x, y[:, 0], verbose=0, **options)
        for one, other in zip(weights, fresh.get_weights(), strict=True):
            assert np.allclose(one, other, atol=1e-6)
    assert not np.allclose(found[0][0], found[1][0])


def test_an_epoch_in_pieces_and_groups_is_the_epoch(digits, monkeypatch):
    losses = []
    weights = without_dropout().get_weights()
    for seconds, group in ((1000.0, 1), (-1.0, 1), (1.0, 5)):
        monkeypatch.setattr(resident_epoch, "PIECE_SECONDS", seconds)
        monkeypatch.setattr(resident_epoch, "_group", lambda _, group=group: group)
        model = without_dropout()
        model.set_weights(weights)
        losses.append(fit_resident(model, *digits, epochs=2, seed=1, verbose=0).history["loss"])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert losses[0] == pytest.approx(losses[2], rel=1e-5)


def test_the_stop_button_is_heard_and_the_model_stays_whole(digits, monkeypatch):
    def stop(_):
        raise KeyboardInterrupt

    model = without_dropout()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(resident_epoch.backend, "wait", stop)
        fit_resident(model, *digits, verbose=0)
    assert np.isfinite(model.get_weights()[0]).all()
    fit_resident(model, *digits, verbose=0)
