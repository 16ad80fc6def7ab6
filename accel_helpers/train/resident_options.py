"""What `resident.fit_resident` is asked for, checked before anything is begun."""

from __future__ import annotations

import operator
import sys

BATCH_HOOKS = ("on_batch_begin", "on_batch_end", "on_train_batch_begin", "on_train_batch_end")
TEST_HOOKS = ("on_test_batch_begin", "on_test_batch_end")


def whole(name: str, value, least: int) -> int:
    """A whole number of at least `least`, also one of NumPy's.

    Examples
    --------
    >>> whole("epochs", 0, 1)
    Traceback (most recent call last):
      ...
    ValueError: epochs must be a whole number, 1 or more; got 0.
    """
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least:
        raise ValueError(f"{name} must be a whole number, {least} or more; got {value!r}.")
    return number


def check_model(model) -> None:
    """Refuse a model that cannot be trained as one program, with a sentence."""
    framework = sys.modules["keras"].backend.backend()
    if not hasattr(model, "train_step"):
        raise TypeError(f"fit_resident trains a keras.Model; got {type(model).__name__}.")
    if getattr(model, "optimizer", None) is None:
        raise ValueError("The model is not compiled: call model.compile(…) before fit_resident.")
    if model.run_eagerly:
        raise ValueError(
            "The model was compiled with run_eagerly=True, step by step in Python. fit_resident "
            "compiles whole epochs: call model.compile(…) without it, or use model.fit."
        )
    if framework not in ("tensorflow", "jax"):
        raise ValueError(
            f"fit_resident works where Keras runs on TensorFlow or JAX; here it is {framework}."
        )
    replicas = getattr(getattr(model, "distribute_strategy", None), "num_replicas_in_sync", 1)
    if replicas > 1 or sys.modules["keras"].distribution.distribution() is not None:
        raise ValueError(
            "fit_resident trains on one device, and this model was built for several replicas. "
            "Build it outside the strategy's scope, or use model.fit."
        )


def as_callbacks(callbacks, validates: bool) -> list:
    """The callbacks as a list; one that wants to be called within an epoch is refused."""
    import keras

    if isinstance(callbacks, keras.callbacks.CallbackList):
        callbacks = callbacks.callbacks
    found = [] if callbacks is None else keras.tree.flatten(callbacks)
    for callback in found:
        if not isinstance(callback, keras.callbacks.Callback):
            raise TypeError(
                "callbacks must be a list of keras.callbacks.Callback; got "
                f"{type(callback).__name__} in it: {callback!r:.60}."
            )
        if hook := _needs_batches(callback, BATCH_HOOKS + TEST_HOOKS * validates):
            raise ValueError(
                f"{type(callback).__name__} wants to be called {hook}, and fit_resident returns "
                "to Python after every epoch only. Leave it out, or use model.fit."
            )
    return found


def _needs_batches(callback, hooks) -> str:
    """What of a callback happens within an epoch; nothing for most of Keras's own."""
    import keras

    for name in hooks:
        hook = getattr(callback, name, None)
        if hook and not getattr(hook, "__module__", "").startswith("keras."):
            return f"at every batch ({name})"
    if isinstance(callback, keras.callbacks.TerminateOnNaN):
        return "at every batch (on_train_batch_end)"
    if isinstance(callback, keras.callbacks.BackupAndRestore):
        return "before the first epoch, to say at which one to go on"
    for name in ("save_freq", "update_freq"):
        if getattr(callback, name, "epoch") != "epoch":
            return f"within an epoch ({name}={getattr(callback, name)!r})"
    return ""
