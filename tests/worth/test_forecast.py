"""A forecast follows from chip and work; break-evens are known by arithmetic."""

import itertools
import math
from dataclasses import replace

import pytest

from accel_helpers.course.quickstart import quickstart_model
from accel_helpers.machine import hardware
from accel_helpers.measure.measurement import Measurement
from accel_helpers.worth import step_time
from accel_helpers.worth.break_even import LABELS, Plan, break_even
from accel_helpers.worth.forecast import forecast
from accel_helpers.worth.forecast_result import Forecast
from accel_helpers.worth.model_load import load_of

LOSSES = ["sparse_categorical_crossentropy", "categorical_crossentropy", "mse"]
CPU, GPU = Plan("this CPU", (60, 60), price=1.5), Plan("a GPU", (10, 20), 5)


def ticking(seconds):
    """A clock on which so many seconds lie between two readings."""
    return itertools.count(0, seconds).__next__


def test_a_new_chip_has_a_wider_interval_and_a_tpu_none(keras):
    found = forecast(quickstart_model, 32, ("T4", "L4", "v5e-1"), seconds=0)
    wide = [row.step[2] / row.step[1] for row in found.rows]
    assert [row.fitted for row in found.rows[:2]] == [True, False]
    assert str(found)
    assert wide[1] > wide[0] > 1 == wide[2]
    assert not found.rows[2].terms


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
        return step_time.on_chip(load, "T4", "float32", training).memory

    assert [memory(0.5, n) for n in (0.5, 1, 2.1)] == ["fits", "may not fit", "does not fit"]
    assert memory(1.1, 0) == memory(4.1, 9, False) == "does not fit" != memory(3, 9, False)


def test_with_data_there_is_an_epoch_and_a_ratio(keras, digits):
    x, y = digits
    found = forecast(quickstart_model, 32, ("T4",), x=x, y=y, seconds=1, clock=ticking(1e-4))
    (row,) = found.rows
    low, high = found.faster(row)
    assert found.steps == 16
    assert 0 < low < high
    assert found.step(row)[0] >= row.step[0] + found.host.median


@pytest.mark.slow
def test_the_samples_that_are_named_make_the_epoch(keras, digits):
    found = forecast(quickstart_model, 32, "T4", x=digits[0], y=digits[1], samples=65, seconds=0.1)
    assert found.steps == 3


def test_numbers_are_made_up_for_several_inputs_and_losses(keras):
    def make_model():
        words, more = keras.Input((6,), dtype="int32"), keras.Input((4,))
        read = keras.layers.Flatten()(keras.layers.Embedding(50, 8)(words))
        both = keras.layers.Concatenate()([read, more])
        model = keras.Model([words, more], [keras.layers.Dense(3, "softmax")(both) for _ in LOSSES])
        model.compile("sgd", LOSSES)
        return model

    found = forecast(make_model, 8, ("T4",), seconds=0.1)
    assert found.here.median > 0
    assert found.host.median > 0
    assert found.steps is None


@pytest.mark.parametrize("setup, here, there", [(5, 60, 15), (10, 10, 2), (10, 100, 20)])
@pytest.mark.parametrize("axis, more", [("time", 1), ("money", 2), ("energy", 2)])  # there
def test_the_interval_covers_a_crossing_that_is_known(axis, more, setup, here, there):
    truth = more * 60 * setup / (here - more * there)

    def asked(epochs, spread):
        cpu = Plan("this CPU", (here / spread, here * spread), price=1.5, watts=100)
        gpu = Plan("a GPU", (there / spread, there * spread), setup, price=3.0, watts=200)
        return break_even(cpu, gpu, epochs, axis)

    assert asked(5, 1).crossing == pytest.approx((truth, truth))
    assert str(asked(5, 1))
    early, late = asked(5, 1.2).crossing
    verdicts = [asked(epochs, 1.2).verdict for epochs in (int(late) + 1, int(early), round(truth))]
    assert early < truth < late
    assert verdicts == list(LABELS)


