"""Raise what today's packages raise, and print what the doctor says of each as JSON.

python raise_today.py, with KERAS_BACKEND set: what is tried under it, by the id of the entry.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import keras
import numpy as np
import tensorflow as tf

import accel_helpers as ah

layers = keras.layers
FOLDER = Path(tempfile.mkdtemp())
X, Y = np.ones((8, 4), "float32"), np.ones((8, 1), "float32")
leaked = []


class Mine(layers.Layer):
    """A layer of one's own, which the file of a model doesn't hold."""

    def call(self, x):
        return x


class TensorFlowLayer(layers.Layer):
    def call(self, x):
        return tf.nn.relu(x)


class TensorFlowStep(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(1)

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        return {"loss": 0.0}


def dense(units=1):
    model = keras.Sequential([keras.Input((4,)), layers.Dense(units)])
    model.compile("sgd", "mse")
    return model


def assign():
    array = jnp.zeros(3)
    array[0] = 1


def leak():
    jax.jit(lambda x: leaked.append(x * 1) or x)(1.0)
    leaked[0] + 1


def load_custom(ending):
    file = FOLDER / f"custom{ending}"
    keras.Sequential([keras.Input((4,)), Mine()]).save(file)
    program = "import sys, keras; keras.models.load_model(sys.argv[1])"
    command = [sys.executable, "-c", program, str(file)]
    told = subprocess.run(command, capture_output=True, text=True)
    raise RuntimeError(told.stderr)


def load_damaged():
    file = FOLDER / "page.h5"
    file.write_text("<html>too many downloads</html>")
    keras.models.load_model(file)


def load_other_weights():
    file = FOLDER / "some.weights.h5"
    dense(3).save_weights(file)
    dense(5).load_weights(file)


def two_outputs():
    x = keras.Input((4,))
    model = keras.Model(x, [layers.Dense(1)(x), layers.Dense(1)(x)])
    model.compile("sgd", "mse", metrics=["mae"])
    model.fit(X, [Y, Y], verbose=0)


def fit(model):
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0)


def draw():
    sys.modules["pydot"] = sys.modules["pydotplus"] = sys.modules["pydot_ng"] = None
    keras.utils.model_to_dot(dense())


TRIED = {
    "tensorflow": {
        "keras3-plain-data": [
            lambda: dense().fit(X.tolist() * 999, Y.tolist() * 999, verbose=0),
            lambda: dense().fit(X, Y.tolist(), verbose=0),
            lambda: dense().fit(np.array([["a", None, 1, 2]] * 8, object), Y, verbose=0),
        ],
        "keras3-metrics-per-output": [two_outputs],
        "keras3-model-never-called": [lambda: keras.Sequential([layers.Dense(1)]).output],
        "keras-custom-object": [lambda: load_custom(".keras"), lambda: load_custom(".h5")],
        "keras-file-not-there": [
            lambda: keras.models.load_model(FOLDER / "none.keras"),
            lambda: keras.models.load_model(FOLDER / "none.h5"),
            load_damaged,
        ],
        "keras-weights-do-not-fit": [load_other_weights],
        "keras-drawing-missing": [draw],
        "keras-methods-gone": [lambda: keras.losses.MeanSquaredError(reduction="auto")],
        "keras3-tensorflow-function": [lambda: tf.square(keras.Input((4,)))],
    },
    "jax": {
        "jax-tracer-value": [
            lambda: jax.jit(lambda x: 1 if x > 0 else 2)(1.0),
            lambda: jax.jit(lambda x: np.sin(x))(1.0),
            lambda: jax.jit(jnp.arange)(3),
            lambda: jax.jit(lambda n: sum(range(n)))(3),
            lambda: jax.jit(lambda x: x[x > 0])(jnp.ones(3)),
        ],
        "jax-tracer-leaked": [leak],
        "jax-immutable": [assign],
        "jax-static-argument": [
            lambda: jax.jit(lambda x, mode: x)(1.0, "train"),
            lambda: jax.jit(lambda x, mode: x, static_argnums=1)(1.0, [1]),
        ],
        "keras-backend-mixed": [
            lambda: fit(keras.Sequential([keras.Input((4,)), TensorFlowLayer()])),
            lambda: fit(TensorFlowStep()),
            lambda: jnp.sum(tf.ones(3)),
        ],
    },
}


def main():
    said = {}
    for name, calls in TRIED[os.environ["KERAS_BACKEND"]].items():
        said[name] = []
        for call in calls:
            try:
                call()
                said[name].append("nothing was raised")
            except Exception as error:
                found = ah.diagnose(error).findings
                said[name].append(found[0].id if found else f"{type(error).__name__}: {error}")
    print(json.dumps(said))


if __name__ == "__main__":
    main()
