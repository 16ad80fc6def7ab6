"""Training that leaves the device alone: an epoch of ``fit`` as one compiled program.

The data lie on the device, and shuffling, picking the batches and all steps of an epoch are one
program, which XLA compiles: Keras's own ``train_step`` inside a loop of the framework.
"""

import math
from contextlib import nullcontext
from types import SimpleNamespace

from accel_helpers._values.records import whole
from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back
from accel_helpers.train.device_memory import as_arrays, as_tensors, check_room, memory_needed
from accel_helpers.train.epoch_program import epoch_program


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
    batch_size, epochs, shuffle, callbacks, verbose : optional
        As for ``fit``; a callback that acts within an epoch is refused.
    validation_data : tuple of (x, y), optional
        Evaluated after every epoch, as one program, too.
    seed : int, optional
        Of the order. By default drawn from NumPy, whose seed `keras.utils.set_random_seed` sets.

    Raises
    ------
    TypeError, ValueError, MemoryError
        If an argument is not as above, or asks for what only ``fit`` can do, as ``sample_weight``
        does; if the data do not fit into the computer's memory, before any of them are copied.

    Notes
    -----
    The ``History`` that comes back, with its loss and metrics, and the weights are those of
    ``fit``, but for a few cases. What a step of your own reports is in it where a metric keeps it.
    On TensorFlow:

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
    arrays = as_arrays((x, y), "x and y")
    validation_arrays: tuple = ()
    if validation_data is not None:
        validation_arrays = as_arrays(validation_data, "validation_data")
    device = backend.where(model) if model.weights else backend.devices()[-1]
    x_arrays, y_arrays = arrays
    check_room(memory_needed(x_arrays, y_arrays, validation_arrays), device)
    import keras
    import numpy as np

    run = _runner(model, arrays, batch_size)
    if seed is None:
        seed = np.random.randint(2**31)
    random = np.random.default_rng(seed)
    data = as_tensors(arrays, device)
    validation = as_tensors(validation_arrays, device)
    samples = len(keras.tree.flatten(data)[0])
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
        order_seed = int(random.integers(2**31))
        logs = run("train", batch_size, bool(shuffle), data, order_seed)
        if validation:
            hooks.on_test_begin()
            validation_logs = run("test", batch_size, False, validation, 0)
            hooks.on_test_end(validation_logs)
            logs |= {f"val_{name}": value for name, value in validation_logs.items()}
        hooks.on_epoch_end(epoch, logs)
        if model.stop_training:
            break
    # Where the optimizer averages weights, the averages are what it was all for.
    model.optimizer.finalize_variable_values(model.trainable_variables)
    hooks.on_train_end(logs)
    return model.history


