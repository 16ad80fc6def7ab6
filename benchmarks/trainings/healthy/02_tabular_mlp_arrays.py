"""Tabular classification from arrays: a Normalization layer, three wide Dense layers with dropout,
big batches.

Nothing planted (tabular MLP from arrays, batch 1024): an epoch as called took 1.33 CPU-seconds,
with one kept batch and no callbacks or validation 1.31, the same at batch 1 0.19, so arithmetic is
84 %; by the clock, shared cores, 1.51 / 1.34 / 0.18 s; compilation 16 % of the planned training.
"""

from benchmarks.trainings.common import *

BACKEND = "tensorflow"
TRUTH = "compute"


def case():
    rng = np.random.default_rng(1)
    features = rng.normal(size=(24000, 64)).astype("float32")
    features *= rng.uniform(0.1, 20, 64).astype("float32")
    hidden = np.tanh((features / features.std(axis=0)) @ rng.normal(size=(64, 12)) / 6)
    labels = (hidden @ rng.normal(size=12) + 0.3 * rng.normal(size=24000) > 0).astype("float32")
    mean = features.mean(axis=0)
    variance = features.var(axis=0)
    share = float(labels.mean())

    def make_model():
        layers = [Input((64,)), Normalization(mean=mean, variance=variance)]
        for units in (512, 512, 256):
            layers += [Dense(units, "gelu"), Dropout(0.2)]
        layers.append(Dense(1, "sigmoid"))
        optimizer = AdamW(2e-3, weight_decay=1e-4)
        metrics = ["accuracy", keras.metrics.AUC()]
        return sequential(optimizer, "binary_crossentropy", *layers, metrics=metrics)

    callbacks = [
        ReduceLROnPlateau(patience=4, factor=0.5),
        CSVLogger(new_file("log.csv")),
        EarlyStopping(patience=15),
    ]
    arguments = dict(epochs=25, batch_size=1024, validation_split=0.1, callbacks=callbacks)
    arguments["class_weight"] = {0: 0.5 / (1 - share), 1: 0.5 / share}
    return make_model, features, labels, arguments
