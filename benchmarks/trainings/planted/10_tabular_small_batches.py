"""Churn table: a small MLP trained with batches of two rows, on JAX.

1500 steps of an MLP of 417 numbers; median 0.58 s at batch 2, 0.55 at batch 1, 0.56 at batch 1 and
width 1 (97 %, by CPU time 90 %), times 73 % of the training of 50 epochs that is not the first
epoch's 11 s under load (two cores under load 7-12: wall figures are 2-4 times those of a free
machine).
"""

from benchmarks.trainings.common import *

BACKEND = "jax"
TRUTH = "overhead"


def make_model():
    inputs = [Input((10,), name="numeric"), Input((6,), name="one_hot")]
    hidden = Dense(16, "relu", kernel_regularizer="l2")
    outputs = through(inputs, Concatenate(), hidden, Dense(8, "relu"), Dense(1, "sigmoid"))
    metrics = ["accuracy", keras.metrics.AUC()]
    return compiled(keras.Model(inputs, outputs), "adam", "binary_crossentropy", metrics)


def case():
    rng = np.random.default_rng(0)
    numeric = rng.normal(size=(3000, 10)).astype("float32")
    one_hot = np.eye(6, dtype="float32")[rng.integers(0, 6, 3000)]
    y = numeric[:, 0] + one_hot[:, 2] + 0.3 * rng.normal(size=3000) > 0.2
    return make_model, [numeric, one_hot], y.astype("float32"), dict(epochs=50, batch_size=2)
