"""Verbs that measure a model: a function makes it for them, so that nobody's own one changes."""

from collections.abc import Callable

from accel_helpers._values.words import shown
from accel_helpers.worth import choice, worth
from accel_helpers.worth import forecast as forecasts
from accel_helpers.worth.forecast import CHIPS, Forecast
from accel_helpers.worth.worth import Worth

__all__ = ["forecast", "worth_it"]


def worth_it(
    make_model: Callable,
    x,
    y=None,
    *,
    batch_size: int = 32,
    epochs: int = 5,
    seconds: float = 60.0,
    setup_minutes: float = 5.0,
) -> Worth:
    """Say whether a GPU or TPU pays for this model, and what to try first.

    Parameters
    ----------
    make_model : callable
        Without arguments; it returns the model, compiled and built.
    x, y
        As for ``fit``: arrays, a ``tf.data.Dataset`` or a ``keras.utils.PyDataset``.
    batch_size, epochs : int, optional
        Of your training. Parts of it are timed and multiplied; validation is not counted.
    seconds : float, optional
        For everything. A step or a compilation that has begun is waited for.
    setup_minutes : float, optional
        What another machine costs first: changing the runtime, installing, uploading, compiling.

    Returns
    -------
    Worth
        Its `verdict` is one of `Worth.OUTCOMES`; it prints as a few sentences.

    Examples
    --------
    >>> import numpy
    >>> import keras
    >>> def make_model():
    ...     model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
    ...     model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    ...     return model
    >>> x, y = numpy.ones((320, 8), "float32"), numpy.arange(320) % 3
    >>> found = worth_it(make_model, x, y, seconds=1)
    >>> found.verdict in found.OUTCOMES
    True
    """
    model = made_by(make_model)
    return worth.it(model, x, y, batch_size, epochs, seconds, setup_minutes=setup_minutes)


def forecast(
    make_model: Callable,
    batch_size: int,
    chips: tuple[str, ...] | None = None,
    *,
    x=None,
    y=None,
    samples: int | None = None,
    seconds: float = 6.0,
    device: str | None = None,
) -> Forecast:
    """Say how long a training step of this model would take on chips that are not here.

    Parameters
    ----------
    make_model : callable
        Without arguments; it returns the model, compiled and built, with all shapes known.
    batch_size : int
        Samples in a step.
    chips : tuple of str, optional
        NVIDIA's data-centre GPUs from K80 to H100, and Colab's G4; of a TPU only the least time.
        By default the GPU that is attached, and what Colab lends and sells.
    x, y : optional
        Your data, as for ``fit``; without them, made-up numbers of the same shapes are timed.
    samples : int, optional
        In an epoch; by default as many as x has.
    seconds : float, optional
        For timing the training on this machine (0: not at all).
    device : str, optional
        Where to time it, "cpu" or "gpu"; by default on the accelerator, if there is one.

    Returns
    -------
    Forecast
        `choices(epochs=40)`: which chip, if any; `parts("T4")`: compute, memory and overhead of a
        step there; `rows`, one for each chip. It prints as a table.

    Examples
    --------
    >>> import keras
    >>> def make_model():
    ...     model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
    ...     model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    ...     return model
    >>> parts = forecast(make_model, 32, chips=("T4",), seconds=0).parts("T4")
    >>> max(parts, key=parts.get)
    'overhead'
    """
    model, mine = made_by(make_model), choice.attached()
    if chips is None:
        chips = tuple(chip for chip in CHIPS if not mine or chip not in mine)
        chips = (mine, *chips) if mine else chips
    timed = {"samples": samples, "seconds": seconds, "device": device}
    return forecasts.forecast(model, batch_size, chips, x=x, y=y, **timed)


def made_by(make_model: Callable):
    """Call a function that makes a model; a model in its place is told apart."""
    if not callable(make_model) or hasattr(make_model, "fit"):
        advice = "Put the lines that make your model into `def make_model():`, with `return model`"
        got = f"a function that makes the model is needed; got {shown(make_model)}"
        raise TypeError(f"{got}. {advice}.")
    return make_model()
