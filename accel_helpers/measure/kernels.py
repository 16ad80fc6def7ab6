"""The kernels that `ceilings` times: a matrix product, and a pass over two arrays."""

from collections.abc import Callable
from typing import Any

from accel_helpers.machine import backend


def product(device: str, dtype: str, size: int) -> Callable[[], object]:
    """Return a function that multiplies two random square matrices and returns their product.

    `device` is one of `backend.devices`, `dtype` such as "float32", and `size` the number of rows.
    The function returns before the device is done. It raises the framework's own error where the
    device cannot multiply this number type.
    """
    import numpy as np
    from keras import ops

    values = np.random.default_rng(0).random((2, size, size), dtype="float32") - 0.5
    with backend.on(device):
        tensors = [ops.convert_to_tensor(matrix) for matrix in values]
        left, right = [ops.cast(tensor, dtype) for tensor in tensors]
    multiply = backend.jit(ops.matmul)

    def run():
        with backend.on(device):
            return multiply(left, right)

    return run


def array_pass(device: str, count: int) -> Callable[[], object]:
    """Return a function that adds an array of ones to a second array, in place.

    A new array for the sum would time the allocator. Both have `count` numbers in float32, and
    stand on `device`, one of `backend.devices`. The function returns something to wait for.
    """
    import keras

    with backend.on(device):
        total = keras.ops.full((count,), 0.0, "float32")
        ones = keras.ops.full((count,), 1.0, "float32")
        if keras.backend.backend() == "jax":
            return _pass_of_jax(total, ones)
        return _pass_of_tensorflow(total, ones)


def _pass_of_jax(total: Any, ones: Any) -> Callable[[], object]:
    """Return the function of `array_pass` for JAX arrays; it returns the sum.

    JAX changes no array: the sum takes the memory of `total`, which is donated in every call.
    """
    import jax

    add = jax.jit(lambda total, ones: total + ones, donate_argnums=0)

    def run():
        nonlocal total
        total = add(total, ones)
        return total

    return run


def _pass_of_tensorflow(total: Any, ones: Any) -> Callable[[], object]:
    """Return the function of `array_pass` for TensorFlow tensors; it returns one number.

    Only a variable can be changed in place: `total` is its first value.
    """
    import tensorflow as tf

    variable = tf.Variable(total)

    @tf.function(autograph=False)
    def run():
        variable.assign_add(ones)
        return variable[0]  # one number to wait for

    return run
