"""Train in the scope of a strategy, in a process of its own, and print what happened as JSON.

python train_in_scope.py one|two|wide
"""

import json
import os
import sys

import accel_helpers as ah
from accel_helpers.machine.quiet import held_back
from accel_helpers.machine.strategy import Strategy


def one():
    return train_in(ah.pick_strategy())


def two():
    """On two logical devices; JAX has them by XLA_FLAGS."""
    framework = os.environ["KERAS_BACKEND"]
    if framework == "tensorflow":
        import tensorflow as tf

        cpu = tf.config.list_physical_devices("CPU")[0]
        halves = [tf.config.LogicalDeviceConfiguration()] * 2
        tf.config.set_logical_device_configuration(cpu, halves)
    return train_in(Strategy("cpu", framework, 2, ""))


def train_in(picked):
    """Give the losses, the kind of strategy and what is left behind."""
    strategy = picked.build()
    with picked.scope():
        import keras
        import numpy as np

        x = np.random.default_rng(0).normal(size=(256, 20)).astype("float32")
        y = (x.sum(axis=1) > 0).astype("int32")
        keras.utils.set_random_seed(0)
        model = keras.Sequential([keras.Input((20,)), keras.layers.Dense(2)])
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        fitted = model.fit(x, y, batch_size=64, epochs=2, shuffle=False, verbose=0)
        if picked.replicas == 1:  # it refuses several
            # XLA's first compilation is logged, which a lesson's first cell keeps off the page.
            with held_back():
                ah.fit_resident(model, x, y, batch_size=64, verbose=0)
    return {
        "kind": picked.kind,
        "type": type(strategy).__name__,
        "devices": len(keras.distribution.list_devices()),
        "losses": fitted.history["loss"],
        "clean": is_clean(),
    }


def is_clean():
    import keras

    if keras.backend.backend() == "jax":
        return keras.distribution.distribution() is None
    return not sys.modules["tensorflow"].distribute.has_strategy()


def wide():
    """The loss after 30 steps on one batch, compiled and eager; stale weights nearly treble it."""
    with ah.pick_strategy().scope():
        return {name: last_loss(run_eagerly=name == "eager") for name in ("compiled", "eager")}


def last_loss(run_eagerly):
    import keras
    import numpy as np

    random = np.random.default_rng(0)
    x, y = random.random((64, 784), dtype="float32"), random.integers(0, 10, 64)
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(256, activation="relu"), keras.layers.Dense(10)]
    model = keras.Sequential([keras.Input((784,)), *layers])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.1), loss, run_eagerly=run_eagerly)
    return model.fit(x, y, batch_size=64, epochs=30, verbose=0).history["loss"][-1]


if __name__ == "__main__":
    print(json.dumps({"one": one, "two": two, "wide": wide}[sys.argv[1]]()))
