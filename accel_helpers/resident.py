"""Training that leaves the device alone: an epoch of ``fit`` as one compiled program.

``model.fit`` returns to Python after every step, and copies every batch to the device. With a
small model that takes longer than the arithmetic. Here the data lie on the device, and shuffling,
picking the batches and all steps of an epoch are one program, which XLA compiles: Keras's own
``train_step`` inside a loop of the framework (``tf.while_loop``, ``jax.lax.fori_loop``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext

from accel_helpers import backend
from accel_helpers.device_memory import as_arrays, bytes_of, check_room, memory_needed
from accel_helpers.quiet import held_back

BATCH_SIZE = 32
BATCH_HOOKS = ("on_batch_begin", "on_batch_end", "on_train_batch_begin", "on_train_batch_end")

__all__ = ["fit_resident", "memory_needed"]


def fit_resident(
    model,
    x,
    y,
    *,
    batch_size: int = BATCH_SIZE,
    epochs: int = 1,
    shuffle: bool = True,
    validation_data: tuple | None = None,
    validation_batch_size: int | None = None,
    callbacks=None,
    verbose="auto",
    seed: int | None = None,
    sample_weight=None,
    class_weight=None,
    memory: int | None = None,
):
    """Train as ``model.fit`` does, with all data on the device and one program per epoch.

    Parameters
    ----------
    model : keras.Model
        Compiled; on TensorFlow or JAX. Everything in it must be something that XLA can compile.
    x, y : array, or list, tuple or dict of arrays
        Inputs and targets, as for ``fit``; the first axis counts the samples. A tensor that is
        on the device already is not copied again.
    batch_size, epochs : int, optional
        As for ``fit``; a last batch that is not full is trained, too.
    shuffle : bool, optional
        A new order for every epoch; False keeps the order of the data.
    validation_data : tuple of (x, y), optional
        Evaluated after every epoch, as one program, too.
    validation_batch_size : int, optional
        By default `batch_size`.
    callbacks : list of keras.callbacks.Callback, optional
        Called at the beginning and the end of training and of every epoch.
    verbose : optional
        As for ``fit``; 0 is silent.
    seed : int, optional
        Of the order. By default drawn from NumPy, whose seed `keras.utils.set_random_seed` sets.
    sample_weight, class_weight : None
        Not supported; refused with a sentence.
    memory : int, optional
        Bytes that are free on the device. By default it is asked; where it cannot tell, nothing is
        checked.

    Returns
    -------
    keras.callbacks.History
        As ``fit`` returns it.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above, or asks for what only ``fit`` can do.
    MemoryError
        If the data do not fit on the device; nothing was copied then.

    Notes
    -----
    On TensorFlow and a CPU, XLA makes the random numbers of dropout slowly: with it, an epoch of
    the lesson model takes several times as long as without. Keras on JAX has no such gap.

    Loss and metrics are those of ``fit``. One exception on TensorFlow: with several outputs and a
    last batch that is not full, ``fit`` averages the loss *of each output* over batches as if all
    were equally large. Here, as in Keras on JAX, every sample counts alike.

    Examples
    --------
    >>> from accel_helpers import backend, training
    >>> _ = backend.choose()
    >>> images = training.load_images(640, source="bundled")
    >>> x, y = (images.x_train / 255).astype("float32"), images.y_train
    >>> history = fit_resident(training.quickstart_model(), x, y, epochs=2, verbose=0)
    >>> sorted(history.history), history.epoch
    (['accuracy', 'loss'], [0, 1])
    """
    _check_options(model, batch_size, epochs, shuffle, sample_weight, class_weight, callbacks)
    data, n = as_arrays((x, y), "x and y")
    validation = validation_n = None
    if validation_data is not None:
        if not isinstance(validation_data, (tuple, list)) or len(validation_data) != 2:
            raise ValueError(
                "validation_data must be a pair (x, y); sample weights are not supported. Got "
                f"{type(validation_data).__name__} {_length(validation_data)}."
            )
        validation, validation_n = as_arrays(tuple(validation_data), "validation_data")
    device = _device_of(model)
    check_room(bytes_of(data) + bytes_of(validation), max(n, validation_n or 0), device, memory)

    import keras
    import numpy as np

    program = _program(model, data, min(batch_size, n))
    order = np.random.default_rng(np.random.randint(2**31) if seed is None else seed)
    with backend.on(device):
        data = keras.tree.map_structure(keras.ops.convert_to_tensor, data)
        if validation is not None:
            validation = keras.tree.map_structure(keras.ops.convert_to_tensor, validation)
    calls = keras.callbacks.CallbackList(
        callbacks,
        add_history=True,
        add_progbar=verbose != 0,
        verbose=1 if verbose == "auto" else verbose,
        epochs=epochs,
        steps=-(-n // batch_size),
        model=model,
    )
    model.stop_training = False
    calls.on_train_begin()
    for epoch in range(epochs):
        calls.on_epoch_begin(epoch)
        logs = program.run("train", data, n, batch_size, shuffle, int(order.integers(2**31)))
        if validation is not None:
            size = validation_batch_size or batch_size
            found = program.run("test", validation, validation_n, size, False, 0)
            logs |= {f"val_{name}": value for name, value in found.items()}
        calls.on_epoch_end(epoch, logs)
        if model.stop_training:
            break
    calls.on_train_end(logs)
    return model.history


# ---------------------------------------------------------------------------------------------


class _Programs:
    """The compiled epochs of a model, kept on it as ``fit`` keeps its train function."""

    def __init__(self, model):
        self.model, self.made_for, self.made = model, _compiled_as(model), {}

    def run(self, kind, data, n, batch_size, shuffle, seed) -> dict:
        key = (kind, n, batch_size, shuffle)
        new = key not in self.made
        if new:
            make = {"tensorflow": _tensorflow_epoch, "jax": _jax_epoch}[_framework()]
            self.made[key] = make(self.model, *key)
        self.model.reset_metrics()
        try:
            with held_back() if new else nullcontext():  # what XLA says when it starts
                self.made[key](data, seed)
        except Exception as error:
            error.add_note(
                "fit_resident compiles a whole epoch with XLA. If the error names an operation "
                "that XLA cannot compile, this model needs model.fit."
            )
            raise
        return {name: _plain(value) for name, value in self.model.get_metrics_result().items()}


def _program(model, data, batch_size) -> _Programs:
    """What was compiled before, or a fresh start where ``compile`` was called meanwhile."""
    known = getattr(model, "_accel_helpers_resident", None)
    if known is None or known.made_for != _compiled_as(model):
        _build(model, data, batch_size)
        known = model._accel_helpers_resident = _Programs(model)
    return known


def _compiled_as(model) -> tuple:
    trained = tuple(id(variable) for variable in model.trainable_variables)
    return model.optimizer, model.loss, tuple(model.metrics), trained


def _build(model, data, batch_size) -> None:
    """Make every variable now: inside a compiled loop none can be made."""
    import keras

    x, y = keras.tree.map_structure(lambda array: array[:batch_size], data)
    predicted = model(x, training=False)
    model.optimizer.build(model.trainable_variables)
    model.compute_loss(x=x, y=y, y_pred=predicted)
    model.compute_metrics(x, y, predicted)
    model.reset_metrics()


def _tensorflow_epoch(model, kind: str, n: int, batch_size: int, shuffle: bool) -> Callable:
    import keras
    import tensorflow as tf

    step = model.train_step if kind == "train" else model.test_step
    full, rest = divmod(n, batch_size)

    @tf.function(jit_compile=True, autograph=False)
    def epoch(data, seed):
        if shuffle:
            # what TensorFlow would select is over 30 times slower under XLA on a CPU
            dice = tf.random.stateless_uniform([n], seed, None, None, tf.int32, alg="philox")
            order = tf.argsort(dice)

        def batch(start, size):
            if shuffle:
                picked = tf.slice(order, [start], [size])
                return keras.tree.map_structure(lambda a: tf.gather(a, picked), data)
            return keras.tree.map_structure(
                lambda a: tf.slice(
                    a, [start, *[0] * (len(a.shape) - 1)], [size, *a.shape.as_list()[1:]]
                ),
                data,
            )

        def body(i):
            step(batch(i * batch_size, batch_size))
            return (i + 1,)

        if full:
            tf.while_loop(lambda i: i < full, body, (tf.constant(0),))
        if rest:
            step(batch(full * batch_size, rest))

    return lambda data, seed: epoch(data, tf.constant([seed, 0]))


def _jax_epoch(model, kind: str, n: int, batch_size: int, shuffle: bool) -> Callable:
    import jax
    import keras

    step = model.train_step if kind == "train" else model.test_step
    full, rest = divmod(n, batch_size)

    def epoch(state, data, seed):
        if shuffle:
            dice = jax.random.bits(jax.random.key(seed), (n,))
            order = jax.numpy.argsort(dice)

        def batch(start, size):
            if shuffle:
                picked = jax.lax.dynamic_slice(order, (start,), (size,))
                return keras.tree.map_structure(lambda a: a[picked], data)
            return keras.tree.map_structure(
                lambda a: jax.lax.dynamic_slice_in_dim(a, start, size), data
            )

        def body(i, state):
            return step(state, batch(i * batch_size, batch_size))[1]

        if full:
            state = jax.lax.fori_loop(0, full, body, state)
        if rest:
            state = step(state, batch(full * batch_size, rest))[1]
        return state

    program = jax.jit(epoch, donate_argnums=0)

    def run(data, seed):
        variables = [model.trainable_variables, model.non_trainable_variables]
        variables += [model.optimizer.variables] if kind == "train" else []
        variables += [model.metrics_variables]
        state = program(tuple([v.value for v in part] for part in variables), data, seed)
        for part, values in zip(variables, state, strict=True):
            for variable, value in zip(part, values, strict=True):
                variable.assign(value)

    return run


def _device_of(model) -> str:
    return backend.where(model) if model.weights else backend.devices()[-1]


def _framework() -> str:
    return sys.modules["keras"].backend.backend()


def _plain(value):
    try:
        return float(value)
    except (TypeError, ValueError):  # a metric with several values, such as F1 by class
        return value


def _length(value) -> str:
    return f"of length {len(value)}" if hasattr(value, "__len__") else ""


def _check_options(model, batch_size, epochs, shuffle, sample_weight, class_weight, callbacks):
    for name, value in (("batch_size", batch_size), ("epochs", epochs)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be a whole number, 1 or more; got {value!r}.")
    if not isinstance(shuffle, bool):
        raise ValueError(f"shuffle must be True or False; got {shuffle!r}. Others: model.fit.")
    for name, value in (("sample_weight", sample_weight), ("class_weight", class_weight)):
        if value is not None:
            raise ValueError(f"fit_resident knows no {name}: train with model.fit, which does.")
    if getattr(model, "optimizer", None) is None:
        raise ValueError("The model is not compiled: call model.compile(…) before fit_resident.")
    if model.run_eagerly:
        raise ValueError(
            "The model was compiled with run_eagerly=True, step by step in Python. fit_resident "
            "compiles whole epochs: call model.compile(…) without it, or use model.fit."
        )
    if _framework() not in ("tensorflow", "jax"):
        raise ValueError(
            f"fit_resident works where Keras runs on TensorFlow or JAX; here it is {_framework()}."
        )
    replicas = getattr(getattr(model, "distribute_strategy", None), "num_replicas_in_sync", 1)
    if replicas > 1 or sys.modules["keras"].distribution.distribution() is not None:
        raise ValueError(
            "fit_resident trains on one device, and this model was built for several replicas. "
            "Build it outside the strategy's scope, or use model.fit."
        )
    for callback in callbacks or ():
        if hook := _needs_batches(callback):
            raise ValueError(
                f"{type(callback).__name__} wants to be called {hook}, and fit_resident returns "
                "to Python after every epoch only. Leave it out, or use model.fit."
            )


def _needs_batches(callback) -> str:
    """What of a callback happens within an epoch; nothing for most of Keras's own."""
    for name in BATCH_HOOKS:
        hook = getattr(callback, name, None)
        if hook and not getattr(hook, "__module__", "").startswith("keras."):
            return f"at every batch ({name})"
    if type(callback).__name__ == "TerminateOnNaN":
        return "at every batch (on_train_batch_end)"
    for name in ("save_freq", "update_freq"):
        if getattr(callback, name, "epoch") != "epoch":
            return f"within an epoch ({name}={getattr(callback, name)!r})"
    return ""
