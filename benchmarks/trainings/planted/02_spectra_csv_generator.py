"""Near-infrared spectra in a CSV with all digits, read and preprocessed line by line in a generator."""

BACKEND = "tensorflow"
TRUTH = "input"
WHY = "a generator parses 700 float64 columns by csv and float(); 25 epochs took 84.5 s, with the same batches in memory 15.7 s; an epoch 2.57 against 0.53 s"
SOURCE = ""

import csv
import os
import tempfile

import keras
import numpy as np

ROWS, WAVELENGTHS, BATCH = 1920, 700, 32


def write_csv():
    rng = np.random.default_rng(0)
    path = os.path.join(tempfile.mkdtemp(), "nir_spectra.csv")
    grid = np.linspace(0, 6, WAVELENGTHS)
    with open(path, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["protein"] + [f"nm{1100 + 2 * i}" for i in range(WAVELENGTHS)])
        for _ in range(ROWS):
            a, b = rng.normal(size=2)
            s = (
                1.5
                + a * np.sin(grid) * 0.2
                + b * np.cos(2 * grid) * 0.1
                + rng.normal(size=WAVELENGTHS) * 0.01
            )
            w.writerow([repr(float(12 + a + 0.5 * b))] + [repr(float(v)) for v in s])
    return path


def case():
    path = write_csv()

    def batches():
        while True:
            with open(path, newline="") as f:
                reader = csv.reader(f)
                next(reader)
                xs, ys = [], []
                for row in reader:
                    values = np.array([float(v) for v in row], dtype="float64")
                    s = np.log10(1.0 / np.clip(values[1:], 1e-3, None))
                    s = (s - s.mean()) / s.std()  # standard normal variate
                    s = np.gradient(s)  # first derivative
                    xs.append(s)
                    ys.append(values[0])
                    if len(xs) == BATCH:
                        yield np.array(xs), np.array(ys)[:, None]
                        xs, ys = [], []

    def make_model():
        inputs = keras.Input((WAVELENGTHS,))
        h = keras.layers.Dense(48, activation="relu")(inputs)
        h = keras.layers.Dense(16, activation="relu")(h)
        outputs = keras.layers.Dense(1)(h)
        model = keras.Model(inputs, outputs)
        model.compile(keras.optimizers.Adam(1e-3), "mse", metrics=["mae"])
        return model

    return make_model, batches, None, dict(epochs=25, steps_per_epoch=ROWS // BATCH, verbose=2)
