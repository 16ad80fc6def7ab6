"""Changes to a training that waits for its input."""

import copy
import os
from collections.abc import Iterator
from dataclasses import replace

from accel_helpers.fit import device_memory
from accel_helpers.fit.proposal import Proposal
from accel_helpers.fit.training import ARRAYS, BATCHES, DATASET, Training

FEWEST_WORKERS = 4  # threads wait for files at the same time, however few cores there are
SPARE_MEMORY = 0.5  # share of the free memory that an epoch's data may take


def proposals(call: Training, batches: list[tuple]) -> Iterator[Proposal]:
    """Yield what to try for the input, the likeliest first; `batches` are some of its batches."""
    if call.form == DATASET:
        yield Proposal("prefetch(AUTOTUNE)", lambda: _prefetched(call))
        yield Proposal(
            "num_parallel_calls=AUTOTUNE", reason="set it in your own .map if you have not"
        )
        yield _kept(call, batches, ".cache()", _cached)
    elif call.form == BATCHES:
        if hasattr(call.arguments["x"], "workers"):
            yield _more_workers(call)
        yield _kept(call, batches, "an epoch kept in memory", _kept_in_memory)
    elif call.form == ARRAYS:
        doubles = _doubles(call)
        if doubles:
            yield Proposal("float32 arrays", lambda: _as_floats(call, doubles))
    else:
        yield _kept(call, batches, "an epoch kept in memory", _kept_in_memory)


def _prefetched(call: Training) -> Training:
    """Return a training on a dataset that makes its batches ahead."""
    import tensorflow as tf

    return call.changed(x=call.arguments["x"].prefetch(tf.data.AUTOTUNE))


def _cached(call: Training) -> Training:
    """Return a training on a dataset that keeps its batches after the first epoch."""
    import tensorflow as tf

    return call.changed(x=call.arguments["x"].cache().prefetch(tf.data.AUTOTUNE))


def _more_workers(call: Training) -> Proposal:
    """Propose a PyDataset that makes several batches at a time, in threads."""
    workers = max(FEWEST_WORKERS, os.cpu_count() or 1)
    name = f"workers={workers}"
    if call.arguments["x"].workers >= workers:
        return Proposal(name, reason="you have it")

    def make_call():
        dataset = copy.copy(call.arguments["x"])
        dataset.workers = workers
        return call.changed(x=dataset)

    return Proposal(name, make_call)


def _kept(call: Training, batches: list[tuple], name: str, make_call) -> Proposal:
    """Propose to keep the data of an epoch in memory, where there is room."""
    needed = _bytes_of(batches) / len(batches) * call.steps
    free = device_memory.free_here()
    if free is not None and needed > SPARE_MEMORY * free:
        return Proposal(name, reason="an epoch's data do not fit into memory")
    return Proposal(name, lambda: make_call(call), note="frozen")


def _bytes_of(batches: list[tuple]) -> int:
    """Return how many bytes the arrays of some batches take."""
    import keras

    total = 0
    for array in keras.tree.flatten(batches):
        size = 1
        for length in array.shape:
            size *= int(length)
        dtype = str(getattr(array.dtype, "name", array.dtype))
        # "float32", "int64", "uint8", …: the bits stand in the name
        bits = "".join(filter(str.isdigit, dtype))
        total += size * int(bits or 8) // 8
    return total


def _kept_in_memory(call: Training) -> Training:
    """Return a training on arrays with the samples of one epoch, which is read for it.

    Raises ValueError where the batches do not fit together: then their shapes differ.
    """
    import keras
    import numpy as np

    batches = call.first_batches(call.steps, float("inf"))
    size = int(keras.tree.flatten(batches[0])[0].shape[0])
    whole = keras.tree.map_structure(lambda *parts: np.concatenate(parts), *batches)
    parts = keras.utils.unpack_x_y_sample_weight(whole)
    arguments = dict(zip(("x", "y", "sample_weight"), parts, strict=True))
    kept = call.changed(steps_per_epoch=None, batch_size=size, **arguments)
    samples = len(keras.tree.flatten(whole)[0])
    return replace(kept, steps=-(-samples // size))


def _doubles(call: Training) -> list[str]:
    """Return which of the arguments x and y are arrays of 64-bit floats."""
    import keras

    names = []
    for name in ("x", "y"):
        arrays = keras.tree.flatten(call.arguments.get(name))
        if any(str(getattr(array, "dtype", "")) == "float64" for array in arrays):
            names.append(name)
    return names


def _as_floats(call: Training, names: list[str]) -> Training:
    """Return a training on 32-bit floats."""
    import keras
    import numpy as np

    def as_floats(array):
        if str(getattr(array, "dtype", "")) != "float64":
            return array
        return np.asarray(array, "float32")

    converted = {}
    for name in names:
        converted[name] = keras.tree.map_structure(as_floats, call.arguments[name])
    return call.changed(**converted)
