"""Is an accelerator worth it for this model? What `profile_fit` measures, and a chip beside it."""

from collections.abc import Callable
from dataclasses import replace

from accel_helpers._values.records import positive, whole
from accel_helpers.fit.checked import checked, several_devices
from accel_helpers.fit.clock import TimeBox, Timed
from accel_helpers.fit.dissection import Dissection
from accel_helpers.fit.parts import Parts
from accel_helpers.fit.profile import compared, profile_of
from accel_helpers.fit.profile_result import Profile
from accel_helpers.fit.training import ARRAYS, Training, form_of, samples_in
from accel_helpers.machine import backend
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.worth.answer import Answer, any_chip, fed, measured
from accel_helpers.worth.model_load import expected_rows

# chips for a forecast where there is no accelerator, the cheapest first
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
) -> Answer:
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
    Answer
        Its `verdict` is one of `Answer.OUTCOMES`, its `rows` have a chip each, and its `profile`
        says where an epoch goes. It prints as a few sentences, and `details` has the rest.

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
    arguments = {"epochs": whole(epochs, "epochs")}
    batch_size = whole(batch_size, "batch_size")
    box = TimeBox(positive(seconds, "seconds"))
    if form_of(x) == ARRAYS:
        arguments["batch_size"] = batch_size
    training = checked(make_model, x, y, arguments)
    with Dissection(training, box) as dissection:
        model = dissection.as_it_is.model
        obstacle = several_devices(model)
        if obstacle:
            raise ValueError(f"The model of make_model cannot be measured: {obstacle}.")
        # an interval of the factor needs five
        parts = dissection.measure(patience=1.0)
        factor = _factor(dissection, parts, box)
        profile = profile_of(dissection, parts)
    return worth_of(
        profile, factor, model, samples_in(dissection.batches[0]), epochs, setup_minutes
    )


def _factor(dissection: Dissection, parts: Parts, box: TimeBox) -> Speedup:
    """Return how many times as long an epoch takes on the CPU as on the accelerator, in turns.

    Without an accelerator, as what is left of it around a model that computes nothing.
    """
    device = backend.devices()[-1]
    if device == "cpu":
        now = Measurement.from_samples(parts.wholes)
        idle = Measurement.from_samples(dissection.idle_epochs)
        return timing.compare(now, idle, in_turns=True)
    on_cpu = Timed(_on_cpu(dissection.training), dissection.turn_seconds)
    on_cpu.warm_up(box.seconds / 8)
    return compared(on_cpu, dissection.as_it_is, box, names=("cpu", device))


def _on_cpu(training: Training) -> Training:
    """Return the same training on the CPU."""

    def make_model():
        model = training.make_model()
        if backend.framework() == "tensorflow":
            # Keras does not choose XLA there on a machine without a GPU
            model.jit_compile = False
        return model

    return replace(training, make_model=make_model, device="cpu")


def worth_of(
    profile: Profile,
    factor: Speedup,
    model,
    batch_size: int,
    epochs: int,
    setup_minutes: float,
) -> Answer:
    """Return the answer that measurements allow, with a forecast where there is no accelerator.

    The `factor` is the CPU's time over the accelerator's, which has a name; or over that of
    feeding it.
    """
    steps = profile.steps
    here = _of_a_step(factor.slow, steps)
    host = _of_a_step(factor.fast, steps)
    rows = [measured(factor, here)]
    notes: tuple[str, ...] = ()
    if not rows[0].chip:
        try:
            forecasts, notes = expected_rows(model, batch_size, CHIPS)
            rows = [fed(row, here, host) for row in forecasts]
        except (TypeError, ValueError) as error:
            # the work of a layer cannot be counted
            rows = [any_chip(here, host)]
            notes = (str(error),)
    return Answer(model.name, rows, epochs, setup_minutes, steps, here, notes, profile)


def _of_a_step(epoch: Measurement, steps: int) -> Measurement:
    """Return the seconds of a step, by those of an epoch of so many steps."""
    return Measurement.from_samples(seconds / steps for seconds in epoch.samples)
