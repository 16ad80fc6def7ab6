"""Reviews as strings, TextVectorization in the tf.data pipeline before the cache; one small
transformer block.

Nothing planted (text, TextVectorization + cache, a transformer block): an epoch as called took 2.65
CPU-seconds, with one kept batch and no callbacks or validation 2.73, the same at batch 1 0.34, so
arithmetic is 90 %; by the clock, shared cores, 2.74 / 2.90 / 0.63 s; compilation 11 % of the
planned training.
"""

import tensorflow as tf

from benchmarks.trainings.common import *

BACKEND = "tensorflow"
TRUTH = "compute"


class Embed(Layer):
    def __init__(self, length, size, width):
        super().__init__()
        self.length = length
        self.tokens = Embedding(size, width)
        self.places = Embedding(length, width)

    def call(self, x):
        return self.tokens(x) + self.places(keras.ops.arange(self.length))


def make_model():
    inputs = Input((96,), dtype="int64")
    x = Embed(96, 4000, 64)(inputs)
    x = LayerNormalization(epsilon=1e-6)(x + MultiHeadAttention(4, 16, dropout=0.1)(x, x))
    forward = through(x, Dense(256, "relu"), Dense(64), Dropout(0.1))
    x = LayerNormalization(epsilon=1e-6)(x + forward)
    outputs = through(x, GlobalAveragePooling1D(), Dropout(0.2), Dense(1, "sigmoid"))
    optimizer = Adam(5e-4, clipnorm=1.0)
    return compiled(keras.Model(inputs, outputs), optimizer, "binary_crossentropy")


def case():
    rng = np.random.default_rng(2)
    words = np.array([f"w{i:04}" for i in range(4000)])
    common = 1 / np.arange(10, 4010)
    tilt = rng.normal(0, 0.7, 4000)
    labels = rng.integers(0, 2, 2200)
    weights = [common * np.exp(tilt * sign) for sign in (-1, 1)]
    texts = []
    for label in labels:
        chances = weights[label] / weights[label].sum()
        texts.append(" ".join(rng.choice(words, rng.integers(40, 130), p=chances)))
    labels = labels.astype("float32")
    vectorize = TextVectorization(max_tokens=4000, output_sequence_length=96)
    vectorize.adapt(texts[:2000])

    def vectors(part):
        data = tf.data.Dataset.from_tensor_slices((texts[part], labels[part])).batch(64)
        data = data.map(lambda t, l: (vectorize(t), l), num_parallel_calls=tf.data.AUTOTUNE)
        return data.unbatch().cache()

    train = vectors(slice(2000)).shuffle(2000).batch(64, drop_remainder=True)
    held_out = vectors(slice(2000, None)).batch(64).prefetch(tf.data.AUTOTUNE)
    callbacks = [
        ModelCheckpoint(new_file("b.weights.h5"), save_best_only=True, save_weights_only=True),
        EarlyStopping(patience=10),
        TerminateOnNaN(),
    ]
    arguments = dict(epochs=15, validation_data=held_out, callbacks=callbacks)
    return make_model, train.prefetch(tf.data.AUTOTUNE), None, arguments
