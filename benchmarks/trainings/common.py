"""What the trainings share. Each has `case()`: make_model, x, y, and the arguments of ``fit``."""

import os
import tempfile

import keras
import numpy as np
from keras.callbacks import *
from keras.layers import *
from keras.optimizers import *
from keras.utils import PyDataset

FROM_LOGITS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def compiled(model, optimizer, loss, metrics=("accuracy",), **options):
    """The model, compiled."""
    model.compile(optimizer, loss, metrics=list(metrics), **options)
    return model


def sequential(optimizer, loss, *layers, **options):
    """A compiled model of layers one after the other."""
    return compiled(keras.Sequential(layers), optimizer, loss, **options)


def through(x, *layers):
    """What comes out of layers one after the other."""
    for layer in layers:
        x = layer(x)
    return x


def new_file(name):
    """A path in a folder of its own."""
    return os.path.join(tempfile.mkdtemp(), name)


def words_by_frequency(size):
    """Chances of so many words, the first of them common."""
    chances = 1 / np.arange(10, size + 10)
    return chances / chances.sum()


class Batches(PyDataset):
    """Batches of numbered samples, which `make` makes of numbers; in a new order after each epoch
    where there is a seed."""

    def __init__(self, count, size, make, seed=None, **options):
        super().__init__(**options)
        self.order = np.arange(count)
        self.size = size
        self.make = make
        self.rng = seed and np.random.default_rng(seed)

    def __len__(self):
        return -(-len(self.order) // self.size)

    def __getitem__(self, i):
        return self.make(self.order[i * self.size : (i + 1) * self.size])

    def on_epoch_end(self):
        if self.rng:
            self.order = self.rng.permutation(len(self.order))
