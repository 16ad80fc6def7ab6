"""The training step written down from shapes: what it is given, and that the model stays whole.

The same tests run on JAX too, in a process of their own.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tpu_models

from accel_helpers.tpu import lowering as tpu_lowering
from accel_helpers.tpu.lowering import CannotLower, NotForTPU, argument_bytes, lower
from accel_helpers.train import training


def on_jax(keras):
    return keras.config.backend() == "jax"


def compiled(keras, model, loss="mse"):
    model.compile("adam", loss, metrics=["mae"])
    return model


def numbers(model):
    """Everything that a model holds: weights, random state, metrics, optimizer."""
    variables = [*model.variables, *model.metrics_variables, *model.optimizer.variables]
    return {variable.path: np.asarray(variable.value).copy() for variable in variables}


def same(found, expected):
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert np.array_equal(found[name], value), name


def test_a_model_that_was_lowered_trains_as_one_that_was_not(keras, digits):
    """To the last bit: first weights, dropout and the order of the samples are drawn alike."""
    x, y = digits

    def trained(lowered):
        keras.utils.set_random_seed(3)
        keras.backend.clear_session()
        model = tpu_models.convolutional()
        if lowered:
            lower(model, 64)
        history = model.fit(x[:96, ..., None], y[:96], epochs=2, batch_size=32, verbose=0)
        return history.history, numbers(model)

    expected, found = trained(False), trained(True)
    assert found[0] == expected[0] and set(found[0]) == {"accuracy", "loss"}
    same(found[1], expected[1])


def test_a_model_that_was_trained_is_lowered_and_nothing_in_it_moves(keras, digits):
    x, y = digits
    model = training.quickstart_model()
    model.fit(x[:64], y[:64], verbose=0)
    before = numbers(model)
    assert any("seed" in name for name in before), "the dropout's random state is looked at"
    first, second = lower(model, 64), lower(model, 64)
    same(numbers(model), before)
    assert int(model.optimizer.iterations) == 2
    assert first.arguments == second.arguments
    model.fit(x[:64], y[:64], verbose=0)
    assert int(model.optimizer.iterations) == 4


def test_what_a_step_is_given_is_counted_without_padding(keras):
    model = training.quickstart_model()
    program = lower(model, 32)
    weights = 4 * model.count_params()
    assert program.backend == keras.config.backend() and program.batch_size == 32
    assert program.bytes_of("weights") == weights == 4 * 101_770
    # Adam keeps two numbers for each weight, and counts its steps; it knows its learning rate.
    assert 2 * weights < program.bytes_of("optimizer") <= 2 * weights + 12
    assert program.bytes_of("inputs") == 32 * 28 * 28 * 4
    assert program.bytes_of("targets") == 32 * 4
    assert (
        program.bytes_of()
        == argument_bytes(model, 32)
        == sum(
            program.bytes_of(kind)
            for kind in ("weights", "optimizer", "other state", "inputs", "targets")
        )
    )
    leaves = program.batch_arguments
    assert leaves == ((-2, -1) if on_jax(keras) else (0, 1))
    assert b"hidden" in program.data, "the layers' names are in it"


def test_no_batch_is_made_however_large(keras):
    model = training.quickstart_model()
    samples = 10**9  # 3 TB of pictures
    assert argument_bytes(model, samples) > samples * 28 * 28 * 4
    assert lower(model, samples).bytes_of("inputs") == samples * 28 * 28 * 4


def test_the_type_of_the_numbers_counts(keras):
    """Mixed precision keeps its weights in 4 bytes; pure bfloat16 does not."""
    make = keras.layers
    for policy, size in (("mixed_bfloat16", 4), ("bfloat16", 2)):
        layers = [keras.Input((8,)), make.Dense(3, dtype=policy)]
        program = lower(compiled(keras, keras.Sequential(layers)), 4)
        assert program.bytes_of("weights") == 27 * size
    tokens = keras.Sequential([keras.Input((5,), dtype="int32"), make.Embedding(9, 2)])
    given = {
        kind: (shape, dtype) for kind, shape, dtype in lower(compiled(keras, tokens), 4).arguments
    }
    assert given["inputs"] == ((4, 5), "int32")
    assert given["targets"] == ((4, 5, 2), "float32")


@pytest.mark.parametrize(
    ("loss", "shape", "dtype"),
    [
        ("sparse_categorical_crossentropy", (4,), "int32"),
        ("SparseCategoricalCrossentropy", (4,), "int32"),
        ("categorical_crossentropy", (4, 3), "float32"),
        ("MeanSquaredError", (4, 3), "float32"),
    ],
)
def test_the_loss_says_which_targets_there_are(keras, loss, shape, dtype):
    loss = getattr(keras.losses, loss)
    loss = loss() if isinstance(loss, type) else loss
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
    model.compile("sgd", loss)
    assert lower(model, 4).arguments[-1] == ("targets", shape, dtype)


def two_inputs(keras, names=None):
    left, right = keras.Input((4,), name="left"), keras.Input((6,), name="right")
    out = keras.layers.Dense(2)(keras.layers.Concatenate()([left, right]))
    inputs = {"left": left, "right": right} if names else [left, right]
    return compiled(keras, keras.Model(inputs, out))


@pytest.mark.parametrize("names", [False, True])
def test_a_model_with_several_inputs(keras, names):
    program = lower(two_inputs(keras, names), 8)
    rows = [row for row in program.arguments if row[0] in ("inputs", "targets")]
    assert [shape for _, shape, _ in rows] == [(8, 4), (8, 6), (8, 2)]
    assert program.batch_arguments == ((-3, -2, -1) if on_jax(keras) else (0, 1, 2))


def subclassed(keras):
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(3, name="inner")

        def call(self, x):
            return self.dense(x)

    return compiled(keras, Own())


def test_a_model_without_shapes_takes_them_from_a_sample(keras):
    model = subclassed(keras)
    with pytest.raises(ValueError, match=r"one shape of its inputs .* sample=\(x\[:1\], y\[:1\]\)"):
        lower(model, 8)
    x, y = np.ones((2, 5), "float32"), np.ones((2, 3), "float32")
    program = lower(model, 8, sample=(x, y))
    assert program.arguments[-2:] == (("inputs", (8, 5), "float32"), ("targets", (8, 3), "float32"))
    assert model.fit(x, y, verbose=0).history["loss"][0] > 0
    for wrong in (x, (x,), (x, y, y)):
        with pytest.raises(ValueError, match=rf"pair \(x, y\) .* got {type(wrong).__name__}"):
            lower(model, 8, sample=wrong)


def test_what_cannot_be_read_off_asks_for_a_sample(keras):
    make = keras.layers
    open_length = keras.Sequential([keras.Input((None, 4)), make.LSTM(3)])
    inputs = keras.Input((4,))
    two = keras.Model(inputs, [make.Dense(1, name="a")(inputs), make.Dense(1, name="b")(inputs)])
    plain = keras.Sequential([keras.Input((4,)), make.Dense(1)])
    two.compile("sgd", "mse")
    cases = [
        (compiled(keras, open_length), "a shape is open: (None, None, 4)"),
        (two, "one shape of its inputs and one output"),
        (compiled(keras, plain, loss={"a": "mse"}), "{'a': 'mse'}"),
    ]
    for model, words in cases:
        with pytest.raises(ValueError, match=re.escape(words)) as raised:
            lower(model, 8)
        assert "sample=(x[:1], y[:1])" in str(raised.value)
    sample = np.ones((1, 7, 4), "float32"), np.ones((1, 3), "float32")
    assert ("inputs", (8, 7, 4), "float32") in lower(open_length, 8, sample).arguments


def test_a_model_that_is_not_compiled_is_refused(keras):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    for ask in (lower, argument_bytes):
        with pytest.raises(ValueError, match=r"not compiled.* Call model\.compile first"):
            ask(model, 8)


def test_a_model_built_for_one_batch_says_which(keras):
    layers = [keras.Input(batch_shape=(4, 3)), keras.layers.Dense(1)]
    model = compiled(keras, keras.Sequential(layers))
    with pytest.raises(ValueError, match="for a batch of 4; batch_size is 8"):
        lower(model, 8)
    assert lower(model, 4).bytes_of("inputs") == 4 * 3 * 4


def test_an_error_of_ones_own_is_no_refusal_of_the_tpu(keras):
    class Boom(keras.layers.Layer):
        def call(self, x, training=False):
            if training:
                raise RuntimeError("the first line\nmy own error")
            return x

    model = keras.Sequential([keras.Input((4,)), Boom()])
    with pytest.raises(CannotLower) as raised:
        lower(compiled(keras, model), 8)
    assert "my own error" in str(raised.value) and "\n" not in str(raised.value)


def odd_layers(keras, kind):
    """A model of three layers; the one in the middle does what a TPU cannot."""
    import tensorflow as tf

    def double(array):
        return array * 2

    def within_python(x, through):
        y = through(double, [x], tf.float32)
        y.set_shape(x.shape)
        return y

    calls = {
        "string": lambda x: tf.strings.to_number(tf.strings.as_string(x)),
        "py_function": lambda x: within_python(x, tf.py_function),
        "numpy_function": lambda x: within_python(x, tf.numpy_function),
        "ragged": lambda x: tf.RaggedTensor.from_tensor(x, padding=0.0).to_tensor(shape=(None, 8)),
    }

    class Odd(keras.layers.Layer):
        def call(self, x):
            return calls[kind](x)

    make = keras.layers
    layers = [keras.Input((8,)), make.Dense(8), Odd(name="odd_one"), make.Dense(2)]
    return compiled(keras, keras.Sequential(layers))


@pytest.mark.parametrize(
    ("kind", "operation"),
    [
        ("string", "AsString|StringToNumber"),
        ("py_function", "EagerPyFunc"),
        ("numpy_function", "PyFunc"),
        ("ragged", "Ragged\\w+"),
    ],
)
def test_what_tensorflow_can_and_a_tpu_cannot_is_named_with_its_layer(keras, kind, operation):
    if on_jax(keras):
        pytest.skip("these are TensorFlow's operations")
    with pytest.raises(NotForTPU) as raised:
        lower(odd_layers(keras, kind), 8)
    assert re.fullmatch(operation, raised.value.operation)
    assert raised.value.layer == "odd_one"
    assert f"{raised.value.operation!r} in layer 'odd_one'" in str(raised.value)


def test_a_step_that_prints_is_refused_in_a_sentence(keras):
    if on_jax(keras):
        from jax.debug import print as say

        words, refused = ("{}",), (CannotLower, r"calls back into Python \(jax\.pure_callback, ")
    else:
        from tensorflow import print as say

        words, refused = (), (NotForTPU, "'StringFormat' in layer 'chatty'")

    class Chatty(keras.layers.Layer):
        def call(self, x):
            say(*words, x[0, 0])
            return x

    model = keras.Sequential([keras.Input((4,)), Chatty(name="chatty"), keras.layers.Dense(1)])
    with pytest.raises(refused[0], match=refused[1]):
        lower(compiled(keras, model), 8)


def test_the_weights_are_on_every_chip_and_the_batch_is_shared(keras):
    model = compiled(keras, keras.Sequential([keras.Input((100,)), keras.layers.Dense(1)]))
    alone, shared = (argument_bytes(model, 800, chips=chips) for chips in (1, 8))
    assert alone - shared == 800 * (100 + 1) * 4 * 7 // 8


def test_only_a_refused_operation_counts_as_one():
    find = tpu_lowering.refused_operation
    node = "{{node gradient_tape/m_1/words_1/Where}}"
    several = f"Detected unsupported operations when trying to compile graph: Where, {node}"
    assert find(several, ["words"]) == ("Where", "words")
    assert find("No registered 'Where' OpKernel for XLA_CPU_JIT devices") == ("Where", "")
    for other in ("", "shapes (3,) and (4,) are incompatible", "OOM when allocating"):
        assert find(other, ["words"]) is None


@pytest.mark.slow
def test_all_of_this_holds_on_jax():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    others = [Path(__file__).with_name("test_tpu_left_alone.py")]
    child = subprocess.run(
        [*command, "-k", "not holds_on_jax", Path(__file__), *others],
        env={**os.environ, "KERAS_BACKEND": "jax"},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert child.returncode == 0, child.stdout[-3000:]
    passed, skipped = (
        int(re.search(rf"(\d+) {word}", child.stdout)[1]) for word in ("passed", "skipped")
    )
    assert passed >= 30 and skipped == 6, "those of TensorFlow's own operations and strategies"
