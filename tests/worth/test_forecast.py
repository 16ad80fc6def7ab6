"""A forecast follows from chip and work, and from a step that is timed here."""

import pytest

from accel_helpers.course.quickstart import quickstart_model
from accel_helpers.machine import backend
from accel_helpers.worth import step_time
from accel_helpers.worth.forecast import forecast
from accel_helpers.worth.model_load import expected_rows
from accel_helpers.worth.step_time import Load


@pytest.mark.parametrize(
    ("weights", "made", "training", "memory"),
    [
        # billions of parameters, and of numbers that are made; a T4 has 16 GB
        (0.5, 0.5, True, "fits"),
        (0.5, 1, True, "may not fit"),
        (0.5, 2.1, True, "does not fit"),
        (1.1, 0, True, "does not fit"),  # Adam needs 16 bytes a weight
        (3, 9, False, "fits"),
    ],
)
def test_what_fits_into_16_gb(weights, made, training, memory):
    load = Load(1, 1e9 * made, 1e9 * weights, 1, kept=2e9 * weights)
    assert step_time.row_of_chip(load, "T4", "float32", training).memory == memory


def test_a_new_chip_has_a_wider_interval_and_a_tpu_none(keras):
    found = forecast(quickstart_model, 32, ("T4", "L4", "v5e-1"), seconds=0)
    t4, l4, tpu = (row.step[2] / row.step[1] for row in found.rows)
    assert l4 > t4 > tpu == 1
    assert found.verdict == "cannot be told yet"


def test_with_data_there_is_an_epoch_and_a_factor(keras, digits):
    x, y = digits
    found = forecast(quickstart_model, 32, "T4", x=x, y=y, seconds=0.1)
    assert found.steps == 16
    assert len(found.here.samples) >= 5
    assert 0 < found.row.faster[0] < found.row.faster[1]
    assert forecast(quickstart_model(), 32, "T4", x=x, y=y, samples=65, seconds=0).steps == 3


@pytest.mark.parametrize("form", [list, lambda losses: dict(zip("abc", losses, strict=True))])
def test_numbers_are_made_up_for_several_inputs_and_losses(keras, form):
    layers = keras.layers

    def make_model():
        words = keras.Input((6,), dtype="int32")
        more = keras.Input((4,))
        both = layers.Concatenate()([layers.Flatten()(layers.Embedding(50, 8)(words)), more])
        outputs = [layers.Dense(3, "softmax", name=name)(both) for name in "abc"]
        model = keras.Model([words, more], outputs)
        losses = ["sparse_categorical_crossentropy", "categorical_crossentropy", "mse"]
        model.compile("sgd", form(losses))
        return model

    found = forecast(make_model, 8, "T4", seconds=0.1)
    assert found.here.median > 0
    assert found.verdict == "cannot be told yet", "nobody knows how long an epoch is"


def test_a_set_that_is_batched_otherwise_is_timed_in_the_batches_that_are_asked_for(keras, digits):
    tf = pytest.importorskip("tensorflow")
    data = tf.data.Dataset.from_tensor_slices(digits).batch(10)
    assert forecast(quickstart_model, 50, "T4", x=data, seconds=0.1).steps == 10


def test_a_model_whose_work_cannot_be_counted_is_told_what_to_do_instead(keras):
    odd = keras.layers.ConvLSTM1D(2, 1, name="odd")
    for layers, named in [
        ([keras.layers.Dense(2)], "'bare' is no functional.* T4 instead"),
        ([keras.Input((3, 4, 1)), odd], "no rule for layer 'odd'.* T4 instead"),
    ]:
        model = keras.Sequential(layers, name="bare")
        with pytest.raises(TypeError, match=named):
            expected_rows(model, 32, "T4")


@pytest.mark.parametrize(
    ("attached", "name"), [("RTX PRO 6000 Blackwell Server Edition", "G4"), ("Tesla T4", "T4")]
)
def test_an_attached_gpu_has_the_first_row_by_the_name_that_people_use(
    keras, monkeypatch, attached, name
):
    monkeypatch.setattr(backend, "devices", lambda: ["cpu", "gpu"])
    monkeypatch.setattr(backend, "device_name", lambda kind: attached)
    chips = [row.chip for row in forecast(quickstart_model, 32, seconds=0).rows]
    assert chips[0] == name
    assert chips.count(name) == 1


def test_how_far_to_trust_it_is_said_by_the_models_that_are_most_like_this_one(keras):
    layers, score = keras.layers, step_time.score()
    dense, small = score["light"], score["small_keras"]
    for shape, layer, batch, said in [
        ((28, 28), layers.LSTM(8), 32, "cuDNN"),
        ((2000,), layers.Dense(2000), 32, f"of {small['rows']} of Keras's own small examples"),
        ((2000,), layers.Dense(2000), 2**20, f"lay {dense['held']} of {dense['rows']} published"),
        ((128, 128, 64), layers.Conv2D(64, 3), 512, "8 of 10 published"),
    ]:
        model = keras.Sequential([keras.Input(shape), layer])
        _, (note, *_) = expected_rows(model, batch, "T4")
        assert said in note
