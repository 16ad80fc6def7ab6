"""What a part of an epoch trains on: no batch behind it, and no fewer samples than it takes."""

import numpy as np
import pytest

from accel_helpers.fit import take_away
from accel_helpers.fit.checked import checked
from accel_helpers.machine import backend

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

    call = checked(make_model, Numbers(workers=workers), None, {"shuffle": False})
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


@pytest.mark.parametrize("wrapped", [True, False])
def test_a_model_with_convolutions_has_no_copy_of_width_1(keras, wrapped):
    if wrapped:
        layers = [keras.Input((5, 4, 4, 1))]
        layers.append(keras.layers.TimeDistributed(keras.layers.Conv2D(8, 3)))
    else:
        layers = [keras.Input((4, 4, 1)), keras.layers.Conv2D(8, 3)]
    model = keras.Sequential([*layers, keras.layers.Flatten(), keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="convolutions"):
        take_away.narrow_copy(model)


@pytest.mark.parametrize("form", ["list", "x alone", "pandas"])
def test_a_step_sees_the_same_data_from_memory_as_from_fit(keras, form):
    seen = []

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1)

        def call(self, x):
            return self.dense(keras.tree.flatten(x)[0])

        def train_step(self, *arguments):
            seen.append(keras.tree.map_structure(lambda array: array.shape[1:], arguments[-1]))
            logs = {"loss": keras.ops.zeros(())}
            return (logs, arguments[0]) if backend.framework() == "jax" else logs

    class Column:  # as pandas has it
        def __init__(self, array):
            self.array, self.shape, self.dtype = array, array.shape, array.dtype

        def __getitem__(self, rows):
            return Column(self.array[rows])

        def __len__(self):
            return len(self.array)

        def to_numpy(self):
            return self.array

    def make_model():
        model = Own()
        model.compile("sgd", None if form == "x alone" else "mse")
        return model

    x, y = np.ones((8, 2), "float32"), np.ones((8, 1), "float32")
    forms = {
        "list": ([x, x], [y]),
        "x alone": (x, None),
        "pandas": (Column(x[:, 0]), Column(x[:, 0])),
    }
    call = checked(make_model, *forms[form], {"batch_size": SIZE})
    model = make_model()
    model.fit(**call.shortened(0), verbose=0)
    from_fit = seen[-1]
    in_memory = take_away.without_input(call, call.first_batches(2, 60))
    make_model().fit(**in_memory.shortened(0), verbose=0)
    from_memory = keras.tree.lists_to_tuples(seen[-1])
    if form == "x alone" and backend.framework() == "jax":
        # a generator has to make tuples there
        (from_memory,) = from_memory
    assert from_memory == keras.tree.lists_to_tuples(from_fit)


@pytest.mark.parametrize("length", [7, None])
def test_launching_has_a_limit_where_the_loop_over_time_has_an_end(keras, length):
    words = keras.Input((length,))
    vectors = keras.layers.Embedding(5, 2, mask_zero=True)(words)
    last = keras.layers.LSTM(2)(vectors)
    model = keras.Model(words, last)
    model.compile("sgd", "mse")
    limit = take_away.most_for_launching(model)
    is_limited = np.isfinite(limit)
    assert is_limited == bool(length)