def test_what_never_pays_crosses_at_infinity():
    never = break_even(CPU, Plan("a slower one", (60, 61), 5), 1000)
    assert never.crossing == (math.inf, math.inf)
    assert never.verdict == LABELS[1]
    assert str(never)
    assert break_even(CPU, Plan("perhaps", (50, 61), 5), 1000).crossing == (30, math.inf)


def without_input(keras):
    model = keras.Sequential([keras.layers.Dense(2)], name="bare")
    model.compile("sgd", "mse")
    return model


def uncountable(keras):
    model = keras.Sequential([keras.Input((3, 4, 1)), keras.layers.ConvLSTM1D(2, 1, name="odd")])
    model.compile("sgd", "mse")
    return model


@pytest.mark.parametrize(
    "named, asked",
    [
        ("keras.Model; got 'resnet'", lambda k: load_of("resnet", 32)),
        ("bare", lambda k: forecast(lambda: without_input(k), 32)),
        ("odd", lambda k: forecast(lambda: uncountable(k), 32)),
        ("batch_size.* 0", lambda k: forecast(quickstart_model, 0)),
        ("T5000", lambda k: forecast(quickstart_model, 32, ("T4", "T5000"))),
        ("seconds.*-1", lambda k: forecast(quickstart_model, 32, seconds=-1)),
        ("a GPU.*price=", lambda k: break_even(CPU, GPU, 5, "money")),
        ("miles", lambda k: break_even(CPU, GPU, 5, "miles")),
        ("upside down", lambda k: Plan("upside down", (3, 1))),
    ],
)
def test_what_is_refused_is_named_in_a_line(keras, named, asked):
    with pytest.raises((TypeError, ValueError), match=named) as caught:
        asked(keras)
    assert "\n" not in str(caught.value)


def test_a_set_that_makes_other_batches_than_the_forecast_is_of_is_refused(keras, digits):
    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return 50

        def __getitem__(self, index):
            rows = slice(10 * index, 10 * index + 10)
            return digits[0][rows], digits[1][rows]

    with pytest.raises(ValueError, match="batch_size must be 10, .* your Batches makes; got 50"):
        forecast(quickstart_model, 50, "T4", x=Batches())


def test_in_minutes_nothing_pays_before_the_set_up_however_wide_the_epochs_here_are():
    here, there = Plan("this CPU", (18, 30)), Plan("a T4", (3, 9), setup_minutes=5)
    early, late = break_even(here, there, epochs=40).minutes
    assert early == pytest.approx(5 / (1 - 3 / 30))
    assert late == pytest.approx(5 / (1 - 9 / 18))


def transfer(keras, which):
    """A base of two convolutions and a dense layer, and which of these are trained."""
    convolution = keras.layers.Conv2D
    base = [convolution(32, 3, name="low"), convolution(64, 3, name="high")]
    layers = [keras.Input((48, 48, 3)), keras.layers.Rescaling(1 / 255), *base]
    layers += [keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(10, name="head")]
    model = keras.Sequential(layers)
    for layer in model.layers:
        layer.trainable = layer.name in which
    return model


def on_a_t4(model, training=True):
    load, _ = load_of(model, 32)
    return step_time.on_chip(load, "T4", "float32", training).terms


ALL = ["low", "high", "head", "rescaling"]


def test_a_frozen_base_takes_little_more_than_a_forward_pass(keras):
    ahead, whole = on_a_t4(transfer(keras, ALL), False), on_a_t4(transfer(keras, ALL))
    frozen = on_a_t4(transfer(keras, ["head"]))
    for term in ("compute", "memory", "overhead"):
        assert ahead[term] < frozen[term] < whole[term]
    assert sum(frozen.values()) < 1.4 * sum(ahead.values()) < 0.5 * sum(whole.values())


