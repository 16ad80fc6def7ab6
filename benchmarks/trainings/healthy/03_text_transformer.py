BACKEND = "tensorflow"
TRUTH = "compute"
WHY = "nothing planted (text, TextVectorization + cache, a transformer block): an epoch as called took 2.65 CPU-seconds, with one kept batch and no callbacks or validation 2.73, the same at batch 1 0.34, so arithmetic is 90 %; by the clock, shared cores, 2.74 / 2.90 / 0.63 s; compilation 11 % of the planned training"
SOURCE = ""


def case():
    """Reviews as strings, TextVectorization in the tf.data pipeline before the cache; one small transformer block."""
    import os
    import tempfile

    import numpy as np
    import keras
    import tensorflow as tf

    rng = np.random.default_rng(2)
    words = np.array(["w%04d" % i for i in range(4000)])
    common = 1 / np.arange(10, 4010)
    tilt = rng.normal(0, 0.7, 4000)
    texts, labels = [], rng.integers(0, 2, 2200)
    weights = [common * np.exp(tilt * sign) for sign in (-1, 1)]
    weights = [w / w.sum() for w in weights]
    for label in labels:
        texts.append(" ".join(rng.choice(words, rng.integers(40, 130), p=weights[label])))
    labels = labels.astype("float32")

    vectorize = keras.layers.TextVectorization(max_tokens=4000, output_sequence_length=96)
    vectorize.adapt(texts[:2000])

    def pipeline(some_texts, some_labels, training):
        data = tf.data.Dataset.from_tensor_slices((some_texts, some_labels)).batch(64)
        data = data.map(lambda t, l: (vectorize(t), l), num_parallel_calls=tf.data.AUTOTUNE)
        data = data.unbatch().cache()
        if training:
            data = data.shuffle(2000)
        return data.batch(64, drop_remainder=training).prefetch(tf.data.AUTOTUNE)

    train = pipeline(texts[:2000], labels[:2000], True)
    held_out = pipeline(texts[2000:], labels[2000:], False)

    class Embed(keras.layers.Layer):
        def __init__(self, length, size, width, **kwargs):
            super().__init__(**kwargs)
            self.length, self.size, self.width = length, size, width
            self.tokens = keras.layers.Embedding(size, width)
            self.places = keras.layers.Embedding(length, width)

        def call(self, x):
            return self.tokens(x) + self.places(keras.ops.arange(self.length))

        def get_config(self):
            return {
                **super().get_config(),
                "length": self.length,
                "size": self.size,
                "width": self.width,
            }

    def make_model():
        layers = keras.layers
        inputs = keras.Input((96,), dtype="int64")
        x = Embed(96, 4000, 64)(inputs)
        attended = layers.MultiHeadAttention(4, 16, dropout=0.1)(x, x)
        x = layers.LayerNormalization(epsilon=1e-6)(x + attended)
        forward = layers.Dense(64)(layers.Dense(256, activation="relu")(x))
        x = layers.LayerNormalization(epsilon=1e-6)(x + layers.Dropout(0.1)(forward))
        x = layers.GlobalAveragePooling1D()(x)
        outputs = layers.Dense(1, activation="sigmoid")(layers.Dropout(0.2)(x))
        model = keras.Model(inputs, outputs)
        model.compile(
            keras.optimizers.Adam(5e-4, clipnorm=1.0), "binary_crossentropy", metrics=["accuracy"]
        )
        return model

    callbacks = [
        keras.callbacks.ModelCheckpoint(
            os.path.join(tempfile.mkdtemp(), "best.weights.h5"),
            save_best_only=True,
            save_weights_only=True,
        ),
        keras.callbacks.EarlyStopping(patience=10),
        keras.callbacks.TerminateOnNaN(),
    ]
    return make_model, train, None, dict(epochs=15, validation_data=held_out, callbacks=callbacks)
