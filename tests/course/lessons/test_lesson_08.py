"""What lesson 08 says of Keras, and from which call on compiling pays."""

import math
import re

import pytest
from cells import prose

from accel_helpers.course.lessons import lesson_08
from accel_helpers.machine import backend


def test_keras_turns_xla_on_where_the_lesson_says(keras):
    """On with JAX, and with TensorFlow only beside a GPU."""
    (said,) = re.findall(r"turns it on with (\w+), and with TensorFlow only .* GPU", prose("08"))
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    accelerator = len(backend.devices()) > 1
    is_on = backend.framework() == said.lower() or accelerator
    assert bool(model.jit_compile) == is_on


@pytest.mark.night
def test_on_jax_it_is_so_too(on_jax):
    on_jax("not on_jax", __file__)


def test_compiling_pays_when_the_sums_of_the_calls_cross():
    # 100 + 22 x 6 against 23 x 10; 100 + 23 x 6 against 24 x 10
    assert lesson_08.pays_after(100, 10, 6) == 24
    assert lesson_08.pays_after(50, 20, 8) == 4
    assert lesson_08.pays_after(11, 10, 1) == 2
    assert lesson_08.pays_after(90, 10, 12) == math.inf
