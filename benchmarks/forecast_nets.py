"""What every layer of the fitted networks reads and writes, counted from Keras models of them.

python -m benchmarks.forecast_nets          benchmarks/traffic.csv, from tools/published.csv

Beside each net it prints two figures of the model, numbers made by layers with weights and
parameters, and the same of the published row. Perceptrons are left out: only TPUs ran them.
"""

import csv
import gc
import math
import re
from functools import partial
from pathlib import Path

from tools.forecast import PUBLISHED

TRAFFIC = Path(__file__).with_name("traffic.csv")
# of RegNets: depth, slope, first width, factor of widths, width of a group (configs/dds_baselines
# of facebookresearch/pycls)
REGNETS = {
    "X-200MF": (13, 36.44, 24, 2.49, 8),
    "X-400MF": (22, 24.48, 24, 2.54, 16),
    "X-600MF": (16, 36.97, 48, 2.24, 24),
    "X-800MF": (16, 35.73, 56, 2.28, 16),
    "X-1.6GF": (18, 34.01, 80, 2.25, 24),
    "X-3.2GF": (25, 26.31, 88, 2.25, 48),
    "X-4.0GF": (23, 38.65, 96, 2.43, 40),
    "X-6.4GF": (17, 60.83, 184, 2.07, 56),
    "X-8.0GF": (23, 49.56, 80, 2.88, 120),
    "X-12GF": (19, 73.36, 168, 2.37, 112),
    "X-16GF": (22, 55.59, 216, 2.1, 128),
    "X-32GF": (23, 69.86, 320, 2.0, 168),
    "Y-200MF": (13, 36.44, 24, 2.49, 8),
    "Y-400MF": (16, 27.89, 48, 2.09, 8),
    "Y-600MF": (15, 32.54, 48, 2.32, 16),
    "Y-800MF": (14, 38.84, 56, 2.4, 16),
    "Y-1.6GF": (27, 20.71, 48, 2.65, 24),
    "Y-3.2GF": (21, 42.63, 80, 2.66, 24),
    "Y-4.0GF": (22, 31.41, 96, 2.24, 64),
    "Y-6.4GF": (25, 33.22, 112, 2.27, 72),
    "Y-8.0GF": (17, 76.82, 192, 2.19, 56),
    "Y-12GF": (19, 73.36, 168, 2.37, 112),
    "Y-16GF": (18, 106.23, 200, 2.48, 112),
    "Y-32GF": (20, 115.89, 232, 2.53, 232),
}


def conv(x, filters, size=1, strides=1, groups=1, act=True):
    from keras import layers

    options = {"padding": "same", "use_bias": False, "kernel_initializer": "zeros"}
    x = layers.Conv2D(filters, size, strides, groups=groups, **options)(x)
    x = layers.BatchNormalization()(x)
    return layers.ReLU()(x) if act else x


def squeezed(x, filters):
    from keras import layers

    y = layers.GlobalAveragePooling2D(keepdims=True)(x)
    y = layers.Conv2D(filters, 1, activation="relu")(y)
    y = layers.Conv2D(x.shape[-1], 1, activation="sigmoid")(y)
    return layers.Multiply()([x, y])


def bottleneck(x, filters, inner, strides, groups, inside=0, outside=0):
    """A residual block; `inside` or `outside` it, channels are squeezed to so many."""
    from keras import layers

    short = x
    if strides != 1 or x.shape[-1] != filters:
        short = conv(x, filters, 1, strides, act=False)
    y = conv(conv(x, inner), inner, 3, strides, groups)
    if inside:
        y = squeezed(y, inside)
    y = conv(y, filters, act=False)
    if outside:
        y = squeezed(y, outside)
    return layers.ReLU()(layers.Add()([short, y]))


def headed(start, x, classes=1000):
    import keras

    x = keras.layers.GlobalAveragePooling2D()(x)
    return keras.Model(start, keras.layers.Dense(classes, kernel_initializer="zeros")(x))


def resnet(depths, groups=1, width=64, squeeze=False):
    from keras import layers

    start = layers.Input((224, 224, 3))
    x = layers.MaxPooling2D(3, 2, padding="same")(conv(start, 64, 7, 2))
    for stage, depth in enumerate(depths):
        filters, inner = 256 * 2**stage, groups * width * 2**stage
        for each in range(depth):
            strides = 2 if stage and not each else 1
            outside = filters // 16 if squeeze else 0
            x = bottleneck(x, filters, inner, strides, groups, outside=outside)
    return headed(start, x)


def resnet18_cifar():
    from keras import layers

    start = layers.Input((32, 32, 3))
    x = conv(start, 64, 3)
    blocks = ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1))
    for filters, strides in blocks:
        short = x if strides == 1 else conv(x, filters, 1, strides, act=False)
        y = conv(conv(x, filters, 3, strides), filters, 3, act=False)
        x = layers.ReLU()(layers.Add()([short, y]))
    return headed(start, x, 10)


