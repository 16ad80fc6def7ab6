"""One trial of a search: CIFAR's ResNet-20 on a handful of images, five short epochs."""

BACKEND = "tensorflow"
TRUTH = "compilation"
WHY = "21 convolutions for 5 epochs of 7 steps; the training took 24.4 s (first epoch 16.4 s), the same fit again on the compiled model 7.7 s (two cores under load 7-12: wall figures are 2-4 times those of a free machine)"
SOURCE = ""

import keras
import numpy as np
from keras import layers


def residual(x, filters, stride):
    y = layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False)(x)
    y = layers.ReLU()(layers.BatchNormalization()(y))
    y = layers.Conv2D(filters, 3, padding="same", use_bias=False)(y)
    y = layers.BatchNormalization()(y)
    if stride > 1:
        x = layers.Conv2D(filters, 1, strides=stride, use_bias=False)(x)
    return layers.ReLU()(layers.Add()([x, y]))


def make_model():
    inputs = keras.Input((32, 32, 3))
    x = layers.Conv2D(16, 3, padding="same", use_bias=False)(inputs)
    x = layers.ReLU()(layers.BatchNormalization()(x))
    for stage, filters in enumerate([16, 32, 64]):
        for i in range(3):
            x = residual(x, filters, 2 if stage and not i else 1)
    x = layers.GlobalAveragePooling2D()(x)
    outputs = layers.Dense(10, activation="softmax")(x)
    model = keras.Model(inputs, outputs)
    model.compile(
        keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
        "sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def case():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 112)
    x = (rng.normal(size=(10, 1, 1, 3))[y] + rng.normal(size=(112, 32, 32, 3))).astype("float32")
    return make_model, x, y, dict(epochs=5, batch_size=16, verbose=2)
