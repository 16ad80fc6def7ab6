"""How long the epochs of ``fit`` take, whole or in parts, within a time box."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from accel_helpers._records import whole
from accel_helpers.machine import backend
from accel_helpers.measure import results
from accel_helpers.measure.measurement import Measurement

BATCH_SIZE = 32
PAIRS = 6  # of a long and a short part, where whole epochs do not fit into a time box
SHORT = 4  # a short part has a fourth of the steps of a long one
MANY_EPOCHS = 1000  # of which the end of a box lets some be
PILOT = 2  # steps to begin with, to see how long one takes


@dataclass(frozen=True)
class FitTiming:
    """How long the epochs of ``fit`` took, and how many steps each has."""

    epochs: Measurement
    steps_per_epoch: int

    @property
    def step(self) -> Measurement:
        """Seconds per step, as epochs divided by their steps.

        What every epoch begins with is in them, so with few steps in an epoch each seems longer.
        """
        n = self.steps_per_epoch
        note = f"Each sample is an epoch of {n} steps, divided by {n}."
        samples = [epoch / n for epoch in self.epochs.samples]
        return Measurement.from_samples(samples, name=self.epochs.name, notes=[note])


def time_fit(
    model,
    x,
    y,
    *,
    batch_size: int = BATCH_SIZE,
    epochs: int = 5,
    seconds: float | None = None,
    clock: Callable[[], float] = time.perf_counter,
    name: str = "fit",
    keep: str = "",
) -> FitTiming:
    """Train with ``model.fit`` and time every epoch, the first one apart: a `FitTiming`.

    Parameters
    ----------
    model, x, y, batch_size
        As for ``fit``.
    epochs : int, optional
        Two or more, since the first one also compiles.
    seconds : float, optional
        In place of `epochs`: as many as fit into this time, but a third of it is for timing,
        however long compiling takes. Where six do not fit, parts of two lengths take turns. What
        the longer one takes more goes by its steps, so an epoch is the longer part and as many
        steps more; a note says so.
    clock, name, keep : optional
        What returns the time in seconds; what is measured; under which name the epochs go on the
        result card, such as "03/epoch/cpu".

    Examples
    --------
    >>> from accel_helpers.train.training import load_images, quickstart_model
    >>> images = load_images(64, source="bundled")
    >>> len(time_fit(quickstart_model(), images.x_train, images.y_train, epochs=2).epochs.samples)
    1
    """
    fits = _Fits(model, x, y, batch_size, clock)
    if seconds is None:
        first, *others = fits.run(fits.steps, whole(epochs, "epochs", 2))
        notes = []
    else:
        first, others, notes = _in_a_box(fits, seconds)
    measured = Measurement.from_samples(others, first_call=first, name=name, notes=notes)
    results.keep(keep, {keep: measured})
    return FitTiming(measured, fits.steps)


class _Fits:
    """Trainings of one model on the first steps of its data, each with a watch on its epochs."""

    def __init__(self, model, x, y, batch_size, clock):
        self.model, self.x, self.y = model, x, y
        self.batch_size, self.clock = batch_size, clock
        self.steps = -(-len(x) // batch_size)
        self.full_steps = len(x) // batch_size

    def compile_for_the_rest(self) -> None:
        """Train on the last batch alone if it is not full, which some frameworks compile for."""
        if self.full_steps < self.steps:
            rest = slice(self.full_steps * self.batch_size, None)
            self.model.fit(self.x[rest], self.y[rest], batch_size=self.batch_size, verbose=0)

    def run(self, steps: int, epochs: int, end: float | None = None) -> list[float]:
        """The seconds of each epoch of so many steps; those that the `end` cut off are left out."""
        watch = stopwatch(self.clock, end=end)
        part = slice(steps * self.batch_size)
        self.model.fit(
            self.x[part],
            self.y[part],
            batch_size=self.batch_size,
            epochs=epochs,
            callbacks=[watch],
            verbose=0,
        )
        return watch.epochs


def _in_a_box(fits: _Fits, seconds: float) -> tuple[float, list[float], list[str]]:
    """Time epochs in so many seconds: the first one, the others, and notes on them."""
    begin, total = fits.clock(), fits.steps
    pilot = min(PILOT, max(fits.full_steps, 1))
    first, latest = fits.run(pilot, 2)
    compiling = max(first - latest, 0)
    # a third of the box is for timing, however long compiling took
    end = max(begin + seconds, fits.clock() + seconds / 3)

    # more steps, until they take long enough to say how long an epoch is
    while pilot < fits.full_steps and latest < seconds / 30:
        more = min(4 * pilot, fits.full_steps)
        took = fits.run(more, 1, end)
        if not took:
            break
        pilot, latest = more, took[0]
    per_step = latest / pilot

    left = end - fits.clock()
    if PAIRS * per_step * total <= left or total == 1:
        fits.compile_for_the_rest()
        samples = fits.run(total, MANY_EPOCHS, end)
        notes = []
    else:
        pair = left / PAIRS
        long = int(pair / per_step * SHORT / (SHORT + 1))
        long = min(max(long, 2), max(fits.full_steps, 2), total)
        short = max(long // SHORT, 1)
        samples = _pairs_of_parts(fits, long, short, end, seconds)
        notes = [
            f"Each sample is of {long:,} and of {short:,} of the {total:,} steps of an epoch: what "
            "the longer part takes more goes by its steps, so it is scaled up without what every "
            "epoch begins and ends with."
        ]
    if not samples:
        samples = [total * per_step]
        notes = [f"The time was up: {pilot:,} of {total:,} steps were timed, and multiplied."]

    count = f"{len(samples)} sample{'' if len(samples) == 1 else 's'}"
    notes.append(f"{count} fitted into {seconds:.3g} s.")
    first_epoch = compiling + statistics.median(samples)  # it has all its steps, too
    return first_epoch, samples, notes


def _pairs_of_parts(fits: _Fits, long: int, short: int, end: float, more: float) -> list[float]:
    """Time a long part and a short one in turns, there and back: an epoch from each pair.

    The first pair may take so many seconds `more`, since without it there is only a guess.
    """
    samples, longest = [], 0.0
    while not samples or fits.clock() + longest <= end:
        start = fits.clock()
        lengths = (long, short) if len(samples) % 2 == 0 else (short, long)
        took = {}
        for steps in lengths:
            took[steps] = fits.run(steps, 1, end if samples else end + more)
        if not all(took.values()):
            break
        (one,), (other,) = took[long], took[short]
        per_step = max(one - other, 0) / (long - short)
        samples.append(one + (fits.steps - long) * per_step)
        longest = max(longest, fits.clock() - start)
    return samples


def stopwatch(clock: Callable[[], float] = time.perf_counter, steps=False, end=None):
    """A Keras callback that times every epoch until the device is done, in its list `epochs`.

    For each epoch `ticks` has the time at its beginning, at the end of each step if these are asked
    for, and at its end. Each end is waited for. With an `end`, a time of the clock, the training
    stops before an epoch that would go beyond it, if the last one was as long; and within an epoch
    that does, which then does not count.
    """
    import keras

    class Stopwatch(keras.callbacks.Callback):
        async_safe = not steps  # lets fit run ahead as it would without a stopwatch

        def __init__(self):
            super().__init__()
            self.ticks = []
            self.cut_off = False

        def on_epoch_begin(self, epoch, logs=None):
            self.ticks.append([clock()])

        def on_epoch_end(self, epoch, logs=None):
            backend.wait(self.model)
            self.ticks[-1].append(clock())
            if self.cut_off:
                self.ticks.pop()
            elif end is not None and clock() + self.epochs[-1] > end:
                self.model.stop_training = True

        def on_train_end(self, logs=None):
            backend.look_for_idle()

        if steps:

            def on_train_batch_end(self, batch, logs=None):
                backend.wait(self.model)
                self.ticks[-1].append(clock())

        elif end is not None:

            def on_train_batch_end(self, batch, logs=None):
                if clock() > end:
                    self.cut_off = self.model.stop_training = True

        @property
        def epochs(self):
            return [ticks[-1] - ticks[0] for ticks in self.ticks]

    return Stopwatch()
