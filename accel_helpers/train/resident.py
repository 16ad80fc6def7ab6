"""Training as ``model.fit`` does it, with the data on the device and one program an epoch."""

import math

from accel_helpers._values.records import whole
from accel_helpers.machine import backend
from accel_helpers.train.device_memory import as_arrays, as_tensors, check_room, memory_needed
from accel_helpers.train.epoch_program import programs_of


def fit_resident(
    model,
    x,
    y,
    *,
    batch_size: int = 32,
    epochs: int = 1,
    shuffle: bool = True,
    validation_data: tuple | None = None,
    callbacks=None,
    verbose="auto",
    seed: int | None = None,
):
    """Train as ``model.fit`` does, with all data on the device and one program per epoch.

    Parameters
    ----------
    model : keras.Model
        Compiled; on TensorFlow or JAX. Everything in it must be something that XLA can compile.
    x, y : array, or list, tuple or dict of arrays
        As for ``fit``. Arrays are copied to the device in every call; tensors stay where they are.
    batch_size, epochs, shuffle, verbose : optional
        As for ``fit``.
    validation_data : tuple of (x, y), optional
        Evaluated after every epoch, also by one program.
    callbacks : optional
        As for ``fit``; a callback that acts within an epoch is refused.
    seed : int, optional
        Seed of the order of the samples. By default it is drawn from NumPy, whose own seed
        `keras.utils.set_random_seed` sets.

    Returns
    -------
    keras.callbacks.History
        As from ``fit``, with the loss and the metrics of every epoch. What a train step of your
        own reports is in it only where a metric keeps it.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above, or asks for what only ``fit`` can do, as ``sample_weight``
        does.
    MemoryError
        If the data do not fit into the computer's memory, before any of them are copied.

    Notes
    -----
    The history and the weights are those of ``fit``, but for a few cases on TensorFlow:

    * With dropout on a CPU an epoch takes much longer than without, since XLA makes random numbers
      slowly there, and other ones than ``fit``. Keras on JAX does not have that.
    * XLA does not check numbers: a label or a word that is out of range gives a wrong loss, or
      NaN, where ``fit`` on a CPU raises an error. A NaN in the data may be counted differently.
    * With several outputs and a last batch that is not full, ``fit`` averages the loss *of each
      output* over batches as if all were equally large. Here every sample counts alike.

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
    batch_size = whole(batch_size, "batch_size")
    epochs = whole(epochs, "epochs")
    check_callbacks(callbacks)
    data = as_arrays((x, y), "x and y")
    validation = ()
    if validation_data is not None:
        validation = as_arrays(validation_data, "validation_data")
    device = backend.where(model) if model.weights else backend.devices()[-1]
    check_room(memory_needed(*data, validation), device)
    import keras
    import numpy as np

    programs = programs_of(model, data, batch_size)
    if seed is None:
        seed = np.random.randint(2**31)
    random = np.random.default_rng(seed)
    data = as_tensors(data, device)
    validation = as_tensors(validation, device)
    samples = len(keras.tree.flatten(data)[0])
    callback_list = keras.callbacks.CallbackList(
        callbacks,
        add_history=True,
        add_progbar=verbose != 0,
        model=model,
        verbose=verbose,
        epochs=epochs,
        steps=math.ceil(samples / batch_size),
    )
    model.stop_training = False
    callback_list.on_train_begin()
    for epoch in range(epochs):
        callback_list.on_epoch_begin(epoch)
        seed_of_order = int(random.integers(2**31))
        logs = programs.train(data, batch_size, bool(shuffle), seed_of_order)
        if validation:
            callback_list.on_test_begin()
            test_logs = programs.test(validation, batch_size)
            callback_list.on_test_end(test_logs)
            logs |= {f"val_{name}": value for name, value in test_logs.items()}
        callback_list.on_epoch_end(epoch, logs)
        if model.stop_training:
            break
    # Where the optimizer averages weights, the averages become the weights now.
    model.optimizer.finalize_variable_values(model.trainable_variables)
    callback_list.on_train_end(logs)
    return model.history


def fit_seeds(make_model, x, y, *, seeds: int = 5, **options):
    """Train a model from several random seeds, and yield it after each training run.

    It is the same model each time, compiled once: for each seed it gets the weights and the unused
    optimizer of a fresh one. So read what you need from it before the next seed.

    Parameters
    ----------
    make_model : callable
        Makes the model, compiled, each time that it is called.
    x, y : arrays
        As for `fit_resident`.
    seeds : int, optional
        The seeds are 0, 1, 2, and so on.
    **options
        Of `fit_resident`, such as ``epochs``.

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
    """Give a model the weights and the unused optimizer of a fresh one: nothing to compile."""
    model.optimizer.build(model.trainable_variables)
    fresh.optimizer.build(fresh.trainable_variables)
    variables = [*model.variables, *model.optimizer.variables]
    new_values = [*fresh.variables, *fresh.optimizer.variables]
    for variable, new_value in zip(variables, new_values, strict=True):
        variable.assign(new_value)


def check_model(model) -> None:
    """Refuse a model that cannot be trained as one program, with a ValueError that says why."""
    reason = _why_not_one_program(model)
    if reason:
        raise ValueError(f"fit_resident cannot train this model: {reason}.")


def _why_not_one_program(model) -> str:
    """Why this model cannot be trained as one program; "" where it can."""
    import keras

    if getattr(model, "optimizer", None) is None:
        return "it is not compiled; call model.compile(…) first"
    if model.run_eagerly:
        return "run_eagerly=True asks for steps in Python; compile it without, or use model.fit"
    framework = backend.framework()
    if framework not in ("tensorflow", "jax"):
        return f"Keras runs on {framework} here, and it takes TensorFlow or JAX"
    strategy = getattr(model, "distribute_strategy", None)
    replicas = getattr(strategy, "num_replicas_in_sync", 1)
    if replicas > 1 or keras.distribution.distribution() is not None:
        return "it has several replicas; build it outside the strategy's scope, or use model.fit"
    return ""


def check_callbacks(callbacks) -> None:
    """Refuse a callback that wants to be called within an epoch, with a ValueError."""
    import keras

    for callback in keras.tree.flatten(callbacks or []):
        if _acts_within_epoch(callback):
            raise ValueError(
                f"{type(callback).__name__} acts within an epoch, or says at which one to go on; "
                "fit_resident is in Python between epochs only. Leave it out, or use model.fit."
            )


def _acts_within_epoch(callback) -> bool:
    """Whether a callback does anything at a batch, or goes on with a training broken off."""
    import keras

    if isinstance(callback, (keras.callbacks.TerminateOnNaN, keras.callbacks.BackupAndRestore)):
        return True
    # Callbacks of Keras's own say by these attributes how often they act.
    for attribute in ("save_freq", "update_freq"):
        if getattr(callback, attribute, "epoch") != "epoch":
            return True
    # A callback of anybody else's acts at a batch if it defines a method for that.
    for name in dir(keras.callbacks.Callback):
        if "batch_" not in name:
            continue
        method = getattr(callback, name, None)
        module = getattr(method, "__module__", "keras.")
        if not module.startswith("keras."):
            return True
    return False
