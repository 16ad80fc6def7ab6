"""Fresh models from a function that makes them, so that nobody's own model is trained."""

from collections.abc import Callable

from accel_helpers._values.words import shown
from accel_helpers.machine import backend


class FreshModels:
    """Make a new model for each training that is measured.

    The `first` one is made at once. It is asked how it was compiled, and its work is counted; it
    is never trained.
    """

    def __init__(self, make_model: Callable):
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
        """Return a model that was not there before, with its weights on a device."""
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
    import keras

    if not isinstance(model, keras.Model):
        raise TypeError(f"make_model must return a compiled keras.Model; got {shown(model)}.")
    if not model.compiled or model.optimizer is None:
        raise ValueError(cannot_be_measured("is not compiled: call model.compile(…) first"))


def cannot_be_measured(reason: str) -> str:
    """Return the sentence that refuses a model for a reason, such as "is not compiled"."""
    return f"The model of make_model cannot be measured: it {reason}."
