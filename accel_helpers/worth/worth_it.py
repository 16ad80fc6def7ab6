"""Is an accelerator worth it for this model? What `profile_fit` measures, and a chip beside it."""

import math
from collections.abc import Callable
from dataclasses import replace

from accel_helpers._values.records import positive, whole
from accel_helpers.fit.apart import Apart
from accel_helpers.fit.checked import checked, replicas
from accel_helpers.fit.clock import TimeBox, Timed
from accel_helpers.fit.parts import Parts
from accel_helpers.fit.profile import compared, profile_of
from accel_helpers.fit.profile_result import Profile
from accel_helpers.fit.training import ARRAYS, Training, form_of, samples_in
from accel_helpers.machine import backend
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement, Speedup
from accel_helpers.worth.break_even import NOT_WORTH_IT, WORTH_IT, Plan
from accel_helpers.worth.choice import choices
from accel_helpers.worth.forecast_result import Forecast, promises
from accel_helpers.worth.model_load import dtype_of, expected_rows
from accel_helpers.worth.verdict import CANNOT_BE_TOLD, TOO_CLOSE, Worth

# Chips for a forecast where there is no accelerator, the cheapest first.
CHIPS = ("T4", "L4", "A100")


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
    make_model : callable or keras.Model
        Without arguments; it returns the model, compiled. A model is copied.
    x, y
        As for ``fit``; in place of a generator the function that makes it.
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
        Its `verdict` is one of `Worth.OUTCOMES`, its `profile` says where an epoch goes, and its
        `choice` has a row for each chip; it prints as a few sentences, and `details` has the rest.

    Raises
    ------
    TypeError, ValueError
        If `make_model` does not return a new model, compiled and built, on one device; if x and y
        are no data for ``fit``; if a number is not as above.

    Notes
    -----
    It measures what `profile_fit` does, and tries the same changes. Without an accelerator, the
    epoch around a model that computes nothing is the ceiling: what is left then, feeding and
    Python, a GPU would wait for as well. No forecast is above it.

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
    setup_minutes = positive(setup_minutes, "setup_minutes", zero=True)
    epochs = whole(epochs, "epochs")
    batch_size = whole(batch_size, "batch_size")
    box = TimeBox(positive(seconds, "seconds"))
    arguments = {"epochs": epochs}
    if form_of(x) == ARRAYS:
        arguments["batch_size"] = batch_size
    call = checked(make_model, x, y, arguments)
    with Apart(call, box) as apart:
        model = apart.as_it_is.model
        _check_measurable(model)
        # an interval of the factor needs five
        parts = apart.measure(patience=1.0)
        factor = _factor(apart, parts, box)
        profile = profile_of(apart, parts)
    batch_size = samples_in(apart.batches[0])
    return worth_of(profile, factor, model, batch_size, epochs, setup_minutes)


def worth_of(
    profile: Profile,
    factor: Speedup,
    model,
    batch_size: int,
    epochs: int,
    setup_minutes: float,
) -> Worth:
    """Return the verdict that measurements allow, with a forecast where there is no accelerator.

    The `factor` is the CPU's time over the accelerator's; or, where its fast side is called
    otherwise, this CPU's over that of feeding it.
    """
    worth = _measured_verdict(profile, factor, epochs, setup_minutes)
    if not worth.is_alone:
        return worth
    return _with_forecast(worth, model, batch_size)


def _check_measurable(model) -> None:
    """Raise ValueError if a model has several replicas."""
    if replicas(model) > 1:
        raise ValueError(
            "The model of make_model cannot be measured: it has several replicas: make it outside "
            "the strategy's scope."
        )


def _factor(apart: Apart, parts: Parts, box: TimeBox) -> Speedup:
    """Return how many times as long an epoch takes on the CPU as on the accelerator, in turns.

    Without an accelerator, as what is left of it around a model that computes nothing.
    """
    devices = backend.devices()
    device = devices[-1]
    if device == "cpu":
        now = Measurement.from_samples(parts.wholes, name=device)
        idle = Measurement.from_samples(apart.idle_epochs, name="feeding and Python")
        return timing.compare(now, idle, in_turns=True)
    on_cpu = Timed(_on_cpu(apart.training), apart.turn_seconds)
    on_cpu.warm_up(box.seconds / 8)
    return compared(on_cpu, apart.as_it_is, box, names=("cpu", device))


