"""A call of ``fit`` as somebody wrote it, checked before anything is trained."""

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
from accel_helpers.fit.fit_call import ARRAYS, BATCHES, DATASET, FitCall


def checked_call(make_model, x, y, arguments: Mapping[str, Any]) -> FitCall:
    """Check what somebody would call ``fit`` with, and return it as a `FitCall`.

    A model that is handed over in place of a function is copied, and stays as it is; an argument
    `validation_split` becomes `validation_data`.

    Raises TypeError or ValueError where `make_model` makes no compiled model, an argument is none
    of ``fit``, or the data cannot be read again and again.
    """
    make_model = _maker_of(make_model)
    call = FitCall(make_model, {}).changed(x=x, y=y, **arguments)
    if call.form == ARRAYS:
        call = _without_split(_of_arrays(call))
    _check_validation(call)
    return replace(call, steps=_steps(call))


def _of_arrays(call: FitCall) -> FitCall:
    """Return a call with pandas' tables and columns as the arrays that ``fit`` makes of them.

    Raises TypeError where the targets are no numbers.
    """
    import keras

    def as_fit_takes_it(value):
        if not hasattr(value, "to_numpy"):
            return value
        array = value.to_numpy()
        return array.reshape(len(array), -1)

    arrays = {}
    for name in ("x", "y", "sample_weight"):
        value = call.arguments.get(name)
        if value is not None:
            arrays[name] = keras.tree.map_structure(as_fit_takes_it, value)
    if "y" in arrays:
        keras.tree.map_structure(partial(as_array, what="y"), arrays["y"])
    return call.changed(**arrays)


def _without_split(call: FitCall) -> FitCall:
    """Return a call with the samples of `validation_split` as `validation_data`, as in ``fit``."""
    import keras

    share = call.arguments.get("validation_split")
    if not share or "validation_data" in call.arguments:
        return call.changed(validation_split=None)
    names = [name for name in ("x", "y", "sample_weight") if name in call.arguments]
    count = _samples(call)
    kept = int(count * (1 - share))
    training = {}
    validation = []
    for name in names:
        value = call.arguments[name]
        training[name] = keras.tree.map_structure(lambda array: array[:kept], value)
        validation.append(keras.tree.map_structure(lambda array: array[kept:], value))
    return call.changed(validation_split=None, validation_data=tuple(validation), **training)


def _check_validation(call: FitCall) -> None:
    """Raise TypeError where the validation data are a generator that ends.

    One that is read for so many `validation_steps` in every epoch is without end.
    """
    data = call.arguments.get("validation_data")
    # ImageDataGenerator.flow gives a PyDataset that is an iterator, too
    is_generator = hasattr(data, "__next__") and not hasattr(data, "num_batches")
    if is_generator and "validation_steps" not in call.arguments:
        raise TypeError(
            "validation_data is a generator, which can be read once, and every turn validates. "
            "Give arrays, a tf.data.Dataset or a keras.utils.PyDataset, or validation_steps= "
            "where it is without end."
        )


def _samples(call: FitCall) -> int:
    """Return how many samples arrays have; ValueError if there are none, or not equally many."""
    import keras

    arrays = keras.tree.flatten((call.arguments["x"], call.arguments.get("y")))
    counts = set()
    for array in arrays:
        if array is not None:
            # a ragged tensor has no len()
            shape = getattr(array, "shape", None)
            counts.add(int(shape[0]) if shape else 0)
    if len(counts) != 1 or 0 in counts:
        raise ValueError(
            "x and y must be arrays, or lists or dicts of arrays, with the same number of "
            f"samples, at least one; got {sorted(counts) or 'none'}."
        )
    return counts.pop()


def _steps(call: FitCall) -> int:
    """Return how many steps an epoch has; 0 where only an epoch can say so.

    Raises ValueError for arrays that are empty or of different lengths, for data without end and
    without `steps_per_epoch`, and for targets beside data that hold their own.
    """
    x = call.arguments["x"]
    form = call.form
    if form != ARRAYS and "y" in call.arguments:
        raise ValueError(f"{form} holds its targets, so y=None is needed.")
    named = call.arguments.get("steps_per_epoch")
    if named:
        return whole(named, "steps_per_epoch")
    if form == ARRAYS:
        return ceil(_samples(call) / call.batch_size)
    if form == BATCHES:
        # num_batches is None for a set without end
        batches = x.num_batches if hasattr(x, "num_batches") else len(x)
    elif form == DATASET:
        batches = int(x.cardinality())
        if batches == -2:
            return 0  # not known, but not without end
    else:
        return 0
    if not batches or batches < 1:
        raise ValueError(f"{form} without end (or empty) needs steps_per_epoch=, as in fit.")
    return batches


def _maker_of(make_model) -> Callable[[], Any]:
    """Return a function that makes the model: the one that was given, or copies of a model."""
    import keras

    if isinstance(make_model, keras.Model):
        _check_compiled(make_model)
        return copies_of(make_model)
    if not callable(make_model):
        raise TypeError(
            f"a function that makes the model is needed; got {shown(make_model)}. "
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


def new_model(call: FitCall):
    """Return a new model of a call; TypeError or ValueError if it cannot be trained."""
    with call.on_its_device():
        model = call.make_model()
    _check_compiled(model)
    return model


def two_models(call: FitCall) -> tuple:
    """Return two new models of a call; ValueError if they are one and the same."""
    first = new_model(call)
    second = new_model(call)
    if first is second:
        raise ValueError(
            "make_model returned the same model twice, and every measurement needs a fresh one: "
            "the second would go on training the first. Put the lines that make your model into "
            "the function."
        )
    return first, second


def _check_compiled(model) -> None:
    """Raise TypeError if this is no Keras model, and ValueError if it is not compiled."""
    import keras

    if not isinstance(model, keras.Model):
        raise TypeError(f"make_model must return a compiled keras.Model; got {shown(model)}.")
    if not model.compiled or model.optimizer is None:
        raise ValueError(
            "The model of make_model cannot be measured: it is not compiled: call "
            "model.compile(…) first."
        )


def check_arguments(model, arguments: Mapping[str, Any]) -> None:
    """Raise TypeError if one of these arguments is none of the model's ``fit``."""
    accepted = list(inspect.signature(model.fit).parameters)
    for name in arguments:
        if name not in accepted:
            names = ", ".join(accepted)
            raise TypeError(f"{name} is no argument of fit, which takes {names}.")


def replicas(model) -> int:
    """Return on how many devices a model is trained at a time."""
    import keras

    distribution = keras.distribution.distribution()
    if distribution is not None:
        return distribution.device_mesh.devices.size
    strategy = getattr(model, "distribute_strategy", None)
    return getattr(strategy, "num_replicas_in_sync", 1)


def has_own_step(model) -> bool:
    """Return whether a model trains by a ``train_step`` of its class that is not Keras's own."""
    import keras

    own_class: Any = type(model)
    return own_class.train_step is not keras.Model.train_step


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
