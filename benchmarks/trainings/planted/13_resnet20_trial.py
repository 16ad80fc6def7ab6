"""One trial of a search: CIFAR's ResNet-20 on a handful of images, five short epochs.

21 convolutions for 5 epochs of 7 steps; the training took 24.4 s (first epoch 16.4 s), the same fit
again on the compiled model 7.7 s (two cores under load 7-12: wall figures are 2-4 times those of a
free machine).
"""

from benchmarks.trainings.common import *

BACKEND = "tensorflow"
TRUTH = "compilation"


def residual(x, filters, stride):
    y = Conv2D(filters, 3, strides=stride, padding="same", use_bias=False)(x)
    y = through(y, BatchNormalization(), ReLU())
    y = Conv2D(filters, 3, padding="same", use_bias=False)(y)
    y = BatchNormalization()(y)
    if stride > 1:
        x = Conv2D(filters, 1, strides=stride, use_bias=False)(x)
    return through([x, y], Add(), ReLU())


def make_model():
    inputs = Input((32, 32, 3))
    x = Conv2D(16, 3, padding="same", use_bias=False)(inputs)
    x = through(x, BatchNormalization(), ReLU())
    for filters, first in ((16, 1), (32, 2), (64, 2)):
        for stride in (first, 1, 1):
            x = residual(x, filters, stride)
    outputs = through(x, GlobalAveragePooling2D(), Dense(10, "softmax"))
    optimizer = SGD(0.05, momentum=0.9, nesterov=True)
    return compiled(keras.Model(inputs, outputs), optimizer, "sparse_categorical_crossentropy")


def case():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 112)
    x = (rng.normal(size=(10, 1, 1, 3))[y] + rng.normal(size=(112, 32, 32, 3))).astype("float32")
    return make_model, x, y, dict(epochs=5, batch_size=16)
