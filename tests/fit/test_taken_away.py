"""What a part of an epoch trains on: no batch behind it, and no fewer samples than it takes."""

import numpy as np
import pytest

from accel_helpers import profile_fit
from accel_helpers.fit import take_away
from accel_helpers.fit.checked import checked
from accel_helpers.machine import backend

X, Y = np.ones((64, 2), "float32"), np.ones((64, 1), "float32")


def of_layers(keras, shape, *layers):
    model = keras.Sequential([keras.Input(shape), *layers])
    model.compile("sgd", "mse")
    return model


def test_workers_read_no_batch_behind_the_part_of_an_epoch_that_is_trained(keras):
    read = []

    class Numbers(keras.utils.PyDataset):
        def __len__(self):
            return 40

        def __getitem__(self, batch):
            read.append(batch)
            return X[:4], Y[:4]

    model = of_layers(keras, (2,), keras.layers.Dense(1))
    call = checked(lambda: model, Numbers(workers=4), None, {"shuffle": False})
    model.fit(**call.shortened(3), verbose=0)
    assert set(read) == {0, 1, 2}


def test_convolutions_are_not_narrowed_nor_trained_on_one_sample_by_tensorflow(keras):
    """Of few filters, or on one sample, they have ended the process."""
    layers = keras.layers
    convolution = layers.Conv2D(2, 3)
    in_time = layers.TimeDistributed(convolution)
    images = of_layers(keras, (5, 4, 4, 1), in_time, layers.Flatten(), layers.Dense(2))
    fewest = take_away.fewest_samples(images)
    assert fewest == 1 + (backend.framework() == "tensorflow")
    with pytest.raises(ValueError, match="convolutions"):
        take_away.narrow_copy(images)


def test_lists_of_inputs_are_profiled_as_fit_takes_them(keras):
    inputs = [keras.Input((2,)), keras.Input((2,))]
    both = keras.layers.Add()(inputs)
    head = keras.layers.Dense(1)(both)
    model = keras.Model(inputs, head)
    model.compile("sgd", "mse")
    found = profile_fit(model, [X, X], Y, seconds=1)
    assert found.steps == 2
