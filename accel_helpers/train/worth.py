"""Is an accelerator worth it for this model? Measured in turns, in a box of so many seconds."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from accel_helpers._records import positive, whole
from accel_helpers._words import format_range, format_seconds, shown, wrapped
from accel_helpers.machine import backend
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import FASTER, SAME, Measurement, Speedup
from accel_helpers.train import training
from accel_helpers.train.lent import Data, Turns, Way, lent

__all__ = ["it"]

#: The verdicts: the first three with an accelerator, the last two without one.
LABELS = ("worth it", "not worth it", "too close to call", "no GPU can pay", "cannot be told here")
BIGGER, GROUP = 8, 16  # times the batch; steps per execution
LEAST, MOST = 6, 30  # rounds: with fewer an interval is very wide, more are not needed
PARTS = 200  # of the box: a turn times about one
LATE = "the time was up"


@dataclass(frozen=True)
class Worth:
    """What `it` found; it prints as a few sentences."""

    verdict: str  # one of `LABELS`
    epoch: Measurement  # seconds per epoch as you train now; its name is the device
    epochs: int
    factor: Speedup  # of CPU over accelerator; without one, of the epoch over what no chip takes
    setup_minutes: float
    break_even: tuple[float, float]  # minutes of training on the CPU from which on one pays
    tried: dict[str, Speedup]  # as you train now over what was tried, for each example
    not_tried: dict[str, str]  # and why not
    note: str = ""

    @property
    def advice(self) -> str:
        """What to try next: the change with the largest gain that is sure, or ""."""
        sure = {name: gain for name, gain in self.tried.items() if gain.verdict == FASTER}
        return max(sure, key=lambda name: sure[name].interval[0], default="")

    def __str__(self) -> str:
        return "\n".join(wrapped(line, indent=2) for line in _sentences(self))


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
        Of your training. It is not trained to its end: a part is timed, and multiplied.
    seconds : float, optional
        For everything. A step or a compilation that has begun is waited for.
    setup_minutes : float, optional
        What another machine costs you before it trains: changing the runtime, installing,
        uploading, compiling. Five is our guess for a notebook with small data; put in yours.
    devices, runner, clock : optional
        For tests: the kinds of device, what takes a turn in the place of ours, the time.

    Raises
    ------
    TypeError, ValueError, MemoryError
        With a sentence on what was given, what is accepted, and what to do.

    Notes
    -----
    Without an accelerator the same ``fit`` is timed around a model that computes nothing. Feeding
    and Python are left, which a GPU in this machine would wait for, too: that gives the ceiling.
    A set that shuffles by itself goes on in its order, since nobody can turn that back.

    Examples
    --------
    >>> _, images = backend.choose(), training.load_images(320, source="bundled")
    >>> found = it(training.quickstart_model(), images.x_train, images.y_train, seconds=1)
    >>> found.verdict in LABELS
    True
    """
    started, seconds = clock(), positive(seconds, "seconds")
    setup_minutes = positive(setup_minutes, "setup_minutes", zero=True)
    epochs, batch_size = whole(epochs, "epochs"), whole(batch_size, "batch_size")
    _check(model)
    seconds = min(seconds, 3.0) if training.fast() else seconds
    data = Data(x, y, batch_size)
    accelerator = (devices or backend.devices())[1:]
    with lent(model) as place:
        turns = turn = Turns(model, data, place, seconds / PARTS)
        turn = partial(runner, turns) if runner else turns
        device, group = (accelerator or ("cpu",))[-1], model.steps_per_execution
        now = Way(device, data.batch_size, group, bool(model.jit_compile))
        other = replace(now, device="cpu", kind="nothing")
        if accelerator:  # where Keras sees no GPU it does not choose XLA on TensorFlow
            other = replace(now, device="cpu", xla=now.xla and backend.framework() == "jax")
        ways = {"now": now, "other": other}
        costs = {name: _warm(turn, way, clock) for name, way in ways.items()}
        not_tried, end = {}, started + seconds
        for name, way in _changes(now, data).items():
            often = LEAST * (sum(cost for cost, _ in costs.values()) + costs["now"][0])
            if isinstance(way, str):
                not_tried[name] = way
            elif clock() + often + 2 * costs["now"][1] > end:
                not_tried[name] = LATE
            else:
                try:
                    costs[name], ways[name] = _warm(turn, way, clock), way
                except Exception as error:
                    not_tried[name] = f"{error}".strip().partition("\n")[0][:120]
        took = _rounds(turn, ways, sum(cost for cost, _ in costs.values()), end, clock)
    slow, fast = ("other", "now") if accelerator else ("now", "other")
    names = {"now": now.device, "other": "cpu" if accelerator else "feeding and Python"}
    took = {
        name: Measurement.from_samples(each, name=names.get(name, name))
        for name, each in took.items()
    }
    factor = timing.compare(took[slow], took[fast], in_turns=True)
    pays = tuple(_break_even(each, setup_minutes) for each in reversed(factor.interval))
    pays = pays if accelerator else (pays[0], math.inf)
    tried = {
        name: timing.compare(took["now"], each, in_turns=True)
        for name, each in took.items()
        if name not in names
    }
    verdict = _verdict(
        bool(accelerator), [epochs * each / 60 for each in took[slow].interval], pays
    )
    note = "A part of it was timed, and multiplied." if turns.whole is False else ""
    return Worth(verdict, took["now"], epochs, factor, setup_minutes, pays, tried, not_tried, note)


