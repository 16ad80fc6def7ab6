"""Topics of short texts: a subclassed model with an Embedding and a GRU, token arrays, sample
weights.

Nothing planted (subclassed Embedding+GRU, sample weights, arrays): an epoch as called took 1.91
CPU-seconds, with one kept batch and no callbacks or validation 1.67, the same at batch 1 0.04, so
arithmetic is 85 %; by the clock, shared cores, 6.10 / 5.32 / 0.07 s; compilation 13 % of the
planned training.
"""

from benchmarks.trainings.common import *

BACKEND = "jax"
TRUTH = "compute"
LENGTH = 48
TOPICS = 6


class Topics(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = Embedding(2600, 96)
        self.gru = GRU(128)
        self.drop = Dropout(0.3)
        self.hidden = Dense(128, "relu")
        self.head = Dense(TOPICS)

    def call(self, x, training=None):
        hidden = through(x, self.embed, self.gru, self.hidden)
        return self.head(self.drop(hidden, training=training))


def make_model():
    model = Topics()
    model(np.zeros((1, LENGTH), "int32"))
    return compiled(model, Adam(4e-3, global_clipnorm=5.0), FROM_LOGITS)


def case():
    rng = np.random.default_rng(10)
    labels = rng.integers(0, TOPICS, 2400)
    tokens = rng.zipf(1.3, (2400, LENGTH)).clip(1, 2000)
    marked = rng.random((2400, LENGTH)) < 0.15
    marks = 2001 + labels[:, None] * 60 + rng.integers(0, 80, (2400, LENGTH))
    tokens = np.where(marked, marks, tokens).astype("int32")
    weight = np.where(labels == 0, 0.5, 1.0).astype("float32")
    callbacks = [
        ModelCheckpoint(new_file("b.weights.h5"), save_weights_only=True, save_best_only=True),
        LearningRateScheduler(lambda epoch: 4e-3 * 0.93**epoch),
    ]
    arguments = dict(epochs=20, batch_size=250, sample_weight=weight[:2000], callbacks=callbacks)
    arguments["validation_data"] = tokens[2000:], labels[2000:]
    return make_model, tokens[:2000], labels[:2000], arguments
