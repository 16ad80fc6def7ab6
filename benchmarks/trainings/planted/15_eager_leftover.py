"""Credit scoring: a small MLP, with the `run_eagerly=True` of last week's debugging left in.

A step takes 53 to 73 ms at batch 32 and 68 to 72 at batch 1; with run_eagerly=False 2.6 to 3.5 ms,
the start of fit included (two quiet cores).
"""

from benchmarks.trainings.common import *

BACKEND = "tensorflow"
TRUTH = "overhead"


def make_model():
    layers = [Input((20,)), Dense(64, "relu"), Dropout(0.2), Dense(32, "relu"), Dense(1, "sigmoid")]
    return sequential("adam", "binary_crossentropy", *layers, run_eagerly=True)


def case():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6400, 20)).astype("float32")
    y = (x[:, :3].sum(axis=1) > 0).astype("float32")
    return make_model, x, y, dict(epochs=20, batch_size=32)
