"""Digits: a convolution over 8x8 pixels on JAX, with `run_eagerly=True` copied from an answer on the web."""

BACKEND = "jax"
TRUTH = "overhead"
WHY = "a step takes 44 ms at batch 32 and 44 at batch 1; with run_eagerly=False and XLA 0.6 ms, the start of fit included (two quiet cores)"
SOURCE = ""

import keras
import numpy as np
from keras import layers


def make_model():
    inputs = keras.Input((8, 8, 1))
    x = layers.Conv2D(8, 3, activation="relu")(inputs)
    x = layers.Flatten()(x)
    outputs = layers.Dense(10)(x)
    model = keras.Model(inputs, outputs)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"], run_eagerly=True)
    return model


def case():
    rng = np.random.default_rng(0)
    n = 1792
    x = rng.uniform(size=(n, 8, 8, 1)).astype("float32")
    y = rng.integers(0, 10, n).astype("int32")
    return make_model, x, y, dict(epochs=10, batch_size=32, verbose=2)
