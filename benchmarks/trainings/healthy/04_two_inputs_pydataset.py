"""A picture and a table row for each house, by a PyDataset with two workers that flips and shifts
pictures.

Nothing planted (two inputs, PyDataset with two workers): an epoch as called took 2.69 CPU-seconds,
with one kept batch and no callbacks or validation 2.28, the same at batch 1 0.22, so arithmetic is
77 %; by the clock, shared cores, 2.67 / 1.98 / 0.17 s; compilation 19 % of the planned training.
"""

from benchmarks.trainings.common import *

BACKEND = "tensorflow"
TRUTH = "compute"


def make_model():
    picture = Input((40, 40, 3), name="picture")
    row = Input((20,), name="table")
    x = picture
    for filters in (32, 48, 64):
        x = Conv2D(filters, 3, padding="same", activation="relu")(x)
        x = Conv2D(filters, 3, strides=2, padding="same", activation="relu")(x)
    both = [GlobalAveragePooling2D()(x), through(row, Dense(64, "relu"), Dense(32, "relu"))]
    price = through(both, Concatenate(), Dense(64, "relu"), Dropout(0.1), Dense(1))
    model = keras.Model({"picture": picture, "table": row}, price)
    return compiled(model, Adam(1e-3), "mse", ["mae"])


def case():
    rng = np.random.default_rng(3)
    count = 1600
    rows, cols = np.mgrid[0:40, 0:40]
    size = rng.uniform(3, 12, count)
    pictures = np.exp(-((rows - 20) ** 2 + (cols - 20) ** 2) / (2 * size[:, None, None] ** 2))
    pictures = (pictures[..., None] + rng.normal(0, 0.2, (count, 40, 40, 3))).astype("float32")
    table = rng.normal(size=(count, 20)).astype("float32")
    price = (size / 4 + table[:, :3].sum(axis=1) + 0.2 * rng.normal(size=count)).astype("float32")
    chance = np.random.default_rng(5)

    def houses(chosen):
        return {"picture": pictures[chosen], "table": table[chosen]}, price[chosen]

    def moved_houses(chosen):
        x, y = houses(chosen)
        if chance.random() < 0.5:
            x["picture"] = x["picture"][:, :, ::-1]
        x["picture"] = np.roll(x["picture"], chance.integers(-3, 4), axis=1)
        return x, y

    train = Batches(1440, 64, moved_houses, seed=5, workers=2, max_queue_size=8)
    held_out = Batches(160, 64, lambda chosen: houses(chosen + 1440))
    callbacks = [
        ModelCheckpoint(new_file("{epoch:02d}.keras")),
        LearningRateScheduler(lambda epoch, rate: rate * 0.95 if epoch > 5 else rate),
    ]
    return make_model, train, None, dict(epochs=20, validation_data=held_out, callbacks=callbacks)