def test_a_frozen_layer_above_a_trained_one_makes_one_gradient_of_two(keras):
    whole = on_a_t4(transfer(keras, ALL))
    upper, lower = (on_a_t4(transfer(keras, [each, "head"])) for each in ("high", "low"))
    assert max(upper["compute"], lower["compute"]) < whole["compute"]
    # products of what is trained count three times, and those of what is frozen above it twice
    rows = {row.name: row for row in load_of(transfer(keras, ["low", "head"]), 32)[1].rows}
    assert [rows[name].learns for name in ("low", "high", "head")] == [True, False, True]
    assert [rows[name].passes_back for name in ("low", "high", "head")] == [False, True, True]
    once = {name: row.product_flops for name, row in rows.items()}
    share = (once["low"] * 3 + once["high"] * 2 + once["head"] * 3) / (3 * sum(once.values()))
    assert lower["compute"] == pytest.approx(share * whole["compute"])


def test_frozen_weights_have_no_gradient_and_no_place_in_the_optimizer(keras):
    model = transfer(keras, ["head"])
    model.compile("adam", "mse")
    head = model.layers[-1].count_params()
    assert load_of(model, 32)[0].kept == 2 * head  # also before the optimizer is built
    billion = step_time.Load(1, made=0, parameters=1e9, operations=1, kept=2e9)
    base = step_time.Load(0, made=0, parameters=1e9, operations=0)
    frozen = billion._replace(no_way_back=base, kept=0)
    rows = [step_time.on_chip(load, "T4", "float32", True) for load in (billion, frozen)]
    assert [row.memory for row in rows] == ["may not fit", "fits"]
    assert rows[1].terms["memory"] < 0.2 * rows[0].terms["memory"]


def test_what_is_kept_for_the_way_back_is_kept_only_where_there_is_one():
    made = step_time.Load(1, made=3e9, parameters=1, operations=1)
    frozen = made._replace(no_way_back=step_time.Load(0, 2.9e9, 0, 0))
    rows = [step_time.on_chip(load, "T4", "float32", True) for load in (made, frozen)]
    assert [row.memory for row in rows] == ["may not fit", "fits"]


def known(here, host, steps=100, rows=("T4", "A100"), count=5, load=None):
    """A forecast with times that are given: seconds of a step here, and of one of nothing."""
    load = load or step_time.Load(1e9, made=1e6, parameters=1e5, operations=20)
    rows = tuple(step_time.on_chip(load, name, "float32", True) for name in rows)
    noise = (1.0, 1.02, 0.99, 1.01, 0.98)[:count]
    here, host = (Measurement.from_samples([each * n for n in noise]) for each in (here, host))
    return Forecast("small", 32, "float32", rows, (), steps, here, host)


@pytest.mark.parametrize("host", [1e-5, 1e-3])
def test_the_printed_interval_is_as_wide_as_the_promised_one_with_feeding_in_it(host):
    found = known(here=0.1, host=host)
    for row in found.rows:
        seconds, low, high = row.step
        whole, least, most = found.step(row)
        assert whole == pytest.approx(seconds + host)
        assert most / whole == pytest.approx(high / seconds)
        assert whole / least == pytest.approx(seconds / low) or found.capped(row)
        assert sum(found.shares(row).values()) == pytest.approx(1)
        overhead = row.terms["overhead"] + host
        assert found.shares(row)["overhead"] == pytest.approx(overhead / whole)


@pytest.mark.parametrize("host", [1e-4, 1e-3, 5e-3, 9e-3])
def test_no_forecast_is_above_the_ceiling_and_where_it_ends_there_it_says_so(host):
    found = known(here=0.01, host=host)
    assert found.ceiling == pytest.approx(0.01 / host, rel=0.1)
    for row in found.rows:
        least, most = found.faster(row)
        assert 0 < least <= most <= found.ceiling * (1 + 1e-9)
    capped = [row.chip for row in found.rows if found.capped(row)]
    said = " ".join(str(found).split())
    assert ("The forecast ends there" in said) == bool(capped)
    assert capped or host < 5e-3


@pytest.mark.parametrize("count, words", [(1, "one sample, no interval"), (4, "4 samples, no")])
def test_fewer_than_five_samples_give_no_factor(count, words):
    found = known(here=0.1, host=1e-3, count=count)
    assert found.faster(found.rows[0]) is None
    assert words in str(found)
    assert "takes five" in str(found)
    assert found.ceiling == math.inf


