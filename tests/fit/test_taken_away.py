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


@pytest.mark.parametrize("workers", [1, 4])
def test_workers_read_no_batch_behind_the_part_of_an_epoch_that_is_trained(keras, workers):
    read = []

    class Numbers(keras.utils.PyDataset):
        def __len__(self):
            return 40

        def __getitem__(self, batch):
            read.append(batch)
            return X[:4], Y[:4]

    model = of_layers(keras, (2,), keras.layers.Dense(1))
    call = checked(lambda: model, Numbers(workers=workers), None, {"shuffle": False})
    for _ in range(2):
        read.clear()
        model.fit(**call.shortened(3), verbose=0)
    assert set(read) == {0, 1, 2}
    assert call.shortened(0)["x"].num_batches == 40


def test_convolutions_are_not_narrowed_nor_trained_on_one_sample_by_tensorflow(keras):
    """Of few filters, or on one sample, they have ended the process."""
    layers = keras.layers
    dense = of_layers(keras, (4,), layers.Dense(8), layers.Dense(2))
    assert [layer.units for layer in take_away.narrow_copy(dense).layers] == [1, 2]
    assert take_away.fewest_samples(dense) == 1
    in_time = layers.TimeDistributed(layers.Conv2D(2, 3))
    images = of_layers(keras, (5, 4, 4, 1), in_time, layers.Flatten(), layers.Dense(2))
    assert take_away.fewest_samples(images) == 1 + (backend.framework() == "tensorflow")
    with pytest.raises(ValueError, match="convolutions"):
        take_away.narrow_copy(images)


def test_lists_of_inputs_and_targets_are_profiled_as_fit_takes_them(keras):
    def make_model():
        inputs = [keras.Input((2,)), keras.Input((2,))]
        heads = [keras.layers.Dense(1)(keras.layers.Add()(inputs)) for _ in inputs]
        model = keras.Model(inputs, heads)
        model.compile("sgd", ["mse", "mse"])
        return model

    assert profile_fit(make_model, [X, X], [Y, Y], seconds=1).steps == 2
