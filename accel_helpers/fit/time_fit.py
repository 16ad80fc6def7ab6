"""How long the epochs of a training take, and its steps in three sizes."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from accel_helpers._values.records import positive, whole
from accel_helpers._values.words import format_seconds
from accel_helpers.fit.checked import checked
from accel_helpers.fit.clock import TimeBox, Timed, epochs_of, take_turns, until
from accel_helpers.fit.parts import Parts
from accel_helpers.fit.training import BATCH_SIZE
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.pictures import Picture

TURNS = 20  # a turn takes about this part of the seconds: one in 20
FOR_TIMING = 1 / 3  # share of the seconds that is left for it, however long compiling takes
STEPS = 100  # of an epoch of `step_parts`, at every size: what starts one is shared out among them


@dataclass(frozen=True)
class FitTiming:
    """How long the epochs of a training took, and how many steps each has."""

    epochs: Measurement
    steps_per_epoch: int

    @property
    def step(self) -> Measurement:
        """Seconds per step, as epochs divided by their steps.

        What every epoch begins with is in them, so with few steps in an epoch each seems longer.
        """
        steps = self.steps_per_epoch
        note = f"Each sample is an epoch of {steps} steps, divided by {steps}."
        samples = [epoch / steps for epoch in self.epochs.samples]
        return Measurement.from_samples(samples, name=self.epochs.name, notes=[note])

    @property
    def finding(self) -> str:
        """The title of its picture."""
        return f"an epoch takes {format_seconds(self.epochs.median)}"

    def drawn(self, title: str) -> Picture:
        """Return the picture of its epochs; see `pictures.plot`."""
        return self.epochs.drawn(title)

    def __str__(self) -> str:
        return f"{self.epochs}\nAn epoch has {self.steps_per_epoch:,} steps."


def time_fit(
    model,
    x,
    y=None,
    *,
    seconds: float = 10.0,
    clock: Callable[[], float] = time.perf_counter,
    **fit_arguments,
) -> FitTiming:
    """Time the epochs of ``model.fit``, the first step apart: a `FitTiming`.

    Parameters
    ----------
    model : keras.Model
        Compiled; it is trained, and keeps what it learns. Or a function that makes one.
    x, y
        As for ``fit``; in place of a generator the function that makes it.
    seconds : float, optional
        About how long it may take. A third of it is for timing, however long compiling takes. An
        epoch that is long beside this time is timed in part: what it begins and ends with, and some
        of its steps, at whose pace the rest is calculated.
    clock : callable, optional
        What returns the time in seconds.
    **fit_arguments
        As for ``fit``: `batch_size`, `validation_data`, and so on. How many `epochs` a training
        has does not matter here.

    Raises
    ------
    TypeError, ValueError
        If the model is not compiled, an argument is none of ``fit``, or the data can be read only
        once.

    Examples
    --------
    >>> import numpy
    >>> import keras
    >>> def make_model(width=8):
    ...     layers = [keras.Input((8,)), keras.layers.Dense(width), keras.layers.Dense(3)]
    ...     model = keras.Sequential(layers)
    ...     model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    ...     return model
    >>> x, y = numpy.ones((64, 8), "float32"), numpy.arange(64) % 3
    >>> time_fit(make_model(), x, y, seconds=1).steps_per_epoch
    2
    """
    box = TimeBox(positive(seconds, "seconds"), clock)
    make_model = model
    if hasattr(model, "fit"):

        def make_model():
            return model

    training = checked(make_model, x, y, fit_arguments)
    timed = Timed(training, seconds / TURNS, clock=clock)
    timed.warm_up(seconds)
    left = TimeBox(max(box.seconds_left(), FOR_TIMING * seconds), clock)
    turns = take_turns({"fit": timed}, until(left))
    epochs = epochs_of(turns["fit"])
    steps = timed.training.steps
    # the first epoch has all its other steps, too
    first_epoch = timed.first.first_step + statistics.median(epochs) * (steps - 1) / steps
    measured = Measurement.from_samples(
        epochs, first_call=first_epoch, name="fit", notes=timed.notes
    )
    return FitTiming(measured, steps)


def step_parts(
    make_model: Callable,
    x,
    y,
    *,
    width: int,
    batch_size: int = BATCH_SIZE,
    seconds: float = 6.0,
    clock: Callable[[], float] = time.perf_counter,
) -> Parts:
    """Time a training step in three sizes, and take it apart into compute, memory and overhead.

    **Overhead** is a step at width 1 and batch 1: launching work, Python, feeding data. **Memory**
    is what the real width adds to it: reading and writing weights. **Compute** is what the real
    batch adds to that: the arithmetic, and the traffic of the activations, which cannot be told
    from it.

    Parameters
    ----------
    make_model : callable
        ``make_model(width)`` returns a compiled Keras model whose layers have this width: the units
        of dense layers, the filters of convolutions.
    x, y : array
        The samples, as for ``fit``. 100 batches are used; samples are repeated if there are fewer.
    width : int
        The real width of the model.
    batch_size : int, optional
        The real batch size.
    seconds : float, optional
        About how long the timing may take, compiling apart.
    clock : callable, optional
        What returns the time in seconds.

    Returns
    -------
    Parts
        The three parts in `seconds`, with their `shares`, and which is the largest: its `verdict`.

    Examples
    --------
    >>> import numpy
    >>> import keras
    >>> def make_model(width=8):
    ...     layers = [keras.Input((8,)), keras.layers.Dense(width), keras.layers.Dense(3)]
    ...     model = keras.Sequential(layers)
    ...     model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    ...     return model
    >>> x, y = numpy.ones((64, 8), "float32"), numpy.arange(64) % 3
    >>> parts = step_parts(make_model, x, y, width=128, seconds=0.2)
    >>> parts.seconds["overhead"] > 0
    True
    """
    import numpy as np

    width = whole(width, "width")
    batch_size = whole(batch_size, "batch_size")
    seconds = positive(seconds, "seconds")
    sizes = {"bare": (1, 1), "narrow batch": (width, 1), "real": (width, batch_size)}
    trainings = {}
    for name, (units, samples) in sizes.items():
        # samples are repeated where there are too few
        rows = np.arange(STEPS * samples) % len(x)
        arguments = {"batch_size": samples}
        training = checked(lambda units=units: make_model(units), x[rows], y[rows], arguments)
        trainings[name] = Timed(training, seconds / TURNS, clock=clock)
        trainings[name].warm_up(seconds)
    turns = take_turns(trainings, until(TimeBox(seconds, clock)))
    rounds: dict[str, list[float]] = {"compute": [], "memory": [], "overhead": []}
    steps = zip(*(epochs_of(turns[name]) for name in sizes), strict=True)
    for bare, narrow_batch, real in steps:
        overhead = min(bare, real)
        compute = max(real - max(bare, narrow_batch), 0.0)
        rounds["compute"].append(compute / STEPS)
        rounds["memory"].append((real - overhead - compute) / STEPS)
        rounds["overhead"].append(overhead / STEPS)
    wholes = tuple(epoch / STEPS for epoch in epochs_of(turns["real"]))
    return Parts(wholes, {part: tuple(each) for part, each in rounds.items()}, "a step")
