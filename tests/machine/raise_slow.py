"""Do what today's packages warn of as slow, and print what the doctor says of each as JSON.

python raise_slow.py, with KERAS_BACKEND set: what is tried under it, by the id of the entry. And
with TF_CPP_MIN_LOG_LEVEL=0, as JAX would leave of TensorFlow's log only the warnings. What is
read is what the process really printed, from Python and from the libraries in C++.
"""

import json
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import keras
import numpy as np
import tensorflow as tf
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import accel_helpers as ah

layers = keras.layers
X, Y = np.ones((64, 4), "float32"), np.ones((64, 1), "float32")


class Forgetful(keras.utils.PyDataset):
    """Batches whose class does not call super().__init__."""

    def __init__(self):
        self.batches = 4

    def __len__(self):
        return self.batches

    def __getitem__(self, index):
        return X[:8], Y[:8]


def dense(**how):
    model = keras.Sequential([keras.Input((4,)), layers.Dense(1)])
    model.compile("sgd", "mse", **how)
    return model


def pairs():
    return tf.data.Dataset.from_tensor_slices((X, Y))


def retrace():
    add = tf.function(lambda x: x + 1)
    for number in range(7):
        add(number)


def fill_shuffle_buffer():
    def numbers():
        for number in range(24):
            time.sleep(0.5)
            yield number

    signature = tf.TensorSpec((), tf.int32)
    data = tf.data.Dataset.from_generator(numbers, output_signature=signature)
    next(iter(data.shuffle(24)))


def uncompiled_layer():
    words = layers.StringLookup(vocabulary=["a"])
    model = keras.Sequential([keras.Input((1,), dtype="string"), words, layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=True)


def functions_eagerly():
    tf.config.run_functions_eagerly(True)
    try:
        list(pairs().map(lambda x, y: (x, y)))
        tf.vectorized_map(lambda x: x + 1, tf.ones(3))
    finally:
        tf.config.run_functions_eagerly(False)


def fill_gradient():
    table = tf.Variable(tf.zeros((12_500_001, 8)))

    @tf.function
    def first_row():
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(tf.gather(table, [1, 2]))
        return tf.convert_to_tensor(tape.gradient(total, table))[0]

    first_row.get_concrete_function()


def half_precision():
    from tensorflow.python.keras.mixed_precision import device_compatibility_check

    device_compatibility_check.log_device_compatibility_check("mixed_float16")


def strategy():
    devices = ["CPU:0", "CPU:1"]
    reduce = tf.distribute.HierarchicalCopyAllReduce()
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=reduce)


def embedding_on_two():
    with strategy().scope():
        model = keras.Sequential(
            [keras.Input((4,), dtype="int32"), layers.Embedding(9, 3), layers.Flatten(),
             layers.Dense(1)]
        )  # fmt: skip
        model.compile("sgd", "mse")
    model.fit(np.zeros((64, 4), "int32"), Y, verbose=0)


def profiled(call):
    """Print what the profiler says of a call, as XProf and TensorBoard show it."""
    from tensorflow.python.profiler.internal import _pywrap_profiler_plugin as plugin

    with tempfile.TemporaryDirectory() as folder:
        tf.profiler.experimental.start(folder)
        call()
        tf.profiler.experimental.stop()
        files = [str(file) for file in Path(folder).glob("**/*.xplane.pb")]
        page, _ = plugin.xspace_to_tools_data(files, "overview_page", {})
    print(page.decode(errors="replace"), file=sys.stderr)


def wait_for_data():
    def numbers():
        for _ in range(10):
            time.sleep(0.05)
            yield np.ones((200, 200), "float32")

    signature = tf.TensorSpec((200, 200))
    batches = iter(tf.data.Dataset.from_generator(numbers, output_signature=signature))
    step = tf.function(lambda x: tf.reduce_sum(x @ x))
    step(next(batches))
    for number in range(8):
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            step(next(batches))


def split_otherwise():
    mesh = Mesh(np.asarray(jax.devices()).reshape(4, 2), ("x", "y"))
    before = NamedSharding(mesh, PartitionSpec("y", None, "x"))
    after = NamedSharding(mesh, PartitionSpec(None, ("x", "y"), None))

    def add(a, b):
        return jax.lax.with_sharding_constraint(a + a, after) + b

    ones = jnp.ones((16, 16, 16))
    jax.jit(add, in_shardings=(before, after), out_shardings=after)(ones, ones)


TRIED = {
    "tensorflow": {
        "slow-retracing": [retrace],
        "slow-input": [fill_shuffle_buffer],
        "pydataset-one-worker": [lambda: dense().fit(Forgetful(), verbose=0)],
        "tf-data-by-python": [embedding_on_two],
        "slow-eager": [lambda: dense(run_eagerly=True, jit_compile=True), functions_eagerly],
        "xla-not-compiled": [uncompiled_layer],
        "tf-dense-gradient": [fill_gradient],
        "float16-slow": [half_precision],
        "strategy-sparse-gradients": [embedding_on_two],
        "profile-input-bound": [lambda: profiled(wait_for_data)],
    },
    "jax": {
        "pydataset-one-worker": [lambda: dense().fit(Forgetful(), verbose=0)],
        "jax-donation-unused": [lambda: jax.jit(jnp.sum, donate_argnums=0)(jnp.ones((3, 4)))],
        "xla-copies-whole-arrays": [split_otherwise],
    },
}


def printed(call):
    """Give what a call prints as an error or a warning; libraries in C++ write past Python."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            call()
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        return file.read().decode(errors="replace")


def main():
    warnings.simplefilter("always")
    # Several devices in one CPU.
    jax.config.update("jax_num_cpu_devices", 8)
    (cpu,) = tf.config.list_physical_devices("CPU")
    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(cpu, two)
    said = {}
    for name, calls in TRIED[os.environ["KERAS_BACKEND"]].items():
        said[name] = []
        for call in calls:
            told = ah.diagnose(printed(call))
            found = [one.id for one in told.findings or told.slow]
            sends = "ah.profile_fit" in told.next_step
            said[name].append(name if name in found and sends else str(told))
    print(json.dumps(said))


if __name__ == "__main__":
    main()
