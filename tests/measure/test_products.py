"""What layers ask of a chip: by hand, and beside published counts."""

import csv
from pathlib import Path

import keras
import pytest

from accel_helpers.measure import products
from tests.worth.counted_models import blocks

make = keras.layers


def rows_of(*layers, batch_size=4):
    return products.count(keras.Sequential(layers), batch_size).rows


def off(counted, known):
    return abs(counted / known - 1)


# --- beside published counts -----------------------------------------------------------------


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
    counted = products.count(model, 2)
    flops, made, parameters = (
        sum(getattr(row, name) for row in counted.rows)
        for name in ("product_flops", "made", "parameters")
    )
    assert off(flops / 2 / 2e9, float(row["gmac"])) < float(row["limit"] or 0.02)
    assert off(parameters / 1e6, float(row["parameters"])) < 0.007
    assert not row["activations"] or off(made / 2e6, float(row["activations"])) < 0.003
    assert parameters == model.count_params()
    assert counted.notes == ()


# --- by hand ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "layer, places, groups",
    [
        (make.Conv2D(6, 3), 9 * (4 * 6), 1),
        (make.Conv2D(6, 3, strides=2), 9 * (2 * 3), 1),
        (make.Conv2D(6, 3, dilation_rate=2), 9 * (2 * 4), 1),
        (make.Conv2D(6, (1, 3), groups=2), 3 * (6 * 6), 2),
        (make.Conv2D(6, 3, padding="same"), 9 * (6 * 8), 1),  # over the zeros at the edge, too
        (make.DepthwiseConv2D(3, depth_multiplier=2), 9 * (4 * 6), 4),
    ],
)
def test_convolutions_by_hand(layer, places, groups):
    (row,) = rows_of(keras.Input((6, 8, 4)), layer, batch_size=5)
    filters = 8 if groups == 4 else 6
    assert row.product_flops == 2 * 5 * places * (4 // groups) * filters


def test_a_training_step_has_its_products_again_for_weights_and_for_what_lies_before():
    model = keras.Sequential([keras.Input((7,)), make.Dense(5), make.Dense(3)])
    counted = products.count(model, 4)
    first, second = 2 * 4 * 7 * 5, 2 * 4 * 5 * 3
    assert [row.product_flops for row in counted.rows] == [first, second]
    assert counted.training_flops == 2 * first + 3 * second
    model.layers[0].trainable = False
    assert products.count(model, 4).training_flops == first + 2 * second
    frozen = [row.frozen for row in products.count(model, 4).rows]
    assert frozen == [True, False]


@pytest.mark.parametrize(
    "layers, operations",
    [
        ([keras.Input((9, 8)), make.LSTM(5)], 18),
        ([keras.Input((9, 8)), make.Bidirectional(make.GRU(5))], 36),
        ([keras.Input((9, 8)), make.TimeDistributed(make.Dense(3, activation="softmax"))], 2),
        ([keras.Input((9, 8)), make.Reshape((72,)), make.Dropout(0.5), make.ReLU()], 1),
        ([keras.Input((9, 9, 8)), make.SeparableConv2D(5, 3), make.Cropping2D()], 3),
    ],
)
def test_operations_start_one_after_the_other(layers, operations):
    assert sum(row.operations for row in rows_of(*layers)) == operations


def test_a_layer_used_twice_counts_twice_and_is_stored_once():
    inputs, shared = keras.Input((6,)), make.Dense(6, name="shared")
    first, again = products.count(keras.Model(inputs, shared(shared(inputs))), 4).rows
    assert (first.product_flops, again.product_flops) == (288, 288)
    assert (first.parameters, again.parameters) == (42, 0)
    assert (first.passes_back, again.passes_back) == (False, True)


def test_a_model_in_a_model_is_counted_layer_by_layer():
    inner = keras.Sequential([keras.Input((6,)), make.Dense(5)])
    _, row = rows_of(keras.Input((7,)), make.Dense(6), inner)
    assert row.kind == "Dense"
    assert row.passes_back


# --- what is not counted, and what is refused ------------------------------------------------


def test_what_is_not_counted_is_said():
    noisy = keras.Sequential([keras.Input((7,)), make.GaussianNoise(0.1, name="noise")])
    (note,) = products.count(noisy, 4).notes
    assert "noise (GaussianNoise)" in note


class Dense(keras.layers.Dense):
    """Only has the name of a layer, and does something else, perhaps."""


@pytest.mark.parametrize(
    "layers, error, named",
    [
        ([keras.Input((7,)), make.PReLU(name="bend")], TypeError, "'bend'"),
        ([keras.Input((7,)), Dense(5)], TypeError, "Dense"),
        ([make.Dense(5)], TypeError, "keras.Input"),
        ([keras.Input((None, 7)), make.Dense(5)], ValueError, "None, None, 7"),
        ([keras.Input((7,), batch_size=8), make.Dense(5)], ValueError, "than 4"),
    ],
)
def test_a_model_that_cannot_be_counted_is_refused_by_name(layers, error, named):
    with pytest.raises(error, match=named):
        rows_of(*layers)
