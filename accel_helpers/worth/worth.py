"""Is an accelerator worth it for this model? Measured in turns, in a box of so many seconds."""

import importlib.util
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from accel_helpers._values import records
from accel_helpers._values.records import positive, whole
from accel_helpers._values.words import format_duration, shown, spanned, times, wrapped
from accel_helpers.machine import backend
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import FASTER, FEW_SAMPLES, SAME, Measurement, Speedup
from accel_helpers.worth import forecast as forecasts
from accel_helpers.worth.break_even import WORDS, Plan, break_even
from accel_helpers.worth.forecast import Forecast, forecast, promised
from accel_helpers.worth.lent import Turns, Way, lent

__all__ = ["Plan", "break_even", "forecast", "it"]

#: The verdicts: the third with an accelerator, the fourth by forecast, the others without one.
LABELS = (
    *("worth it", "not worth it", "too close to call"),
    *("the interval holds both", "no GPU can pay", "cannot be told here"),
)
CHIPS = ("T4", "L4", "A100")  # forecast where no accelerator is: the first that has room
BIGGER, GROUP = 8, 16  # times the batch; steps per execution
LEAST, MOST = FEW_SAMPLES, 25  # rounds
FEEDING = 5  # a ceiling below this: feeding and Python are much, and frameworks differ in it
TURN, PARTS = 0.25, 120  # seconds of a turn; in a small box, one of so many parts of it
LATE = "the time was up"


@dataclass(frozen=True)
class Worth:
    """What `it` found; it prints as a few sentences."""

    OUTCOMES: ClassVar = LABELS  # of its `verdict`

    verdict: str  # one of `LABELS`
    epoch: Measurement  # seconds per epoch as you train now; its name is the device
    epochs: int
    factor: Speedup  # of CPU over accelerator; without one, of an epoch over what no chip takes
    setup_minutes: float
    break_even: tuple[float, float]  # minutes of training on the CPU: one can pay, surely pays
    tried: dict[str, Speedup]  # seconds per epoch as you train now over those of the change
    not_tried: dict[str, str]  # and why not
    chip: str = ""  # of which a forecast was made
    expected: tuple[float, float] = (0.0, math.inf)  # times as fast there
    notes: tuple[str, ...] = ()  # on that forecast
    score: str = ""  # of such forecasts, a sentence
    other_backend: str = ""  # that Keras could run on here, too

    @property
    def advice(self) -> str:
        """The change with the largest gain that is sure, or ""."""
        sure = {name: gain for name, gain in self.tried.items() if gain.verdict == FASTER}
        return max(sure, key=lambda name: sure[name].interval[0], default="")

    def __str__(self) -> str:
        words = records.load(WORDS, "set of sentences")
        best, low, high = self.advice, *map(format_duration, self.epoch.interval)
        early, late = (format_duration(60 * minutes) for minutes in self.break_even)
        begins = f"at {spanned(early, late)} of training on the CPU"
        if self.break_even[1] == math.inf:
            begins = f"at {early} of training on the CPU at the earliest, and perhaps never"
        others = [f"{name}: {_gain(gain)}" for name, gain in self.tried.items() if name != best]
        fields = {
            "device": self.epoch.name.upper(),
            "there": self.chip or self.epoch.name.upper(),
            "least": times(self.expected[0]),
            "soonest": times(self.expected[1]),
            "total": "about " + format_duration(self.epochs * self.factor.slow.median),
            "epochs": f"{self.epochs} of them" if self.epochs > 1 else "one",
            **{"early": early, "late": late, "begins": begins, "best": best},
            "span": spanned(low, high),
            "epoch": format_duration(self.epoch.median),
            "rest": format_duration(self.factor.fast.median),
            "middle": times(math.prod(self.factor.interval) ** 0.5),
            "most": times(self.factor.interval[1]),
            "factor": _gain(self.factor),
            "setup": f"{self.setup_minutes:g}",
            "score": self.score,
            "other_backend": self.other_backend,
            "gain": _gain(self.tried[best]) if best else "",
            "tried": "; ".join(others),
            "not_tried": "; ".join(f"{name} ({why})" for name, why in self.not_tried.items()),
        }
        texts = [words[line].format(**fields) for line in self._lines(words, best, fields)]
        at = len(texts) if not self.chip else 3  # a forecast's notes stand below it
        texts[at:at] = self.notes
        return "\n".join(wrapped(text, indent=2) for text in texts)

    def _lines(self, words, best: str, fields) -> list[str]:
        """The names of the sentences that are said, in their order."""
        alone = self.epoch.name == "cpu"  # no accelerator is here
        low, _ = self.factor.interval
        lines = [self.verdict, "epoch"]
        if self.chip:
            lines.append("expected")
        if not low:
            lines.append("few")
        elif alone:
            lines.append("ceiling")
        else:
            lines.append("measured" if self.factor.conclusive else "tie")
        if self.chip and self.expected[1] >= 0.999 * self.factor.interval[1]:
            lines.append("capped")
        if self.break_even[0] == math.inf:
            lines = [f"{line}, ever" if f"{line}, ever" in words else line for line in lines]
        lines.append(f"do: {self.verdict}")
        if self.chip:
            lines = [f"{x}, by forecast" if f"{x}, by forecast" in words else x for x in lines]
        # where the set-up alone takes longer, no forecast is needed to say no
        longest_training = self.epochs * self.epoch.interval[1] / 60
        if longest_training < self.setup_minutes:
            lines[0] = self.verdict
        if best:
            lines.append("next")
        elif self.tried:
            lines.append("nothing")
        if best.startswith("batch"):
            lines.append("bigger")
        if alone and self.other_backend and 0 < low < FEEDING:
            lines.append("backend")
        return lines + [name for name in ("tried", "not_tried") if fields[name]]