def fit_seeds(make_model, x, y, *, seeds: int = 5, **options):
    """Train a model from several random seeds, and yield it after each of these training runs.

    It is one model, compiled once: for each seed it gets the weights and the unused optimizer of a
    fresh one. So take what you need of it before the next seed.

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
    """Copy the values of all variables of a fresh model into `model`, those of its optimizer, too.

    Both come from the same function, and `fresh` is not trained yet. So `model` is as new, and what
    was compiled for it is used again.
    """
    # An optimizer has its variables from its first step on, or from here.
    model.optimizer.build(model.trainable_variables)
    fresh.optimizer.build(fresh.trainable_variables)
    variables = [*model.variables, *model.optimizer.variables]
    fresh_variables = [*fresh.variables, *fresh.optimizer.variables]
    for variable, fresh_variable in zip(variables, fresh_variables, strict=True):
        variable.assign(fresh_variable)


def check_model(model) -> None:
    """Raise ValueError, with the reason, for a model that cannot be trained as one program."""
    import keras

    framework = backend.framework()
    strategy = getattr(model, "distribute_strategy", None)
    replicas = getattr(strategy, "num_replicas_in_sync", 1)
    is_distributed = replicas > 1 or keras.distribution.distribution() is not None
    obstacle = ""
    if getattr(model, "optimizer", None) is None:
        obstacle = "it is not compiled; call model.compile(…) first"
    elif model.run_eagerly:
        obstacle = "run_eagerly=True asks for steps in Python; compile it without, or use model.fit"
    elif framework not in ("tensorflow", "jax"):
        obstacle = f"Keras runs on {framework} here, and it takes TensorFlow or JAX"
    elif is_distributed:
        obstacle = (
            "it has several replicas; build it outside the strategy's scope, or use model.fit"
        )
    if obstacle:
        raise ValueError(f"fit_resident cannot train this model: {obstacle}.")


def check_callbacks(callbacks) -> None:
    """Raise ValueError for a callback that wants to be called within an epoch."""
    import keras

    refused = (keras.callbacks.TerminateOnNaN, keras.callbacks.BackupAndRestore)
    for callback in keras.tree.flatten(callbacks or []):
        if isinstance(callback, refused) or _acts_within_an_epoch(callback):
            raise ValueError(
                f"{type(callback).__name__} acts within an epoch, or says at which one to go on; "
                "fit_resident is in Python between epochs only. Leave it out, or use model.fit."
            )


def _acts_within_an_epoch(callback) -> bool:
    """Return whether a callback does something between two steps.

    It has a hook for batches of its own, or it saves or reports every so many batches.
    """
    import keras

    for name in dir(keras.callbacks.Callback):
        if "batch_" not in name:
            continue
        hook = getattr(callback, name, None)
        # A hook of Keras's own does nothing here.
        module = getattr(hook, "__module__", "keras.")
        if not module.startswith("keras."):
            return True
    save_frequency = getattr(callback, "save_freq", "epoch")
    update_frequency = getattr(callback, "update_freq", "epoch")
    return save_frequency != "epoch" or update_frequency != "epoch"


def _runner(model, data, batch_size: int):
    """Return a function that runs an epoch of the model and returns its metrics by name.

    Programs that were compiled are kept on the model, as ``fit`` keeps its own, and used until the
    model is compiled anew. They are in a namespace, into which Keras does not look.
    """
    import keras
    import numpy as np

    trained = tuple(id(variable) for variable in model.trainable_variables)
    compiled = (model.optimizer, model.loss, tuple(model.metrics), trained)
    memory = getattr(model, "_accel_helpers_resident", None)
    if memory is None or memory.compiled != compiled:
        _build(model, data, batch_size)
        memory = SimpleNamespace(compiled=compiled, programs={})
        model._accel_helpers_resident = memory
    programs = memory.programs

    def run(kind: str, batch_size: int, shuffle: bool, data, seed: int) -> dict:
        # kind: "train" or "test"
        # The samples are counted in, since TensorFlow warns where one program is traced often.
        samples = len(keras.tree.flatten(data)[0])
        key = (kind, samples, batch_size, shuffle)
        is_new = key not in programs
        if is_new:
            programs[key] = epoch_program(model, *key)
        model.reset_metrics()
        # XLA writes notices when it starts.
        notices = held_back() if is_new else nullcontext()
        try:
            with notices:
                programs[key](data, seed)
        except Exception as error:
            error.add_note(
                "fit_resident compiles a whole epoch with XLA. If the error names an operation "
                "that XLA cannot compile, this model needs model.fit."
            )
            raise
        # F1 by class has several values.
        metrics = model.get_metrics_result()
        return {name: np.asarray(value).tolist() for name, value in metrics.items()}

    return run


def _build(model, data, batch_size: int) -> None:
    """Let the model, its optimizer, loss and metrics make their variables, from the first batch.

    Inside a compiled loop none can be made. The values of the model stay what they were.
    """
    import keras

    x, y = keras.tree.map_structure(lambda array: array[:batch_size], data)
    if not model.built:
        model(x, training=False)
    # What a pass through the model leaves behind, such as averages and states, is taken back.
    states = [(variable, keras.ops.copy(variable)) for variable in model.non_trainable_variables]
    predicted = model(x, training=True)
    model.optimizer.build(model.trainable_variables)
    has_own_step = type(model).train_step is not keras.Model.train_step
    if model.loss is not None or not has_own_step:
        model.compute_loss(x=x, y=y, y_pred=predicted)
    model.compute_metrics(x, y, predicted)
    model.reset_metrics()
    for variable, state in states:
        variable.assign(state)
