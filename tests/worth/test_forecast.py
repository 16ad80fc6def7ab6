"""A forecast follows from chip and work; break-evens are known by arithmetic."""

import itertools
import math
import re
from dataclasses import replace

import pytest

from accel_helpers._values.words import format_seconds
from accel_helpers.course.quickstart import quickstart_model
from accel_helpers.machine import backend, hardware
from accel_helpers.measure.measurement import Measurement
from accel_helpers.worth import choice, step_time
from accel_helpers.worth.break_even import LABELS, Plan, break_even
from accel_helpers.worth.forecast import forecast
from accel_helpers.worth.forecast_result import Forecast
from accel_helpers.worth.model_load import expected_rows, load_of

LOSSES = ["sparse_categorical_crossentropy", "categorical_crossentropy", "mse"]
CPU, GPU = Plan("this CPU", (60, 60)), Plan("a GPU", (10, 20), 5)


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
    found = forecast(quickstart_model, 32, ("T4",), x=x, y=y, seconds=1, clock=ticking(0.05))
    (row,) = found.rows
    low, high = found.faster(row)
    assert found.steps == 16
    assert 0 < low < high
    assert found.step(row)[0] >= row.step[0] + found.host.median


@pytest.mark.slow
def test_the_samples_that_are_named_make_the_epoch(keras, digits):
    found = forecast(quickstart_model, 32, "T4", x=digits[0], y=digits[1], samples=65, seconds=0.1)
    assert found.steps == 3


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

    found = forecast(make_model, 8, ("T4",), seconds=0.1)
    assert found.here.median > 0
    assert found.host.median > 0
    assert found.steps is None


@pytest.mark.parametrize("setup, here, there", [(5, 60, 15), (10, 10, 2), (10, 100, 20)])
def test_the_interval_covers_a_crossing_that_is_known(setup, here, there):
    truth = 60 * setup / (here - there)

    def asked(epochs, spread):
        cpu = Plan("this CPU", (here / spread, here * spread))
        gpu = Plan("a GPU", (there / spread, there * spread), setup)
        return break_even(cpu, gpu, epochs)

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
        (
            "'bare' is no functional model.* T4 instead",
            lambda k: forecast(lambda: without_input(k), 32),
        ),
        (
            "no rule for layer 'odd' .ConvLSTM1D.\\. Time",
            lambda k: forecast(lambda: uncountable(k), 32),
        ),
        ("batch_size.* 0", lambda k: forecast(quickstart_model, 0)),
        ("T5000", lambda k: forecast(quickstart_model, 32, ("T4", "T5000"))),
        ("seconds.*-1", lambda k: forecast(quickstart_model, 32, seconds=-1)),
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

    with pytest.raises(ValueError, match="batch_size must be 10: your Batches .*; got 50"):
        forecast(quickstart_model, 50, "T4", x=Batches())


def test_in_minutes_nothing_pays_before_the_set_up_however_wide_the_epochs_here_are():
    here, there = Plan("this CPU", (18, 30)), Plan("a T4", (3, 9), setup_minutes=5)
    early, late = break_even(here, there, epochs=40).minutes
    assert early == pytest.approx(5 / (1 - 3 / 30))
    assert late == pytest.approx(5 / (1 - 9 / 18))


def known(here, host, steps=100, rows=("T4", "A100"), count=5, load=None, dtype="float32"):
    """A forecast with times that are given: seconds of a step here, and of one of nothing."""
    load = load or step_time.Load(1e9, made=1e6, parameters=1e5, operations=20)
    rows = tuple(step_time.on_chip(load, name, dtype, True) for name in rows)
    noise = (1.0, 1.02, 0.99, 1.01, 0.98)[:count]
    here, host = (Measurement.from_samples([each * n for n in noise]) for each in (here, host))
    return Forecast("small", 32, dtype, rows, (), steps, here, host)


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
    score = f"{small['rows'] - small['held']} of {small['rows']}"
    assert score in said(known(here=0.01, host=1e-3))
    big = step_time.Load(1e13, made=1e9, parameters=1e8, operations=500)
    assert score not in said(known(here=60.0, host=1e-3, load=big))


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


