"""Raise what today's packages raise, and print what the doctor says of each as JSON.

python raise_today.py, with KERAS_BACKEND set: what is tried under it, by the id of the entry.
"""

import json
import os
import subprocess
import sys
from importlib import metadata

import jax
import jax.numpy as jnp
import keras
import numpy as np
import tensorflow as tf

import accel_helpers as ah

layers = keras.layers
X, Y = np.ones((8, 4), "float32"), np.ones((8, 1), "float32")
resolver = tf.distribute.cluster_resolver.TPUClusterResolver


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


def fit(model):
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0)


def elsewhere(code, **environ):
    """Run code in a process of its own, where no framework has started yet."""
    told = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environ, capture_output=True, text=True
    )
    raise RuntimeError(told.stderr)


def start_jax(**environ):
    elsewhere("import jax; jax.devices()", **environ)


def without_pips_records():
    paths, sys.path[:] = sys.path[:], []
    try:
        metadata.version("keras")
    finally:
        sys.path[:] = paths


def on_a_gpu_that_is_not_there():
    tf.config.set_soft_device_placement(False)
    try:
        with tf.device("GPU:7"):
            tf.ones(3)
    finally:
        tf.config.set_soft_device_placement(True)


def texts_by_xla():
    tf.function(tf.strings.lower, jit_compile=True)(tf.constant("A"))


def split_a_cpu():
    tf.ones(1)
    (cpu,) = tf.config.list_physical_devices("CPU")
    three = [tf.config.LogicalDeviceConfiguration()] * 3
    tf.config.set_logical_device_configuration(cpu, three)


TRIED = {
    "tensorflow": {
        "tf-device-not-visible": [on_a_gpu_that_is_not_there],
        "gpu-list-renamed": [lambda: tf.config.experimental_list_devices()],
        "keras-multi-gpu-model": [lambda: exec("from keras.utils import multi_gpu_model")],
        "tpu-name-missing": [resolver],
        "tpu-plain-tensorflow": [
            lambda: tf.tpu.experimental.initialize_tpu_system(resolver(tpu="local")),
        ],
        "tpu-not-initialised": [lambda: tf.distribute.TPUStrategy(resolver(tpu="local"))],
        "tpu-node-address": [lambda: os.environ["COLAB_TPU_ADDR"]],
        "xla-no-operation": [texts_by_xla],
        "devices-already-started": [split_a_cpu],
        "keras-other-name": [without_pips_records],
        "keras-backend-name": [lambda: elsewhere("import keras", KERAS_BACKEND="pytorch")],
    },
    "jax": {
        "jax-no-gpu": [lambda: jax.devices("gpu"), lambda: start_jax(JAX_PLATFORMS="cuda")],
        "jax-rocm": [lambda: jax.devices("rocm"), lambda: start_jax(JAX_PLATFORMS="rocm")],
        "jax-metal": [lambda: start_jax(JAX_PLATFORMS="METAL")],
        "jax-tpu-setup-old": [lambda: exec("import jax.tools.colab_tpu")],
        "jax-fewer-devices": [lambda: jax.make_mesh((8,), ("x",))],
        "strategy-device-missing": [
            lambda: keras.distribution.DeviceMesh((8,), ["x"], keras.distribution.list_devices()),
        ],
        "jax-distributed-start": [lambda: jax.distributed.initialize()],
        "devices-already-started": [lambda: jax.config.update("jax_num_cpu_devices", 3)],
        "jax-other-age": [
            lambda: jax.tree_map,
            lambda: exec("from jax import linear_util"),
            lambda: jax.jit(jnp.sum, no_such_option=1),
        ],
        "xla-flags-unknown": [lambda: start_jax(XLA_FLAGS="--xla_no_such_flag=1")],
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
