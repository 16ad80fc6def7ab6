"""The door of every verb that takes a training: what somebody would call ``fit`` with, checked."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any

from accel_helpers._values.records import whole
from accel_helpers._values.words import shown
from accel_helpers.fit.device_memory import as_array
from accel_helpers.fit.training import (
    ARRAYS,
    DATASET,
    GENERATOR,
    SAMPLES,
    Training,
    check_compiled,
)


def checked(make_model, x, y, arguments: Mapping[str, Any]) -> Training:
    """Check what somebody would call ``fit`` with, and return it as a `Training`.

    A model that is handed over in place of a function is copied, and stays as it is; an argument
    `validation_split` becomes `validation_data`, and pandas' tables become arrays.

    Raises TypeError or ValueError where `make_model` makes no compiled model, an argument is none
    of ``fit``, or the data cannot be read again and again.
    """
    import keras

    accepted = list(inspect.signature(keras.Model.fit).parameters)[1:]
    for name in arguments:
        if name not in accepted:
            raise TypeError(f"{name} is no argument of fit, which takes {', '.join(accepted)}.")
    training = Training(maker_of(make_model), {}).changed(x=x, y=y, **arguments)
    if x is None:
        raise TypeError("x is missing: give the data as for fit.")
    if training.form == ARRAYS:
        training = _without_split(_of_arrays(training))
    _check_validation(training)
    return replace(training, steps=_steps(training))


def _of_arrays(training: Training) -> Training:
    """Return a training with pandas' tables and columns as the arrays that ``fit`` makes of them.

    Raises TypeError where they are sparse or ragged, or no numbers.
    """
    import keras

    def as_fit_takes_it(name, value):
        kind = type(value).__name__
        if "Ragged" in kind or "Sparse" in kind or hasattr(value, "tocsr"):
            raise TypeError(
                f"{name} is a {kind}. Hand over arrays (value.toarray(), value.to_tensor()), or a "
                "tf.data.Dataset whose batches are made dense in its map."
            )
        if hasattr(value, "to_numpy"):
            array = value.to_numpy()
            value = array.reshape(len(array), -1)
        return as_array(value, name)

    arrays = {}
    for name in SAMPLES:
        if name in training.arguments:
            given = training.arguments[name]
            arrays[name] = keras.tree.map_structure(partial(as_fit_takes_it, name), given)
    return training.changed(**arrays)


def _without_split(training: Training) -> Training:
    """Return a training whose validation has the samples that `validation_split` would take."""
    share = training.arguments.get("validation_split")
    if not share or "validation_data" in training.arguments:
        return training.changed(validation_split=None)
    count = int(_count_samples(training) * (1 - share))
    validation = tuple(training._samples(slice(count, None)).values())
    kept = training._samples(slice(count))
    return training.changed(validation_split=None, validation_data=validation, **kept)


def _check_validation(training: Training) -> None:
    """Raise TypeError where the validation data are a generator that ends.

    One that is read for so many `validation_steps` in every epoch is without end.
    """
    data = training.arguments.get("validation_data")
    # ImageDataGenerator.flow gives a PyDataset that is an iterator, too
    is_generator = hasattr(data, "__next__") and not hasattr(data, "num_batches")
    if is_generator and "validation_steps" not in training.arguments:
        raise TypeError(
            "validation_data is a generator, which can be read once, and every turn validates. "
            "Give arrays, a tf.data.Dataset or a keras.utils.PyDataset, or validation_steps= "
            "where it is without end."
        )


def _count_samples(training: Training) -> int:
    """Return how many samples arrays have; ValueError if there are none, or not equally many."""
    import keras

    counts = set()
    for array in keras.tree.flatten((training.arguments["x"], training.arguments.get("y"))):
        if array is not None:
            shape = getattr(array, "shape", None)
            counts.add(int(shape[0]) if shape else 0)
    if len(counts) != 1 or 0 in counts:
        raise ValueError(
            "x and y must be arrays, or lists or dicts of arrays, with the same number of "
            f"samples, at least one; got {sorted(counts) or 'none'}."
        )
    return counts.pop()


def _steps(training: Training) -> int:
    """Return how many steps an epoch has; 0 where only an epoch can say so.

    Raises ValueError for arrays that are empty or of different lengths, for data without end and
    without `steps_per_epoch`, and for targets beside data that hold their own.
    """
    x = training.arguments["x"]
    form = training.form
    if form != ARRAYS and "y" in training.arguments:
        raise ValueError(f"{form} holds its targets, so y=None is needed.")
    named = training.arguments.get("steps_per_epoch")
    if named:
        return whole(named, "steps_per_epoch")
    if form == ARRAYS:
        size = whole(training.batch_size, "batch_size")
        return ceil(_count_samples(training) / size)
    if form == GENERATOR:
        return 0
    if form == DATASET:
        batches = int(x.cardinality())
        if batches == -2:
            return 0  # not known, but not without end
    else:
        # num_batches is None for a set without end
        batches = x.num_batches if hasattr(x, "num_batches") else len(x)
    if not batches or batches < 1:
        raise ValueError(f"{form} without end (or empty) needs steps_per_epoch=, as in fit.")
    return batches


def maker_of(make_model) -> Callable[[], Any]:
    """Return a function that makes the model: the one that was given, or copies of a model."""
    import keras

    if isinstance(make_model, keras.Model):
        check_compiled(make_model)
        return copies_of(make_model)
    if not callable(make_model):
        raise TypeError(
            f"a keras.Model, or a function that makes one, is needed; got {shown(make_model)}. "
            "Put the lines that make your model into `def make_model():`, with `return model`."
        )
    return make_model


def copies_of(model) -> Callable[[], Any]:
    """Return a function that makes copies of a compiled model, with its weights.

    Raises ValueError where the model cannot be made again from its own configuration.
    """
    import keras

    settings = model.get_compile_config()
    weights = model.get_weights()

    def make_model():
        twin = keras.models.clone_model(model)
        twin.compile_from_config(settings)
        twin.set_weights(weights)
        return twin

    try:
        make_model()
    except Exception as error:
        raise ValueError(
            "This model cannot be copied from its own configuration "
            f"({type(error).__name__}: {shown(str(error))}). Put the lines that make it into "
            "`def make_model():`, with `return model`, and hand that over."
        ) from error
    return make_model


def several_devices(model) -> str:
    """Return why a model is trained on several devices, and what to do; "" where it is on one."""
    import keras

    distribution = keras.distribution.distribution()
    strategy = getattr(model, "distribute_strategy", None)
    if distribution is not None and distribution.device_mesh.devices.size > 1:
        return (
            "a distribution over several devices is set: keras.distribution.set_distribution(None) "
            "takes it off"
        )
    if getattr(strategy, "num_replicas_in_sync", 1) > 1:
        return "it has several replicas: make it outside the strategy's scope"
    return ""


@contextmanager
def said_where_it_does_not_fit() -> Iterator[None]:
    """Raise a MemoryError with the way out where a device is too small for what a block does."""
    try:
        yield
    except Exception as error:
        # "ResourceExhaustedError" of TensorFlow, "RESOURCE_EXHAUSTED: …" of JAX
        text = f"{type(error).__name__}: {error}".upper().replace("_", "")
        if "RESOURCEEXHAUSTED" not in text:
            raise
        raise MemoryError(
            "The training does not fit into the memory of the device. Halve the batch_size until "
            "it does, or take a smaller model."
        ) from error
