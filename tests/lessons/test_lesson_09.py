"""Lesson 09: shared out over devices is what one device does, in real frameworks; and its text."""

import json
from pathlib import Path

from accel_helpers import probe
from accel_helpers.lessons import lesson_09
from accel_helpers.lessons.cluster import published

PAGE = Path(__file__).parents[2] / "notebooks" / "09_many_devices.ipynb"
CELLS = {cell["id"]: cell for cell in json.loads(PAGE.read_text("utf-8"))["cells"]}
TEXT = "\n".join("".join(c["source"]) for c in CELLS.values() if c["cell_type"] == "markdown")

MODEL = """
import json
import numpy as np
import accel_helpers as ah
from accel_helpers.lessons import lesson_09
import keras
images = ah.training.load_images(128, source="bundled")
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
    found[name] = lesson_09.apart(mean, slopes(0, 64))
layouts = keras.distribution.LayoutMap(keras.distribution.DeviceMesh((8,), ["batch"]))
layouts[".*kernel.*"] = ("batch", None)
spreads = {{"one": None, "copied": keras.distribution.DataParallel()}}
spreads["cut"] = keras.distribution.ModelParallel(layout_map=layouts, batch_dim_name="batch")
for normal in (None, {{}}):
    models = {{}}
    for name, spread in spreads.items():
        keras.distribution.set_distribution(spread)
        models[name] = fit(make(normal))
    for name in ("copied", "cut"):
        found[f"{{name}} {{normal}}"] = lesson_09.same(models["one"], models[name])
found["held"] = [lesson_09.held(models[name]) for name in ("one", "copied", "cut")]
found["off"] = lesson_09.same(models["one"], fit(make({{}}), batch=64))
from types import SimpleNamespace
from jax.sharding import Mesh, NamedSharding, PartitionSpec
# Layouts of Keras 3.8 and 3.9 have no `backend_layout`; nor has this one.
layout = NamedSharding(Mesh(jax.devices(), ("batch",)), PartitionSpec("batch"))
spread = SimpleNamespace(get_data_layout=lambda shape: layout)
found["laid out"] = [lesson_09.laid_out(x[:32], way) for way in (spread, spreads["copied"])]
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
    return lesson_09.apart(*ends)
mixed = [trained({{"synchronized": which}}) for which in (False, True)]
print(json.dumps([trained(), *mixed, trained(count=38)]))
"""


def answer(code, framework):  # in a process of its own: a number of devices is for all of it
    environ = {"KERAS_BACKEND": framework, "CUDA_VISIBLE_DEVICES": "-1"}
    done = probe.run(code.format(model=MODEL), seconds=280, environ=environ)
    assert done.kind == "finished", done.output
    return json.loads(probe.last_line(done.output))


def test_on_jax_halves_are_the_whole_and_eight_devices_are_one():
    found = answer(ON_JAX, "jax")
    assert found["plain"] < 1e-12 < 1e-3 < found["normal"]
    for way in ("copied None", "copied {}", "cut None", "cut {}"):  # {}: batch normalisation
        assert found[way] is True, way
    assert found["off"] is False
    one, copied, cut = found["held"]
    assert one == copied and 7 < copied / cut < 8  # biases are copied
    assert found["laid out"] == ["(32, 28, 28) over 8 devices, (4, 28, 28) on each"] * 2


def test_on_tensorflow_four_replicas_are_one_unless_a_layer_mixes_or_shares_are_unequal():
    plain, mixed, together, uneven = answer(ON_TENSORFLOW, "tensorflow")
    assert max(plain, together) < lesson_09.SAME < 10 * lesson_09.SAME < min(mixed, uneven)


def test_what_the_lesson_says_is_what_its_cluster_gives_and_what_is_stored():
    rows = {(row.name.split(",")[0], row.devices): row for row in published()}
    vgg, inception = rows["VGG-16", 512].cluster, rows["Inception V3", 512].cluster
    assert f"{vgg.step:.2f} s for 64" in TEXT and f"{vgg.parameters / 1e6:.0f} million" in TEXT
    assert f"links of {vgg.bandwidth * 8 / 1e9:.0f} Gbit/s" in TEXT and "a sixth of the" in TEXT
    assert round(vgg.parameters / inception.parameters) == 6
    assert f"are {8 * vgg.parameters / vgg.bandwidth:.2f} s" in TEXT
    assert vgg.slowest(512) - vgg.step < 0.2 * vgg.all_reduce(512)  # "mostly for gradients"
    assert 1 < vgg.all_reduce(512) / vgg.all_reduce(8) < 1.2  # "8 wait nearly as long as 512"
    off = [100 * (row.cluster.speed_up(row.devices) / row.speed_up - 1) for row in published()]
    assert f"up to {-min(off):.0f} % too little" in TEXT and f"{max(off):.0f} % too much" in TEXT
    for cell in ("l09same", "l09state"):
        shown = json.dumps(CELLS[cell]["outputs"])
        assert "False" not in shown and shown.count("True") == 1
