"""How fast would this model train on a chip that is not here? A table, before anything is paid."""

import time
from collections.abc import Callable
from dataclasses import replace
from math import ceil, prod

from accel_helpers._values.records import positive, whole
from accel_helpers.fit import take_away
from accel_helpers.fit.batches import in_batches
from accel_helpers.fit.checked import checked
from accel_helpers.fit.clock import TimeBox, Timed, epochs_of, take_turns, until
from accel_helpers.fit.training import Training, two_models
from accel_helpers.measure import products
from accel_helpers.measure.measurement import Measurement
from accel_helpers.worth import choice
from accel_helpers.worth.forecast_result import Forecast
from accel_helpers.worth.model_load import dtype_of, expected_rows

CHIPS = ("T4", "L4", "A100", "H100")  # the GPUs of an NVIDIA data centre that Colab offers
TURNS_IN_A_BOX = 30  # a turn takes this part of the seconds: one in 30
# Where the time is up before there are five samples, they are still tried for, so many times as
# long; as if the caller had given a second at least.
PATIENCE = 5
FEWEST_SECONDS = 1.0
# limits of made-up data: so many batches, and so many numbers in their inputs
MOST_BATCHES = 64
MOST_NUMBERS = 2**24


def forecast(
    make_model: Callable,
    batch_size: int,
    chips: tuple[str, ...] | None = None,
    *,
    x=None,
    y=None,
    samples: int | None = None,
    seconds: float = 6.0,
    device: str | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Forecast:
    """Say how long a training step of this model would take on chips that are not here.

    Parameters
    ----------
    make_model : callable
        Without arguments; it returns the model, compiled and built, with all shapes known:
        Sequential with an Input, or functional.
    batch_size : int
        Samples in a step.
    chips : tuple of str, optional
        NVIDIA's data-centre GPUs from K80 to H100, and Colab's G4; of a TPU only the least time.
        By default the GPU that is attached, and what Colab lends and sells.
    x, y : optional
        Your data, as for ``fit``; without them, made-up numbers of the same shapes are timed.
    samples : int, optional
        In an epoch; by default as many as x has.
    seconds : float, optional
        For timing the training on this machine (0: not at all). A slow one may take up to five
        times as long, for five timings.
    device : str, optional
        Where to time it, "cpu" or "gpu"; by default on the accelerator, if there is one.
    clock : callable, optional
        What returns the time in seconds.

    Returns
    -------
    Forecast
        `choices(epochs=40)`: which chip, if any; `parts("T4")`: compute, memory and overhead of a
        step there; `rows`, one for each chip; `faster(row)`, or None with fewer than five timings
        here; `ceiling`. It prints as a table.

    Raises
    ------
    TypeError, ValueError
        If a layer cannot be counted, a chip is unknown, the model is not compiled or not built, or
        x and y are no data for ``fit``.

    Notes
    -----
    The constants come from published benchmarks; docs/forecast.md shows how far off they are on
    others. The interval is to hold 8 of 10 of these, which is no probability for your model: what
    it held of models like yours is printed beside it. Frozen layers count as such. Float32 is
    multiplied in TF32 where the chip has it, as TensorFlow and JAX do.

    Examples
    --------
    >>> import keras
    >>> def make_model():
    ...     model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
    ...     model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    ...     return model
    >>> parts = forecast(make_model, 32, chips=("T4",), seconds=0).parts("T4")
    >>> max(parts, key=parts.get)
    'overhead'
    """
    call = checked(make_model, x, y, {}) if x is not None else Training(make_model, {})
    model, timed_model = two_models(call)
    if chips is None:
        chips = _default_chips()
    rows, notes = expected_rows(model, batch_size, chips)
    # of an epoch: by the caller's number of samples, else by the data, if there are any
    steps = None
    if samples:
        steps = ceil(whole(samples, "samples") / batch_size)
    unmeasured = Forecast(model.name, batch_size, dtype_of(model), rows, notes, steps)
    seconds = positive(seconds, "seconds", zero=True)
    if seconds == 0:
        return unmeasured

    if x is None:
        x, y = _made_up_data(model, batch_size)
        call = in_batches(checked(make_model, x, y, {}), batch_size)
    else:
        call = in_batches(call, batch_size)
        steps = steps or call.steps
    here, host = _time_here(replace(call, device=device or ""), timed_model, seconds, clock)
    return replace(unmeasured, steps=steps, here=here, host=host)


def _default_chips() -> tuple[str, ...]:
    """Return the names of `CHIPS`, behind that of the attached GPU if there is one."""
    attached_chip = choice.attached()
    if not attached_chip:
        return CHIPS
    # its full name, such as "A100-SXM4-40GB", has the short one in it
    other_chips = [chip for chip in CHIPS if chip not in attached_chip]
    return (attached_chip, *other_chips)


def _made_up_data(model, batch_size: int) -> tuple:
    """Return x and y of some batches of made-up numbers, as ``fit`` takes them.

    Their shapes are those of the model's inputs and of what its loss compares with its outputs.
    """
    import numpy as np

    generator = np.random.default_rng(0)
    # enough batches for a turn of fast steps, but never more memory than `MOST_NUMBERS` take
    numbers_in_a_batch = batch_size * sum(prod(tensor.shape[1:]) for tensor in model.inputs)
    batches = max(1, min(MOST_BATCHES, MOST_NUMBERS // numbers_in_a_batch))
    samples = batches * batch_size

    def array_like(tensor):
        """Return an array for an input or output of the model, which has any size of batch."""
        shape = (samples, *tensor.shape[1:])
        # any vocabulary has a word 0
        if "int" in tensor.dtype:
            return np.zeros(shape, "int32")
        return generator.random(shape, "float32")

    x = [array_like(tensor) for tensor in model.inputs]
    losses = model.loss
    if isinstance(losses, dict):
        losses = [losses.get(name) for name in model.output_names]
    elif not isinstance(losses, list):
        losses = [losses] * len(model.outputs)
    y = []
    for tensor, loss in zip(model.outputs, losses, strict=False):
        if _takes_labels(loss):
            y.append(np.zeros((samples, *tensor.shape[1:-1]), "int32"))
        else:
            y.append(array_like(tensor))
    return _single(x), _single(y)


def _takes_labels(loss) -> bool:
    """Return whether a loss takes the number of a class for each sample, and no array of its own.

    `loss` is a name, a function or an object of Keras, or None, which takes no labels.
    """
    import keras

    if not loss:
        return False
    return products.name_of(keras.losses.get(loss)).startswith("sparse")


def _single(arrays: list):
    """Return the only array of a list, or the list if it has several: ``fit`` takes both."""
    return arrays[0] if len(arrays) == 1 else arrays


def _time_here(
    call: Training, model, seconds: float, clock: Callable[[], float]
) -> tuple[Measurement, Measurement]:
    """Return the seconds of a step here: of a model, and of one that computes nothing.

    `seconds` is about how long that may take.
    """
    with call.on_its_device():
        idle = take_away.idle_model()
    trainings = {}
    for name, each in (("here", model), ("host", idle)):
        timed = Timed(call, seconds / TURNS_IN_A_BOX, model=each, clock=clock)
        timed.warm_up(seconds)
        trainings[name] = timed
    # an interval needs five samples, and without it nothing is said: for these longer
    patience = PATIENCE * max(seconds, FEWEST_SECONDS) / seconds
    turns = take_turns(trainings, until(TimeBox(seconds, clock), overtime=patience))
    here, host = (
        Measurement.from_samples([epoch / call.steps for epoch in epochs_of(turns[name])])
        for name in trainings
    )
    return here, host
