"""Training with whole epochs as one program, held against ``fit`` on real Keras models."""

from functools import partial

import numpy as np
import pytest

from accel_helpers.course import quickstart
from accel_helpers.fit import resident_epoch
from accel_helpers.fit.resident import fit_resident, fit_seeds

IN_ORDER = {"epochs": 2, "shuffle": False, "verbose": 0}


def without_dropout():
    return quickstart.quickstart_model(dropout=0)


def both_ways(make, x, y, **options):
    """Train one model by `fit_resident` and one by `fit`; they agree, and the first comes back."""
    resident, expected = make(), make()
    resident.set_weights(expected.get_weights())
    found = fit_resident(resident, x, y, **IN_ORDER | options).history
    of_fit = expected.fit(x, y, **IN_ORDER | options).history
    assert list(found) == list(of_fit)
    for name, values in of_fit.items():
        assert found[name] == pytest.approx(values, rel=1e-4), name
    for weights, others in zip(resident.get_weights(), expected.get_weights(), strict=True):
        assert np.allclose(weights, others, atol=1e-4)
    return resident


@pytest.mark.parametrize("batch_size", [32, 900])
def test_in_a_fixed_order_every_loss_and_metric_is_that_of_fit(digits, batch_size):
    """500 samples: 32 leaves a last batch of 20, 900 is more than all."""
    validation = tuple(array[:77] for array in digits)
    both_ways(without_dropout, *digits, batch_size=batch_size, validation_data=validation)


def test_several_inputs_and_outputs_and_averaged_weights_are_those_of_fit(keras):
    rng = np.random.default_rng(0)
    x = {"words": rng.integers(0, 20, (90, 5)), "size": rng.standard_normal((90, 2))}
    y = [rng.standard_normal((90, 1)), rng.integers(0, 3, 90)]
    layers = keras.layers

    def make():
        words = keras.Input((5,), dtype="int32", name="words")
        size = keras.Input((2,), name="size")
        read = layers.LSTM(4)(layers.Embedding(20, 3)(words))
        both = layers.BatchNormalization()(layers.Concatenate()([read, size]))
        heads = [layers.Dense(1, name="a")(both), layers.Dense(3, "softmax", name="b")(both)]
        model = keras.Model({"words": words, "size": size}, heads)
        averaging = keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.9)
        model.compile(averaging, ["mse", "sparse_categorical_crossentropy"])
        return model

    model = both_ways(make, x, y, batch_size=30)
    again = fit_resident(model, x, y, verbose=0)  # average and weight share one array now
    assert np.isfinite(again.history["loss"]).all()


def test_the_order_is_new_in_every_epoch_and_that_of_the_seed(digits):
    x, y = digits
    one, other = without_dropout(), without_dropout()
    other.set_weights(one.get_weights())
    found = fit_resident(one, x, y, epochs=2, seed=4, verbose=0).history["loss"]
    random = np.random.default_rng(4)
    for loss in found:
        order = random.permutation(len(x))
        history = other.fit(x[order], y[order], shuffle=False, verbose=0).history
        assert history["loss"] == [pytest.approx(loss, rel=1e-4)]


def test_dropout_draws_anew(digits):
    model = quickstart.quickstart_model()
    (state,) = model.non_trainable_variables
    before = np.asarray(state.value).copy()
    fit_resident(model, *digits, verbose=0)
    assert not np.array_equal(before, state.value)


def test_callbacks_are_called_at_epochs_and_can_stop_training(keras, digits):
    halve = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    stop = keras.callbacks.EarlyStopping("accuracy", min_delta=100, patience=1)
    model = without_dropout()
    rate = float(model.optimizer.learning_rate)
    history = fit_resident(model, *digits, epochs=9, verbose=0, callbacks=[halve, stop])
    assert history.epoch == [0, 1], "stopped after the second"
    again = fit_resident(model, *digits, epochs=3, verbose=0)
    assert len(again.epoch) == 3, "the next training is not stopped"
    assert float(model.optimizer.learning_rate) == pytest.approx(rate / 4)


def test_every_call_goes_on_with_its_own_labels_and_with_what_was_compiled_last(keras, digits):
    x, y = (array.copy() for array in digits)
    model = without_dropout()

    def loss():
        return fit_resident(model, x, y, verbose=0).history["loss"][0]

    first = loss()
    model.fit(x, y, verbose=0)  # the two mix
    now = loss()
    assert now < first
    y[:] = (y + 1) % 10  # the same array with other labels
    assert loss() > 2 * now
    frozen, *_, head = model.get_weights()
    model.layers[1].trainable = False
    model.compile("adam", model.loss)
    loss()
    assert np.array_equal(model.get_weights()[0], frozen)
    assert not np.array_equal(model.get_weights()[-1], head)


def test_what_only_fit_can_do_is_refused_before_anything_is_begun(keras, digits):
    class Watch(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            pass

    x, y = digits
    many = np.broadcast_to(x[0], (10**9, 28, 28))  # of one picture
    checkpoint = keras.callbacks.ModelCheckpoint("m.keras", save_freq=10)
    model = without_dropout()
    for words, options in {
        "Watch .*model.fit": {"callbacks": [Watch()]},
        "ModelCheckpoint": {"callbacks": [checkpoint]},
        "3.14 TB.*are free.*model.fit": {"x": many, "y": many[:, 0, 0]},
        "3.14 TB": {"validation_data": (many, many[:, 0, 0])},
    }.items():
        with pytest.raises((ValueError, TypeError, MemoryError), match=words):
            fit_resident(model, **{"x": x, "y": y, "verbose": 0} | options)
    assert not model.optimizer.built


def test_each_seed_trains_what_a_fresh_model_of_that_seed_becomes(keras, digits):
    """One model is compiled; its weights, random numbers and optimizer start anew each time."""
    x, y = (array[:64] for array in digits)
    make_model = partial(quickstart.quickstart_model, seed=None)
    found = [model.get_weights()[0] for model in fit_seeds(make_model, x, y, seeds=2)]
    for seed, weights in enumerate(found):
        keras.utils.set_random_seed(seed)
        fresh = make_model()
        fit_resident(fresh, x, y, verbose=0)
        assert np.allclose(weights, fresh.get_weights()[0], atol=1e-6)
    assert not np.allclose(*found)


def test_an_epoch_in_pieces_and_groups_is_the_epoch(digits, monkeypatch):
    monkeypatch.setattr(resident_epoch, "PIECE_SECONDS", -1.0)
    monkeypatch.setattr(resident_epoch, "_group", lambda full_batches: 5)
    both_ways(without_dropout, *digits)


def test_the_stop_button_is_heard_and_the_model_stays_whole(digits, monkeypatch):
    def stop(_):
        raise KeyboardInterrupt

    model = without_dropout()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(resident_epoch.backend, "wait", stop)
        fit_resident(model, *digits, verbose=0)
    again = fit_resident(model, *digits, verbose=0)
    assert np.isfinite(again.history["loss"]).all()


@pytest.mark.night
def test_it_holds_on_jax_too(on_jax):
    on_jax("not on_jax", __file__)