@pytest.mark.parametrize("reading, samples", [(5e-2, 5), (100.0, 1)])
def test_five_samples_are_tried_for_a_while_when_the_time_is_up(keras, digits, reading, samples):
    x, y = digits
    clock = ticking(reading)
    found = forecast(quickstart_model, 32, "T4", x=x, y=y, seconds=0.005, clock=clock)
    assert len(found.here.samples) == samples
    assert len(found.host.samples) == samples


@pytest.mark.parametrize("here, there", [(1, None), (None, 4), (9, 1)])
def test_no_verdict_is_drawn_from_fewer_than_five_timings(here, there):
    plans = replace(CPU, samples=here), replace(GPU, samples=there)
    found = break_even(*plans, 1000)
    assert found.verdict == "cannot be told yet"
    assert "no interval" in " ".join(str(found).split())
    # the training here is no longer than the set-up there: no factor is needed
    assert break_even(*plans, 5).verdict == "not worth it"
    assert break_even(*plans, 6).verdict == "cannot be told yet"
    enough = replace(CPU, samples=5), replace(GPU, samples=7)
    assert break_even(*enough, 1000).verdict == "worth it"


def test_colabs_g4_has_a_forecast_by_the_name_that_colab_gives_it(keras):
    (row,) = forecast(quickstart_model, 32, "G4", seconds=0).rows
    assert row.chip == "G4"
    assert row.terms
    assert hardware.match("G4").name.startswith("NVIDIA RTX PRO 6000 Blackwell Server")


LARGE = step_time.Load(1e13, made=6e9, parameters=1e7, operations=500, kept=2e7, examples=48)


def said(found):
    """What a forecast or a choice prints, in one line."""
    return " ".join(str(found).split())


@pytest.mark.parametrize("attached", ["RTX PRO 6000 Blackwell Server Edition", "Tesla T4"])
def test_an_attached_gpu_has_the_first_row_by_the_name_that_people_use(
    keras, monkeypatch, attached
):
    monkeypatch.setattr(backend, "devices", lambda: ["cpu", "gpu"])
    monkeypatch.setattr(backend, "device_name", lambda kind: attached)
    row, *others = forecast(quickstart_model, 32, seconds=0).rows
    assert row.chip == {"Tesla T4": "T4"}.get(attached, "G4")
    assert row.chip not in [other.chip for other in others]


def test_a_g4_stands_among_the_choices_as_a_chip_that_costs_money(keras, monkeypatch):
    monkeypatch.setattr(choice, "attached", lambda: None)
    found = known(here=1.0, host=1e-3, rows=("G4",)).choices(epochs=400, my_hour=20)
    assert found.rows[1][:2] == ("G4", "probably")
    assert not found.free("G4")
    assert "take a G4" in said(found)
    assert "costs money" in said(found)


def test_beside_the_promise_stands_the_score_of_light_models():
    score = step_time.score()["light"]
    held = f"{score['held']} of {score['rows']}"
    # 0.4 and 0.6 billion multiplications for an example
    light = step_time.Load(32 * 0.8e9, made=1e6, parameters=1e5, operations=20, examples=32)
    heavy = light._replace(product_flops=32 * 1.2e9)
    assert held in said(known(here=1.0, host=1e-3, load=light))
    assert held not in said(known(here=1.0, host=1e-3, load=heavy))


def test_on_jax_a_forecast_of_a_light_model_is_a_guess_while_no_published_step_is_like_it(
    keras, monkeypatch
):
    def guessed(framework, light_rows):
        monkeypatch.setattr(backend, "framework", lambda: framework)
        jax = {"rows": 20, "held": 19, "light": light_rows}
        score = {"jax": jax, "light": {"below_gmac": 0.5}}
        monkeypatch.setattr(step_time, "score", lambda: score)
        _, notes = expected_rows(quickstart_model(), 32, "T4")
        return "On JAX this forecast is a guess" in " ".join(notes)

    assert guessed("jax", light_rows=0)
    assert not guessed("jax", light_rows=5)
    assert not guessed("tensorflow", light_rows=0)


