BACKEND = "jax"
TRUTH = "compute"
WHY = "nothing planted (residual MLP, tf.data from CSV, cached): an epoch as called took 0.97 CPU-seconds, with one kept batch and no callbacks or validation 0.85, the same at batch 1 0.09, so arithmetic is 79 %; by the clock, shared cores, 1.34 / 1.17 / 0.10 s; compilation 9 % of the planned training"
SOURCE = ""


def case():
    """A residual MLP for regression, JAX fed by tf.data: a CSV file read once, cached, shuffled, prefetched."""
    import os
    import tempfile

    import numpy as np
    import keras
    import tensorflow as tf

    rng = np.random.default_rng(8)
    table = rng.normal(size=(12000, 33)).astype("float32")
    table[:, -1] = np.sin(table[:, 0] * 2) + table[:, 1] * table[:, 2] + 0.1 * table[:, -1]
    path = os.path.join(tempfile.mkdtemp(), "table.csv")
    np.savetxt(path, table, delimiter=",", fmt="%.4f")

    def read(skip, take):
        data = tf.data.TextLineDataset(path).skip(skip).take(take).batch(500)

        def split(lines):
            values = tf.stack(tf.io.decode_csv(lines, [[0.0]] * 33), axis=1)
            return values[:, :-1], values[:, -1]

        return data.map(split, num_parallel_calls=tf.data.AUTOTUNE).cache()

    train = read(0, 11000).unbatch().cache().shuffle(4000).batch(500).prefetch(tf.data.AUTOTUNE)
    held_out = read(11000, 1000)

    def make_model():
        layers = keras.layers
        inputs = keras.Input((32,))
        x = layers.Dense(384, activation="swish")(inputs)
        for _ in range(3):
            y = layers.Dense(384, activation="swish")(x)
            y = layers.Dense(384)(y)
            x = layers.LayerNormalization()(layers.Add()([x, y]))
        model = keras.Model(inputs, layers.Dense(1)(x))
        schedule = keras.optimizers.schedules.CosineDecay(1e-3, 22 * 30)
        model.compile(keras.optimizers.AdamW(schedule), "huber", metrics=["mae"])
        return model

    callbacks = [
        keras.callbacks.CSVLogger(os.path.join(tempfile.mkdtemp(), "log.csv")),
        keras.callbacks.EarlyStopping(patience=10),
    ]
    return make_model, train, None, dict(epochs=30, validation_data=held_out, callbacks=callbacks)
