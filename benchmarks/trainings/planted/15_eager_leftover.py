"""Credit scoring: a small MLP, with the `run_eagerly=True` of last week's debugging left in."""

BACKEND = "tensorflow"
TRUTH = "overhead"
WHY = "a step takes 53 to 73 ms at batch 32 and 68 to 72 at batch 1; with run_eagerly=False 2.6 to 3.5 ms, the start of fit included (two quiet cores)"
SOURCE = ""

import keras
import numpy as np
from keras import layers


def make_model():
    inputs = keras.Input((20,))
    x = layers.Dense(64, activation="relu")(inputs)
    x = layers.Dropout(0.2)(x)
    x = layers.Dense(32, activation="relu")(x)
    outputs = layers.Dense(1, activation="sigmoid")(x)
    model = keras.Model(inputs, outputs)
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"], run_eagerly=True)
    return model


def case():
    rng = np.random.default_rng(0)
    n = 6400
    x = rng.normal(size=(n, 20)).astype("float32")
    y = (x[:, :3].sum(axis=1) > 0).astype("float32")
    return make_model, x, y, dict(epochs=20, batch_size=32, verbose=2)
