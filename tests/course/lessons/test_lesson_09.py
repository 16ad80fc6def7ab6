"""Lesson 09: several devices do what one does, in real frameworks; and its text."""

import json
import re
import sys
from pathlib import Path

import pytest

from accel_helpers._values import probe

PAGE = Path(__file__).parents[3] / "notebooks" / "09_many_devices.ipynb"
CELLS = {cell["id"]: cell for cell in json.loads(PAGE.read_text("utf-8"))["cells"]}
SAME = 1e-4  # of what is compared: rounding comes to a thousandth of that

MODEL = """
import json
import re
import sys
import numpy as np
import accel_helpers as ah
from accel_helpers.fit.images import load_images
import keras
images = load_images(128, source="bundled")
x, y = images.x_train / 255, images.y_train.astype("int32")
def make(normal=None, optimizer="adam", dtype="float32"):  # with batch normalisation, as asked
    keras.utils.set_random_seed(0)
    keras.config.set_floatx(dtype)
    keras.config.set_dtype_policy(dtype)
    mixes = [] if normal is None else [keras.layers.BatchNormalization(**normal)]
    layers = [keras.Input((28, 28)), keras.layers.Flatten(), keras.layers.Dense(16), *mixes]
    model = keras.Sequential([*layers, keras.layers.ReLU(), keras.layers.Dense(10)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, metrics=["accuracy"])
    return model
def fit(model, count=128, batch=32):
    model.fit(x[:count], y[:count], batch_size=batch, epochs=2, shuffle=False, verbose=0)
    return model
def apart(one, other):  # as a share of the other
    one, other = (np.concatenate([np.ravel(part) for part in parts]) for parts in (one, other))
    return float(np.linalg.norm(one - other) / np.linalg.norm(other))
def left(model):  # what a training leaves behind
    numbers = [*model.weights, *model.optimizer.variables]
    return [*model.history.history.values(), *(each.numpy() for each in numbers)]
"""
ON_JAX = """
import jax
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_num_cpu_devices", 8)
jax.config.update("jax_enable_x64", True)
{model}
found = {{}}
for name, normal in {{"plain": None, "normal": {{}}}}.items():
    model = make(normal, dtype="float64")
    both = model.trainable_variables, model.non_trainable_variables
    start, rest = ([v.value for v in of] for of in both)
    def error(weights, x, y):
        return model.loss(y, model.stateless_call(weights, rest, x, training=True)[0])
    def slopes(a, b):
        return jax.grad(error)(start, x[a:b], y[a:b])
    mean = [(one + other) / 2 for one, other in zip(slopes(0, 32), slopes(32, 64))]
    found[name] = apart(mean, slopes(0, 64))
layouts = keras.distribution.LayoutMap(keras.distribution.DeviceMesh((8,), ["batch"]))
layouts[".*kernel.*"] = ("batch", None)
spreads = {{"one": None, "copied": keras.distribution.DataParallel()}}
spreads["sharded"] = keras.distribution.ModelParallel(layout_map=layouts, batch_dim_name="batch")
for normal in (None, {{}}):
    models = {{}}
    for name, spread in spreads.items():
        keras.distribution.set_distribution(spread)
        models[name] = fit(make(normal))
    for name in ("copied", "sharded"):
        found[f"{{name}} {{normal}}"] = apart(left(models[name]), left(models["one"]))
def held(model):  # bytes on the first of its devices
    numbers = [*model.variables, *model.optimizer.variables]
    return sum(each.value.addressable_shards[0].data.nbytes for each in numbers)
found["held"] = [held(models[name]) for name in ("one", "copied", "sharded")]
found["off"] = apart(left(fit(make({{}}), batch=64)), left(models["one"]))
print(json.dumps(found))
"""
ON_TENSORFLOW = """
import tensorflow as tf
(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)
{model}
def trained(normal=None, count=128):
    across, ends = tf.distribute.ReductionToOneDevice(), []
    many = tf.distribute.MirroredStrategy([f"/cpu:{{n}}" for n in range(4)], across)
    for scope in (tf.device("/cpu:0"), many.scope()):
        with scope:
            model = make(normal, keras.optimizers.SGD(0.1))
            ends.append([np.copy(each) for each in fit(model, count).get_weights()])
    return apart(*ends)
mixed = [trained({{"synchronized": which}}) for which in (False, True)]
print(json.dumps([trained(), *mixed, trained(count=38)]))
"""


def answer(code, framework):  # in a process of its own: a number of devices is for all of it
    environ = probe.variables({"KERAS_BACKEND": framework, "CUDA_VISIBLE_DEVICES": "-1"})
    command = [sys.executable, "-c", code.format(model=MODEL)]
    done = probe.run_command(command, seconds=280, environ=environ)
    assert done.kind == "finished", done.output
    return json.loads(probe.last_line(done.output))


@pytest.fixture(scope="module")
def on_jax():
    return answer(ON_JAX, "jax")


def test_halves_averaged_are_the_whole_and_not_if_a_layer_normalises_each(on_jax):
    assert on_jax["plain"] < 1e-12
    assert on_jax["normal"] > 1e-3


@pytest.mark.parametrize("way", ["copied", "sharded"])
@pytest.mark.parametrize("normal", ["None", "{}"])  # {}: with batch normalisation
def test_on_jax_eight_devices_train_the_model_of_one(on_jax, way, normal):
    assert on_jax[f"{way} {normal}"] < SAME


def test_another_training_is_told_apart(on_jax):
    assert on_jax["off"] > 10 * SAME


def test_a_device_holds_all_of_a_copied_model_and_an_eighth_of_a_sharded_one(on_jax):
    one, copied, sharded = on_jax["held"]
    assert copied == one
    assert 7 < copied / sharded < 8  # biases are copied


@pytest.mark.night
def test_on_tensorflow_four_replicas_are_one_unless_a_layer_mixes_or_shares_are_unequal():
    plain, mixed, together, uneven = answer(ON_TENSORFLOW, "tensorflow")
    assert max(plain, together) < SAME
    assert min(mixed, uneven) > 10 * SAME


def printed(id):
    return "".join(line for output in CELLS[id]["outputs"] for line in output["text"])


@pytest.mark.parametrize("framework", [0, 1])  # TensorFlow, JAX
def test_the_page_shows_the_loss_of_one_device_on_two(framework):
    one, two = printed("l09same").splitlines()[2 * framework :][:2]
    assert one.startswith("one device: loss 0.")
    assert two == one.replace("one device", "two devices")


def test_the_page_shows_the_loss_of_one_device_on_eight():
    eight = printed("l09eight").splitlines()[0]
    assert eight.replace("eight devices", "one device") in printed("l09same")


def test_eight_chips_wait_nearly_as_long_as_512():
    waits = re.findall(r"wait (\S+) s", printed("l09wait"))
    assert waits == [f"{2 * (n - 1) / n * 4 * 138_357_544 / 3.125e9:.2f}" for n in (2, 8, 512)]
    assert 1 < float(waits[2]) / float(waits[1]) < 1.2


def test_what_real_clusters_did_is_what_was_published():
    rows = dict(re.findall(r"^(.+): \d+ as fast as (\S+),", printed("l09rows"), re.M))
    assert rows["VGG-16, 25 Gbit/s"] == f"{0.68 * 512:.0f}"  # an efficiency of 68 %
    assert rows["Inception V3, 25 Gbit/s"] == f"{0.9 * 512:.0f}"
    assert f'reveal("chips", {rows["VGG-16, 25 Gbit/s"]})' in "".join(
        CELLS["l09published"]["source"]
    )
