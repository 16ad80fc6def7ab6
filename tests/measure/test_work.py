"""Operations and bytes of a training step: by hand, and beside the compiler's own count."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import count_by_compiler
import keras
import pytest

from accel_helpers.course import quickstart
from accel_helpers.measure import work

make = keras.layers
LESSONS = [name for name in count_by_compiler.MODELS if name.startswith("quickstart")]


def built(*layers, loss="mse", optimizer="sgd"):
    model = keras.Sequential(layers)
    model.compile(optimizer, loss)
    return model


@pytest.fixture(scope="module")
def compiler():
    """What XLA counts in a step of every model, asked in one child process."""
    command = [sys.executable, count_by_compiler.__file__]
    on_jax = os.environ | {"KERAS_BACKEND": "jax"}
    done = subprocess.run(command, env=on_jax, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def step_of(name):
    build, batch_size, _ = count_by_compiler.MODELS[name]
    return work.count_step(build(), batch_size)


def off(counted, by_compiler):
    return abs(counted / by_compiler - 1)


# --- beside the compiler ---------------------------------------------------------------------

LIMITS = {  # how far a count may be off; what dropout's random bits take is not counted
    **{name: 0.02 if "dropout 0.2" in name else 0.003 for name in LESSONS},
    **dict.fromkeys(("convolutions", "depthwise", "sequence"), 0.002),
    **dict.fromkeys(("transformer, relu", "separable"), 0.005),
    "transformer, gelu": 0.06,  # XLA writes the error function as a polynomial
    **dict.fromkeys(("LSTM", "GRU", "SimpleRNN"), 0.01),
}
GATES = {"LSTM": 4, "GRU": 3, "SimpleRNN": 1}


@pytest.mark.night
@pytest.mark.parametrize("name", LIMITS)
def test_a_count_agrees_with_the_compiler(compiler, name):
    step, xla = step_of(name), compiler[name]
    # a loop also works out a gradient for the state that it began with; written out, nobody asks
    spared = sum(2 * 32 * units * units * GATES.get(name, 0) for units in (48, 40))
    assert off(step.flops - spared, xla["traced"]["flops"]) < LIMITS[name]
    assert xla["counted"] == step.flops  # on JAX as on the framework of the tests
    assert off(step.forward.flops, xla["forward"]["flops"]) < (0.13 if "gelu" in name else 0.002)
    if "compiled" in xla:  # fusing works some things out twice
        assert off(step.flops, xla["compiled"]["flops"]) < (0.025 if name in LESSONS else 0.05)
    if name in LESSONS:
        assert 2 * step.bytes < xla["traced"]["bytes"] < 11 * step.bytes  # nothing fused
        assert "compiled" not in xla or step.bytes < xla["compiled"]["bytes"] < 2 * step.bytes


@pytest.mark.night
@pytest.mark.parametrize("name", count_by_compiler.OPTIMIZERS)
def test_optimizers_agree_with_the_compiler(compiler, name):
    step = step_of(name)
    update = step.rows[-1].flops
    assert update > 0
    assert step.notes == ()
    rest = compiler[name]["traced"]["flops"] - (step.flops - update)
    assert off(update, rest) < 0.005


# --- beside published counts -----------------------------------------------------------------


def blocks(x, count, width, heads, before):
    """Blocks of a transformer, normalised before each part, or after each sum."""
    norm = make.LayerNormalization
    for attention in (True, False) * count:
        y = norm()(x) if before else x
        y = make.MultiHeadAttention(heads, width // heads)(y, y) if attention else y
        y = y if attention else make.Dense(width)(make.Dense(4 * width, activation="gelu")(y))
        x = make.Add()([x, y]) if before else norm()(make.Add()([x, y]))
    return norm()(x) if before else x


def text(count, width, heads, length, kinds, *end):
    """GPT-2; or BERT, which looks up a third thing."""
    inputs, bert = [keras.Input((length,)) for _ in kinds], len(kinds) == 3
    x = make.Add()([make.Embedding(n, width)(i) for n, i in zip(kinds, inputs, strict=True)])
    x = blocks(make.LayerNormalization()(x) if bert else x, count, width, heads, not bert)
    return keras.Model(inputs, keras.Sequential([keras.Input(x.shape[1:]), *end])(x))


def vit():
    image, token, places = inputs = [keras.Input(shape) for shape in ((224, 224, 3), (1,), (197,))]
    patches = make.Reshape((196, 768))(make.Conv2D(768, 16, 16)(image))
    x = make.Concatenate(axis=1)([make.Embedding(1, 768)(token), patches])
    x = blocks(make.Add()([x, make.Embedding(197, 768)(places)]), 12, 768, 12, before=True)
    return keras.Model(inputs, make.Dense(1000)(make.Cropping1D((0, 196))(x)))


POOLER = make.Cropping1D((0, 127)), make.Dense(768, "tanh")
TRANSFORMERS = {
    "BERT-base": lambda: text(12, 768, 12, 128, (21128, 512, 2), *POOLER),
    "BERT-large": lambda: text(24, 1024, 16, 384, (30522, 512, 2), make.Dense(2)),
    "GPT-2": lambda: text(12, 768, 12, 1024, (50257, 1024), make.Dense(50257, use_bias=False)),
    "ViT-B/16": vit,
}
TABLE = Path(__file__).with_name("published_counts.csv").read_text().splitlines()
PUBLISHED = {row["model"]: row for row in csv.DictReader(row for row in TABLE if row[0] != "#")}
QUICK = "VGG16", "MobileNetV2", "Xception", "ViT-B/16"
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in PUBLISHED if name not in QUICK]


@pytest.mark.parametrize("name", [*QUICK, *SLOW])
def test_a_count_agrees_with_the_published_one(name):
    row, size = PUBLISHED[name], {"input_shape": (224, 224, 3)} if "NetV3" in name else {}
    known = TRANSFORMERS.get(name) or getattr(keras.applications, name)
    model = known() if name in TRANSFORMERS else known(weights=None, **size)
    step = work.count_step(model, 2, training=False)
    multiplied = (step.product_flops + step.padding_flops) / 2 / 2e9
    assert off(multiplied, float(row["gmac"])) < float(row["limit"] or 0.02)
    assert off(step.parameters / 1e6, float(row["parameters"])) < 0.007
    assert not row["activations"] or off(step.made / 2e6, float(row["activations"])) < 0.003
    assert step.parameters == model.count_params()
    assert step.notes == ()


# --- by hand ---------------------------------------------------------------------------------


def test_a_dense_model_by_hand():
    model = built(
        keras.Input((7,)), make.Dense(5, activation="relu"), make.Dense(3), optimizer="adam"
    )
    step = work.count_step(model, 4)
    first, second, loss, optimizer = step.rows
    # forward: product, bias, relu; backward: weights, sum for the bias, relu (compare, choose)
    assert first.flops == (2 * 4 * 7 * 5 + 2 * 4 * 5) + (2 * 4 * 7 * 5 + 4 * 5 + 2 * 4 * 5)
    assert second.flops == (2 * 4 * 5 * 3 + 4 * 3) + (2 * (2 * 4 * 5 * 3) + 4 * 3)
    assert first.product_flops == 2 * 280
    assert second.product_flops == 3 * 120
    assert [row.parameters for row in step.rows] == [40, 18, "", ""]
    assert (optimizer.flops, optimizer.bytes) == (11 * 58, 7 * 58 * 4)
    assert (loss.flops, loss.bytes) == (6 * 12, 3 * 12 * 4)
    # forward: input, weights, output; backward: output's gradient, input, weights' gradient
    assert first.bytes == 4 * (28 + 40 + 20 + 20 + 28 + 40)
    # and the weights read again for the gradient of the input
    assert second.bytes == 4 * (20 + 18 + 12 + 12 + 20 + 18 + 18 + 20)
    assert step.product_flops == 2 * 280 + 3 * 120
    assert step.flops == first.flops + second.flops + loss.flops + optimizer.flops
    assert step.bytes == first.bytes + second.bytes + loss.bytes + optimizer.bytes
    assert step.intensity == step.flops / step.bytes
    assert not model.optimizer.built
    assert "One training step, batch of 4" in str(step)


@pytest.mark.parametrize(
    "layer, met, groups",
    [
        (make.Conv2D(6, 3, use_bias=False), 9 * (4 * 6), 1),
        (make.Conv2D(6, 3, strides=2, use_bias=False), 9 * (2 * 3), 1),
        (make.Conv2D(6, 3, dilation_rate=2, use_bias=False), 9 * (2 * 4), 1),
        (make.Conv2D(6, (1, 3), groups=2, use_bias=False), 3 * (6 * 6), 2),
        # a filter of 3 lies over the edge once at either end
        (make.Conv2D(6, 3, padding="same", use_bias=False), (3 * 6 - 2) * (3 * 8 - 2), 1),
        (make.DepthwiseConv2D(3, depth_multiplier=2, use_bias=False), 9 * (4 * 6), 4),
    ],
)
def test_convolutions_by_hand(layer, met, groups):
    found, *_ = work.count_step(built(keras.Input((6, 8, 4)), layer), 5).rows
    filters = 8 if groups == 4 else 6
    assert found.flops == found.product_flops  # data need no gradient
    assert found.product_flops == 2 * (2 * 5 * met * (4 // groups) * filters)


def test_a_forward_pass_by_hand():
    layers = [keras.Input((6, 8, 4)), make.Conv2D(6, 3, 2, "same", activation="relu")]
    layers += [make.BatchNormalization(), make.Dropout(0.5), make.Flatten(), make.Dense(2)]
    model = keras.Sequential(layers)
    step = work.count_step(model, 5, training=False)  # not compiled
    met, made = (3 * 3 - 1) * (3 * 4 - 1), 5 * 3 * 4 * 6  # over the edge once, down and across
    products = 2 * 5 * met * 4 * 6 + 2 * 5 * 72 * 2
    assert (step.operations, step.made, step.parameters) == (4, made + 10, 222 + 24 + 146)
    assert step.product_flops == products
    assert step.notes == ()
    assert step.padding_flops == 2 * 5 * (9 * 12 - met) * 4 * 6
    assert step.flops == products + 2 * made + 2 * made + 10  # bias, relu; scaled and moved
    model.compile("sgd", "mse")
    both = work.count_step(model, 5)
    assert both.forward.rows == step.rows
    assert "One forward pass" in str(both.forward)
    # gradients of the kernel, of the weights at the end, and of their input
    assert both.backward.product_flops == products + 2 * 5 * 72 * 2
    assert both.backward.padding_flops == step.padding_flops


def test_operations_start_one_after_the_other():
    def operations(*layers, shape=(9, 8)):
        return work.count_step(keras.Sequential([keras.Input(shape), *layers]), 2, False).operations

    assert [operations(make.LSTM(5)), operations(make.Bidirectional(make.GRU(5)))] == [18, 36]
    timed = make.TimeDistributed(make.Dense(3, activation="softmax"))
    assert operations(timed, make.Reshape((27,))) == 2
    assert operations(make.SeparableConv2D(5, 3), make.Cropping2D(), shape=(9, 9, 8)) == 3


def test_the_bytes_of_a_loop_by_hand():
    model = built(keras.Input((9, 7)), make.LSTM(5, dtype="mixed_bfloat16"))
    layer, *_ = work.count_step(model, 4).rows
    weights = 4 * 5 * (7 + 5 + 1)
    given, made, inside = 4 * 4 * 9 * 7, 2 * 4 * 5, 2 * 4 * 9 * 5 * (4 + 1)
    forward = given + 9 * 4 * weights + made + 2 * inside  # the weights in every step
    assert layer.bytes == forward + made + given + 3 * inside + 4 * weights


def test_an_embedding_reads_its_rows_and_writes_a_gradient_for_all():
    step = work.count_step(built(keras.Input((9,), dtype="int32"), make.Embedding(1000, 7)), 4)
    layer, *_ = step.rows
    rows = 4 * 9 * 7
    assert layer.flops == rows  # on the way back
    assert layer.bytes == 4 * (36 + rows + rows) + 4 * (rows + 36 + 7000)


def test_a_frozen_layer_passes_gradients_on_and_makes_none():
    model = built(keras.Input((7,)), make.Dense(6, "relu"), make.Dense(5), make.Dense(3))
    first, middle, last = model.layers
    each = 2 * 4 * 7 * 6, 2 * 4 * 6 * 5, 2 * 4 * 5 * 3
    middle.trainable = False
    products = [row.product_flops for row in work.count_step(model, 4).rows]
    assert products[:3] == [2 * each[0], 2 * each[1], 3 * each[2]]
    first.trainable = False
    step = work.count_step(model, 4)
    assert [row.product_flops for row in step.rows[:3]] == [each[0], each[1], 2 * each[2]]
    # nothing goes back: the product, the bias and the relu, then the product and the bias
    assert [row.flops for row in step.rows[:2]] == [each[0] + 2 * 24, each[1] + 20]
    assert step.rows[-1].flops == 2 * 18


def test_mixed_precision_keeps_weights_in_32_bits_and_the_rest_in_16():
    def model(dtype):
        return built(keras.Input((7,)), make.Dense(5, dtype=dtype), make.Dense(3, dtype=dtype))

    whole, mixed = (work.count_step(model(d), 4) for d in ("float32", "mixed_bfloat16"))
    assert whole.flops == mixed.flops
    assert whole.rows[-1] == mixed.rows[-1]
    # the second layer: two outputs and three inputs in 16 bits; the weights, read twice, and
    # their gradient in 32
    assert mixed.rows[1].bytes == 2 * (2 * 12 + 3 * 20) + 4 * (3 * 18)
    assert whole.rows[1].bytes == 4 * (2 * 12 + 3 * 20) + 4 * (3 * 18)


def test_a_layer_used_twice_counts_twice_and_is_stored_once():
    inputs, shared = keras.Input((6,)), make.Dense(6, name="shared")
    model = keras.Model(inputs, shared(shared(inputs)))
    model.compile("sgd", "mse")
    step = work.count_step(model, 4)
    first, again, _, optimizer = step.rows
    assert (first.name, again.name) == ("shared", "shared (use 2)")
    assert (first.parameters, again.parameters) == (42, 0)
    assert (first.product_flops, again.product_flops) == (2 * 288, 3 * 288)
    # product, its gradients, the bias twice, and the sum of the gradients of both uses
    assert again.flops == 3 * 288 + 2 * 24 + 42
    assert optimizer.flops == 2 * 42
    x = make.Dense(6)(inputs)  # goes two ways: there the sum of gradients of both
    model = keras.Model(inputs, make.Add()([x, make.Dense(6)(x)]))
    model.compile("sgd", "mse")
    assert work.count_step(model, 4).rows[-3].flops == 24 + 24


def test_a_model_in_a_model_is_counted_layer_by_layer():
    inner = keras.Sequential([keras.Input((6,)), make.Dense(5)], name="inner")
    model = built(keras.Input((7,)), make.Dense(6), inner)
    step = work.count_step(model, 4)
    assert step.rows[1].name == f"inner/{inner.layers[0].name}"
    assert step.rows[1].product_flops == 3 * 2 * 4 * 6 * 5  # its input needs a gradient


def test_every_output_has_its_loss():
    inputs = keras.Input((6,))
    model = keras.Model(inputs, [make.Dense(2)(inputs), make.Dense(3)(inputs)])
    model.compile("sgd", ["mse", None])
    step = work.count_step(model, 4)
    assert step.rows[-2].flops == 6 * 4 * 2
    assert step.notes == ()
    model.compile("sgd", ["mse", "mse"])
    assert work.count_step(model, 4).rows[-2].flops == 6 * 4 * 5


# --- what is not counted, and what is refused ------------------------------------------------


def test_what_is_not_counted_is_said():
    model = built(
        keras.Input((7,)),
        make.GaussianNoise(0.1, name="noise"),
        make.Dense(5, activation="mish", kernel_regularizer="l2", name="odd"),
        make.Dropout(0.5),
        loss="poisson",
        optimizer="ftrl",
    )
    step = work.count_step(model, 4)
    parts = ("GaussianNoise", "mish", "poisson", "Ftrl", "Regularisation", "dropout")
    assert len(step.notes) == 6
    assert all(note in str(step) for note in step.notes)
    assert all(any(part in note for note in step.notes) for part in parts)
    assert [(row.flops, row.bytes) for row in step.rows[-2:]] == [(0, 0)] * 2
    assert step.product_flops == 2 * (2 * 4 * 7 * 5)
    clipped = keras.optimizers.SGD(clipnorm=1.0)
    (note,) = work.count_step(built(keras.Input((7,)), make.Dense(5), optimizer=clipped), 4).notes
    assert "clipnorm" in note


class Dense(keras.layers.Dense):
    """Only has the name of a layer, and does something else, perhaps."""


@pytest.mark.parametrize(
    "model, error, named",
    [
        (lambda: built(keras.Input((7,)), make.PReLU(name="bend")), TypeError, "'bend'.*LSTM"),
        (lambda: built(keras.Input((7,)), Dense(5)), TypeError, "Dense"),
        (lambda: built(make.Dense(5)), TypeError, "keras.Input"),
        (lambda: keras.Sequential([keras.Input((7,)), make.Dense(5)]), AttributeError, "optimizer"),
        (lambda: built(keras.Input((None, 7)), make.Dense(5)), ValueError, "None, None, 7"),
        (lambda: built(keras.Input((7,), batch_size=8), make.Dense(5)), ValueError, "than 4"),
    ],
)
def test_a_model_that_cannot_be_counted_is_refused_by_name(model, error, named):
    with pytest.raises(error, match=named):
        work.count_step(model(), 4)


def test_a_step_reads_well():
    text = str(work.count_step(quickstart.quickstart_model(), 32))
    assert "100,480" in text
    assert "92 %" in text
    assert max(map(len, text.splitlines())) <= 100
    with pytest.raises(ValueError, match="batch_size"):
        work.count_step(None, 2.5)