def it(
    model,
    x,
    y=None,
    batch_size: int = 32,
    epochs: int = 5,
    seconds: float = 60.0,
    *,
    setup_minutes: float = 5.0,
    devices: tuple[str, ...] | None = None,
    runner: Callable | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Worth:
    """Say whether a GPU or TPU pays for this model, and what to try first.

    Parameters
    ----------
    model : keras.Model
        Compiled and built. Weights, optimizer, metrics, dice and settings stay as they are.
    x, y
        As for ``fit``: arrays, a ``tf.data.Dataset`` or a ``keras.utils.PyDataset``.
    batch_size, epochs : int, optional
        Of your training. Parts of it are timed and multiplied; validation is not counted.
    seconds : float, optional
        For everything. A step or a compilation that has begun is waited for.
    setup_minutes : float, optional
        What another machine costs you first: changing the runtime, installing, uploading,
        compiling. Five is our guess for a notebook with small data; put in your own.
    devices, runner, clock : optional
        For tests: the kinds of device, what takes each turn, the time.

    Notes
    -----
    Without an accelerator, the same ``fit`` is timed around a model that computes nothing: what is
    left, feeding and Python, a GPU would wait for as well. That gives the ceiling: how many times
    as long an epoch takes as that. No forecast is above it.
    A set that shuffles by itself goes on in its order, since nobody can turn that back. Memory must
    have room for a copy of the weights and of the optimizer's state.

    Examples
    --------
    >>> import numpy
    >>> import keras
    >>> def make_model():
    ...     model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
    ...     model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    ...     return model
    >>> x, y = numpy.ones((320, 8), "float32"), numpy.arange(320) % 3
    >>> model = make_model()
    >>> it(model, x, y, seconds=1).verdict in LABELS
    True
    """
    end, kind = clock() + positive(seconds, "seconds"), backend.framework()
    setup_minutes = positive(setup_minutes, "setup_minutes", zero=True)
    epochs, batch_size = whole(epochs, "epochs"), whole(batch_size, "batch_size")
    _check(model)
    accelerator = (devices or backend.devices())[1:]
    names, runs = {"now": (accelerator or ("cpu",))[-1]}, []
    names["other"] = "cpu" if accelerator else "feeding and Python"

    def gain(name: str, **called: str) -> Speedup:
        both = [run for run in runs if name in run]
        took = {each: [t for run in both for t in run[each]] for each in ("now", name)}
        pair = [Measurement.from_samples(t, name=called.get(n, n)) for n, t in took.items()]
        flip = accelerator and name == "other"  # of the CPU over the accelerator
        return timing.compare(*pair[:: -1 if flip else 1], in_turns=True)

    with lent(model) as place:
        turns = Turns(model, x, y, batch_size, place, min(TURN, seconds / PARTS))
        turn = partial(runner, turns) if runner else turns
        device, group, xla = names["now"], model.steps_per_execution, bool(model.jit_compile)
        now = Way(device, turns.batch_size, group, xla)
        other = now._replace(kind="nothing")
        if accelerator:  # where it sees no GPU, Keras does not choose XLA on TensorFlow
            other = now._replace(device="cpu", xla=now.xla and kind == "jax")
        ways, not_tried = {"now": now}, {}
        cost, first = _warm(turn, now, clock, end)
        costs = {"now": cost}
        for name, way in {"other": other, **_changes(now, turns)}.items():
            if name != "other" and clock() + first + 2 * LEAST * cost > end:
                way = LATE if isinstance(way, Way) else way
            if isinstance(way, str):
                not_tried[name] = way
                continue
            try:
                each, _ = _warm(turn, way, clock, end)
            except Exception as error:  # too much memory, what XLA does not know, …
                if name == "other":
                    raise
                not_tried[name] = f"{error}".strip().partition("\n")[0][:100]
                continue
            if name != "other" and clock() + LEAST * (cost + each) > end:
                not_tried[name] = LATE
                continue
            costs[name], ways[name] = each, way
            some = {"now": now, name: way}
            for _ in range(2):  # once more before it is called a tie
                runs.append(_rounds(turn, some, lambda n: n == 0 or n < LEAST and clock() < end))
                if gain(name).conclusive or clock() > end:
                    break
        cost = sum(costs.values())
        runs.append(_rounds(turn, ways, lambda n: n < MOST and clock() + cost < end))
    tried = {name: gain(name) for name in ways if name not in names}
    factor = gain("other", **names)
    epoch = factor.fast if accelerator else factor.slow
    for name in [n for n, of in tried.items() if len(of.fast.samples) < FEW_SAMPLES]:
        tried.pop(name)
        not_tried[name] = LATE
    if len(epoch.samples) < FEW_SAMPLES:
        factor = replace(factor, interval=(0.0, math.inf))
    early, late = (_break_even(each, setup_minutes) for each in reversed(factor.interval))
    least, most = (epochs * each / 60 for each in factor.slow.interval)
    if accelerator:
        verdict = LABELS[0] if least > late else LABELS[1] if most < early else LABELS[2]
    else:  # a ceiling does not say that one pays
        verdict, late = LABELS[4] if most < early else LABELS[5], math.inf
    found = Worth(verdict, epoch, epochs, factor, setup_minutes, (early, late), tried, not_tried)
    found = replace(found, other_backend=_other_backend(kind))
    forecast_too = not accelerator and factor.interval[0]
    return _by_forecast(found, model, turns.batch_size, turns.steps(now)) if forecast_too else found


def _by_forecast(found: Worth, model, batch_size: int, steps: int) -> Worth:
    """The same for a chip that is not here, if the model's work can be counted."""
    try:
        rows, notes = forecasts.expected(model, batch_size, CHIPS)
    except (TypeError, ValueError):
        return found
    row = next((row for row in rows if row.memory != "does not fit"), rows[-1])
    here, host = (
        Measurement.from_samples([seconds / steps for seconds in epoch.samples])
        for epoch in (found.factor.slow, found.factor.fast)
    )
    dtype = forecasts.dtype_of(model)
    look = Forecast(model.name, batch_size, True, dtype, (row,), notes, steps, here, host)
    there = tuple(steps * seconds for seconds in look.step(row)[1:])
    plans = Plan("this CPU", found.epoch.interval), Plan(row.chip, there, found.setup_minutes)
    pays = break_even(*plans, found.epochs)
    return replace(
        found,
        verdict=pays.verdict,
        break_even=pays.minutes,
        chip=row.chip,
        expected=look.faster(row),
        notes=notes,
        score=promised((row,), training=True),
    )


def _other_backend(kind: str) -> str:
    """The framework that Keras could run on here instead, if it is installed, too."""
    other = {"tensorflow": "jax", "jax": "tensorflow"}.get(kind, "")
    return other if other and importlib.util.find_spec(other) else ""


def _break_even(factor: float, setup: float) -> float:
    """How long a training takes on the CPU that takes as long with the set-up and the factor."""
    return setup / (1 - 1 / factor) if factor > 1 else math.inf  # an infinite one: the set-up


def _check(model) -> None:
    import keras

    if not isinstance(model, keras.Model):
        raise TypeError(f"model must be a compiled keras.Model; got {shown(model)}.")
    replicas = getattr(getattr(model, "distribute_strategy", 0), "num_replicas_in_sync", 1)
    why = ""
    if not model.compiled or model.optimizer is None:
        why = "is not compiled: call model.compile(…) first"
    elif not model.built or not model.weights:
        why = "has no weights yet: call it once, as in model(x[:1])"
    elif replicas > 1 or keras.distribution.distribution():
        why = "has several replicas: make it outside the strategy's scope"
    if why:
        raise ValueError(f"worth.it cannot measure this model: it {why}.")


def _changes(now: Way, turns: Turns) -> dict[str, Way | str]:
    """What may help, the cheapest first; or why it is not tried."""
    size, steps = BIGGER * now.batch_size, turns.steps(now)
    few = f"an epoch has only {steps} steps"
    bigger = now._replace(batch_size=size) if steps >= 4 * BIGGER else few
    if not turns.arrays and not turns.rebatch:
        bigger = "your set makes its own batches"
    group = now._replace(group=GROUP) if steps >= 4 * GROUP else few
    if now.group >= GROUP:
        group = "you have it"
    elif not backend.groups_steps():
        group = "on JAX, Keras before 3.16 takes the steps one by one all the same"
    return {
        f"batch_size={size}": bigger,
        f"steps_per_execution={GROUP}": group,
        "jit_compile=True": "you have it" if now.xla else now._replace(xla=True),
        "fit_resident": now._replace(kind="resident") if turns.arrays else "it takes arrays",
    }


def _warm(turn: Callable, way: Way, clock: Callable, end: float) -> tuple[float, float]:
    """What a turn costs, and what the first one did, which also compiled."""
    start = clock()
    turn(way)
    between = clock()
    if between < end:
        turn(way)
    return clock() - between, between - start


def _rounds(turn: Callable, ways: dict, more: Callable[[int], bool]) -> dict[str, list[float]]:
    """Turns of all, there and back, so that a machine that changes favours none."""
    took: dict[str, list[float]] = {name: [] for name in ways}
    while more(len(took["now"])):
        for name in list(ways)[:: -1 if len(took["now"]) % 2 else 1]:
            took[name].append(turn(ways[name]))
    return took


def _gain(found: Speedup) -> str:
    if not found.conclusive:
        return SAME
    low, high = found.interval
    return f"{times(found.ratio)} times as fast ({times(low)} to {times(high)})"
