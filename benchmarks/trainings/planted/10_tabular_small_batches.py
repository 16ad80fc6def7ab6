"""Churn table: a small MLP trained with batches of two rows, on JAX."""

BACKEND = "jax"
TRUTH = "overhead"
WHY = "1500 steps of an MLP of 417 numbers; median 0.58 s at batch 2, 0.55 at batch 1, 0.56 at batch 1 and width 1 (97 %, by CPU time 90 %), times 73 % of the training of 50 epochs that is not the first epoch's 11 s under load (two cores under load 7-12: wall figures are 2-4 times those of a free machine)"
SOURCE = ""

import keras
import numpy as np
from keras import layers


def make_model():
    age = keras.Input((10,), name="numeric")
    cat = keras.Input((6,), name="one_hot")
    x = layers.Concatenate()([age, cat])
    x = layers.Dense(16, activation="relu", kernel_regularizer="l2")(x)
    x = layers.Dense(8, activation="relu")(x)
    outputs = layers.Dense(1, activation="sigmoid")(x)
    model = keras.Model([age, cat], outputs)
    model.compile("adam", "binary_crossentropy", metrics=["accuracy", keras.metrics.AUC()])
    return model


def case():
    rng = np.random.default_rng(0)
    n = 3000
    numeric = rng.normal(size=(n, 10)).astype("float32")
    one_hot = np.eye(6, dtype="float32")[rng.integers(0, 6, n)]
    y = (numeric[:, 0] + one_hot[:, 2] + 0.3 * rng.normal(size=n) > 0.2).astype("float32")
    return make_model, [numeric, one_hot], y, dict(epochs=50, batch_size=2, verbose=2)
