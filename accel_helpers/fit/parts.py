"""Where the time of a training step goes: compute, memory, overhead."""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import ClassVar, Self

from accel_helpers._values.records import positive, whole
from accel_helpers._values.words import format_seconds
from accel_helpers.fit.epochs import BATCH_SIZE, time_fit
from accel_helpers.measure import pictures

STEPS = 100  # of a timed epoch, at every size: what starts an epoch is shared out among them
TURNS = 2  # a machine that slows down for a while slows only one of them


@dataclass(frozen=True)
class StepParts:
    """Seconds of a training step in three parts. An estimate: a part too small to measure is 0.

    >>> print(StepParts(compute=0.003, memory=0, overhead=0.001))
    A step of 4 ms: compute 3 ms, memory 0 s, overhead 1 ms.
    """

    compute: float
    memory: float
    overhead: float

    OUTCOMES: ClassVar[tuple[str, ...]] = ("overhead", "memory", "compute")

    @classmethod
    def from_steps(cls, bare: float, narrow_batch: float, real: float) -> Self:
        """Take a step apart.

        Parameters
        ----------
        bare : float
            Seconds of a step at width 1 and batch 1, which has next to nothing to compute or move.
        narrow_batch : float
            At the model's width and batch 1: what is added is its weights.
        real : float
            At the model's width and batch: what is added is arithmetic on the same weights.
        """
        memory = max(0.0, narrow_batch - bare)
        compute = max(0.0, real - max(bare, narrow_batch))
        return cls(compute, memory, bare)

    @property
    def seconds(self) -> dict[str, float]:
        """The parts by name, for a picture."""
        return asdict(self)

    @property
    def largest(self) -> str:
        """The name of the largest part."""
        parts = self.seconds
        return max(parts, key=parts.__getitem__)

    @property
    def verdict(self) -> str:
        """The largest part, one of `OUTCOMES`."""
        return self.largest

    @property
    def finding(self) -> str:
        """The title of its picture."""
        return pictures.largest(self.seconds)

    def drawn(self, title: str) -> pictures.Picture:
        """Return its picture; see `pictures.plot`."""
        return pictures.bar(self.seconds, title=title)

    def to_dict(self) -> dict[str, float]:
        """Give the parts as plain values."""
        return self.seconds

    def __str__(self) -> str:
        total = 0.0
        parts = []
        for name, seconds in self.seconds.items():
            total += seconds
            duration = format_seconds(seconds)
            parts.append(f"{name} {duration}")
        whole_step = format_seconds(total)
        durations = ", ".join(parts)
        return f"A step of {whole_step}: {durations}."


def step_parts(
    make_model: Callable,
    x,
    y,
    *,
    width: int,
    batch_size: int = BATCH_SIZE,
    seconds: float = 6.0,
    clock: Callable[[], float] = time.perf_counter,
) -> StepParts:
    """Time a training step in three sizes, and take it apart into compute, memory and overhead.

    **Overhead** is a step at width 1 and batch 1: launching work, Python, feeding data. **Memory**
    is what the real width adds to it: reading and writing weights. **Compute** is what the real
    batch adds to that: the arithmetic, and the traffic of the activations, which cannot be told
    from it. Lesson 03 does the same by hand, with three fits.

    Parameters
    ----------
    make_model : callable
        ``make_model(width)`` returns a compiled Keras model whose layers have this width: the units
        of dense layers, the filters of convolutions.
    x : array
        The samples, as for ``fit``. 100 batches are used; samples are repeated if there are fewer.
    y : array
        Their labels.
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
    StepParts
        The three parts in seconds, and which is the `largest`.

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
    >>> parts.overhead > 0
    True
    """
    width = whole(width, "width")
    batch_size = whole(batch_size, "batch_size")
    seconds = positive(seconds, "seconds")
    bare_model = make_model(1)
    real_model = make_model(width)
    sizes = [(bare_model, 1), (real_model, 1), (real_model, batch_size)]
    box = seconds / (len(sizes) * TURNS)
    fastest_steps = [math.inf] * len(sizes)
    for _ in range(TURNS):
        for place, (model, size) in enumerate(sizes):
            step = _fastest_step(model, x, y, size, box, clock)
            fastest_steps[place] = min(fastest_steps[place], step)
    bare, narrow_batch, real = fastest_steps
    return StepParts.from_steps(bare, narrow_batch, real)


def _fastest_step(model, x, y, batch_size: int, seconds: float, clock) -> float:
    """The seconds of the fastest of several timings of a step, since noise only ever adds time."""
    import numpy as np

    # Samples are repeated where there are too few.
    places = np.arange(STEPS * batch_size)
    rows = places % len(x)
    fit = time_fit(model, x[rows], y[rows], batch_size=batch_size, seconds=seconds, clock=clock)
    return min(fit.step.samples)