def regnet(name):
    import numpy as np
    from keras import layers

    depth, slope, first, factor, group = REGNETS[name]
    steps = np.round(np.log1p(slope / first * np.arange(depth)) / np.log(factor))
    widths = (np.round(first * factor**steps / 8) * 8).astype(int)
    start = layers.Input((224, 224, 3))
    x = conv(start, 32, 3, 2)
    for width, count in zip(*np.unique(widths, return_counts=True), strict=True):
        own = min(group, int(width))
        filters = round(width / own) * own
        for each in range(count):
            inside = round(x.shape[-1] / 4) if name[0] == "Y" else 0
            x = bottleneck(x, filters, filters, 1 if each else 2, filters // own, inside)
    return headed(start, x)


def bert(count, width, length):
    import keras
    from keras import layers

    inputs = [layers.Input((length,), dtype="int32") for _ in range(3)]
    sizes = 30522, 2, 512
    both = zip(inputs, sizes, strict=True)
    x = layers.Add()([layers.Embedding(size, width, "zeros")(each) for each, size in both])
    x = layers.Dropout(0.1)(layers.LayerNormalization()(x))
    for _ in range(count):
        y = layers.MultiHeadAttention(width // 64, 64, dropout=0.1)(x, x)
        x = layers.LayerNormalization()(layers.Add()([x, layers.Dropout(0.1)(y)]))
        y = layers.Dense(width)(layers.Dense(4 * width, "gelu")(x))
        x = layers.LayerNormalization()(layers.Add()([x, layers.Dropout(0.1)(y)]))
    return keras.Model(inputs, layers.Dense(2)(x))


def unet():
    import keras
    from keras import layers

    start = x = layers.Input((572, 572, 1))
    kept, widths = [], (64, 128, 256, 512)
    both = partial(layers.Conv2D, kernel_size=3, activation="relu")
    for width in widths:
        kept.append(both(width)(both(width)(x)))
        x = layers.MaxPooling2D()(kept[-1])
    x = both(1024)(both(1024)(x))
    for width, other in zip(widths[::-1], kept[::-1], strict=True):
        x = layers.Conv2DTranspose(width, 2, 2)(x)
        edge = other.shape[1] - x.shape[1]
        cut = layers.Cropping2D(((edge // 2, edge - edge // 2),) * 2)(other)
        x = both(width)(both(width)(layers.Concatenate()([cut, x])))
    return keras.Model(start, layers.Conv2D(2, 1)(x))


def model_of(net):
    """A model of a network, by its name in published.csv."""
    from keras import applications

    if found := re.fullmatch(r"pycls:.*:RegNet(.*)", net):
        return regnet(found[1])
    if found := re.fullmatch(r"efficientnet-b(\d)(@(\d+))?", net):
        size = int(found[3] or {"0": 224, "4": 380}[found[1]])
        make = getattr(applications, f"EfficientNetB{found[1]}")
        return make(weights=None, input_shape=(size, size, 3))
    if net.startswith("efficientnetv2-s"):
        size = 300 if net.endswith("@300") else 384
        return applications.EfficientNetV2S(weights=None, input_shape=(size, size, 3))
    if found := re.fullmatch(r"bert-(base|large)-(\d+)-.*", net):
        return bert(*((12, 768) if found[1] == "base" else (24, 1024)), int(found[2]))
    if net.endswith("ResNeXt-152"):
        return resnet((3, 8, 36, 3), 32, 4)
    return {
        "resnet50": partial(resnet, (3, 4, 6, 3)),
        "resnet101": partial(resnet, (3, 4, 23, 3)),
        "resnet152": partial(resnet, (3, 8, 36, 3)),
        "resnext50_32x4d": partial(resnet, (3, 4, 6, 3), 32, 4),
        "resnext101_32x4d": partial(resnet, (3, 4, 23, 3), 32, 4),
        "se_resnext101_32x4d": partial(resnet, (3, 4, 23, 3), 32, 4, True),
        "resnet18-cifar": resnet18_cifar,
        "unet-medical": unet,
    }[net]()


def traffic(net):
    """Million numbers that an example makes every layer read and write: forward, and in a step.

    And two figures to check the model by: numbers made by layers with weights, and parameters.
    """
    import keras

    from accel_helpers.measure import work

    keras.backend.clear_session()
    gc.collect()
    model = model_of(net)
    model.compile("sgd", "mse")
    found = []
    for training in (False, True):
        counts = [work.count_step(model, size, training=training) for size in (1, 2)]
        one, two = (sum(row.bytes for row in count.rows if row.kind) for count in counts)
        # what a second example adds, since weights are read once for a batch; in numbers of 4 bytes
        found.append((two - one) / 4e6)
    made = work.count_step(model, 1, training=False).made
    weights = sum(math.prod(each.shape) for each in model.trainable_weights)
    return [*found, made / 1e6, weights / 1e6]


def main():
    with open(PUBLISHED, newline="", encoding="utf-8") as file:
        nets = {row["net"]: row for row in csv.DictReader(file) if row["chip"] != "TPU v2"}
    with open(TRAFFIC, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["net", "forward", "training"])
        for net, row in nets.items():
            forward, training, *check = traffic(net)
            print(net, check, [float(row[name]) for name in ("mact_example", "mparam")], flush=True)
            table.writerow([net, f"{forward:.3f}", f"{training:.3f}"])
            file.flush()


if __name__ == "__main__":
    main()
