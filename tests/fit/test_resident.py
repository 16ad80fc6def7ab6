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
    options = IN_ORDER | options
    resident = make()
    expected = make()
    resident.set_weights(expected.get_weights())
    found = fit_resident(resident, x, y, **options)
    of_fit = expected.fit(x, y, **options)
    assert list(found.history) == list(of_fit.history)
    for name, values in of_fit.history.items():
        assert found.history[name] == pytest.approx(values, rel=1e-4), name
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
    one = rng.standard_normal((90, 5))
    two = rng.standard_normal((90, 2))
    x = {"one": one, "two": two}
    y = [one, one]

    def make():
        inputs = {"one": keras.Input((5,), name="one"), "two": keras.Input((2,), name="two")}
        normal = keras.layers.BatchNormalization(name="normal")(inputs["one"])
        dense = keras.layers.Dense(5, name="dense")(inputs["two"])
        both = keras.layers.Add(name="both")([normal, dense])
        model = keras.Model(inputs, [dense, both])
        averaging = keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.9)
        model.compile(averaging, ["mse", "mae"])
        return model

    model = both_ways(make, x, y, batch_size=30)
    # average and weight share one array now
    again = fit_resident(model, x, y, verbose=0)
    assert np.isfinite(again.history["loss"]).all()


def test_the_order_is_new_in_every_epoch_and_that_of_the_seed(digits):
    x, y = digits
    one = without_dropout()
    other = without_dropout()
    other.set_weights(one.get_weights())
    found = fit_resident(one, x, y, epochs=2, seed=4, verbose=0)
    random = np.random.default_rng(4)
    for loss in found.history["loss"]:
        order = random.permutation(len(x))
        of_fit = other.fit(x[order], y[order], shuffle=False, verbose=0)
        assert of_fit.history["loss"] == [pytest.approx(loss, rel=1e-4)]


def test_callbacks_are_called_at_epochs_and_can_stop_training(keras, digits):
    halve = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    stop = keras.callbacks.EarlyStopping("accuracy", min_delta=100, patience=1)
    model = without_dropout()
    optimizer = model.optimizer
    rate = float(optimizer.learning_rate)
    history = fit_resident(model, *digits, epochs=9, verbose=0, callbacks=[halve, stop])
    assert history.epoch == [0, 1], "stopped after the second"
    again = fit_resident(model, *digits, epochs=3, verbose=0)
    assert len(again.epoch) == 3, "the next training is not stopped"
    assert float(optimizer.learning_rate) == pytest.approx(rate / 4)


def test_every_call_goes_on_with_its_own_labels_and_with_what_was_compiled_last(keras, digits):
    x, y = digits
    y = y.copy()
    model = without_dropout()

    def loss():
        (epoch,) = fit_resident(model, x, y, verbose=0).history["loss"]
        return epoch

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
    still, *_, moved = model.get_weights()
    assert np.array_equal(still, frozen)
    assert not np.array_equal(moved, head)


def test_what_only_fit_can_do_is_refused_with_the_way_out(keras, digits):
    class Watch(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            pass

    x, y = digits
    model = without_dropout()
    with pytest.raises(ValueError, match=r"Watch .*model\.fit"):
        fit_resident(model, x, y, callbacks=[Watch()])
    # a thousand million times one picture
    many = np.broadcast_to(x[0], (10**9, 28, 28))
    with pytest.raises(MemoryError, match=r"3.14 TB.*are free.*model\.fit"):
        fit_resident(model, many, many[:, 0, 0])


def test_each_seed_trains_what_a_fresh_model_of_that_seed_becomes(keras, digits):
    """One model is compiled; its weights, random numbers and optimizer start anew each time."""
    x, y = (array[:64] for array in digits)
    make_model = partial(quickstart.quickstart_model, seed=None)
    for seed, model in enumerate(fit_seeds(make_model, x, y, seeds=2)):
        weights, *_ = model.get_weights()
        keras.utils.set_random_seed(seed)
        fresh = make_model()
        (dropout,) = fresh.non_trainable_variables
        before = np.array(dropout)
        fit_resident(fresh, x, y, verbose=0)
        expected, *_ = fresh.get_weights()
        assert np.allclose(weights, expected, atol=1e-6)
        assert not np.array_equal(before, dropout), "dropout draws anew"


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
