"""Is an accelerator worth it for this model? Measured in turns, in a box of so many seconds."""

import importlib.util
import math
from collections.abc import Callable
from dataclasses import replace

from accel_helpers._values.records import positive, whole
from accel_helpers.machine import backend
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement
from accel_helpers.worth.break_even import NOT_WORTH_IT, WORTH_IT, Plan, break_even
from accel_helpers.worth.forecast_result import Forecast, promised
from accel_helpers.worth.fresh_models import FreshModels, cannot_be_measured
from accel_helpers.worth.model_load import dtype_of, expected_rows
from accel_helpers.worth.race import NOW, OTHER, Race
from accel_helpers.worth.time_box import TimeBox
from accel_helpers.worth.training_data import ARRAYS, SEQUENCE, TrainingData, training_data
from accel_helpers.worth.turns import NOTHING, RESIDENT, Turns, Variant
from accel_helpers.worth.verdict import CANNOT_BE_TOLD, NO_GPU_CAN_PAY, TOO_CLOSE, Worth

# Chips for a forecast where there is no accelerator, the cheapest first. The first on which the
# model has room is taken.
CHIPS = ("T4", "L4", "A100")
BATCH_FACTOR = 8  # a change that is tried: batches so many times as large
GROUPED_STEPS = 16  # a change that is tried: so many steps per execution
TURN_SECONDS = 0.25  # of a turn, unless that is more than one of `TURNS_IN_A_BOX` parts of the time
TURNS_IN_A_BOX = 120


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
        Five is our guess for a notebook with small data; put in your own.

    Returns
    -------
    Worth
        Its `verdict` is one of `Worth.OUTCOMES`; it prints as a few sentences.

    Raises
    ------
    TypeError, ValueError
        If `make_model` does not return a new model, compiled and built, on one device; if x and y
        are no data for ``fit``; if a number is not as above.

    Notes
    -----
    Without an accelerator, the same ``fit`` is timed around a model that computes nothing: what is
    left, feeding and Python, a GPU would wait for as well. That gives the ceiling: how many times
    as long an epoch takes as that. No forecast is above it.
    Each change is tried on a fresh model. They take turns, so memory must have room for all of
    them, up to six, each with its optimizer's state.

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
    box = TimeBox(positive(seconds, "seconds"))
    setup_minutes = positive(setup_minutes, "setup_minutes", zero=True)
    epochs = whole(epochs, "epochs")
    batch_size = whole(batch_size, "batch_size")
    models = FreshModels(make_model)
    _check_measurable(models.first)
    data = training_data(x, y, batch_size)
    turn_seconds = min(TURN_SECONDS, seconds / TURNS_IN_A_BOX)

    # the CPU stands first; an accelerator, if there is one, last
    devices = backend.devices()
    on_accelerator = len(devices) > 1
    now = Variant(
        device=devices[-1],
        batch_size=data.batch_size,
        steps_per_execution=models.first.steps_per_execution,
        jit_compile=bool(models.first.jit_compile),
    )
    race = Race(Turns(models, data, turn_seconds), box, on_accelerator)
    race.enter(NOW, now)
    race.enter(OTHER, _other_variant(now, on_accelerator))
    for name, change in _changes(now, data).items():
        race.try_change(name, change)
    race.fill_the_box()

    worth = _verdict(race, epochs, setup_minutes)
    is_too_short = worth.factor.interval[0] == 0
    if on_accelerator or is_too_short:
        return worth
    return _with_forecast(worth, models.first, data)


def _check_measurable(model) -> None:
    """Raise ValueError if a model has no weights yet, or has several replicas."""
    import keras

    if not model.built or not model.weights:
        raise ValueError(cannot_be_measured("has no weights yet: call it once, as in model(x[:1])"))
    strategy = getattr(model, "distribute_strategy", None)
    replicas = getattr(strategy, "num_replicas_in_sync", 1)
    if replicas > 1 or keras.distribution.distribution():
        raise ValueError(
            cannot_be_measured("has several replicas: make it outside the strategy's scope")
        )


def _other_variant(now: Variant, on_accelerator: bool) -> Variant:
    """Return the variant that the training as it is now is compared with in any case.

    On an accelerator it is the same training on the CPU; else a model that computes nothing.
    """
    if not on_accelerator:
        return replace(now, method=NOTHING)
    # on TensorFlow, Keras does not choose XLA for a model on a machine without a GPU
    jit_compile = now.jit_compile and backend.framework() == "jax"
    return replace(now, device="cpu", jit_compile=jit_compile)


def _changes(now: Variant, data: TrainingData) -> dict[str, Variant | str]:
    """Return the changes that may help, by name, the one that costs the least to try first.

    A change is a variant to train, or a text with the reason for which it is not tried:
    {"batch_size=256": Variant(…), "jit_compile=True": "you have it", …}
    """
    changes: dict[str, Variant | str] = {}
    batch_size = BATCH_FACTOR * now.batch_size
    changes[f"batch_size={batch_size}"] = _larger_batches(now, data, batch_size)
    changes[f"steps_per_execution={GROUPED_STEPS}"] = _grouped_steps(now, data)
    if now.jit_compile:
        changes["jit_compile=True"] = "you have it"
    else:
        changes["jit_compile=True"] = replace(now, jit_compile=True)
    if data.form == ARRAYS:
        changes["fit_resident"] = replace(now, method=RESIDENT)
    else:
        changes["fit_resident"] = "it takes arrays"
    return changes