def _check(model) -> None:
    import keras

    if not isinstance(model, keras.Model):
        hint = " Call it, and give what it returns." if callable(model) else ""
        raise TypeError(f"model must be a compiled keras.Model; got {shown(model)}.{hint}")
    why, replicas = "", getattr(getattr(model, "distribute_strategy", 0), "num_replicas_in_sync", 1)
    if not model.compiled or model.optimizer is None:
        why = "is not compiled: call model.compile(…) first"
    elif not model.built or not model.weights:
        why = "has no weights yet: call it on a batch first, model(x[:1])"
    elif backend.framework() not in ("tensorflow", "jax"):
        why = f"runs on {backend.framework()}, and TensorFlow and JAX are known here"
    elif replicas > 1 or keras.distribution.distribution():
        why = "has several replicas: make it outside the strategy's scope"
    if why:
        raise ValueError(f"worth.it cannot measure this model: it {why}.")


def _changes(now: Way, data: Data) -> dict[str, Way | str]:
    """What may help, the cheapest first; or why it is not tried."""
    size, steps = BIGGER * now.batch_size, data.steps(now.batch_size)
    found: dict[str, Way | str] = {f"batch_size={size}": replace(now, batch_size=size)}
    if not data.arrays and not data.rebatch:
        found[f"batch_size={size}"] = "your set makes its own batches"
    elif steps < 4 * BIGGER:
        found[f"batch_size={size}"] = f"an epoch has only {steps} steps"
    if backend.framework() == "tensorflow":
        few = steps < 4 * GROUP
        said = f"an epoch has only {steps} steps" if few else replace(now, group=GROUP)
        found[f"steps_per_execution={GROUP}"] = said if now.group < GROUP else "you have as many"
        found["jit_compile=True"] = "you have it" if now.xla else replace(now, xla=True)
    else:
        found["steps_per_execution"] = "on JAX, Keras takes the steps one by one all the same"
        found["jit_compile=True"] = "on JAX it is how Keras works"
    resident = replace(now, kind="resident")
    found["fit_resident"] = resident if data.arrays else "it takes arrays"
    return found


def _warm(turn: Callable, way: Way, clock: Callable) -> tuple[float, float]:
    """What a turn costs, and the first one, which compiles."""
    start = clock()
    turn(way)
    between = clock()
    turn(way)
    return clock() - between, between - start


