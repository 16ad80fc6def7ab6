"""Train in the scope of a strategy, in a process of its own, and print what happened as JSON.

python train_in_scope.py one|wide
"""

import json
import sys

import accel_helpers as ah


def one():
    """Train on what is here; give the losses, the kind of strategy and what is left behind."""
    picked = ah.pick_strategy()
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
    with ah.pick_strategy().scope():
        return in_a_wide_layer()


def in_a_wide_layer():
    """The loss after 30 steps on one batch; with stale weights it is nearly three times that."""
    import keras
    import numpy as np

    random = np.random.default_rng(0)
    x, y = random.random((64, 784), dtype="float32"), random.integers(0, 10, 64)
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(256, activation="relu"), keras.layers.Dense(10)]
    model = keras.Sequential([keras.Input((784,)), *layers])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.1), loss, run_eagerly=False)
    start = model.get_weights()
    losses = model.fit(x, y, batch_size=64, epochs=30, verbose=0).history["loss"]
    (a, p), (b, q) = (start[:2], start[2:])
    for _ in losses:
        hidden = np.maximum(x @ a + p, 0)
        chances = np.exp(hidden @ b + q)
        chances /= chances.sum(axis=1, keepdims=True)
        plain = -np.log(chances[np.arange(64), y]).mean()
        chances[np.arange(64), y] -= 1
        back = (chances @ b.T) * (hidden > 0)
        b, q = b - 0.1 * hidden.T @ chances / 64, q - 0.1 * chances.mean(axis=0)
        a, p = a - 0.1 * x.T @ back / 64, p - 0.1 * back.mean(axis=0)
    return {"keras": losses[-1], "numpy": float(plain)}


if __name__ == "__main__":
    print(json.dumps({"one": one, "wide": wide}[sys.argv[1]]()))
