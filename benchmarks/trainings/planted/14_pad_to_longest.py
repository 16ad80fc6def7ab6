"""Texts padded to the longest of their batch: on JAX nearly every batch has a shape not seen before."""

BACKEND = "jax"
TRUTH = "compilation"
WHY = "texts padded to the longest of the batch, so JAX compiles for nearly every batch; 10 epochs took 98.0 s (the first 28.2 s), the same batches again on the same model 8.9 s (two cores under load 7-12: wall figures are 2-4 times those of a free machine)"
SOURCE = ""

import keras
import numpy as np
from keras import layers

VOCAB = 3000


class PaddedTexts(keras.utils.PyDataset):
    def __init__(self, texts, labels, batch_size=16, **kw):
        super().__init__(**kw)
        self.texts, self.labels, self.batch_size = texts, labels, batch_size
        self.rng = np.random.default_rng(5)
        self.order = np.arange(len(texts))

    def __len__(self):
        return len(self.texts) // self.batch_size

    def __getitem__(self, i):
        take = self.order[i * self.batch_size : (i + 1) * self.batch_size]
        longest = max(len(self.texts[j]) for j in take)
        x = np.zeros((len(take), longest), "int32")
        for r, j in enumerate(take):
            x[r, : len(self.texts[j])] = self.texts[j]
        return x, self.labels[take]

    def on_epoch_end(self):
        self.order = self.rng.permutation(len(self.texts))


def make_model():
    inputs = keras.Input((None,), dtype="int32")
    x = layers.Embedding(VOCAB, 64)(inputs)
    x = layers.Conv1D(96, 5, padding="same", activation="relu")(x)
    x = layers.Conv1D(96, 5, padding="same", activation="relu")(x)
    x = layers.GlobalMaxPooling1D()(x)
    outputs = layers.Dense(1, activation="sigmoid")(x)
    model = keras.Model(inputs, outputs)
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return model


def case():
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.lognormal(4.3, 0.7, 96), 10, 900).astype(int)
    labels = rng.integers(0, 2, 96)
    texts = [rng.integers(1, VOCAB, n) for n in lengths]
    return (
        make_model,
        PaddedTexts(texts, labels.astype("float32")),
        None,
        dict(epochs=10, verbose=2),
    )