def _larger_batches(now: Variant, data: TrainingData, batch_size: int) -> Variant | str:
    """Return the training as it is now with another batch size, or why that is not tried."""
    steps = data.steps(now.batch_size)
    if data.form == SEQUENCE:
        return "your set makes its own batches"
    if steps < 4 * BATCH_FACTOR:
        return f"an epoch has only {steps} steps"
    return replace(now, batch_size=batch_size)


def _grouped_steps(now: Variant, data: TrainingData) -> Variant | str:
    """Return the training as it is now with 16 steps per execution, or why that is not tried."""
    steps = data.steps(now.batch_size)
    if now.steps_per_execution >= GROUPED_STEPS:
        return "you have it"
    if not backend.groups_steps():
        return "on JAX, Keras before 3.16 takes the steps one by one all the same"
    if steps < 4 * GROUPED_STEPS:
        return f"an epoch has only {steps} steps"
    return replace(now, steps_per_execution=GROUPED_STEPS)


def _verdict(race: Race, epochs: int, setup_minutes: float) -> Worth:
    """Return the verdict that the measurements of a race allow, without a forecast."""
    tried = race.gains()
    factor = race.speedup(OTHER)
    # the factor is the CPU's time over the accelerator's, or this CPU's over that of feeding it
    epoch = factor.fast if race.on_accelerator else factor.slow
    if len(epoch.samples) < FEW_SAMPLES:
        # so few timings make no interval: the factor may be anything
        factor = replace(factor, interval=(0.0, math.inf))
    least_factor, largest_factor = factor.interval
    early = _minutes_until_it_pays(largest_factor, setup_minutes)
    late = _minutes_until_it_pays(least_factor, setup_minutes)
    shortest, longest = (epochs * seconds / 60 for seconds in factor.slow.interval)
    if not race.on_accelerator:
        # a ceiling says only that no chip is faster than that, and never that one pays
        late = math.inf
        verdict = NO_GPU_CAN_PAY if longest < early else CANNOT_BE_TOLD
    elif shortest > late:
        verdict = WORTH_IT
    elif longest < early:
        verdict = NOT_WORTH_IT
    else:
        verdict = TOO_CLOSE
    return Worth(
        verdict,
        epoch,
        epochs,
        factor,
        setup_minutes,
        break_even=(early, late),
        tried=tried,
        not_tried=race.not_tried,
        other_backend=_other_backend(),
    )


def _minutes_until_it_pays(factor: float, setup_minutes: float) -> float:
    """Return the minutes of a training on the CPU that another chip ends at the same time.

    The chip is `factor` times as fast, after `setup_minutes`. Where it is no faster: inf.
    """
    if factor <= 1:
        return math.inf
    return setup_minutes / (1 - 1 / factor)


def _other_backend() -> str:
    """Return the framework that Keras could run on here instead: "jax", "tensorflow" or ""."""
    alternatives = {"tensorflow": "jax", "jax": "tensorflow"}
    alternative = alternatives.get(backend.framework(), "")
    if alternative and importlib.util.find_spec(alternative):
        return alternative
    return ""


def _with_forecast(worth: Worth, model, data: TrainingData) -> Worth:
    """Return a verdict with the forecast of a chip added, which also decides what it says.

    Where the model's work cannot be counted there is no forecast, and `worth` is returned as it is.
    It must have been measured without an accelerator, and have an interval.
    """
    try:
        rows, notes = expected_rows(model, data.batch_size, CHIPS)
    except (TypeError, ValueError):
        return worth
    # the first chip that has room is the cheapest one
    with_room = [row for row in rows if row.memory != "does not fit"]
    row = with_room[0] if with_room else rows[-1]
    steps = data.steps(data.batch_size)
    forecast = Forecast(
        model.name,
        data.batch_size,
        dtype_of(model),
        (row,),
        notes,
        steps,
        here=_measurement_of_step(worth.factor.slow, steps),
        host=_measurement_of_step(worth.factor.fast, steps),
    )
    _, low, high = forecast.step(row)
    cpu = Plan("this CPU", worth.epoch.interval)
    chip = Plan(row.chip, (steps * low, steps * high), worth.setup_minutes)
    crossing = break_even(cpu, chip, worth.epochs)
    return replace(
        worth,
        verdict=crossing.verdict,
        break_even=crossing.minutes,
        chip=row.chip,
        expected=forecast.faster(row) or worth.expected,
        notes=notes,
        score=promised((row,)),
    )


def _measurement_of_step(epoch: Measurement, steps: int) -> Measurement:
    """Return the seconds of a step, by those of an epoch of so many steps."""
    seconds = [sample / steps for sample in epoch.samples]
    return Measurement.from_samples(seconds)
