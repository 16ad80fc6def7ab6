"""A forecast follows from chip and work, and from a step that is timed here."""

from dataclasses import replace

import pytest

from accel_helpers.course.quickstart import quickstart_model
from accel_helpers.fit.clock import Timed
from accel_helpers.machine import backend, hardware
from accel_helpers.worth import step_time
from accel_helpers.worth.forecast import forecast
from accel_helpers.worth.model_load import dtype_of, expected_rows

LOSSES = ["sparse_categorical_crossentropy", "categorical_crossentropy", "mse"]


@pytest.mark.parametrize("dtype", ["tfloat32", "float16"])
def test_more_flops_help_no_model_that_is_bound_by_traffic(dtype):
    load, t4 = step_time.Load(1e9, made=1e8, parameters=1e6, operations=50), hardware.match("T4")
    faster = replace(t4, peak_fp32_tflops=1e3, peak_fp16_tflops_dense=1e4)
    chips = t4, faster, replace(t4, mem_bw_gb_s=2 * t4.mem_bw_gb_s)
    own, faster, wider = (step_time.terms(load, chip, dtype) for chip in chips)
    assert max(own, key=own.get) == "memory"
    assert faster["compute"] < 0.01 * own["compute"]
    assert sum(faster.values()) > 0.9 * sum(own.values()) > 1.4 * sum(wider.values())


def test_what_fits_into_16_gb_where_adam_needs_16_bytes_a_weight():
    def memory(weights, made, training=True):
        load = step_time.Load(1, 1e9 * made, 1e9 * weights, 1, kept=2e9 * weights)
        return step_time.row_of_chip(load, "T4", "float32", training).memory

    assert [memory(0.5, n) for n in (0.5, 1, 2.1)] == ["fits", "may not fit", "does not fit"]
    assert memory(1.1, 0) == memory(4.1, 9, False) == "does not fit" != memory(3, 9, False)


@pytest.mark.parametrize("chip", ["T4", "L4", "v5e-1"])
def test_what_does_not_fit_comes_with_the_largest_power_of_two_that_would(chip):
    large = step_time.Load(1e13, 6e9, parameters=1e7, operations=500, kept=2e7, examples=48)

    def row(batch):
        load = large._replace(made=batch / 48 * large.made, examples=batch)
        return step_time.row_of_chip(load, chip, "float32", True)

    batch = row(48).fitting_batch
    assert [row(each).memory == "fits" for each in (batch, 2 * batch, 48)] == [True, False, False]
    too_wide = large._replace(parameters=1e10)
    assert step_time.row_of_chip(too_wide, chip, "float32", True).fitting_batch == 0


def test_a_new_chip_has_a_wider_interval_and_a_tpu_none(keras):
    found = forecast(quickstart_model, 32, ("T4", "L4", "v5e-1", "G4"), seconds=0)
    t4, l4, tpu, g4 = (row.step[2] / row.step[1] for row in found.rows)
    assert l4 == g4 > t4 > tpu == 1
    assert found.verdict == "cannot be told yet"
    assert "a step" in str(found)


def test_with_data_there_is_an_epoch_and_a_factor(keras, digits):
    x, y = digits
    found = forecast(quickstart_model, 32, "T4", x=x, y=y, seconds=0.5)
    assert found.steps == 16
    assert found.row.step[0] >= found.row.terms["compute"]
    assert 0 < found.row.faster[0] < found.row.faster[1]
    assert forecast(quickstart_model, 32, "T4", x=x, y=y, samples=65, seconds=0).steps == 3
    of_a_model = forecast(quickstart_model(), 32, "T4", seconds=0)
    assert of_a_model.row.terms["compute"] == found.row.terms["compute"]


@pytest.mark.parametrize("form", [list, lambda losses: dict(zip("abc", losses, strict=False))])
def test_numbers_are_made_up_for_several_inputs_and_losses(keras, form):
    def make_model():
        words, more = keras.Input((6,), dtype="int32"), keras.Input((4,))
        read = keras.layers.Flatten()(keras.layers.Embedding(50, 8)(words))
        both = keras.layers.Concatenate()([read, more])
        names = "abc"[: len(LOSSES)]
        outputs = [keras.layers.Dense(3, "softmax", name=name)(both) for name in names]
        model = keras.Model([words, more], outputs)
        model.compile("sgd", form(LOSSES))
        return model

    found = forecast(make_model, 8, "T4", seconds=0.1)
    assert found.here.median > 0
    assert found.verdict == "cannot be told yet", "nobody knows how long an epoch is"


