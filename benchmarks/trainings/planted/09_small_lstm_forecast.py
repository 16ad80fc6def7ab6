"""Hourly load forecast: an LSTM of 12 units over a week of hours, a few windows a batch.

72 time steps of an LSTM with 12 units; 50 steps: 0.72 s at batch 8, 0.76 at batch 1, 0.72 at batch
1 and width 1 (CPU time 0.37, 0.40, 0.44: all of it); the first epoch's compiling took 4.4 of 18.5 s
(two cores under load 7-12: wall figures are 2-4 times those of a free machine).
"""

from benchmarks.trainings.common import *

BACKEND = "tensorflow"
TRUTH = "overhead"


def make_model():
    layers = [Input((72, 4)), LSTM(12), Dense(8, "relu"), Dense(1)]
    return sequential(RMSprop(1e-3), "mae", *layers, metrics=[])


def case():
    rng = np.random.default_rng(0)
    t = np.arange(72 + 400)
    day = np.sin(2 * np.pi * t / 24)
    week = np.cos(2 * np.pi * t / 168)
    series = np.stack([day, week, rng.normal(size=t.size), t / t.size], 1)
    x = np.stack([series[i : i + 72] for i in range(400)]).astype("float32")
    y = (series[72:, 0] + 0.1 * series[72:, 2]).astype("float32")
    return make_model, x, y, dict(epochs=20, batch_size=8, shuffle=False)
