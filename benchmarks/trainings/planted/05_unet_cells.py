"""A small U-Net that segments cells on arrays in memory.

A U-Net on batches of 16; as many steps: 2.35 s at batch 16, 0.37 at batch 1, 0.20 at batch 1 and
width 1 (84 % of the epoch, CPU time 87 %); of 40 epochs of 2.81 s the first took 25.8 s, so about
70 % of the training is worked out (checked with 15 epochs, not run with 40) (two cores under load
7-12: wall figures are 2-4 times those of a free machine).
"""

from benchmarks.trainings.common import *

BACKEND = "tensorflow"
TRUTH = "compute"


def block(x, filters):
    for _ in range(2):
        x = Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = through(x, BatchNormalization(), Activation("relu"))
    return x


def make_model(base=12):
    inputs = Input((96, 96, 1))
    skips = []
    x = inputs
    for i in range(3):
        x = block(x, base * 2**i)
        skips.append(x)
        x = MaxPooling2D()(x)
    x = block(x, base * 8)
    for i in reversed(range(3)):
        x = Conv2DTranspose(base * 2**i, 2, strides=2, padding="same")(x)
        x = block(Concatenate()([x, skips[i]]), base * 2**i)
    model = keras.Model(inputs, Conv2D(1, 1, activation="sigmoid")(x))
    metrics = [keras.metrics.BinaryIoU([1])]
    return compiled(model, Adam(1e-3), "binary_crossentropy", metrics)


def case():
    rng = np.random.default_rng(0)
    yy, xx = np.mgrid[:96, :96]
    masks = np.zeros((64, 96, 96, 1), "float32")
    for m in masks:
        for _ in range(6):
            cy = rng.uniform(8, 88)
            cx = rng.uniform(8, 88)
            r = rng.uniform(4, 10)
            m[(yy - cy) ** 2 + (xx - cx) ** 2 < r * r] = 1
    images = (masks * 0.6 + rng.normal(size=masks.shape) * 0.2).astype("float32")
    held_out = images[:16], masks[:16]
    return make_model, images, masks, dict(epochs=40, batch_size=16, validation_data=held_out)