def test_it_takes_turns_there_and_back_five_at_least(keras, digits, monkeypatch):
    taken = []
    take = Timed.turn

    def turn(training):
        taken.append(training)
        return take(training)

    monkeypatch.setattr(Timed, "turn", turn)
    x, y = digits
    found = forecast(quickstart_model, 32, "T4", x=x, y=y, seconds=0.005)
    rounds = taken[-2 * len(found.here.samples) :]
    model, idle = rounds[:2]
    assert len(found.here.samples) >= 5
    assert rounds[:6] == [model, idle, idle, model, model, idle]


def without_input(keras):
    model = keras.Sequential([keras.layers.Dense(2)], name="bare")
    model.compile("sgd", "mse")
    return model


def uncountable(keras):
    model = keras.Sequential([keras.Input((3, 4, 1)), keras.layers.ConvLSTM1D(2, 1, name="odd")])
    model.compile("sgd", "mse")
    return model


@pytest.mark.parametrize(
    ("named", "asked"),
    [
        ("'bare' is no functional.* T4 instead", lambda k: forecast(lambda: without_input(k), 32)),
        ("no rule for layer 'odd'.*\\. Time", lambda k: forecast(lambda: uncountable(k), 32)),
        ("batch_size.* 0", lambda k: forecast(quickstart_model, 0)),
        ("T5000", lambda k: forecast(quickstart_model, 32, ("T4", "T5000"))),
        ("seconds.*-1", lambda k: forecast(quickstart_model, 32, seconds=-1)),
        ("epochs.* 0", lambda k: forecast(quickstart_model, 32, epochs=0)),
    ],
)
def test_what_is_refused_is_named_in_a_line(keras, named, asked):
    with pytest.raises((TypeError, ValueError), match=named) as caught:
        asked(keras)
    assert "\n" not in str(caught.value)


def test_a_set_that_is_batched_otherwise_is_timed_in_the_batches_that_are_asked_for(keras, digits):
    tf = pytest.importorskip("tensorflow")
    data = tf.data.Dataset.from_tensor_slices(digits).batch(10)
    found = forecast(quickstart_model, 50, "T4", x=data, seconds=0.3)
    assert found.steps == 10


def test_the_number_type_is_that_of_the_layers(keras):
    layers = [keras.layers.Dense(8, dtype="mixed_bfloat16"), keras.layers.Dense(3)]
    assert dtype_of(keras.Sequential([keras.Input((4,)), *layers])) == "bfloat16"
    assert dtype_of(quickstart_model()) == "float32"


@pytest.mark.parametrize("attached", ["RTX PRO 6000 Blackwell Server Edition", "Tesla T4"])
def test_an_attached_gpu_has_the_first_row_by_the_name_that_people_use(
    keras, monkeypatch, attached
):
    monkeypatch.setattr(backend, "devices", lambda: ["cpu", "gpu"])
    monkeypatch.setattr(backend, "device_name", lambda kind: attached)
    row, *others = forecast(quickstart_model, 32, seconds=0).rows
    assert row.chip == {"Tesla T4": "T4"}.get(attached, "G4")
    assert row.chip not in [other.chip for other in others]


def lstm(keras):
    return keras.Sequential([keras.Input((28, 28)), keras.layers.LSTM(8)])


def light(keras):
    return keras.Sequential([keras.Input((2000,)), keras.layers.Dense(2000)])


def heavy(keras):
    return keras.Sequential([keras.Input((128, 128, 64)), keras.layers.Conv2D(64, 3)])


@pytest.mark.parametrize(
    ("make", "batch", "framework", "light_rows", "said"),
    [
        (lstm, 32, "tensorflow", 0, "cuDNN"),
        (light, 32, "jax", 0, "On JAX this forecast is a guess"),
        (light, 32, "jax", 5, "of 4 of Keras's own small examples 1 lay"),
        (light, 32, "tensorflow", 0, "of 4 of Keras's own small examples 1 lay"),
        (light, 2**20, "tensorflow", 0, "7 of 9 published"),
        (heavy, 512, "tensorflow", 0, "We promise"),
    ],
)
def test_one_score_is_said_that_of_the_models_most_like_this_one(
    keras, monkeypatch, make, batch, framework, light_rows, said
):
    score = {
        "jax": {"rows": 20, "light": light_rows},
        "light": {"below_gmac": 0.5, "held": 7, "rows": 9},
        "small_keras": {"held": 1, "rows": 4, "longest": 0.04},
    }
    monkeypatch.setattr(backend, "framework", lambda: framework)
    monkeypatch.setattr(step_time, "score", lambda: score)
    _, (note, *_) = expected_rows(make(keras), batch, "T4")
    assert said in note