def _on_cpu(call: Training) -> Training:
    """Return the same training on the CPU."""

    def make_model():
        model = call.make_model()
        if backend.framework() == "tensorflow":
            # Keras does not choose XLA there on a machine without a GPU
            model.jit_compile = False
        return model

    return replace(call, make_model=make_model, device="cpu")


def _measured_verdict(
    profile: Profile, factor: Speedup, epochs: int, setup_minutes: float
) -> Worth:
    """Return the verdict that measurements allow, without a forecast; as in `worth_of`."""
    is_alone = factor.slow.name == "cpu" and factor.fast.name not in ("gpu", "tpu")
    epoch = factor.slow if is_alone else factor.fast
    if len(epoch.samples) < FEW_SAMPLES:
        # so few timings make no interval: the factor may be anything
        factor = replace(factor, interval=(0.0, math.inf))
    least_factor, largest_factor = factor.interval
    early = _minutes_until_it_pays(largest_factor, setup_minutes)
    late = _minutes_until_it_pays(least_factor, setup_minutes)
    shortest, longest = (epochs * seconds / 60 for seconds in factor.slow.interval)
    if is_alone:
        # a ceiling says only that no chip is faster than that, and never that one pays
        late = math.inf
    if longest <= early:
        # also without a factor, where the set-up alone takes longer
        verdict = NOT_WORTH_IT
    elif shortest > late:
        verdict = WORTH_IT
    else:
        verdict = CANNOT_BE_TOLD if is_alone else TOO_CLOSE
    there = Plan(factor.fast.name, factor.fast.interval, setup_minutes)
    return Worth(
        verdict,
        epoch,
        epochs,
        factor,
        setup_minutes,
        break_even=(early, late),
        elsewhere=there.cost(epochs),
        profile=profile,
    )


def _minutes_until_it_pays(factor: float, setup_minutes: float) -> float:
    """Return the minutes of a training on the CPU that another chip ends at the same time.

    The chip is `factor` times as fast, after `setup_minutes`. Where it is no faster: inf.
    """
    if factor <= 1:
        return math.inf
    return setup_minutes / (1 - 1 / factor)


def _with_forecast(worth: Worth, model, batch_size: int) -> Worth:
    """Return a verdict with a forecast of each chip added, which also decides what it says.

    Where the model's work cannot be counted, or no chip has room for the model, there is none, and
    a note says why. It must have been measured without an accelerator.
    """
    steps = worth.profile.steps
    here = _measurement_of_step(worth.factor.slow, steps)
    host = _measurement_of_step(worth.factor.fast, steps)
    dtype = dtype_of(model)
    setup = worth.setup_minutes
    try:
        rows, notes = expected_rows(model, batch_size, CHIPS)
        forecast = Forecast(model.name, batch_size, dtype, rows, notes, steps, here, host)
        choice = choices(forecast, epochs=worth.epochs, setup_minutes=setup, believed=True)
    except (TypeError, ValueError) as error:
        return replace(worth, notes=(str(error),))
    # where no chip is worth taking, the cheapest one stands for all
    name = choice.chip or next(iter(choice.chips))
    [row] = [row for row in rows if row.chip == name]
    crossing = choice.found[name]
    if not worth.is_hardly_timed:
        worth = replace(worth, break_even=crossing.minutes)
    return replace(
        worth,
        verdict=crossing.verdict,
        elsewhere=crossing.there.cost(worth.epochs),
        chip=name,
        expected=forecast.faster(row) or worth.expected,
        notes=notes,
        score=promises((row,))[-1],
        on_float16=forecast.on_float16(row),
        choice=choice,
    )


def _measurement_of_step(epoch: Measurement, steps: int) -> Measurement:
    """Return the seconds of a step, by those of an epoch of so many steps."""
    seconds = [sample / steps for sample in epoch.samples]
    return Measurement.from_samples(seconds)
