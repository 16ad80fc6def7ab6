"""Credit scoring; a callback works out permutation importance on held-out rows after every epoch."""

BACKEND = "tensorflow"
TRUTH = "callbacks"
WHY = "17 calls of predict after every epoch; 15 epochs took 71.4 s, without the callbacks 7.0 s; an epoch 4.22 against 0.32 s"
SOURCE = ""

import keras
import numpy as np
from keras import layers

FEATURES = 16


class PermutationImportance(keras.callbacks.Callback):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.y = x, y
        self.rng = np.random.default_rng(0)
        self.history = []

    def score(self, x):
        p = self.model.predict(x, verbose=0)[:, 0]
        return np.mean((p > 0.5) == (self.y > 0.5))

    def on_epoch_end(self, epoch, logs=None):
        base = self.score(self.x)
        drops = []
        for j in range(self.x.shape[1]):
            shuffled = self.x.copy()
            shuffled[:, j] = self.rng.permutation(shuffled[:, j])
            drops.append(base - self.score(shuffled))
        self.history.append(drops)


def make_model():
    model = keras.Sequential(
        [
            keras.Input((FEATURES,)),
            layers.Dense(64, activation="relu"),
            layers.Dropout(0.2),
            layers.Dense(32, activation="relu"),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return model


def case():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6400, FEATURES)).astype("float32")
    y = (x[:, 0] - 0.5 * x[:, 3] + 0.2 * rng.normal(size=len(x)) > 0).astype("float32")
    train, held = slice(0, 4800), slice(4800, None)
    return (
        make_model,
        x[train],
        y[train],
        dict(
            epochs=15,
            batch_size=32,
            verbose=2,
            callbacks=[
                PermutationImportance(x[held], y[held]),
                keras.callbacks.ReduceLROnPlateau("loss", patience=3),
            ],
        ),
    )
