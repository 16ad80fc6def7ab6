"""What a part of an epoch trains on: no batch behind it, and no fewer samples than it takes."""

import numpy as np
import pytest

from accel_helpers.machine import backend
from accel_helpers.train import take_away
from accel_helpers.train.checked_call import checked_call

SIZE = 4


@pytest.mark.parametrize("workers", [1, 4])
def test_workers_read_no_batch_behind_the_part_of_an_epoch_that_is_trained(keras, workers):
    read = []

    class Numbers(keras.utils.PyDataset):
        def __len__(self):
            return 40

        def __getitem__(self, batch):
            read.append(batch)
            return np.ones((SIZE, 2), "float32"), np.ones((SIZE, 1), "float32")

    def make_model():
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        return model

    call = checked_call(make_model, Numbers(workers=workers), None, {"shuffle": False})
    model = make_model()
    model.fit(**call.shortened(3), verbose=0)
    read.clear()
    model.fit(**call.shortened(3), verbose=0)
    assert set(read) == {0, 1, 2}
    assert call.shortened(0)["x"].num_batches == 40


def test_layers_of_few_filters_are_never_trained_on_one_sample_by_tensorflow(keras):
    dense = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    assert take_away.fewest_samples(dense) == 1
    filters = keras.Sequential([keras.Input((4, 4, 1)), keras.layers.Conv2D(2, 3)])
    nested = keras.Sequential([keras.Input((4, 4, 1)), filters, keras.layers.Flatten()])
    expected = 2 if backend.framework() == "tensorflow" else 1
    assert take_away.fewest_samples(nested) == expected
