"""How fast would this model train on a chip that is not here? A table, before anything is paid."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, prod

from accel_helpers import _records
from accel_helpers._records import positive, whole
from accel_helpers._words import format_range, format_seconds, shown, wrapped
from accel_helpers.machine import backend
from accel_helpers.measure import step_time, work
from accel_helpers.measure.measurement import Measurement
from accel_helpers.train.break_even import WORDS
from accel_helpers.train.lent import Turns, Way, lent

CHIPS = ("T4", "L4", "A100", "H100")  # what Colab lends and sells
DTYPES = ("float32", "float16", "bfloat16")
LOOPS = {"LSTM", "GRU", "SimpleRNN", "Bidirectional"}


@dataclass(frozen=True)
class Forecast:
    """The answer of `forecast`; it prints as a table and a few sentences."""

    model: str
    batch_size: int
    training: bool
    dtype: str
    rows: tuple[step_time.Row, ...]
    notes: tuple[str, ...] = ()
    steps: int | None = None  # of an epoch
    here: Measurement | None = None  # seconds of a step on this machine
    host: Measurement | None = None  # the same around a model that computes nothing

    def step(self, row: step_time.Row) -> tuple[float, float, float]:
        """Seconds on a chip, low and high, with the Python between steps that was measured."""
        return tuple(each + (self.host.median if self.host else 0) for each in row.step)

    def faster(self, row: step_time.Row) -> tuple[float, float]:
        """How many times as fast as this machine, which was measured: low and high."""
        _, low, high = self.step(row)
        return self.here.interval[0] / high, self.here.interval[1] / low

    def __str__(self) -> str:
        words = _records.load(WORDS, "set of sentences")["forecast"]
        heads = ["chip", "a step", "interval", "shares, %", "memory"]
        heads += ["an epoch"] * bool(self.steps) + ["times as fast"] * bool(self.here)
        table, why = [heads], {}
        for row in self.rows:
            step, low, high = self.step(row)
            cells = [row.chip, f"over {format_seconds(row.step[0])}", "", "", row.memory]
            if row.terms:
                shares = (f"{each / row.step[0]:.0%}" for each in row.terms.values())
                parts = " + ".join(share.rstrip("%") for share in shares)
                cells[1:4] = format_seconds(step), format_range(low, high), parts
                cells += [format_range(n * low, n * high) for n in [self.steps] if n]
                cells += ["{:.2g} to {:.2g}".format(*self.faster(row))] if self.here else []
            table.append(cells + [""] * (len(heads) - len(cells)))
            for reason in [row.largest or "least"] + ["new"] * (bool(row.terms) > row.fitted):
                why.setdefault(reason, []).append(row.chip)
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        both = (zip(cells, widths, strict=True) for cells in table)
        lines = ["  ".join(f"{cell:{width}}" for cell, width in row).rstrip() for row in both]
        head = words["training" if self.training else "inference"]
        said = [f"{', '.join(chips)}: {words[reason]}" for reason, chips in why.items()]
        if self.host:
            times = [format_seconds(each.median) for each in (self.here, self.host)]
            epoch = self.steps and format_seconds(self.steps * self.here.median)
            said.append(words["host"].format(*times, f" (an epoch {epoch})" if epoch else ""))
        head = head.format(**vars(self)) + " " + words["promise"]
        texts = (wrapped(text, indent=2) for text in (*said, *self.notes))
        return "\n".join([wrapped(head), *lines, *texts])


def forecast(
    model,
    batch_size: int,
    chips: tuple[str, ...] = CHIPS,
    training: bool = True,
    dtype: str | None = None,
    *,
    x=None,
    y=None,
    samples: int | None = None,
    seconds: float = 6.0,
    clock: Callable[[], float] = time.perf_counter,
) -> Forecast:
    """Say how long a step of this model would take on chips that are not here.

    Parameters
    ----------
    model : keras.Model
        Built, with all shapes known: Sequential with an Input, or functional.
    batch_size : int
        Samples in a step.
    chips : tuple of str, optional
        NVIDIA's data-centre GPUs from K80 to H100; of a TPU only the least time is said.
    training : bool, optional
        A training step, or a forward pass alone.
    dtype : str, optional
        "float32", "float16" or "bfloat16", by default what the layers compute in. Float32 is
        multiplied in TF32 where the chip has it, as TensorFlow and JAX do.
    x, y : optional
        Your data, as for ``fit``; without them, made-up numbers of the same shapes are timed.
    samples : int, optional
        In an epoch; by default as many as x has.
    seconds, clock : optional
        For timing the training here, if the model is compiled (0: not at all), and by what.

    Returns
    -------
    Forecast
        `rows`, one for each chip, with its three `terms` in seconds, the `largest` and `memory`;
        `step(row)`: seconds, low, high; `faster(row)`. It prints as a table.

    Raises
    ------
    TypeError, ValueError
        If a layer cannot be counted, a chip is unknown, or the model is not built.

    Notes
    -----
    The constants come from published benchmarks; docs/forecast.md shows how far off they are on
    others. The interval holds 8 of 10 of these, which is no probability for your model.

    Examples
    --------
    >>> from accel_helpers.train import training
    >>> found = forecast(training.quickstart_model(), batch_size=32, chips=("T4",), seconds=0)
    >>> found.rows[0].largest
    'operations'
    """
    rows, notes = expected(model, batch_size, chips, training, dtype)
    steps = samples and ceil(whole(samples, "samples") / batch_size)
    found = Forecast(model.name, batch_size, training, _dtype(model, dtype), rows, notes, steps)
    if not (positive(seconds, "seconds", zero=True) and training and model.compiled):
        return found
    given = _made_up(model, batch_size) if x is None else (x, y)
    of_x, here, host = _measured(model, *given, batch_size, seconds, clock)
    return replace(found, steps=steps or (None if x is None else of_x), here=here, host=host)


def expected(model, batch_size, chips=CHIPS, training=True, dtype=None):
    """The rows of a forecast, with nothing measured, and notes."""
    load, counted = load_of(model, batch_size)
    chips = (chips,) if isinstance(chips, str) else chips
    kind, notes = _dtype(model, dtype), counted.notes
    rows = tuple(step_time.on_chip(load, name, kind, training) for name in chips)
    if any(row.kind in LOOPS for row in counted.rows):
        notes += (_records.load(WORDS, "set of sentences")["forecast"]["loops"],)
    return rows, notes


def load_of(model, batch_size):
    """What a forecast needs of a model, and the count that it comes from."""
    import keras

    if not isinstance(model, keras.Model):
        raise TypeError(f"model must be a keras.Model; got {shown(model)}.")
    counted = work.count_step(model, batch_size, training=False)
    optimizer = getattr(model, "optimizer", None)
    kept = getattr(optimizer, "variables", 0) or 2 * model.trainable_variables  # as Adam keeps
    load = step_time.Load(
        counted.product_flops + counted.padding_flops,  # as published counts have it
        **{name: getattr(counted, name) for name in ("made", "parameters", "operations")},
        kept=sum(prod(variable.shape) for variable in kept),
    )
    return load, counted


def _dtype(model, dtype) -> str:
    """The number type that the products are in."""
    found = {layer.compute_dtype for layer in model.layers if layer.weights}
    kind = str(dtype or next((each for each in found if "16" in each), "float32"))
    if kind.removeprefix("mixed_") not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}; got {shown(dtype)}.")
    return kind.removeprefix("mixed_")


def _made_up(model, batch_size):
    """Some batches of made-up numbers, of the shapes that the model and its loss take."""
    import keras
    import numpy as np

    dice, each = np.random.default_rng(0), sum(prod(tensor.shape[1:]) for tensor in model.inputs)
    count = batch_size * max(1, min(64, 2**24 // (each * batch_size)))

    def made(tensor, loss=None):
        shape = (count, *tensor.shape[1:])
        if loss and work.name_of(keras.losses.get(loss)).startswith("sparse"):
            return np.zeros(shape[:-1], "int32")
        return np.zeros(shape, "int32") if "int" in tensor.dtype else dice.random(shape, "float32")

    losses = model.loss if isinstance(model.loss, list) else [model.loss] * len(model.outputs)
    x, y = [*map(made, model.inputs)], [*map(made, model.outputs, losses)]
    return x if len(x) > 1 else x[0], y if len(y) > 1 else y[0]


def _measured(model, x, y, batch_size, seconds, clock):
    """Steps of an epoch; seconds of a step here, and around a model that computes nothing."""
    end, device = clock() + seconds, backend.devices()[-1]
    with lent(model) as place:
        turns = Turns(model, x, y, batch_size, place, seconds / 30)
        group, xla = model.steps_per_execution, bool(model.jit_compile)
        now = Way(device, turns.batch_size, group, xla)
        took = {way: [] for way in (now, now._replace(kind="nothing"))}
        for way in took:
            turns(way)  # compiles
        while clock() < end or not took[now]:
            for way, times in took.items():
                times.append(turns(way) / turns.steps(way))
        return turns.steps(now), *map(Measurement.from_samples, took.values())
