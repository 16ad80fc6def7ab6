BACKEND = "jax"
TRUTH = "compute"
WHY = "nothing planted (denoising convolutional autoencoder from arrays): an epoch as called took 1.12 CPU-seconds, with one kept batch and no callbacks or validation 1.17, the same at batch 1 0.06, so arithmetic is 99 %; by the clock, shared cores, 2.69 / 3.71 / 0.05 s; compilation 15 % of the planned training"
SOURCE = ""


def case():
    """A denoising convolutional autoencoder fitted from two arrays."""
    import os
    import tempfile

    import numpy as np
    import keras

    rng = np.random.default_rng(6)
    rows, cols = np.mgrid[0:28, 0:28]
    centre = rng.uniform(6, 22, (1000, 2, 1, 1))
    clean = np.exp(-((rows - centre[:, 0]) ** 2 + (cols - centre[:, 1]) ** 2) / 20)[
        ..., None
    ].astype("float32")
    noisy = np.clip(clean + rng.normal(0, 0.3, clean.shape), 0, 1).astype("float32")

    def make_model():
        layers = keras.layers
        model = keras.Sequential(
            [
                layers.Input((28, 28, 1)),
                layers.Conv2D(16, 3, activation="relu", padding="same"),
                layers.MaxPooling2D(2),
                layers.Conv2D(16, 3, activation="relu", padding="same"),
                layers.MaxPooling2D(2),
                layers.Conv2DTranspose(16, 3, strides=2, activation="relu", padding="same"),
                layers.Conv2DTranspose(16, 3, strides=2, activation="relu", padding="same"),
                layers.Conv2D(1, 3, activation="sigmoid", padding="same"),
            ]
        )
        model.compile("adam", "binary_crossentropy")
        return model

    callbacks = [
        keras.callbacks.EarlyStopping(patience=8, restore_best_weights=True),
        keras.callbacks.ModelCheckpoint(
            os.path.join(tempfile.mkdtemp(), "auto.weights.h5"), save_weights_only=True
        ),
    ]
    return (
        make_model,
        noisy[:900],
        clean[:900],
        dict(
            epochs=25,
            batch_size=64,
            validation_data=(noisy[900:], clean[900:]),
            callbacks=callbacks,
        ),
    )
