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

from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back
from accel_helpers.train.device_memory import (
    as_arrays,
    as_tensors,
    check_room,
    memory_needed,
    needed_for,
)
from accel_helpers.train.resident_options import as_callbacks, check_model, whole

BATCH_SIZE = 32

__all__ = ["fit_resident", "memory_needed"]


def fit_resident(
    model,
    x,
    y,
    *,
    batch_size: int | None = BATCH_SIZE,
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
    Loss, metrics and weights are those of ``fit``, but for a few cases. On TensorFlow:

    * With dropout on a CPU an epoch takes much longer than without, since XLA makes random numbers
      slowly there, and other ones than ``fit``. Keras on JAX does not have that.
    * XLA does not check numbers: a label or a word that is out of range gives a wrong loss, or
      NaN, where ``fit`` on a CPU raises an error. A NaN in the data may be counted differently.
    * With several outputs and a last batch that is not full, ``fit`` averages the loss *of each
      output* over batches as if all were equally large. Here every sample counts alike.

    A layer that was frozen after ``compile`` is frozen here at once; compile again, as for ``fit``.

    Examples
    --------
    >>> from accel_helpers.machine import backend
    >>> from accel_helpers.train import training
    >>> _ = backend.choose()
    >>> images = training.load_images(640, source="bundled")
    >>> x, y = (images.x_train / 255).astype("float32"), images.y_train
    >>> history = fit_resident(training.quickstart_model(), x, y, epochs=2, verbose=0)
    >>> sorted(history.history), history.epoch
    (['accuracy', 'loss'], [0, 1])
    """
    check_model(model)
    batch_size = whole("batch_size", BATCH_SIZE if batch_size is None else batch_size, 1)
    epochs = whole("epochs", epochs, 1)
    if shuffle not in (True, False):
        raise ValueError(f"shuffle must be True or False; got {shuffle!r}. Others: model.fit.")
    for name, value in (("sample_weight", sample_weight), ("class_weight", class_weight)):
        if value is not None:
            raise ValueError(f"fit_resident knows no {name}: train with model.fit, which does.")
    size = batch_size
    if validation_batch_size is not None:
        size = whole("validation_batch_size", validation_batch_size, 1)
    seed = None if seed is None else whole("seed", seed, 0)
    memory = None if memory is None else whole("memory", memory, 0)
    callbacks = as_callbacks(callbacks, validation_data is not None)
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
    check_room(needed_for(data, n, validation), device, memory)

    import keras
    import numpy as np

    program = _program(model, data, min(batch_size, n))
    order = np.random.default_rng(np.random.randint(2**31) if seed is None else seed)
    data = as_tensors(data, device)
    if validation is not None:
        validation = as_tensors(validation, device)
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
        logs = program.run("train", data, n, batch_size, bool(shuffle), int(order.integers(2**31)))
        if validation is not None:
            calls.on_test_begin()
            found = program.run("test", validation, validation_n, size, False, 0)
            calls.on_test_end(found)
            logs |= {f"val_{name}": value for name, value in found.items()}
        calls.on_epoch_end(epoch, logs)
        if model.stop_training:
            break
    # where the optimizer averages weights, the averages are what it was all for
    model.optimizer.finalize_variable_values(model.trainable_variables)
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
            if new:
                self.made.pop(key)
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
    import numpy as np

    x, y = keras.tree.map_structure(lambda array: array[:batch_size], data)
    if not model.built:
        model(x, training=False)
    # what a pass through the model leaves behind, such as averages and states, is taken back
    kept = [(v, np.copy(keras.ops.convert_to_numpy(v))) for v in model.non_trainable_variables]
    predicted = model(x, training=True)
    model.optimizer.build(model.trainable_variables)
    if model.loss is not None or type(model).train_step is keras.Model.train_step:
        model.compute_loss(x=x, y=y, y_pred=predicted)
    model.compute_metrics(x, y, predicted)
    model.reset_metrics()
    for variable, value in kept:
        variable.assign(value)


def _check_logs(model, logs) -> None:
    """Refuse a step that reports what no metric keeps: it would be lost within the epoch."""
    known = set(model.get_metrics_result())
    if not isinstance(logs, dict) or set(logs) != known:
        raise ValueError(
            "The model's own step reports "
            f"{', '.join(logs) if isinstance(logs, dict) else type(logs).__name__}, and its "
            f"metrics are {', '.join(sorted(known))}. fit_resident gives what metrics keep over an "
            "epoch: update a metric for each of them in the step, or use model.fit."
        )


def _tensorflow_epoch(model, kind: str, n: int, batch_size: int, shuffle: bool) -> Callable:
    import keras
    import tensorflow as tf

    step = model.train_step if kind == "train" else model.test_step
    full, rest = divmod(n, batch_size)

    @tf.function(jit_compile=True, autograph=False)
    def epoch(data, seed):
        if shuffle:
            # what TensorFlow would select is far slower under XLA on a CPU
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

        def one(start, size):
            _check_logs(model, step(batch(start, size)))

        def body(i):
            one(i * batch_size, batch_size)
            return (i + 1,)

        if full:
            tf.while_loop(lambda i: i < full, body, (tf.constant(0),))
        if rest:
            one(full * batch_size, rest)

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

        def one(state, start, size):
            logs, state = step(state, batch(start, size))
            _check_logs(model, logs)
            return state

        if full:
            state = jax.lax.fori_loop(
                0, full, lambda i, state: one(state, i * batch_size, batch_size), state
            )
        return one(state, full * batch_size, rest) if rest else state

    program = jax.jit(epoch, donate_argnums=0)

    def run(data, seed):
        variables = [model.trainable_variables, model.non_trainable_variables]
        variables += [model.optimizer.variables] if kind == "train" else []
        variables += [model.metrics_variables]
        seen: set[int] = set()

        def own(variable):  # two variables may share one array, and only one may give it away
            value = variable.value
            shared = id(value) in seen
            seen.add(id(value))
            return jax.numpy.copy(value) if shared else value

        state = program(tuple([own(v) for v in part] for part in variables), data, seed)
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
