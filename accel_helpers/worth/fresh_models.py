"""Fresh models from a function that makes them, so that nobody's own model is trained."""

from collections.abc import Callable
from typing import Any

from accel_helpers._values.words import shown
from accel_helpers.machine import backend


class FreshModels:
    """Make a new model for each training that is measured.

    The `first` one is made at once. It is asked how it was compiled, and its work is counted; it
    is never trained. `make_model` is the user's function, without arguments.

    Raises TypeError if `make_model` is no function, or returns no Keras model, and ValueError if
    the model is not compiled.
    """

    def __init__(self, make_model: Callable[[], Any]):
        # a Keras model is callable, too
        if not callable(make_model) or hasattr(make_model, "fit"):
            raise TypeError(
                f"a function that makes the model is needed; got {shown(make_model)}. "
                "Put the lines that make your model into `def make_model():`, with `return model`."
            )
        self._make_model = make_model
        self.first = make_model()
        _check_compiled(self.first)

    def on(self, device: str):
        """Return a new model with its weights on a device: "cpu", "gpu" or "tpu".

        Raises ValueError if `make_model` returns its first model again, or if there is no such
        device here.
        """
        with backend.on(device):
            model = self._make_model()
        if model is self.first:
            raise ValueError(
                "make_model returned the same model twice, and every measurement needs a fresh "
                "one: the second would go on training the first. Put the lines that make your "
                "model into the function."
            )
        return model


def _check_compiled(model) -> None:
    """Raise TypeError if this is no Keras model, and ValueError if the model is not compiled."""
    import keras

    if not isinstance(model, keras.Model):
        raise TypeError(f"make_model must return a compiled keras.Model; got {shown(model)}.")
    if not model.compiled or model.optimizer is None:
        raise ValueError(cannot_be_measured("is not compiled: call model.compile(…) first"))


def cannot_be_measured(reason: str) -> str:
    """Return the message of an error on a model; the reason is such as "is not compiled"."""
    return f"The model of make_model cannot be measured: it {reason}."
