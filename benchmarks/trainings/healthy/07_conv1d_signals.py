"""Faults of a machine from vibration: windows cut out of long recordings by a PyDataset with a
worker, a 1-D CNN.

Nothing planted (1-D CNN, windows by a PyDataset with a worker): an epoch as called took 1.66 CPU-
seconds, with one kept batch and no callbacks or validation 1.57, the same at batch 1 0.06, so
arithmetic is 91 %; by the clock, shared cores, 3.25 / 3.26 / 0.07 s; compilation 19 % of the
planned training.
"""

from benchmarks.trainings.common import *

BACKEND = "jax"
TRUTH = "compute"


class Windows(PyDataset):
    def __init__(self, folder, first, last, steps, seed, **kwargs):
        super().__init__(**kwargs)
        self.records = [np.load(f"{folder}/{i}.npy", mmap_mode="r") for i in range(5)]
        self.first = first
        self.last = last
        self.steps = steps
        self.seed = seed
        self.epoch = 0

    def __len__(self):
        return self.steps

    def __getitem__(self, i):
        draw = np.random.default_rng((self.seed, self.epoch, i))
        labels = draw.integers(0, 5, 64)
        starts = draw.integers(self.first, self.last - 256, 64)
        x = np.stack([self.records[l][s : s + 256] for l, s in zip(labels, starts)])
        return x, labels.astype("int32")

    def on_epoch_end(self):
        self.epoch += 1


def make_model():
    layers = [Input((256, 3))]
    for filters in (48, 64, 96):
        layers += [Conv1D(filters, 7, padding="same"), BatchNormalization(momentum=0.9)]
        layers += [Activation("relu"), MaxPooling1D(2)]
    layers += [GlobalMaxPooling1D(), Dropout(0.3), Dense(5, "softmax")]
    return sequential(Adam(1e-3), "sparse_categorical_crossentropy", *layers)


def case():
    rng = np.random.default_rng(7)
    folder = tempfile.mkdtemp()
    time = np.arange(60000) / 1000
    for label, tone in enumerate([0, 35, 60, 90, 140]):
        signal = rng.normal(0, 1, (60000, 3)) + 0.8 * np.sin(2 * np.pi * tone * time)[:, None]
        np.save(f"{folder}/{label}.npy", signal.astype("float32"))
    train = Windows(folder, 0, 50000, 20, 1, workers=1, max_queue_size=10)
    callbacks = [CSVLogger(new_file("log.csv")), ReduceLROnPlateau(monitor="val_loss", patience=5)]
    held_out = Windows(folder, 50000, 60000, 3, 2)
    return make_model, train, None, dict(epochs=20, validation_data=held_out, callbacks=callbacks)
