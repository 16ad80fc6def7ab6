"""Settings of a model that make its steps slow are named first, and the same training without."""

import numpy as np
import pytest
from accel_helpers.fit.checked_call import checked_call

from accel_helpers.fit import changes
from accel_helpers.machine import backend

X = np.ones((64, 3), "float32")
Y = np.ones((64, 1), "float32")
TEXTS = np.array([["a b"], ["b c"]] * 32)


@pytest.fixture
def model_of(keras):
    """A function that makes a small model that was compiled so."""

    def model_of(**settings):
        def make_model():
            layers = [keras.Input((3,)), keras.layers.Dense(2), keras.layers.Dense(1)]
            model = keras.Sequential(layers)
            model.compile("adam", "mse", **settings)
            return model

        return make_model

    return model_of


def proposed(make_model, x=X, **arguments):
    call = checked_call(make_model, x, Y, arguments)
    return list(changes.proposals("overhead", call, make_model(), call.first_batches(2, 60), ""))


def trained(proposal):
    """The model with the change, after an epoch."""
    call = proposal.make_call()
    model = call.make_model()
    history = model.fit(**call.arguments, epochs=1, verbose=0).history
    assert np.isfinite(history["loss"][0])
    return model


def test_a_model_without_such_settings_is_left_alone(model_of):
    names = [proposal.name for proposal in proposed(model_of())]
    assert "run_eagerly=False" not in names
    assert "float32" not in names


def test_leaving_eager_mode_is_all_that_is_tried_in_it(model_of):
    [proposal] = proposed(model_of(run_eagerly=True))
    assert proposal.name == "run_eagerly=False"
    assert not proposal.alters
    model = trained(proposal)
    assert not model.run_eagerly
    assert model.jit_compile == model_of()().jit_compile, "as where compile is told nothing"


def test_half_precision_is_taken_off_a_cpu_wherever_it_was_set(keras, model_of):
    if backend.devices() != ("cpu",):
        pytest.skip("an accelerator may gain by it")

    def make_model():
        before = keras.config.dtype_policy()
        keras.config.set_dtype_policy("mixed_float16")
        try:
            return model_of()()
        finally:
            keras.config.set_dtype_policy(before)

    first = proposed(make_model)[0]
    assert first.name == "float32"
    model = trained(first)
    assert {layer.compute_dtype for layer in model.layers} == {"float32"}
    assert type(model.optimizer).__name__ == "Adam"


@pytest.mark.parametrize("form", ["arrays", "dataset"])
def test_text_is_turned_into_numbers_before_the_model(keras, form):
    tf = pytest.importorskip("tensorflow")
    if backend.framework() != "tensorflow":
        pytest.skip("a model takes text on TensorFlow alone")
    vectorize = keras.layers.TextVectorization(output_sequence_length=2)
    vectorize.adapt(TEXTS)

    def make_model():
        layers = [keras.Input((1,), dtype="string"), vectorize, keras.layers.Dense(1)]
        model = keras.Sequential(layers)
        model.compile("sgd", "mse")
        return model

    texts = tf.constant(TEXTS)
    if form == "arrays":
        call = checked_call(make_model, texts, Y, {"validation_data": (texts, Y)})
    else:
        dataset = tf.data.Dataset.from_tensor_slices((texts, Y)).batch(8)
        call = checked_call(make_model, dataset, None, {"validation_data": dataset})
    found = changes.proposals("overhead", call, make_model(), [], "")
    first = next(iter(found))
    assert first.name == "text work before the model"
    model = trained(first)
    assert vectorize not in model.layers


def test_what_alters_the_training_comes_last(model_of):
    call = checked_call(model_of(), np.ones((5120, 3), "float32"), np.ones((5120, 1)), {})
    for verdict in ("overhead", "memory"):
        found = list(changes.proposals(verdict, call, model_of()(), [], ""))
        alters = [proposal.alters for proposal in found if not proposal.reason]
        assert alters == sorted(alters), verdict
        assert any(alters), verdict


@pytest.mark.night
def test_it_holds_on_jax_too(on_jax):
    on_jax("not on_jax", __file__)
