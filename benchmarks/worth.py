"""Is what `worth_it` says true? Five models of no lesson; a fake accelerator of a known factor."""

import argparse
import sys
import time
from dataclasses import replace
from functools import partial

import accel_helpers as ah
from accel_helpers.machine import backend
from accel_helpers.worth.turns import Turns

SECONDS, TURNS, RUNS, FACTOR = 60, 7, 20, 3.0


def pictures(size: int, count: int):
    """Real handwriting (scikit-learn's digits of 8x8), enlarged, and repeated to that many."""
    import numpy as np
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    x = np.kron(x.reshape(-1, 8, 8, 1) / 16, np.ones((1, size // 8, size // 8, 1)))
    keep = np.arange(count) % len(x)
    return x[keep].astype("float32"), y[keep]


def compiled(keras, inputs, outputs, **options):
    model = keras.Model(inputs, keras.layers.Dense(10)(outputs))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    options = {"jit_compile": backend.framework() == "jax", **options}
    model.compile("adam", loss, metrics=["accuracy"], **options)
    return model


def convolutional(keras, **options):
    """A small convolutional net on 64x64 pictures."""
    k, x = keras.layers, keras.Input((64, 64, 1))
    out = k.MaxPooling2D()(k.Conv2D(16, 3, activation="relu")(x))
    out = k.MaxPooling2D()(k.Conv2D(32, 3, activation="relu")(out))
    return compiled(keras, x, k.GlobalAveragePooling2D()(out), **options)


def lstm(keras, **options):
    """An LSTM that reads a picture line by line."""
    x = keras.Input((8, 8))
    return compiled(keras, x, keras.layers.LSTM(32)(x), **options)


def transformer(keras, **options):
    """One transformer block, over the 16 lines of a picture."""
    k, x = keras.layers, keras.Input((16, 16))
    out = k.Dense(64)(x)
    out = k.LayerNormalization()(out + k.MultiHeadAttention(4, 16)(out, out))
    out = k.LayerNormalization()(out + k.Dense(64)(k.Dense(128, activation="gelu")(out)))
    return compiled(keras, x, k.GlobalAveragePooling1D()(out), **options)


def two_inputs(keras, **options):
    """Two halves of a picture, each with its own layer."""
    k = keras.layers
    x = {"top": keras.Input((32,), name="top"), "bottom": keras.Input((32,), name="bottom")}
    halves = [k.Dense(64, activation="relu")(each) for each in x.values()]
    return compiled(keras, x, k.Concatenate()(halves), **options)


def tiny(keras, **options):
    """Two layers, of 512 units and of ten."""
    x = keras.Input((64,))
    return compiled(keras, x, keras.layers.Dense(512, activation="relu")(x), **options)


def cases(count: int = 4096) -> dict:
    """Each model's name, how to make it, and how to make its data for a size of batch."""
    import tensorflow as tf

    (x8, y), (x16, _), (x64, _) = (pictures(size, count) for size in (8, 16, 64))
    halves = {"top": x8.reshape(-1, 64)[:, :32], "bottom": x8.reshape(-1, 64)[:, 32:]}

    def batches(size):
        return (tf.data.Dataset.from_tensor_slices((halves, y)).batch(size).prefetch(2),)

    return {
        "convolutional, 64x64": (convolutional, lambda size: (x64, y)),
        "LSTM": (lstm, lambda size: (x8[..., 0], y)),
        "transformer block": (transformer, lambda size: (x16[..., 0], y)),
        "two inputs, tf.data": (two_inputs, batches),
        "step of some 2 ms": (tiny, lambda size: (x8.reshape(-1, 64), y)),
    }


def epochs_of(make, data, change: str = ""):
    """A function that trains a model of its own for two epochs, with a change."""
    name, _, value = change.partition("=")
    options = {name: int(value)} if name == "steps_per_execution" else {}
    options |= {"jit_compile": True} if name == "jit_compile" else {}
    model = make(sys.modules["keras"], **options)
    size = int(value) if name == "batch_size" else 32
    given = data(size)
    fit = partial(ah.fit_resident, model) if name == "fit_resident" else model.fit
    sized = {"batch_size": size} if len(given) > 1 else {}

    def train():
        fit(*given, **sized, epochs=2, verbose=0)
        return model

    return train


def five(only: str) -> None:
    """Print what it said of each, and whether each change gave that gain, measured anew."""
    for name, (make, data) in cases().items():
        if only not in name:
            continue
        make_model, start = partial(make, sys.modules["keras"]), time.perf_counter()
        found = ah.worth_it(make_model, *data(32), seconds=SECONDS)
        print(f"\n== {name}, {time.perf_counter() - start:.0f} s ==\n{found}", flush=True)
        for change, said in found.tried.items():
            pair = epochs_of(make, data), epochs_of(make, data, change)
            then = ah.compare(*pair, repeats=TURNS, min_time=0, max_time=60)
            (low, high), (bottom, top) = said.interval, then.interval
            mark = "advised" if change == found.advice else ""
            mark += "" if low <= top and bottom <= high else " APART"
            print(f"{change:<22} said {said.verdict}, {low:.2f} to {high:.2f}; ", end="")
            print(f"again {then.verdict}, {bottom:.2f} to {top:.2f} {mark}", flush=True)


def factor() -> None:
    """A fake accelerator takes its own real turn on this CPU, and says a third of the time."""
    make, data = cases(2048)["step of some 2 ms"]
    held = none = 0

    make_model, take_turn = partial(make, sys.modules["keras"]), Turns.__call__

    def fake(turns, variant):
        seconds = take_turn(turns, replace(variant, device="cpu"))
        return seconds / FACTOR if variant.device == "gpu" else seconds

    Turns.__call__ = fake
    backend.devices = lambda: ("cpu", "gpu")
    for run in range(1, RUNS + 1):
        found = ah.worth_it(make_model, *data(32), seconds=12)
        low, high = found.factor.interval
        none += low == 0  # fewer than five turns: no factor, and no hit either
        held += 0 < low <= FACTOR <= high
        print(f"{run:2}: {low:.3g} to {high:.3g}; {held} of {run - none} hold it", flush=True)


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("--factor", action="store_true", help="the fake, and not the five")
    reader.add_argument("--only", default="", help="a part of a model's name")
    asked = reader.parse_args()
    print(ah.use_backend())
    factor() if asked.factor else five(asked.only)
