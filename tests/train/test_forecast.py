"""The forecast follows from the chip's row and the model's work, and leaves the model as it was."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from test_worth import plain, state

from accel_helpers.machine import hardware
from accel_helpers.measure import step_time
from accel_helpers.train import training
from accel_helpers.train.forecast import forecast

T4 = hardware.match("T4")
ON_JAX = "as_it_was or made_up"  # of the tests


def test_a_new_chip_has_a_wider_interval_and_a_tpu_none(keras):
    found = forecast(training.quickstart_model(), 32, ("T4", "L4", "v5e-1"), seconds=0)
    wide = [row.step[2] / row.step[1] for row in found.rows]
    assert [row.fitted for row in found.rows[:2]] == [True, False]
    assert wide[1] > wide[0] > 1 == wide[2] and not found.rows[2].terms and str(found)


def test_more_flops_help_no_model_that_is_bound_by_traffic():
    peaks = {
        name: 10 * getattr(T4, name) for name in ("peak_fp32_tflops", "peak_fp16_tflops_dense")
    }
    load = step_time.Load(product_flops=1e9, made=1e8, parameters=1e6, operations=50)
    chips = T4, replace(T4, **peaks), replace(T4, mem_bw_gb_s=2 * T4.mem_bw_gb_s)
    for dtype in ("tfloat32", "float16"):
        own, faster, wider = (step_time.terms(load, chip, dtype) for chip in chips)
        assert max(own, key=own.get) == "traffic" and sum(faster.values()) > 0.9 * sum(own.values())
        assert faster["products"] == pytest.approx(own["products"] / 10)
        assert wider == pytest.approx({**own, "traffic": own["traffic"] / 2})


@pytest.mark.parametrize(
    "parameters, made, training, memory",  # a T4 has 16 GB; with Adam, a weight takes 16 bytes
    [
        (0.5e9, 0.5e9, True, "fits"),
        (0.5e9, 1e9, True, "may not fit"),
        (0.5e9, 2.1e9, True, "does not fit"),
        (1.1e9, 0, True, "does not fit"),
        (1.1e9, 9e9, False, "fits"),
        (4.1e9, 0, False, "does not fit"),
    ],
)
def test_what_the_memory_holds_is_known_by_arithmetic(parameters, made, training, memory):
    load = step_time.Load(1e9, made, parameters, 1, kept=2 * parameters)
    assert step_time.on_chip(load, "T4", "float32", training).memory == memory


def odd(keras):
    class Odd(keras.layers.Layer):
        def build(self, shape):
            self.scale = self.add_weight(shape=shape[1:])

        def call(self, x):
            return x * self.scale

    return keras.Sequential([keras.Input((4,)), Odd(name="peculiar")])


@pytest.mark.parametrize(
    "model, options, error, named",
    [
        (lambda k: "resnet", {}, TypeError, "'resnet'"),
        (lambda k: k.Sequential([k.layers.Dense(2)], name="bare"), {}, ValueError, "bare"),
        (odd, {}, TypeError, "peculiar"),
        (plain, {"batch_size": 0}, ValueError, "batch_size.* 0"),
        (plain, {"chips": ("T4", "T5000")}, ValueError, "T5000"),
        (plain, {"dtype": "float31"}, ValueError, "float31"),
        (plain, {"seconds": -1}, ValueError, "seconds.*-1"),
    ],
)
def test_what_is_refused_is_named_in_a_line(keras, model, options, error, named):
    with pytest.raises(error, match=named) as caught:
        forecast(model(keras), **{"batch_size": 32, "seconds": 0, **options})
    assert "\n" not in str(caught.value)


def test_with_data_there_is_an_epoch_and_a_ratio_and_the_model_is_as_it_was(keras, digits):
    model = training.quickstart_model()
    model.fit(*digits, verbose=0)
    before = state(model)
    found = forecast(model, 32, ("T4", "v5e-1"), x=digits[0], y=digits[1], seconds=1)
    for part, kept in zip(state(model), before, strict=True):
        assert part == kept
    t4 = found.rows[0]
    assert found.steps == 16 and 0 < found.faster(t4)[0] < found.faster(t4)[1] and str(found)
    assert found.step(t4)[0] == pytest.approx(t4.step[0] + found.host.median)


@pytest.mark.parametrize(
    "outputs, loss",
    [
        ([3], "sparse_categorical_crossentropy"),
        ([3], "categorical_crossentropy"),
        ([1], "mse"),
        ([3, 1], ["sparse_categorical_crossentropy", "mse"]),
    ],
)
def test_numbers_are_made_up_for_two_inputs_and_any_loss(keras, outputs, loss):
    words, more = keras.Input((6,), dtype="int32"), keras.Input((4,))
    read = keras.layers.Flatten()(keras.layers.Embedding(50, 8)(words))
    both = keras.layers.Concatenate()([read, more])
    ends = [keras.layers.Dense(size, "sigmoid")(both) for size in outputs]
    model = keras.Model([words, more], ends if len(ends) > 1 else ends[0])
    model.compile("sgd", loss)
    found = forecast(model, 8, ("T4",), seconds=0.1)
    assert found.here.median > 0 < found.host.median and found.steps is None


def test_it_holds_on_jax_too():
    child = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", ON_JAX, __file__],
        env={**os.environ, "KERAS_BACKEND": "jax"},
        **{"capture_output": True, "text": True},
    )
    assert child.returncode == 0 and " passed" in child.stdout, child.stdout[-3000:]
