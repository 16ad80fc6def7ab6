"""Asking the compiler changes nothing in the model, and what Keras cannot say is asked for."""

import numpy as np
import pytest

from accel_helpers.tpu.lowering import CannotLower, NotForTPU, lower

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((64, 8)).astype("float32"), rng.integers(0, 5, 64)


def model_with(keras, loss, **more):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(5)])
    model.compile("adam", loss, metrics=["accuracy"], **more)
    return model


def trained(model):
    found = model.fit(X, Y, batch_size=16, epochs=2, verbose=0).history
    return {name: list(values) for name, values in found.items()}


def test_a_loss_with_a_name_of_its_own_is_known_by_its_class_and_the_metrics_stay_right(keras):
    def build():
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, name="xent")
        return model_with(keras, loss)

    asked = build()
    program = lower(asked, 32)
    assert ("targets", (32,), "int32") in program.arguments
    assert trained(asked) == trained(build())


def test_a_wrong_guess_of_the_targets_is_not_what_fit_is_built_on(keras):
    """With a sample that is wrong, "accuracy" would be another metric for good."""
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    asked = model_with(keras, loss)
    with pytest.raises(CannotLower):
        lower(asked, 32, sample=(X[:1], np.zeros((1, 5, 2), "float32")))
    assert not asked._compile_metrics.built and not asked._compile_loss.built
    assert trained(asked) == trained(model_with(keras, loss))


def test_a_loss_that_is_not_kerass_own_asks_for_a_sample(keras):
    def own(y, prediction):
        return keras.losses.sparse_categorical_crossentropy(y, prediction, from_logits=True)

    with pytest.raises(ValueError, match=r"the loss <function .* sample=\(x\[:1\], y\[:1\]\)"):
        lower(model_with(keras, own), 32)
    program = lower(model_with(keras, own), 32, sample=(X[:1], Y[:1].astype("int32")))
    assert ("targets", (32,), "int32") in program.arguments


@pytest.mark.parametrize(
    ("name", "options"),
    [("StringLookup", {"vocabulary": ["a", "b"]}), ("Hashing", {"num_bins": 4}),
     ("TextVectorization", {"vocabulary": ["a", "b"], "output_sequence_length": 3})],
)  # fmt: skip
def test_layers_that_read_text_are_refused_by_name(keras, name, options):
    words = keras.Input((1,), dtype="string")
    found = getattr(keras.layers, name)(name="words", **options)(words)
    out = keras.layers.Dense(1)(keras.layers.Embedding(9, 4)(found))
    model = keras.Model(words, out)
    model.compile("adam", "mse")
    with pytest.raises(NotForTPU) as raised:
        lower(model, 8)
    assert (raised.value.operation, raised.value.layer) == (name, "words")


def test_a_sample_in_float64_is_lowered_as_fit_would_train_it(keras):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    program = lower(model_with(keras, loss), 32, sample=(X[:1].astype("float64"), Y[:1]))
    assert ("inputs", (32, 8), "float32") in program.arguments


def test_a_size_that_is_known_only_while_the_program_runs_is_refused(keras):
    if keras.config.backend() != "tensorflow":
        pytest.skip("TensorFlow's words")
    numbers = keras.Input((3,), dtype="int32")
    counted = keras.layers.CategoryEncoding(4, output_mode="count", name="encode")(numbers)
    model = keras.Model(numbers, keras.layers.Dense(1)(counted))
    model.compile("adam", "mse")
    with pytest.raises((NotForTPU, CannotLower)) as raised:
        lower(model, 8)
    assert "encode" in str(raised.value)


def test_a_model_that_several_replicas_share_is_told_to_be_made_outside(keras):
    if keras.config.backend() != "tensorflow":
        pytest.skip("TensorFlow's strategies")
    import tensorflow as tf

    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        model = model_with(keras, "mse")
    with pytest.raises(CannotLower, match=r"scope of a tf\.distribute strategy"):
        lower(model, 32)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((X, Y, Y), "got tuple of 3"),
        (([[1.0, 2.0]], [1.0]), "sample must hold arrays"),
        ((np.float32(1), Y), "sample must hold arrays"),
    ],
)
def test_a_sample_that_is_none_is_said_in_a_sentence(keras, given, words):
    with pytest.raises(ValueError, match=words):
        lower(model_with(keras, "mse"), 32, sample=given)


def test_what_is_no_model_is_said_in_a_sentence(keras):
    with pytest.raises(ValueError, match="must be a Keras model; got object"):
        lower(object(), 32)