def _rounds(turn, ways, cost, end, clock) -> dict[str, list[float]]:
    """Turns of all, there and back, so that a machine that changes favours none."""
    took: dict[str, list[float]] = {name: [] for name in ways}
    rounds = 0
    while not rounds or rounds < MOST and clock() + cost <= end:
        for name in list(ways)[:: -1 if rounds % 2 else 1]:
            took[name].append(turn(ways[name]))
        rounds += 1
    return took


def _break_even(factor: float, setup_minutes: float) -> float:
    """Minutes of training from which on the set-up is saved."""
    return setup_minutes * factor / (factor - 1) if factor > 1 else math.inf


def _verdict(accelerator: bool, minutes, pays) -> str:
    if not accelerator:
        return LABELS[3] if minutes[1] < pays[0] else LABELS[4]
    if minutes[0] > pays[1]:
        return LABELS[0]
    return LABELS[1] if minutes[1] < pays[0] else LABELS[2]


def _time(seconds: float) -> str:
    if seconds < 120:
        return format_seconds(seconds)
    return f"{seconds / 60:.2g} minutes" if seconds < 7200 else f"{seconds / 3600:.2g} hours"


def _factor(found: Speedup) -> str:
    low, high = found.interval
    if not found.conclusive:
        return SAME
    return f"{found.ratio:.2g} times as fast ({low:.2g} to {high:.2g})"


_SAID = {
    "worth it": "Worth it: on the CPU this training takes {total}, and from {late} on it pays.",
    "not worth it": "Not worth it: on the CPU this training takes {total} and no set-up.",
    "too close to call": "Too close to call: it may pay, or not. Choose what is less trouble.",
    "no GPU can pay": "No GPU can pay for this training: {epochs} take {total} here, and below "
    "{early} none can.",
    "cannot be told here": "Whether a GPU pays cannot be told here: below {early} none can, and "
    "{epochs} take {total}.",
}
_DO = {
    "worth it": "Train on this {device}.",
    "not worth it": "Train on a CPU.",
    "too close to call": "Train longer, or more often, and the {device} pays.",
    "no GPU can pay": "Stay on the CPU.",
    "cannot be told here": "Measure on a T4: open a GPU runtime and run this cell again.",
}


def _sentences(it: Worth):
    """Yield what a friend would say."""
    slow, (early, late) = it.factor.slow, (_time(60 * each) for each in it.break_even)
    many = f"{it.epochs} epoch{'s' if it.epochs > 1 else ''}"
    words = {"total": "about " + _time(it.epochs * slow.median), "early": early, "late": late}
    words |= {"epochs": many, "device": it.epoch.name.upper()}
    yield _SAID[it.verdict].format(**words)
    yield f"An epoch takes {format_seconds(it.epoch.median)} on this {words['device']} " + (
        f"({format_range(*it.epoch.interval)}). {it.note}"
    )
    if it.epoch.name == "cpu":
        low, high = it.factor.interval
        yield (
            f"Feeding and Python take {format_seconds(it.factor.fast.median)} of it, and no chip "
            f"takes those over. As you train now, the best GPU beside this CPU makes it at most "
            f"{high:.2g} times as fast."
        )
    else:
        yield f"Compared with the CPU, measured in turns: {_factor(it.factor)}."
    yield f"That counts {it.setup_minutes:g} minutes to get going elsewhere (setup_minutes)."
    best, do = it.advice, _DO[it.verdict].format(**words)
    if best:
        do += f" Try {best} next: {_factor(it.tried[best])}."
        if best.startswith("batch"):
            do += " Larger batches change the training, so watch the accuracy."
    yield f"So what should I do? {do}"
    others = [f"{name}: {_factor(gain)}" for name, gain in it.tried.items() if name != best]
    if others:
        yield f"Tried as well: {'; '.join(others)}."
    if it.not_tried:
        yield f"Not tried: {'; '.join(f'{k} ({why})' for k, why in it.not_tried.items())}."
