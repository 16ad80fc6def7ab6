"""The batches of a training: in another size, as arrays in memory, and how large they are."""

from dataclasses import replace
from math import ceil, prod

from accel_helpers.fit.device_memory import free_here
from accel_helpers.fit.training import ARRAYS, DATASET, Training, samples_in

SPARE_MEMORY = 0.5  # share of the free memory that a change, or a larger batch, may take


def in_batches(training: Training, batch_size: int) -> Training:
    """Return a training in batches of another size.

    Raises ValueError if its data make batches of their own size, and of another one.
    """
    size = samples_in(training.first_batches(1, 0.0))
    if size == batch_size:
        return training
    steps = ceil(training.steps * size / batch_size)
    changed = replace(training, steps=steps)
    if "steps_per_epoch" in training.arguments:
        changed = changed.changed(steps_per_epoch=steps)
    x = training.arguments["x"]
    if training.form == ARRAYS:
        return changed.changed(batch_size=batch_size)
    if training.form == DATASET:
        return changed.changed(x=_rebatched(x, batch_size, steps))
    raise ValueError(
        f"batch_size must be {size}: your {type(x).__name__} makes its own batches; "
        f"got {batch_size}."
    )


def _rebatched(dataset, batch_size: int, steps: int):
    """Return a tf.data.Dataset in batches of another size; `steps` says how many these are."""
    import tensorflow as tf

    rebatched = dataset.rebatch(batch_size)
    if int(dataset.cardinality()) < 0:
        return rebatched
    # rebatch forgets how many batches there are, and fit would not know where an epoch ends
    return rebatched.apply(tf.data.experimental.assert_cardinality(steps))


def on_arrays(training: Training) -> Training:
    """Return a training on arrays with the samples of an epoch, which are read for it.

    Raises ValueError where the batches do not fit together: then their shapes differ.
    """
    import keras
    import numpy as np

    batches = training.first_batches(training.steps, float("inf"))
    size = samples_in(batches)
    whole = keras.tree.map_structure(lambda *parts: np.concatenate(parts), *batches)
    x, y, weights = keras.utils.unpack_x_y_sample_weight(whole)
    kept = training.changed(x=x, y=y, sample_weight=weights, batch_size=size, steps_per_epoch=None)
    return replace(kept, steps=ceil(samples_in(whole) / size))


def bytes_in(data) -> int:
    """Return how many bytes arrays take, in whatever they are nested."""
    import keras
    import numpy as np

    return sum(np.asarray(array).nbytes for array in keras.tree.flatten(data))


def shapes_change(batches: list) -> bool:
    """Return whether samples have other shapes from batch to batch; not how many there are."""
    import keras

    shapes = []
    for batch in batches:
        shapes.append([tensor.shape[1:] for tensor in keras.tree.flatten(batch)])
    return shapes.count(shapes[0]) < len(shapes)


def bytes_of_a_sample(model) -> int:
    """Return about how many bytes a step keeps of a sample, as far as the layers tell it.

    A process that runs out of memory is ended, and a notebook's kernel with all that is in it.
    """
    import keras

    numbers = 0
    for tensor in keras.tree.flatten([getattr(layer, "output", []) for layer in model.layers]):
        numbers += prod(length or 1 for length in tensor.shape)
    # four bytes each, and as many on the way back
    return 8 * numbers


def why_no_room(needed: float) -> str:
    """Return why so many bytes are not kept in memory; "" where they fit."""
    free = free_here()
    if free is None or needed < SPARE_MEMORY * free:
        return ""
    return "it may not fit into memory"
