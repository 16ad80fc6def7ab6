"""How fast would this model train on a chip that is not here? A table, before anything is paid."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, prod

from accel_helpers._values import records
from accel_helpers._values.records import positive, whole
from accel_helpers._values.words import format_range, format_seconds, shown, times, wrapped
from accel_helpers.machine import backend
from accel_helpers.measure import timing, work
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement
from accel_helpers.worth import choice, step_time
from accel_helpers.worth.break_even import WORDS
from accel_helpers.worth.choice import Choice, Held
from accel_helpers.worth.lent import Turns, Way, lent

CHIPS = ("T4", "L4", "A100", "H100")  # of what Colab lends and sells
DTYPES = ("float32", "float16", "bfloat16")
WHILE = 2.0  # seconds in which five samples are still tried for when the time is up; or as many
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

    @property
    def measured(self) -> bool:
        """Whether enough steps were timed here for an interval."""
        return self.here is not None and len(self.here.samples) >= FEW_SAMPLES

    @cached_property
    def ceiling(self) -> float:
        """How many times as fast as here a training can be at most, where that was measured.

        It is the upper end of this ratio: a step over a step of the same ``fit`` around a model
        that computes nothing. No chip shortens what is left then, feeding and Python.
        """
        if not (self.measured and self.host):
            return math.inf
        return timing.compare(self.here, self.host, in_turns=True).interval[1]

    def step(self, row: step_time.Row) -> tuple[float, float, float]:
        """Seconds on a chip, low and high, with the feeding and Python that were measured here.

        The interval is as wide as the one that is promised, around the whole: another machine may
        be faster or slower at feeding, too. Beside this one no chip gets over the `ceiling`.
        """
        seconds, low, high = row.step
        if self.host is None:
            return row.step
        whole = seconds + self.host.median
        least = self._least
        ends = whole, whole * low / seconds, whole * high / seconds
        return tuple(max(each, least) for each in ends)

    @property
    def _least(self) -> float:
        """Seconds that a step takes at the ceiling."""
        return self.here.interval[1] / self.ceiling if self.measured else 0.0

    def capped(self, row: step_time.Row) -> bool:
        """Whether the ceiling, and not the forecast, is the upper end of `faster`."""
        return self.host is not None and self.step(row)[1] == self._least

    def faster(self, row: step_time.Row) -> tuple[float, float] | None:
        """How many times as fast as this machine, low and high; None if that was not measured."""
        if not self.measured:
            return None
        _, low, high = self.step(row)
        return self.here.interval[0] / high, self.here.interval[1] / low

    def parts(self, chip: str | step_time.Row) -> dict[str, float]:
        """Seconds of a step on a chip: compute, memory and overhead.

        Overhead is launching operations, and the feeding and Python that were measured here.
        """
        named = [row for row in self.rows if row is chip or str(chip) in row.chip]
        if not (named and named[0].terms):
            known = ", ".join(row.chip for row in self.rows if row.terms)
            raise ValueError(f"this forecast has the parts of {known}; got {shown(chip)}.")
        terms, feeding = named[0].terms, self.host.median if self.host else 0.0
        overhead = terms["overhead"] + feeding
        return {"compute": terms["compute"], "memory": terms["memory"], "overhead": overhead}

    def shares(self, row: step_time.Row) -> dict[str, float]:
        """The share of each part in a step."""
        parts = self.parts(row)
        return {part: seconds / sum(parts.values()) for part, seconds in parts.items()}

    def choices(
        self, *, epochs: int, setup_minutes: float = 5.0, my_hour: float | None = None, race=None
    ) -> Choice:
        """Put every chip beside this machine: minutes in all, minutes saved, and whether it pays.

        Parameters
        ----------
        epochs : int
            Of your training.
        setup_minutes : float, optional
            What another machine costs first: changing the runtime, installing, uploading.
        my_hour : float, optional
            What an hour of yours is worth, in any currency: then a column says above which price
            an hour a chip costs more than the time that it saves is worth.
        race : Speedup, optional
            This CPU and this machine's accelerator, as `compare` timed the training on both.
        """
        options = {"epochs": epochs, "setup_minutes": setup_minutes, "my_hour": my_hour}
        return choice.choices(self, race=race, **options)

    def against(self, race) -> Held | None:
        """Say whether the forecast of the attached chip held; None where there was no race."""
        return choice.against(self, race)

    def __str__(self) -> str:
        words = records.load(WORDS, "set of sentences")["forecast"]
        lines = [self._head(words), *self._table()]
        for reason, chips in self._reasons().items():
            lines.append(wrapped(f"{', '.join(chips)}: {words[reason]}", indent=2))
        if self.host:
            lines.append(wrapped(self._here(words), indent=2))
        lines += [wrapped(note, indent=2) for note in self.notes]
        return "\n".join(lines)

    def _head(self, words) -> str:
        kind = "training" if self.training else "inference"
        head = words[kind].format(**vars(self))
        return wrapped(f"{head} {promised(self.rows, self.training)} {words['shares']}")

    def _table(self) -> list[str]:
        """A line for each chip, below one for the columns' names."""
        names = ["chip", "a step", "interval", "shares, %", "memory"]
        if self.steps:
            names.append("an epoch")
        if self.here:
            names.append("times as fast")
        table = [names] + [self._cells(row) for row in self.rows]
        for cells in table:
            cells += [""] * (len(names) - len(cells))
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = []
        for cells in table:
            padded = [f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True)]
            lines.append("  ".join(padded).rstrip())
        return lines

    def _cells(self, row: step_time.Row) -> list[str]:
        if not row.terms:  # a TPU: the least time alone
            return [row.chip, f"over {format_seconds(row.step[0])}", "", "", row.memory]
        step, low, high = self.step(row)
        shares = " + ".join(f"{100 * share:.0f}" for share in self.shares(row).values())
        cells = [row.chip, format_seconds(step), format_range(low, high), shares, row.memory]
        if self.steps:
            cells.append(format_range(self.steps * low, self.steps * high))
        if self.measured:
            cells.append(" to ".join(map(times, self.faster(row))))
        elif self.here:
            cells.append(f"{samples_of(self.here)}, no interval")
        return cells

    def _reasons(self) -> dict[str, list[str]]:
        """What is said below the table, and of which chips."""
        chips: dict[str, list[str]] = {}
        for row in self.rows:
            shares = self.shares(row) if row.terms else {"least": 1.0}
            reasons = [max(shares, key=shares.get)]
            if row.terms and not row.fitted:
                reasons.append("new")
            for reason in reasons:
                chips.setdefault(reason, []).append(row.chip)
        return chips

    def _here(self, words) -> str:
        """What was timed on this machine, and the ceiling that follows."""
        fields = {"step": format_seconds(self.here.median), "epoch": ""}
        if self.steps:
            fields["epoch"] = f" (an epoch {format_seconds(self.steps * self.here.median)})"
        fields |= {"host": format_seconds(self.host.median), "samples": samples_of(self.here)}
        fields["ceiling"] = times(self.ceiling)
        fields["middle"] = times(self.here.median / self.host.median)
        text = words["host"].format(**fields)
        if not self.measured:
            return f"{text} {words['few'].format(**fields)}"
        text = f"{text} {words['ceiling'].format(**fields)}"
        capped = [row.chip for row in self.rows if row.terms and self.capped(row)]
        if capped:
            text += " " + words["capped"].format(chips=", ".join(capped))
        return text