def test_a_factor_is_written_without_an_exponent():
    assert "e+" not in str(known(here=10.0, host=1e-3))


def test_beside_the_promise_stands_the_score_of_small_keras_models(keras):
    small = step_time.score()["small_keras"]
    said = f"{small['held']} of {small['rows']}"
    assert said in str(known(here=0.01, host=1e-3))
    big = step_time.Load(1e13, made=1e9, parameters=1e8, operations=500)
    assert said not in str(known(here=60.0, host=1e-3, load=big))


def test_the_number_type_is_that_of_the_layers(keras):
    def make_model():
        layers = [keras.layers.Dense(8, dtype="mixed_bfloat16"), keras.layers.Dense(3)]
        model = keras.Sequential([keras.Input((4,)), *layers])
        model.compile("sgd", "mse")
        return model

    assert forecast(make_model, 32, "T4", seconds=0).dtype == "bfloat16"
    assert forecast(quickstart_model, 32, "T4", seconds=0).dtype == "float32"


def test_a_set_that_is_batched_otherwise_is_timed_in_the_batches_that_are_asked_for(keras, digits):
    tf = pytest.importorskip("tensorflow")
    data = tf.data.Dataset.from_tensor_slices(digits).batch(10)
    found = forecast(quickstart_model, 50, "T4", x=data, seconds=0.3)
    assert found.steps == 10


@pytest.mark.parametrize("reading, samples", [(1e-4, 5), (100.0, 1)])
def test_five_samples_are_tried_for_a_while_when_the_time_is_up(keras, digits, reading, samples):
    x, y = digits
    clock = ticking(reading)
    found = forecast(quickstart_model, 32, "T4", x=x, y=y, seconds=0.005, clock=clock)
    assert len(found.here.samples) == samples
    assert len(found.host.samples) == samples


def test_where_the_own_machine_is_free_hours_are_bought_and_their_price_is_said():
    free = replace(CPU, price=0.0)
    paid = replace(GPU, price=2.0)
    found = break_even(free, paid, 240, "money")  # 4 hours here; 45 to 85 minutes there
    assert found.verdict == "time for money"
    saved = (4 - 85 / 60, 4 - 45 / 60)
    assert [each / 3600 for each in found.saved_seconds] == pytest.approx(saved)
    prices = 2 * 45 / 60 / saved[1], 2 * 85 / 60 / saved[0]
    assert found.price_of_an_hour == pytest.approx(prices)
    assert "2.6 to 3.2 hours" in str(found)
    assert "does not pay" not in str(found)
    perhaps_faster = Plan("another", (50, 80), 5, price=2.0)
    assert break_even(free, perhaps_faster, 240, "money").verdict == "time for money"
    slower = Plan("a slower one", (70, 80), 5, price=2.0)
    assert break_even(free, slower, 240, "money").verdict == "not worth it"


@pytest.mark.parametrize("here, there", [(1, None), (None, 4), (9, 1)])
def test_no_verdict_is_drawn_from_fewer_than_five_timings(here, there):
    plans = replace(CPU, samples=here), replace(GPU, samples=there)
    found = break_even(*plans, 1000)
    assert found.verdict == "cannot be told yet"
    assert "no interval" in " ".join(str(found).split())
    enough = replace(CPU, samples=5), replace(GPU, samples=7)
    assert break_even(*enough, 1000).verdict == "worth it"


def test_money_is_written_without_an_exponent():
    assert "e+" not in str(
        break_even(replace(CPU, price=90.0), replace(GPU, price=99.0), 500, "money")
    )


def test_colabs_g4_has_a_forecast_by_the_name_that_colab_gives_it(keras):
    (row,) = forecast(quickstart_model, 32, "G4", seconds=0).rows
    assert row.chip == "G4"
    assert row.terms
    assert hardware.match("G4").name.startswith("NVIDIA RTX PRO 6000 Blackwell Server")
