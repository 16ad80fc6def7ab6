BACKEND = "tensorflow"
TRUTH = "compute"
WHY = "nothing planted (tabular MLP from arrays, batch 1024): an epoch as called took 1.33 CPU-seconds, with one kept batch and no callbacks or validation 1.31, the same at batch 1 0.19, so arithmetic is 84 %; by the clock, shared cores, 1.51 / 1.34 / 0.18 s; compilation 16 % of the planned training"
SOURCE = ""


def case():
    """Tabular classification from arrays: a Normalization layer, three wide Dense layers with dropout, big batches."""
    import os
    import tempfile

    import numpy as np
    import keras

    rng = np.random.default_rng(1)
    features = rng.normal(size=(24000, 64)).astype("float32") * rng.uniform(0.1, 20, 64).astype(
        "float32"
    )
    hidden = np.tanh((features / features.std(axis=0)) @ rng.normal(size=(64, 12)) / 6)
    labels = (hidden @ rng.normal(size=12) + 0.3 * rng.normal(size=24000) > 0).astype("float32")
    mean, variance = features.mean(axis=0), features.var(axis=0)
    class_weight = {0: 0.5 / float(1 - labels.mean()), 1: 0.5 / float(labels.mean())}

    def make_model():
        layers = keras.layers
        inputs = keras.Input((64,))
        x = layers.Normalization(mean=mean, variance=variance)(inputs)
        for units in (512, 512, 256):
            x = layers.Dense(units, activation="gelu")(x)
            x = layers.Dropout(0.2)(x)
        outputs = layers.Dense(1, activation="sigmoid")(x)
        model = keras.Model(inputs, outputs)
        model.compile(
            keras.optimizers.AdamW(2e-3, weight_decay=1e-4),
            "binary_crossentropy",
            metrics=["accuracy", keras.metrics.AUC()],
        )
        return model

    callbacks = [
        keras.callbacks.ReduceLROnPlateau(patience=4, factor=0.5),
        keras.callbacks.CSVLogger(os.path.join(tempfile.mkdtemp(), "log.csv")),
        keras.callbacks.EarlyStopping(patience=15),
    ]
    return (
        make_model,
        features,
        labels,
        dict(
            epochs=25,
            batch_size=1024,
            validation_split=0.1,
            class_weight=class_weight,
            callbacks=callbacks,
        ),
    )
