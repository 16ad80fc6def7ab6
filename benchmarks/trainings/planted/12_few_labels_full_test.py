"""Learning from few labels: 256 images to train on, the whole test set after every epoch.

5000 images of validation for 256 of training; 25 epochs took 69.0 s, without validation 21.8 s; an
epoch 1.91 against 0.47 s (two cores under load 7-12: wall figures are 2-4 times those of a free
machine).
"""

from benchmarks.trainings.common import *

BACKEND = "jax"
TRUTH = "validation"


def make_model():
    layers = [Input((32, 32, 3))]
    for filters in (16, 32):
        layers += [Conv2D(filters, 3, padding="same", activation="relu"), MaxPooling2D()]
    layers += [GlobalAveragePooling2D(), Dropout(0.4), Dense(10, "softmax")]
    return sequential(Adam(2e-3), "sparse_categorical_crossentropy", *layers)


def case():
    rng = np.random.default_rng(0)
    means = rng.normal(size=(10, 1, 1, 3))
    y = rng.integers(0, 10, 256 + 5000)
    x = (means[y] + rng.normal(size=(len(y), 32, 32, 3))).astype("float32")
    held_out = x[256:], y[256:]
    return make_model, x[:256], y[:256], dict(epochs=25, batch_size=32, validation_data=held_out)
