BACKEND = "tensorflow"
TRUTH = "compute"
WHY = "nothing planted (PNG folders, cache+prefetch, CNN): an epoch as called took 2.06 CPU-seconds, with one kept batch and no callbacks or validation 1.86, the same at batch 1 0.16, so arithmetic is 83 %; by the clock, shared cores, 0.89 / 0.90 / 0.15 s; compilation 8 % of the planned training"
SOURCE = ""


def case():
    """Images in class folders, image_dataset_from_directory, cached and prefetched; a CNN with BatchNormalization."""
    import os
    import tempfile

    import numpy as np
    import keras
    import tensorflow as tf
    from PIL import Image

    root = tempfile.mkdtemp()
    rng = np.random.default_rng(0)
    rows, cols = np.mgrid[0:48, 0:48]
    for label, name in enumerate(["stripes", "rings", "checks", "blobs"]):
        os.makedirs(os.path.join(root, name))
        for number in range(300):
            phase, step = rng.uniform(0, 6), rng.uniform(4, 8)
            pattern = [
                np.sin(rows / step * 3 + phase),
                np.sin(np.hypot(rows - 24, cols - 24) / step * 3 + phase),
                np.sin(rows / step * 3 + phase) * np.sin(cols / step * 3),
                np.sin(rows / 20 + phase) + np.cos(cols / 20 - phase),
            ][label]
            image = (
                128
                + 50 * pattern[..., None] * rng.uniform(0.5, 1, 3)
                + rng.normal(0, 25, (48, 48, 3))
            )
            Image.fromarray(np.clip(image, 0, 255).astype("uint8")).save(
                os.path.join(root, name, "%03d.png" % number)
            )

    common = dict(
        validation_split=0.15, seed=7, image_size=(48, 48), batch_size=64, label_mode="int"
    )
    train = keras.utils.image_dataset_from_directory(root, subset="training", **common)
    held_out = keras.utils.image_dataset_from_directory(root, subset="validation", **common)
    train = train.cache().shuffle(16).prefetch(tf.data.AUTOTUNE)
    held_out = held_out.cache().prefetch(tf.data.AUTOTUNE)

    def make_model():
        layers = keras.layers
        model = keras.Sequential([layers.Input((48, 48, 3)), layers.Rescaling(1 / 255.0)])
        for filters in (24, 48, 64):
            model.add(layers.Conv2D(filters, 3, padding="same", use_bias=False))
            model.add(layers.BatchNormalization(momentum=0.9))
            model.add(layers.Activation("relu"))
            model.add(layers.MaxPooling2D())
        model.add(layers.GlobalAveragePooling2D())
        model.add(layers.Dropout(0.3))
        model.add(layers.Dense(4, activation="softmax"))
        model.compile(
            keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"]
        )
        return model

    callbacks = [
        keras.callbacks.EarlyStopping(patience=12, restore_best_weights=True),
        keras.callbacks.ModelCheckpoint(
            os.path.join(tempfile.mkdtemp(), "best.keras"), save_best_only=True
        ),
    ]
    return make_model, train, None, dict(epochs=25, validation_data=held_out, callbacks=callbacks)
