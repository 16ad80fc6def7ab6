"""Recommender: embeddings of every user and item of a large catalogue, few ratings a step, Adam
over all rows.

Adam over 10 M numbers of two embeddings; 40 steps: median 3.09 s at batch 32, 3.17 at batch 1, 0.31
at batch 1 and width 1 (93 %, by CPU time 92 %), times 90 % of the training that is not the first
call's compiling (two cores under load 7-12: wall figures are 2-4 times those of a free machine).
"""

from benchmarks.trainings.common import *

BACKEND = "tensorflow"
TRUTH = "memory"
ROWS = {"user": 120_000, "item": 40_000}


def make_model():
    inputs = {name: Input((), dtype="int32", name=name) for name in ROWS}
    factors = [Embedding(ROWS[name], 64, name=f"{name}_factors")(inputs[name]) for name in ROWS]
    rating = through(factors, Concatenate(), Dense(32, "relu"), Dense(1))
    return compiled(keras.Model(inputs, rating), Adam(1e-3), "mse", [])


def case():
    rng = np.random.default_rng(0)
    x = {name: rng.integers(0, rows, 1280).astype("int32") for name, rows in ROWS.items()}
    y = rng.integers(1, 6, 1280).astype("float32")
    return make_model, x, y, dict(epochs=10, batch_size=32)
