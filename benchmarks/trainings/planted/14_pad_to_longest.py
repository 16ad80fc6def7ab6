"""Texts padded to the longest of their batch: on JAX nearly every batch has a shape not seen
before.

Texts padded to the longest of the batch, so JAX compiles for nearly every batch; 10 epochs took
98.0 s (the first 28.2 s), the same batches again on the same model 8.9 s (two cores under load
7-12: wall figures are 2-4 times those of a free machine).
"""

from benchmarks.trainings.common import *

BACKEND = "jax"
TRUTH = "compilation"
VOCAB = 3000


def make_model():
    layers = [Input((None,), dtype="int32"), Embedding(VOCAB, 64)]
    layers += [Conv1D(96, 5, padding="same", activation="relu") for _ in range(2)]
    layers += [GlobalMaxPooling1D(), Dense(1, "sigmoid")]
    return sequential("adam", "binary_crossentropy", *layers)


def case():
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.lognormal(4.3, 0.7, 96), 10, 900).astype(int)
    labels = rng.integers(0, 2, 96).astype("float32")
    texts = [rng.integers(1, VOCAB, n) for n in lengths]

    def padded(take):
        x = np.zeros((len(take), lengths[take].max()), "int32")
        for row, j in zip(x, take):
            row[: lengths[j]] = texts[j]
        return x, labels[take]

    return make_model, Batches(96, 16, padded, seed=5), None, dict(epochs=10)