def samples_of(measured: Measurement) -> str:
    """How many samples a measurement has, in words."""
    count = len(measured.samples)
    return "one sample" if count == 1 else f"{count} samples"


def promised(rows, training: bool) -> str:
    """How many published benchmarks lie in such intervals, and of small Keras models like this."""
    words = records.load(WORDS, "set of sentences")["forecast"]
    small = step_time.score()["small_keras"]
    steps = [row.step[0] for row in rows if row.terms]
    if training and steps and min(steps) <= small["longest"]:
        return words["small"].format(**small)
    return words["promise"]


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
    device: str | None = None,
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
        NVIDIA's data-centre GPUs from K80 to H100, and Colab's G4; of a TPU only the least time
        is said.
    training : bool, optional
        A training step, or a forward pass alone.
    dtype : str, optional
        "float32", "float16" or "bfloat16", by default what the layers compute in. Float32 is
        multiplied in TF32 where the chip has it, as TensorFlow and JAX do.
    x, y : optional
        Your data, as for ``fit``; without them, made-up numbers of the same shapes are timed.
    samples : int, optional
        In an epoch; by default as many as x has.
    seconds, device, clock : optional
        For timing the training here, if the model is compiled (0: not at all); on which device (by
        default the accelerator, where there is one), and by what.

    Returns
    -------
    Forecast
        `rows`, one for each chip, with its three `terms` in seconds, the `largest` and `memory`;
        `step(row)`: seconds, low, high; `faster(row)`, or None with fewer than five timings here;
        `ceiling`. It prints as a table.

    Raises
    ------
    TypeError, ValueError
        If a layer cannot be counted, a chip is unknown, or the model is not built.

    Notes
    -----
    The constants come from published benchmarks; docs/forecast.md shows how far off they are on
    others. The interval holds 8 of 10 of these, which is no probability for your model: of Keras's
    own small examples it held 4 of 22. Frozen layers count as such.

    Examples
    --------
    >>> import keras
    >>> def make_model():
    ...     model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
    ...     model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    ...     return model
    >>> found = forecast(make_model(), batch_size=32, chips=("T4",), seconds=0)
    >>> [*found.parts("T4")]
    ['compute', 'memory', 'overhead']
    """
    rows, notes = expected(model, batch_size, chips, training, dtype)
    steps = samples and ceil(whole(samples, "samples") / batch_size)
    found = Forecast(model.name, batch_size, training, dtype_of(model, dtype), rows, notes, steps)
    if not (positive(seconds, "seconds", zero=True) and training and model.compiled):
        return found
    given = _made_up(model, batch_size) if x is None else (x, y)
    of_x, here, host = _measured(model, *given, batch_size, seconds, device, clock)
    return replace(found, steps=steps or (None if x is None else of_x), here=here, host=host)


def expected(model, batch_size, chips=CHIPS, training=True, dtype=None):
    """The rows of a forecast, with nothing measured, and notes."""
    load, counted = load_of(model, batch_size)
    chips = (chips,) if isinstance(chips, str) else chips
    kind, notes = dtype_of(model, dtype), counted.notes
    rows = tuple(step_time.on_chip(load, name, kind, training) for name in chips)
    if any(row.kind in LOOPS for row in counted.rows):
        notes += (records.load(WORDS, "set of sentences")["forecast"]["loops"],)
    return rows, notes


def load_of(model, batch_size):
    """What a forecast needs of a model, and the count that it comes from."""
    import keras

    if not isinstance(model, keras.Model):
        raise TypeError(f"model must be a keras.Model; got {shown(model)}.")
    counted = work.count_step(model, batch_size, training=False)
    optimizer = getattr(model, "optimizer", None)
    if getattr(optimizer, "built", False):
        kept = optimizer.variables
    else:
        kept = 2 * model.trainable_variables  # as Adam keeps
    load = _load(counted.rows)._replace(kept=sum(prod(variable.shape) for variable in kept))
    if any(row.frozen for row in counted.rows):
        no_way_back = [row for row in counted.rows if not (row.learns or row.passes_back)]
        frozen = [row for row in counted.rows if row.frozen and row.passes_back]
        load = load._replace(no_way_back=_load(no_way_back), frozen=_load(frozen))
    return load, counted


def _load(rows) -> step_time.Load:
    """What some layers do in a forward pass."""
    return step_time.Load(
        sum(row.product_flops + row.padding_flops for row in rows),  # as published counts have it
        sum(row.made for row in rows),
        sum(row.parameters for row in rows),
        sum(row.operations for row in rows),
    )


def dtype_of(model, dtype=None) -> str:
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


def _measured(model, x, y, batch_size, seconds, device, clock):
    """Steps of an epoch; seconds of a step here, and around a model that computes nothing."""
    end, device = clock() + seconds, device or backend.devices()[-1]
    with lent(model) as place:
        turns = Turns(model, x, y, batch_size, place, seconds / 30)
        if batch_size != turns.batch_size and not turns.rebatch:
            raise ValueError(
                f"batch_size must be {turns.batch_size}, the size of the batches that your "
                f"{type(x).__name__} makes; got {batch_size}."
            )
        group, xla = model.steps_per_execution, bool(model.jit_compile)
        now = Way(device, batch_size, group, xla)
        took = {way: [] for way in (now, now._replace(kind="nothing"))}
        for way in took:
            turns(way)  # compiles

        compiled = clock()

        def more() -> bool:
            """Until the time is up; for five samples, which an interval needs, a while longer."""
            few = len(took[now]) < FEW_SAMPLES
            return clock() < end or (few and clock() < compiled + max(seconds, WHILE))

        while not took[now] or more():
            for way, samples in took.items():
                samples.append(turns(way) / turns.steps(way))
        return turns.steps(now), *map(Measurement.from_samples, took.values())
