"""fchollet/deep-learning-with-python-notebooks.

Val_steps counts samples in place of batches: 559 validation steps for 100 training steps; by the
clock an epoch took 3.0 s (median 4.1) as called and 0.38 s (median 0.96) without validation: 76-87
%.
From fchollet/deep-learning-with-python-notebooks, 6.3-advanced-usage-of-recurrent-neural-
networks.ipynb, the dense model; with val_steps counted in samples and not in batches, as a public
copy of it has it (others divide by batch_size).
"""

from benchmarks.trainings.common import *

BACKEND = "jax"
TRUTH = "validation"
LOOKBACK = 1440
STEP = 6
DELAY = 144
BATCH = 128


def weather(n=12000):
    """In place of jena_climate_2009_2016.csv (420 551 rows): random walks with a daily wave."""
    rng = np.random.default_rng(0)
    data = np.cumsum(rng.normal(size=(n, 14)), axis=0)
    data = data + 30 * np.sin(2 * np.pi * np.arange(n) / 144)[:, None]
    data -= data[:6000].mean(axis=0)
    return data / data[:6000].std(axis=0)


def generator(data, min_index, max_index, shuffle=False):
    i = min_index + LOOKBACK
    while True:
        if shuffle:
            rows = np.random.randint(min_index + LOOKBACK, max_index, size=BATCH)
        else:
            if i + BATCH >= max_index:
                i = min_index + LOOKBACK
            rows = np.arange(i, min(i + BATCH, max_index))
            i += len(rows)
        samples = np.zeros((len(rows), LOOKBACK // STEP, data.shape[-1]))
        targets = np.zeros((len(rows),))
        for j, row in enumerate(rows):
            samples[j] = data[range(row - LOOKBACK, row, STEP)]
            targets[j] = data[row + DELAY][1]
        yield samples, targets


def make_model():
    layers = [Input((LOOKBACK // STEP, 14)), Flatten(), Dense(32, "relu"), Dense(1)]
    return sequential(RMSprop(), "mae", *layers, metrics=[])


def case():
    data = weather()
    # how many steps to draw in order to see the whole validation set (one forgets // batch_size)
    arguments = dict(validation_steps=8000 - 6001 - LOOKBACK, steps_per_epoch=100, epochs=20)
    arguments["validation_data"] = generator(data, 6001, 8000)
    return make_model, lambda: generator(data, 0, 6000, shuffle=True), None, arguments
