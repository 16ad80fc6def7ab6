"""The training step written down from shapes: what it is given, and that the model stays whole.

The same tests run on JAX too, in a process of their own.
"""

import numpy as np
import pytest
import tpu_models

from accel_helpers.tpu.lowering import NoProgram, lower
from accel_helpers.tpu.report import array_bytes

draw = np.random.default_rng(0)
X, Y = draw.standard_normal((64, 8)).astype("float32"), draw.integers(0, 5, 64)
GUESS = r"sample=\(x\[:1\], y\[:1\]\)"


def dense(keras, loss="mse", metrics=("mae",), optimizer="adam", layers=None):
    keras.utils.set_random_seed(0)
    model = keras.Sequential(layers or [keras.Input((8,)), keras.layers.Dense(5)])
    model.compile(optimizer, loss, metrics=list(metrics))
    return model


def numbers(model):
    variables = [*model.variables, *model.metrics_variables, *model.optimizer.variables]
    return {variable.path: np.asarray(variable.value).tolist() for variable in variables}


def bytes_of(program, kind):
    return sum(array_bytes(array) for its, array in program.arguments if its == kind)


@pytest.fixture(scope="module")
def quickstart(keras):
    return tpu_models.quickstart()


@pytest.mark.slow
def test_a_model_that_was_lowered_trains_as_one_that_was_not(keras, digits):
    """To the last bit: first weights, dropout and the order of the samples are drawn alike."""
    x, y = digits

    def trained(ask):
        keras.utils.set_random_seed(3)
        keras.backend.clear_session()
        model, histories = tpu_models.quickstart(), []
        for _ in range(2):  # before there is an optimizer, and where it has numbers
            ask(model)
            histories.append(model.fit(x[:96], y[:96], batch_size=32, verbose=0).history)
        return histories, numbers(model)

    expected, found = trained(lambda model: None), trained(lambda model: lower(model, 64))
    assert found == expected
    assert set(found[0][0]) == {"accuracy", "loss"}
    assert any("seed" in name for name in found[1]), "the dropout's random state is looked at"


def test_a_wrong_guess_of_the_targets_is_not_what_fit_is_built_on(keras):
    def trained(ask):
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, name="xent")
        model = dense(keras, loss, ["accuracy"])
        ask(model)
        return model.fit(X, Y, batch_size=16, epochs=2, verbose=0).history

    def ask(model):
        with pytest.raises(NoProgram):
            lower(model, 32, sample=(X[:1], np.zeros((1, 5, 2), "float32")))

    assert trained(ask) == trained(lambda model: None)


def test_what_a_step_is_given_is_counted_without_padding(keras, quickstart):
    program = lower(quickstart, 32)
    weights = 4 * 101_770
    assert bytes_of(program, "weights") == weights == 4 * quickstart.count_params()
    # Adam keeps two numbers for each weight, and counts its steps; it knows its learning rate.
    assert 2 * weights < bytes_of(program, "optimizer") <= 2 * weights + 12
    assert bytes_of(program, "inputs") == 32 * 28 * 28 * 4
    assert bytes_of(program, "targets") == 32 * 4
    assert b"hidden" in program.data, "the layers' names are in it"


def test_the_loss_says_which_targets_there_are(keras):
    sparse = keras.losses.SparseCategoricalCrossentropy(name="own")
    for loss in ("sparse_categorical_crossentropy", sparse):
        assert lower(dense(keras, loss, ()), 4).arguments[-1] == ("targets", "s32[4]")
    for loss in ("categorical_crossentropy", keras.losses.MeanSquaredError()):
        assert lower(dense(keras, loss, ()), 4).arguments[-1] == ("targets", "f32[4,5]")


