"""Segmentation by a little U-Net, batches by a Python generator with flips and a fresh order each
epoch.

Nothing planted (U-Net, a generator (callable) with steps_per_epoch): an epoch as called took 1.45
CPU-seconds, with one kept batch and no callbacks or validation 1.29, the same at batch 1 0.19, so
arithmetic is 76 %; by the clock, shared cores, 3.18 / 3.56 / 0.40 s; compilation 19 % of the
planned training.
"""

from benchmarks.trainings.common import *

BACKEND = "jax"
TRUTH = "compute"


def block(x, filters):
    for _ in range(2):
        x = Conv2D(filters, 3, padding="same", activation="relu")(x)
    return x


def make_model():
    inputs = Input((48, 48, 1))
    a = block(inputs, 12)
    b = block(MaxPooling2D()(a), 24)
    x = block(MaxPooling2D()(b), 32)
    for skipped, filters in ((b, 24), (a, 12)):
        x = block(Concatenate()([UpSampling2D()(x), skipped]), filters)
    model = keras.Model(inputs, Conv2D(1, 1, activation="sigmoid")(x))
    metrics = [keras.metrics.BinaryIoU([1])]
    return compiled(model, Adam(1e-3), "binary_crossentropy", metrics)


def case():
    rng = np.random.default_rng(9)
    rows, cols = np.mgrid[0:48, 0:48]
    centre = rng.uniform(12, 36, (220, 2, 1, 1))
    radius = rng.uniform(5, 12, (220, 1, 1))
    masks = (rows - centre[:, 0]) ** 2 + (cols - centre[:, 1]) ** 2 < radius**2
    masks = masks[..., None].astype("float32")
    images = (0.6 * masks + rng.normal(0, 0.4, masks.shape)).astype("float32")

    def batches():
        draw = np.random.default_rng()
        while True:
            order = draw.permutation(192)
            for start in range(0, 192, 16):
                chosen = order[start : start + 16]
                x = images[chosen]
                y = masks[chosen]
                if draw.random() < 0.5:
                    x = x[:, :, ::-1]
                    y = y[:, :, ::-1]
                yield x, y

    callbacks = [
        ModelCheckpoint(new_file("unet.keras"), save_best_only=True),
        EarlyStopping(patience=10),
    ]
    held_out = images[192:], masks[192:]
    arguments = dict(epochs=25, steps_per_epoch=12, validation_data=held_out, callbacks=callbacks)
    return make_model, batches, None, arguments
