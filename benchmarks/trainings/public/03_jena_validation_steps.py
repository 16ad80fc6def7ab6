BACKEND = "jax"
TRUTH = "validation"
WHY = "val_steps counts samples in place of batches: 559 validation steps for 100 training steps; by the clock an epoch took 3.0 s (median 4.1) as called and 0.38 s (median 0.96) without validation: 76-87 %."
SOURCE = (
    "fchollet/deep-learning-with-python-notebooks, 6.3-advanced-usage-of-recurrent-neural-networks.ipynb, "
    "the dense model; with val_steps counted in samples and not in batches, as a public copy of it has it (others divide by batch_size)"
)


def case():
    import keras
    import numpy as np

    # in place of jena_climate_2009_2016.csv (420 551 rows): 12 000 rows of 14 random walks with a daily wave
    rng = np.random.default_rng(0)
    n = 12000
    float_data = (
        np.cumsum(rng.normal(size=(n, 14)), axis=0)
        + 30 * np.sin(2 * np.pi * np.arange(n) / 144)[:, None]
    )
    mean = float_data[:6000].mean(axis=0)
    float_data -= mean
    std = float_data[:6000].std(axis=0)
    float_data /= std

    def generator(
        data, lookback, delay, min_index, max_index, shuffle=False, batch_size=128, step=6
    ):
        if max_index is None:
            max_index = len(data) - delay - 1
        i = min_index + lookback
        while 1:
            if shuffle:
                rows = np.random.randint(min_index + lookback, max_index, size=batch_size)
            else:
                if i + batch_size >= max_index:
                    i = min_index + lookback
                rows = np.arange(i, min(i + batch_size, max_index))
                i += len(rows)
            samples = np.zeros((len(rows), lookback // step, data.shape[-1]))
            targets = np.zeros((len(rows),))
            for j, row in enumerate(rows):
                indices = range(rows[j] - lookback, rows[j], step)
                samples[j] = data[indices]
                targets[j] = data[rows[j] + delay][1]
            yield samples, targets

    lookback = 1440
    step = 6
    delay = 144
    batch_size = 128

    def train_gen():
        return generator(
            float_data,
            lookback=lookback,
            delay=delay,
            min_index=0,
            max_index=6000,
            shuffle=True,
            step=step,
            batch_size=batch_size,
        )

    val_gen = generator(
        float_data,
        lookback=lookback,
        delay=delay,
        min_index=6001,
        max_index=8000,
        step=step,
        batch_size=batch_size,
    )
    # how many steps to draw from val_gen in order to see the whole validation set (one forgets // batch_size)
    val_steps = 8000 - 6001 - lookback

    def make_model():
        model = keras.Sequential()
        model.add(keras.Input((lookback // step, float_data.shape[-1])))
        model.add(keras.layers.Flatten())
        model.add(keras.layers.Dense(32, activation="relu"))
        model.add(keras.layers.Dense(1))
        model.compile(optimizer=keras.optimizers.RMSprop(), loss="mae")
        return model

    return (
        make_model,
        train_gen,
        None,
        dict(steps_per_epoch=100, epochs=20, validation_data=val_gen, validation_steps=val_steps),
    )