def test_a_model_with_several_inputs(keras):
    left, right = keras.Input((4,), name="left"), keras.Input((6,), name="right")
    out = keras.layers.Dense(2)(keras.layers.Concatenate()([left, right]))
    model = keras.Model({"left": left, "right": right}, out)
    model.compile("adam", "mse")
    program = lower(model, 8)
    assert [array for _, array in program.arguments[-3:]] == ["f32[8,4]", "f32[8,6]", "f32[8,2]"]
    first = -3 if keras.config.backend() == "jax" else 0  # behind the model's state, or before it
    assert program.batch_arguments == (first, first + 1, first + 2)


def test_a_model_without_shapes_takes_them_from_a_sample(keras):
    model = dense(keras, layers=[keras.layers.Dense(3)])
    with pytest.raises(ValueError, match=GUESS):
        lower(model, 8)
    x, y = np.ones((2, 5), "float64"), np.ones((2, 3), "float32")
    program = lower(model, 8, sample=(x, y))  # in the type that `fit` would train in
    assert program.arguments[-2:] == (("inputs", "f32[8,5]"), ("targets", "f32[8,3]"))
    assert model.fit(x, y, verbose=0).history["loss"][0] > 0


def test_what_cannot_be_read_off_asks_for_a_sample(keras):
    def own(y, prediction):
        return keras.losses.sparse_categorical_crossentropy(y, prediction, from_logits=True)

    make, inputs = keras.layers, keras.Input((4,))
    open_length = dense(keras, layers=[keras.Input((None, 4)), make.LSTM(3)])
    two = keras.Model(inputs, [make.Dense(1, name="a")(inputs), make.Dense(1, name="b")(inputs)])
    two.compile("sgd", "mse")
    for model in (open_length, two, dense(keras, own)):
        with pytest.raises(ValueError, match=GUESS):
            lower(model, 8)
    sample = np.ones((1, 7, 4), "float32"), np.ones((1, 3), "float32")
    assert ("inputs", "f32[8,7,4]") in lower(open_length, 8, sample).arguments
    program = lower(dense(keras, own, ()), 32, sample=(X[:1], Y[:1].astype("int32")))
    assert ("targets", "s32[32]") in program.arguments


def test_what_is_no_compiled_model_for_this_batch_is_the_callers_mistake(keras):
    layers = [keras.Input(batch_shape=(4, 3)), keras.layers.Dense(1)]
    fixed = dense(keras, layers=layers)
    for model, given in ((object(), "object"), (keras.Sequential(layers), "compile"), (fixed, "4")):
        with pytest.raises(ValueError, match=given):
            lower(model, 8)
    assert bytes_of(lower(fixed, 4), "inputs") == 4 * 3 * 4


def test_what_tensorflow_can_and_a_tpu_cannot_is_named_with_its_layer(keras):
    """Text; a size that is known only while it runs; a model that several replicas share."""
    if keras.config.backend() == "jax":
        pytest.skip("TensorFlow's operations, words and strategies")
    import tensorflow as tf

    class Odd(keras.layers.Layer):
        def call(self, x):
            return tf.strings.to_number(tf.strings.as_string(x))

    make = keras.layers
    layers = [keras.Input((8,)), make.Dense(8), Odd(name="odd_one"), make.Dense(2)]
    with pytest.raises(NoProgram) as raised:
        lower(dense(keras, layers=layers), 8)
    assert raised.value.fields in (
        {"verdict": "refused", "operation": operation, "layer": "odd_one"}
        for operation in ("AsString", "StringToNumber")
    )
    counting = make.CategoryEncoding(4, output_mode="count", name="encode")
    layers = [keras.Input((3,), dtype="int32"), counting, make.Dense(1)]
    with pytest.raises(NoProgram, match="encode"):
        lower(dense(keras, layers=layers), 8)
    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        model = dense(keras)
    with pytest.raises(NoProgram, match=r"strategy\.scope"):
        lower(model, 32)


@pytest.mark.night
@pytest.mark.timeout(1200)
def test_all_of_this_holds_on_jax(on_jax):
    said = on_jax("not holds_on_jax", __file__)
    assert " 1 skipped" in said, "TensorFlow's own operations and strategies"