@pytest.mark.parametrize("here, host", [(0.01234, 1.234e-3), (12.34, 0.1234), (0.5678, 5.678e-5)])
def test_no_number_that_is_printed_has_more_than_two_digits(here, host):
    found = known(here, host, rows=("T4", "A100", "v5e-1"))
    # names of chips and types, and the score's own counts, are no results
    lines = str(found).split("\nT4, ")[0].splitlines()[2:]
    texts = [line.partition(" ")[2] for line in lines]
    here_text = said(found).partition("Here a step")[2]
    numbers = re.findall(r"(?<![\w.,])\d[\d.,]*\d|\d", " ".join([*texts, here_text]))
    assert len(numbers) > 12
    for number in numbers:
        digits = re.sub(r"[.,]", "", number).strip("0")
        assert len(digits) <= 2, number


@pytest.mark.parametrize("chip", ["T4", "L4", "v5e-1"])
def test_what_does_not_fit_comes_with_the_largest_power_of_two_that_would(chip):
    row = step_time.on_chip(LARGE, chip, "float32", True)
    assert row.memory == "does not fit"

    def memory(batch):
        share = batch / LARGE.examples
        load = LARGE._replace(made=share * LARGE.made, examples=batch)
        return step_time.on_chip(load, chip, "float32", True).memory

    assert memory(row.fitting_batch) == "fits"
    assert memory(2 * row.fitting_batch) != "fits"
    assert f"a batch of {row.fitting_batch} would" in said(
        known(9.0, 1e-3, rows=(chip,), load=LARGE)
    )


def test_where_the_weights_alone_do_not_fit_no_batch_is_named():
    found = known(9.0, 1e-3, rows=("T4",), load=LARGE._replace(parameters=1e10))
    assert found.rows[0].fitting_batch == 0
    assert "does not fit" in said(found)
    assert "a batch of" not in said(found).partition("chip")[2]


def test_a_choice_names_the_batch_for_a_chip_without_room(keras, monkeypatch):
    monkeypatch.setattr(choice, "attached", lambda: None)
    found = known(here=60.0, host=1e-3, rows=("T4", "A100"), load=LARGE)
    batch = found.rows[0].fitting_batch
    assert ("T4", f"no room; a batch of {batch} fits") in [
        row[:2] for row in found.choices(epochs=40).rows
    ]
    with pytest.raises(ValueError, match=f"A batch of {batch} would fit"):
        known(here=60.0, host=1e-3, rows=("T4",), load=LARGE).choices(epochs=40)


def test_a_t4_says_what_float16_would_make_of_a_step():
    found = known(here=60.0, host=1e-3, load=LARGE)
    t4, a100 = found.rows
    short = sum(step_time.terms(LARGE, hardware.match("T4"), "float16").values())
    assert found.float16_step(t4) == pytest.approx(short + 1e-3)
    assert found.float16_step(a100) is None
    step = format_seconds(short + 1e-3, 2)
    assert f"T4: in float16 a step would take about {step}," in said(found)
    assert "mixed_float16" in said(found)


def test_float16_is_not_named_where_it_changes_little_or_is_there(keras):
    little = step_time.Load(1e6, made=1e3, parameters=1e3, operations=20)
    assert "float16" not in said(known(here=1.0, host=1e-3, load=little))
    assert "in float16 a step" not in said(known(9.0, 1e-3, load=LARGE, dtype="float16"))


def test_a_choice_prints_the_notes_of_its_forecast(keras, monkeypatch):
    monkeypatch.setattr(choice, "attached", lambda: None)
    noted = replace(known(here=1.0, host=1e-3), notes=("Here it is a guess.",))
    found = noted.choices(epochs=40)
    assert "Here it is a guess." in said(found)
    assert "Here it is a guess." in found._repr_html_()
