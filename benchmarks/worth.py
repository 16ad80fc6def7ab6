"""Is what `worth_it` says true? Six models of no lesson, and each change measured again."""

import argparse
import sys
import time
from functools import partial

import accel_helpers as ah
from accel_helpers.machine import backend

SECONDS = 60


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
        "MobileNetV2, frozen": (frozen, lambda size: (x64[:512], y[:512])),
        "step of some 2 ms": (tiny, lambda size: (x8.reshape(-1, 64), y)),
    }


def frozen(keras, **options):
    """MobileNetV2 whose layers are frozen, below a new head: transfer learning."""
    base = keras.applications.MobileNetV2((96, 96, 3), include_top=False, weights=None)
    base.trainable = False
    x = keras.Input((64, 64, 1))
    out = keras.layers.Concatenate()([keras.layers.Resizing(96, 96)(x)] * 3)
    return compiled(keras, x, keras.layers.GlobalAveragePooling2D()(base(out)), **options)


def epochs_of(make_model, arguments):
    """A function that trains a model of its own for two epochs."""
    model = make_model()
    given = {**arguments, "epochs": 2}

    def train():
        model.fit(**given, verbose=0)
        return model

    return train


def main(only: str) -> None:
    """Print what it said of each, and whether each change gave that gain, measured anew."""
    for name, (make, data) in cases().items():
        if only not in name:
            continue
        make_model, start = partial(make, sys.modules["keras"]), time.perf_counter()
        x, y, *_ = (*data(32), None)
        found = ah.worth_it(make_model, x, y, seconds=SECONDS)
        print(f"\n== {name}, {time.perf_counter() - start:.0f} s ==\n{found}", flush=True)
        now = {"x": x, "y": y} if y is not None else {"x": x}
        for change in found.profile.tried:
            if change.training is None:
                continue  # another backend, which takes another process
            pair = epochs_of(make_model, now), epochs_of(*change.apply())
            then = ah.compare(*pair, seconds=30)
            (low, high), (bottom, top) = change.gain.interval, then.interval
            mark = "advised" if change in found.profile.advised else ""
            mark += "" if low <= top and bottom <= high else " APART"
            print(
                f"{change.name:<22} said {change.gain.verdict}, {low:.2f} to {high:.2f}; ", end=""
            )
            print(f"again {then.verdict}, {bottom:.2f} to {top:.2f} {mark}", flush=True)


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("--only", default="", help="a part of a model's name")
    asked = reader.parse_args()
    print(ah.use_backend())
    main(asked.only)
