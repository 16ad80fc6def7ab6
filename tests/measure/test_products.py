"""What layers ask of a chip: beside published counts, and by hand; see also worth/models.json."""

import csv
from pathlib import Path

import keras
import pytest

from accel_helpers.measure.products import count

make = keras.layers
FILE = Path(__file__).with_name("published_counts.csv")
_, _, TABLE = FILE.read_text().rpartition("#")
_, *ROWS = TABLE.splitlines()
PUBLISHED = {row["model"]: row for row in csv.DictReader(ROWS)}
QUICK = ("MobileNetV2", "Xception")
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in PUBLISHED if name not in QUICK]


def in_a_row(shape, *layers):
    return keras.Sequential([keras.Input(shape), *layers])


@pytest.mark.parametrize("name", [*QUICK, *SLOW])
def test_a_count_agrees_with_the_published_one(name):
    published = PUBLISHED[name]
    size = {}
    if "NetV3" in name:
        size["input_shape"] = (224, 224, 3)
    model = getattr(keras.applications, name)(weights=None, **size)
    counted = count(model, 1)
    found = {"gmac": 0.0, "parameters": 0.0, "activations": 0.0}
    for row in counted.rows:
        found["gmac"] += row.product_flops / 2e9
        found["parameters"] += row.parameters / 1e6
        found["activations"] += row.made / 1e6
    limits = {"gmac": float(published["limit"] or 0.02), "parameters": 0.007, "activations": 0.003}
    for kind, limit in limits.items():
        if published[kind]:
            assert found[kind] == pytest.approx(float(published[kind]), rel=limit)
    assert counted.notes == ()


def test_attention_from_one_sequence_to_another_by_hand():
    here = keras.Input((6, 8))
    there = keras.Input((9, 5))
    attention = make.MultiHeadAttention(2, key_dim=4, value_dim=3)
    (row,) = count(keras.Model([here, there], attention(here, there)), 1).rows
    # of each of two heads: queries 6 x 8 x 4, keys 9 x 5 x 4, values 9 x 5 x 3, scores 6 x 9 x 4,
    # sums 6 x 9 x 3, and the end 6 x 3 x 8: 1029 products
    assert row.product_flops == 2 * 2 * 1029
    # queries 24, keys 36 and values 27 of each head, and what comes out
    assert row.made == 2 * 87 + 48


def test_a_training_step_has_its_products_again_for_weights_and_for_what_lies_before():
    first = make.Dense(5)
    model = in_a_row((7,), first, make.Dense(3))
    # 2 x 7 x 5 and 2 x 5 x 3 for an example
    assert count(model, 1).training_flops == 2 * 70 + 3 * 30
    first.trainable = False
    assert count(model, 1).training_flops == 70 + 2 * 30


def test_a_model_in_a_model_is_counted_layer_by_layer():
    inner = in_a_row((6,), make.Dense(5))
    model = in_a_row((7,), make.Dense(6), inner, make.Dense(2))
    before, within, after = count(model, 1).rows
    assert before.product_flops == 84
    assert within.product_flops == 60
    assert after.product_flops == 20
    assert not before.passes_back
    assert within.passes_back


class Dense(keras.layers.Dense):
    """Only has the name of a layer, and does something else, perhaps."""


def test_what_cannot_be_counted_is_refused_or_said_by_name():
    with pytest.raises(TypeError, match="Dense"):
        count(in_a_row((7,), Dense(5)), 4)
    with pytest.raises(ValueError, match="None, None, 7"):
        count(in_a_row((None, 7), make.Dense(5)), 4)
    noisy = in_a_row((7,), make.GaussianNoise(0.1, name="noise"))
    (note,) = count(noisy, 4).notes
    assert "noise (GaussianNoise)" in note
