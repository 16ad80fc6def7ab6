"""Training that leaves the device alone: an epoch of ``fit`` as one compiled program.

The data lie on the device, where `resident_epoch` makes one program of an epoch. Here stands what
``fit`` does around its epochs: checks, callbacks, validation, the history.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

from accel_helpers._values.records import whole
from accel_helpers.fit.checked import several_devices
from accel_helpers.fit.device_memory import copied_to
from accel_helpers.fit.resident_epoch import build, run_epoch
from accel_helpers.machine import backend

BATCH_HOOKS = (
    "on_batch_begin",
    "on_batch_end",
    "on_train_batch_begin",
    "on_train_batch_end",
    "on_test_batch_begin",
    "on_test_batch_end",
)


def fit_resident(
    model,
    x,
    y,
    *,
    batch_size: int = 32,
    epochs: int = 1,
    shuffle: bool = True,
    validation_data: tuple | None = None,
    callbacks: list | None = None,
    verbose: str | int = "auto",
    seed: int | None = None,
):
    """Train as ``model.fit`` does, with all data on the device and one program per epoch.

    Parameters
    ----------
    model : keras.Model
        Compiled; on TensorFlow or JAX. Everything in it must be something that XLA can compile.
    x, y : array, or list, tuple or dict of arrays
        As for ``fit``. Arrays are copied to the device in every call; tensors stay where they are.
    batch_size, epochs, shuffle, callbacks, verbose : optional
        As for ``fit``; a callback that acts within an epoch is refused.
    validation_data : tuple of (x, y), optional
        Evaluated after every epoch, as one program, too.
    seed : int, optional
        Of the order. By default drawn from NumPy, whose seed `keras.utils.set_random_seed` sets.

    Returns
    -------
    keras.callbacks.History
        As of ``fit``: its `history` has the loss and the metrics of every epoch.

    Raises
    ------
    TypeError, ValueError, MemoryError
        If an argument is not as above, or asks for what only ``fit`` can do, as ``sample_weight``
        does; if data do not fit into the computer's memory, before they are copied.

    Notes
    -----
    The ``History`` that comes back, with its loss and metrics, and the weights are those of
    ``fit``, but for a few cases. What a step of your own reports is in it where a metric keeps it.

    On a CPU a model with convolutions takes many times as long as in ``fit``, since XLA is slow at
    convolutions in a loop there. `worth_it` and `profile_fit` try it before they advise it.

    On TensorFlow:

    * With dropout on a CPU an epoch takes much longer than without, since XLA makes random numbers
      slowly there, and other ones than ``fit``. Keras on JAX does not have that.
    * XLA does not check numbers: a label or a word that is out of range gives a wrong loss, or
      NaN, where ``fit`` on a CPU raises an error. A NaN in the data may be counted differently.
    * With several outputs and a last batch that is not full, ``fit`` averages the loss *of each
      output* over batches as if all were equally large. Here every sample counts alike.

    The stop button is heard within a second or two, between steps, and the model stays whole.
    A layer that was frozen after ``compile`` is frozen here at once; compile again, as for ``fit``.

    Examples
    --------
    >>> import numpy
    >>> import keras
    >>> def make_model():
    ...     model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
    ...     model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    ...     return model
    >>> x, y = numpy.ones((320, 8), "float32"), numpy.arange(320) % 3
    >>> fit_resident(make_model(), x, y, epochs=2, verbose=0).epoch
    [0, 1]
    """
    check_model(model)
    check_callbacks(callbacks)
    batch_size = whole(batch_size, "batch_size")
    epochs = whole(epochs, "epochs")
    device = backend.where(model) if model.weights else backend.devices()[-1]
    data = copied_to((x, y), "x and y", device)
    validation: tuple = ()
    if validation_data is not None:
        validation = copied_to(validation_data, "validation_data", device)
    import keras
    import numpy as np

    samples = len(keras.tree.flatten(data)[0])
    build(model, data, batch_size)
    random = None
    if shuffle:
        if seed is None:
            seed = np.random.randint(2**31)
        random = np.random.default_rng(seed)
    hooks = keras.callbacks.CallbackList(
        callbacks,
        add_history=True,
        model=model,
        add_progbar=verbose != 0,
        verbose=verbose,
        epochs=epochs,
        steps=math.ceil(samples / batch_size),
    )
    model.stop_training = False
    hooks.on_train_begin()
    for epoch in range(epochs):
        hooks.on_epoch_begin(epoch)
        logs = run_epoch(model, "train", data, batch_size, random)
        if validation:
            hooks.on_test_begin()
            found = run_epoch(model, "test", validation, batch_size)
            hooks.on_test_end(found)
            logs |= {f"val_{name}": value for name, value in found.items()}
        hooks.on_epoch_end(epoch, logs)
        if model.stop_training:
            break
    # An optimizer that averages weights now puts the averages in their place, as at the end of fit.
    model.optimizer.finalize_variable_values(model.trainable_variables)
    hooks.on_train_end(logs)
    return model.history


def fit_seeds(
    make_model: Callable[[], Any], x, y, *, seeds: int = 5, **options: Any
) -> Iterator[Any]:
    """Train a model from several random seeds, and yield it after each of these training runs.

    It is always the same model, compiled once: for each seed it gets the weights and the unused
    optimizer of a fresh one. So read off what you need of it before the next seed.

    Parameters
    ----------
    make_model : callable
        Makes the model, compiled, each time that it is called.
    x, y : arrays
        As for `fit_resident`.
    seeds : int, optional
        The seeds are 0, 1, 2, and so on.
    **options
        Of `fit_resident`, such as ``epochs``; nothing is printed unless `verbose` is among them.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As `fit_resident` does, when the first model is asked for.

    Examples
    --------
    >>> import keras, numpy as np
    >>> def make_model():
    ...     model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    ...     model.compile("sgd", "mse")
    ...     return model
    >>> x = np.ones((64, 1))
    >>> len({float(model.get_weights()[0][0, 0]) for model in fit_seeds(make_model, x, x, seeds=2)})
    2
    """
    import keras

    model = make_model()
    for seed in range(seeds):
        keras.utils.set_random_seed(seed)
        start_anew(model, make_model())
        fit_resident(model, x, y, **{"verbose": 0, **options})
        yield model


def start_anew(model, fresh) -> None:
    """Give a model the weights and the state of the optimizer of a fresh, unused one, in place.

    `fresh` is a model made by the same function. The program that `model` was compiled to stays
    valid. Raises ValueError if the two do not have equally many variables.
    """
    for each in (model, fresh):
        each.optimizer.build(each.trainable_variables)
    variables = [*model.variables, *model.optimizer.variables]
    fresh_variables = [*fresh.variables, *fresh.optimizer.variables]
    for variable, fresh_variable in zip(variables, fresh_variables, strict=True):
        variable.assign(fresh_variable)


def check_model(model) -> None:
    """Raise ValueError, with the reason, if `fit_resident` cannot train a Keras model.

    It must be compiled, without run_eagerly, on TensorFlow or JAX, and on one device.
    """
    import keras

    framework = backend.framework()
    obstacle = several_devices(model)
    if getattr(model, "optimizer", None) is None:
        obstacle = "it is not compiled; call model.compile(…) first"
    elif model.run_eagerly:
        obstacle = "run_eagerly=True asks for steps in Python; compile it without, or use model.fit"
    elif framework not in ("tensorflow", "jax"):
        obstacle = f"Keras runs on {framework} here, and it takes TensorFlow or JAX"
    elif type(model).call is keras.Model.call:
        obstacle = "it has no call() of its own; use model.fit"
    if obstacle:
        raise ValueError(f"fit_resident cannot train this model: {obstacle}.")


def check_callbacks(callbacks: list | None) -> None:
    """Raise ValueError if one of these Keras callbacks does something within an epoch."""
    import keras

    refused = (keras.callbacks.TerminateOnNaN, keras.callbacks.BackupAndRestore)
    for callback in keras.tree.flatten(callbacks or []):
        # Keras's own hooks do nothing where it is to save or report once an epoch.
        hooks = [getattr(callback, name).__module__ for name in BATCH_HOOKS]
        is_own = not all(module.startswith("keras.") for module in hooks)
        frequencies = [getattr(callback, name, "epoch") for name in ("save_freq", "update_freq")]
        if is_own or frequencies != ["epoch", "epoch"] or isinstance(callback, refused):
            raise ValueError(
                f"{type(callback).__name__} acts within an epoch, or says at which one to go on; "
                "fit_resident is in Python between epochs only. Leave it out, or use model.fit."
            )
