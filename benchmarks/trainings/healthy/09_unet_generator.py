BACKEND = "jax"
TRUTH = "compute"
WHY = "nothing planted (U-Net, a generator (callable) with steps_per_epoch): an epoch as called took 1.45 CPU-seconds, with one kept batch and no callbacks or validation 1.29, the same at batch 1 0.19, so arithmetic is 76 %; by the clock, shared cores, 3.18 / 3.56 / 0.40 s; compilation 19 % of the planned training"
SOURCE = ""


def case():
    """Segmentation by a little U-Net, batches by a Python generator with flips and a fresh order each epoch."""
    import os
    import tempfile

    import numpy as np
    import keras

    rng = np.random.default_rng(9)
    count = 220
    rows, cols = np.mgrid[0:48, 0:48]
    centre, radius = rng.uniform(12, 36, (count, 2, 1, 1)), rng.uniform(5, 12, (count, 1, 1))
    masks = ((rows - centre[:, 0]) ** 2 + (cols - centre[:, 1]) ** 2 < radius**2)[..., None].astype(
        "float32"
    )
    images = (0.6 * masks + rng.normal(0, 0.4, masks.shape)).astype("float32")

    def batches():
        draw = np.random.default_rng()
        while True:
            order = draw.permutation(192)
            for start in range(0, 192, 16):
                chosen = order[start : start + 16]
                x, y = images[chosen], masks[chosen]
                if draw.random() < 0.5:
                    x, y = x[:, :, ::-1], y[:, :, ::-1]
                yield x, y

    def make_model():
        layers = keras.layers

        def block(x, filters):
            x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
            return layers.Conv2D(filters, 3, padding="same", activation="relu")(x)

        inputs = keras.Input((48, 48, 1))
        a = block(inputs, 12)
        b = block(layers.MaxPooling2D()(a), 24)
        c = block(layers.MaxPooling2D()(b), 32)
        x = block(layers.Concatenate()([layers.UpSampling2D()(c), b]), 24)
        x = block(layers.Concatenate()([layers.UpSampling2D()(x), a]), 12)
        outputs = layers.Conv2D(1, 1, activation="sigmoid")(x)
        model = keras.Model(inputs, outputs)
        model.compile(
            keras.optimizers.Adam(1e-3),
            "binary_crossentropy",
            metrics=[keras.metrics.BinaryIoU([1])],
        )
        return model

    callbacks = [
        keras.callbacks.ModelCheckpoint(
            os.path.join(tempfile.mkdtemp(), "unet.keras"), save_best_only=True
        ),
        keras.callbacks.EarlyStopping(patience=10),
    ]
    return (
        make_model,
        batches,
        None,
        dict(
            epochs=25,
            steps_per_epoch=12,
            validation_data=(images[192:], masks[192:]),
            callbacks=callbacks,
        ),
    )
