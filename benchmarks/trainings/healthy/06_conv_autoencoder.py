"""A denoising convolutional autoencoder fitted from two arrays.

Nothing planted (denoising convolutional autoencoder from arrays): an epoch as called took 1.12 CPU-
seconds, with one kept batch and no callbacks or validation 1.17, the same at batch 1 0.06, so
arithmetic is 99 %; by the clock, shared cores, 2.69 / 3.71 / 0.05 s; compilation 15 % of the
planned training.
"""

from benchmarks.trainings.common import *

BACKEND = "jax"
TRUTH = "compute"
SAME = dict(activation="relu", padding="same")


def make_model():
    layers = [Input((28, 28, 1))]
    for _ in range(2):
        layers += [Conv2D(16, 3, **SAME), MaxPooling2D(2)]
    for _ in range(2):
        layers.append(Conv2DTranspose(16, 3, strides=2, **SAME))
    layers.append(Conv2D(1, 3, activation="sigmoid", padding="same"))
    return sequential("adam", "binary_crossentropy", *layers, metrics=[])


def case():
    rng = np.random.default_rng(6)
    rows, cols = np.mgrid[0:28, 0:28]
    centre = rng.uniform(6, 22, (1000, 2, 1, 1))
    clean = np.exp(-((rows - centre[:, 0]) ** 2 + (cols - centre[:, 1]) ** 2) / 20)
    clean = clean[..., None].astype("float32")
    noisy = np.clip(clean + rng.normal(0, 0.3, clean.shape), 0, 1).astype("float32")
    callbacks = [
        EarlyStopping(patience=8, restore_best_weights=True),
        ModelCheckpoint(new_file("auto.weights.h5"), save_weights_only=True),
    ]
    held_out = noisy[900:], clean[900:]
    arguments = dict(epochs=25, batch_size=64, validation_data=held_out, callbacks=callbacks)
    return make_model, noisy[:900], clean[:900], arguments
