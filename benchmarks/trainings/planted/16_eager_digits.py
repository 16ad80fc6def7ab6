"""Digits: a convolution over 8x8 pixels on JAX, with `run_eagerly=True` copied from an answer on
the web.

A step takes 44 ms at batch 32 and 44 at batch 1; with run_eagerly=False and XLA 0.6 ms, the start
of fit included (two quiet cores).
"""

from benchmarks.trainings.common import *

BACKEND = "jax"
TRUTH = "overhead"


def make_model():
    layers = [Input((8, 8, 1)), Conv2D(8, 3, activation="relu"), Flatten(), Dense(10)]
    return sequential("adam", FROM_LOGITS, *layers, run_eagerly=True)


def case():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(1792, 8, 8, 1)).astype("float32")
    y = rng.integers(0, 10, 1792).astype("int32")
    return make_model, x, y, dict(epochs=10, batch_size=32)
