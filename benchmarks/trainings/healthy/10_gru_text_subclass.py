BACKEND = "jax"
TRUTH = "compute"
WHY = "nothing planted (subclassed Embedding+GRU, sample weights, arrays): an epoch as called took 1.91 CPU-seconds, with one kept batch and no callbacks or validation 1.67, the same at batch 1 0.04, so arithmetic is 85 %; by the clock, shared cores, 6.10 / 5.32 / 0.07 s; compilation 13 % of the planned training"
SOURCE = ""


def case():
    """Topics of short texts: a subclassed model with an Embedding and a GRU, token arrays, sample weights."""
    import os
    import tempfile

    import numpy as np
    import keras

    rng = np.random.default_rng(10)
    count, length, topics = 2400, 48, 6
    labels = rng.integers(0, topics, count)
    tokens = rng.zipf(1.3, (count, length)).clip(1, 2000)
    marked = rng.random((count, length)) < 0.15
    tokens = np.where(
        marked, 2001 + labels[:, None] * 60 + rng.integers(0, 80, (count, length)), tokens
    )
    tokens = tokens.astype("int32")
    weight = np.where(labels == 0, 0.5, 1.0).astype("float32")

    class Topics(keras.Model):
        def __init__(self):
            super().__init__()
            self.embed = keras.layers.Embedding(2600, 96)
            self.gru = keras.layers.GRU(128)
            self.drop = keras.layers.Dropout(0.3)
            self.hidden = keras.layers.Dense(128, activation="relu")
            self.head = keras.layers.Dense(topics)

        def call(self, x, training=None):
            x = self.gru(self.embed(x))
            return self.head(self.drop(self.hidden(x), training=training))

    def make_model():
        model = Topics()
        model(np.zeros((1, length), "int32"))
        model.compile(
            keras.optimizers.Adam(4e-3, global_clipnorm=5.0),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
        return model

    callbacks = [
        keras.callbacks.ModelCheckpoint(
            os.path.join(tempfile.mkdtemp(), "best.weights.h5"),
            save_weights_only=True,
            save_best_only=True,
        ),
        keras.callbacks.LearningRateScheduler(lambda epoch: 4e-3 * 0.93**epoch),
    ]
    return (
        make_model,
        tokens[:2000],
        labels[:2000],
        dict(
            epochs=20,
            batch_size=250,
            sample_weight=weight[:2000],
            validation_data=(tokens[2000:], labels[2000:]),
            callbacks=callbacks,
        ),
    )
