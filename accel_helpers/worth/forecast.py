"""How fast would this model train on a chip that is not here? A table, before anything is paid."""

from collections.abc import Callable
from dataclasses import replace
from math import ceil, prod

from accel_helpers._values.records import positive, whole
from accel_helpers.fit import take_away
from accel_helpers.fit.batches import in_batches
from accel_helpers.fit.checked import checked, maker_of
from accel_helpers.fit.clock import TimeBox, Timed, epochs_of, take_turns, until
from accel_helpers.fit.training import Training, two_models
from accel_helpers.machine import backend, hardware
from accel_helpers.measure import products
from accel_helpers.measure.measurement import Measurement
from accel_helpers.worth.answer import Answer, fed
from accel_helpers.worth.model_load import expected_rows

CHIPS = ("T4", "L4", "A100", "H100")  # the GPUs of an NVIDIA data centre that Colab offers
TURNS_IN_A_BOX = 30  # a turn takes this part of the seconds: one in 30
PATIENCE = 5  # times the seconds, or one second, that five timings may take longer
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
    epochs: int = 5,
    setup_minutes: float = 5.0,
    seconds: float = 6.0,
) -> Answer:
    """Say how fast this model would train on chips that are not here, and whether one pays.

    Parameters
    ----------
    make_model : callable or keras.Model
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
    epochs : int, optional
        Of your training.
    setup_minutes : float, optional
        What another machine costs first: changing the runtime, installing, uploading, compiling.
    seconds : float, optional
        For timing the training on this CPU (0: not at all, and only the `rows` tell anything). A
        slow one may take six times as long, for five timings.

    Returns
    -------
    Answer
        It prints as a table of the chips, with a sentence on whether one pays. Its `rows` have a
        chip each: seconds of a `step` with feeding and Python as they are here, `terms` of it
        (compute, memory and overhead), how many times as fast it is (`faster`), and `pays`.

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
    >>> forecast(make_model, 32, chips=("T4",), seconds=0).rows[0].mostly
    'overhead'
    """
    seconds = positive(seconds, "seconds", zero=True)
    setup_minutes = positive(setup_minutes, "setup_minutes", zero=True)
    epochs = whole(epochs, "epochs")
    batch_size = whole(batch_size, "batch_size")
    training = Training(maker_of(make_model), {})
    if x is not None:
        training = in_batches(checked(make_model, x, y, {}), batch_size)
    model, timed_model = two_models(training)
    rows, notes = expected_rows(model, batch_size, chips or _default_chips())
    steps = training.steps
    if samples:
        steps = ceil(whole(samples, "samples") / batch_size)
    here = None
    if seconds:
        if x is None:
            x, y = _made_up_data(model, batch_size)
            training = in_batches(checked(make_model, x, y, {}), batch_size)
        here, host = _time_here(training, timed_model, seconds)
        rows = [fed(row, here, host) for row in rows]
    return Answer(model.name, rows, epochs, setup_minutes, steps, here, notes)


def _default_chips() -> list[str]:
    """Return the names of `CHIPS`, behind that of the attached GPU if there is one."""
    gpu = attached()
    # its full name, such as "A100-SXM4-40GB", has the short one in it
    chips = [chip for chip in CHIPS if chip not in gpu]
    if gpu:
        chips.insert(0, gpu)
    return chips


def attached() -> str:
    """Return the name of the GPU that Keras uses here, such as "A100-SXM4-40GB" or "G4".

    It is "" if Keras uses none, or if the data sheet of the GPU is not known.
    """
    chip = None
    if "gpu" in backend.devices():
        chip = hardware.match(backend.device_name("gpu"))
    if chip is None or not chip.mem_bw_gb_s:
        return ""
    # of the names that a chip is found by, the one that people use
    return min(chip.names, key=len)


def _made_up_data(model, batch_size: int) -> tuple:
    """Return x and y of some batches of zeros, as ``fit`` takes them.

    Their shapes are those of the model's inputs and of what its loss compares with its outputs.
    """
    import keras
    import numpy as np

    # enough batches for a turn of fast steps, but never more memory than `MOST_NUMBERS` take
    numbers_in_a_batch = batch_size * sum(prod(tensor.shape[1:]) for tensor in model.inputs)
    batches = max(1, min(MOST_BATCHES, MOST_NUMBERS // numbers_in_a_batch))
    samples = batches * batch_size
    # any vocabulary has a word 0, and any model a class 0
    x = [np.zeros((samples, *tensor.shape[1:]), tensor.dtype) for tensor in model.inputs]
    losses = model.loss
    if isinstance(losses, dict):
        losses = [losses[name] for name in model.output_names]
    if not isinstance(losses, list):
        losses = [losses] * len(model.outputs)
    y = []
    for tensor, loss in zip(model.outputs, losses, strict=True):
        shape = tensor.shape[1:]
        # such a loss takes the number of a class in place of a number for each
        if products.name_of(keras.losses.get(loss)).startswith("sparse"):
            shape = shape[:-1]
        y.append(np.zeros((samples, *shape)))
    # ``fit`` takes a list of arrays, or the only one
    return tuple(arrays if len(arrays) > 1 else arrays[0] for arrays in (x, y))


def _time_here(training: Training, model, seconds: float) -> list[Measurement]:
    """Return the seconds of a step on this CPU: of a model, and of one that computes nothing."""
    training = replace(training, device="cpu")
    with training.on_its_device():
        models = {"here": model, "host": take_away.idle_model()}
    trainings = {}
    for name, each in models.items():
        timed = Timed(training, seconds / TURNS_IN_A_BOX, model=each)
        timed.warm_up(seconds)
        trainings[name] = timed
    # five timings make an interval, and without it little is said: for these longer
    overtime = PATIENCE * max(seconds, 1) / seconds
    turns = take_turns(trainings, until(TimeBox(seconds), overtime=overtime))
    measurements = []
    for name in trainings:
        steps = [epoch / training.steps for epoch in epochs_of(turns[name])]
        measurements.append(Measurement.from_samples(steps))
    return measurements
