"""What lesson 03 compares: the CPU and the accelerator, size by size; and its exercises."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from accel_helpers._values.words import format_seconds, percent, shown
from accel_helpers.course.checks import Asked, Check, Result, Told
from accel_helpers.course.lessons.pretend_device import TRUTH, Device, device_for, timed
from accel_helpers.course.quickstart import time_steps
from accel_helpers.course.references import for_page
from accel_helpers.course.word_checks import choices
from accel_helpers.machine import backend
from accel_helpers.measure import results, timing
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.results import Card, Reference

__all__ = ["TRUTH", "device_for"]

WIDTHS = (16, 128, 512, 2048)
BATCH_SIZES = (32, 256, 2048)
# What `time_steps` takes: width 1 has next to no work, and stands in for an infinitely fast chip.
SIZES = {"widths": (1, *WIDTHS), "batch_sizes": BATCH_SIZES}
NET_BATCH = 32
# As a result card names the two nets, and as a picture does.
CNN = "cnn"
BARE = "cnn-bare"
NETS = {CNN: "small CNN, 64 x 64", BARE: "small CNN without convolutions"}
# The batch size of the one grey line of a sweep.
GREY = 256
# A model and a batch size: (128, 32) is a dense model 128 wide, ("cnn", 32) the small CNN.
Size = tuple[int | str, int]
# The time of a step of each size, on one device.
Steps = dict[Size, Measurement]
# A sweep: how many times as fast the accelerator is at each size. A net has its name from `NETS`.
Ratios = dict[Size, Speedup]


def times_as_fast(steps: dict[str, Steps]) -> Ratios:
    """Compare the CPU's steps with the accelerator's, size by size.

    Without an accelerator each is compared with what has the same pictures and next to nothing to
    compute: width 1, or the CNN without convolutions.

    Parameters
    ----------
    steps : dict of str to dict
        The steps of each device, "cpu" first and the best one last; all have the same sizes.

    Returns
    -------
    dict of (model, batch size) to Speedup
        The CPU's time over the other's, without the models that have next to nothing to compute.
    """
    cpu = steps["cpu"]
    # The best device of a machine comes last.
    accelerator = list(steps.values())[-1]
    is_alone = accelerator is cpu
    ratios = {}
    for model, batch_size in cpu:
        if model in (1, BARE):
            continue
        rival = accelerator[model, batch_size]
        if is_alone:
            empty_model = _empty_model(model)
            rival = cpu[empty_model, batch_size]
        label = NETS.get(model, model)
        ratios[label, batch_size] = timing.compare(cpu[model, batch_size], rival)
    return ratios


def _empty_model(model: int | str) -> int | str:
    """Return the model of the same kind that has next to nothing to compute."""
    if model in NETS:
        return BARE
    return 1


def finding(ratios: Ratios, device: str) -> str:
    """Return the title of a sweep: what its dense models show.

    If the ratio grows with the width and the batch size, it says that (see `_grows_with_size`).
    Otherwise it names the size with the largest ratio; or says that none could be measured.

    Parameters
    ----------
    ratios : dict of (model, batch size) to Speedup
        What `times_as_fast` returned.
    device : str
        The kind of the accelerator, such as "gpu"; with "cpu" the ratios are said to be the room
        that a better chip has.
    """
    nets = NETS.values()
    dense_ratios = {}
    for (model, batch_size), ratio in ratios.items():
        if model not in nets:
            dense_ratios[model, batch_size] = ratio
    factors = {size: ratio.ratio for size, ratio in dense_ratios.items() if ratio.conclusive}
    if not factors:
        return "No difference could be measured at any size"
    if _grows_with_size(dense_ratios):
        return "The wider the layer and the larger the batch, the more a better chip can gain"
    best_size = max(factors, key=factors.get)
    width, batch_size = best_size
    place = f"at width {width:,} and batches of {batch_size:,}"
    factor = dense_ratios[best_size].times
    if device == "cpu":
        return f"Most room {place}: {factor} times"
    return f"Most {place}: {factor} times as fast"


def _grows_with_size(ratios: Ratios) -> bool:
    """Return whether the ratios of dense models grow with the width and the batch size.

    They do if the largest size has a larger ratio than the smallest, and no size has a smaller
    ratio than one that is at most as wide and has at most as large batches. Ratios whose intervals
    overlap count as equal.
    """
    for width, batch_size in ratios:
        ratio = ratios[width, batch_size]
        for larger_width, larger_batch in ratios:
            is_larger = width <= larger_width and batch_size <= larger_batch
            larger_ratio = ratios[larger_width, larger_batch]
            if is_larger and _is_clearly_less(larger_ratio, ratio):
                return False
    smallest_size = min(ratios)
    largest_size = max(ratios)
    return _is_clearly_less(ratios[smallest_size], ratios[largest_size])


def _is_clearly_less(ratio: Speedup, rival_ratio: Speedup) -> bool:
    """Return whether the whole interval of a ratio lies below the interval of its rival."""
    _, high = ratio.interval
    low, _ = rival_ratio.interval
    return high < low


def of_the_net(ratios: Ratios, device: str) -> str:
    """Return a sentence: what the sweep shows of the small convolutional net.

    Parameters
    ----------
    ratios : dict of (model, batch size) to Speedup
        What `times_as_fast` returned; it must have the CNN.
    device : str
        The kind of the accelerator, such as "gpu"; with "cpu" the ratio is said to be the most
        that a better chip can gain.
    """
    ratio = ratios[NETS[CNN], NET_BATCH]
    if not ratio.conclusive:
        return f"Pictures and convolutions: not measurable. {ratio.reason}"
    subject = "yours made the CNN"
    if device == "cpu":
        subject = "at most, a better chip makes the CNN"
    low, high = ratio.interval
    interval = f"({low:.2g} to {high:.2g})"
    return f"Pictures and convolutions: {subject} {ratio.times} times as fast {interval}."


def their_sweep(device: str, runs: Sequence[Card] | None = None) -> Reference | None:
    """Return the sweep of the newest reference run that timed every size on the CPU and a device.

    Parameters
    ----------
    device : str
        The kind of the accelerator: "gpu" or "tpu"; or "cpu" for a sweep of the CPU alone.
    runs : sequence of Card, optional
        Where to look, oldest first; by default the stored reference runs.

    Returns
    -------
    Reference or None
        Its data are what `times_as_fast` returns. None where no run has every size.
    """
    keys = {"cpu": _step_keys("cpu"), device: _step_keys(device)}
    all_keys = []
    for keys_of_device in keys.values():
        all_keys += keys_of_device.values()
    card = results.reference(*all_keys, runs=runs)
    if card is None:
        return None
    steps = {}
    for name, keys_of_device in keys.items():
        steps[name] = {size: card.measurements[key] for size, key in keys_of_device.items()}
    ratios = times_as_fast(steps)
    return card.reference(ratios)


def _step_keys(device: str) -> dict[Size, str]:
    """Return the names that a device's steps have on a card, by model and batch size.

    One of them is (128, 32): "03/step/cpu/width 128/batch 32".
    """
    keys = {}
    for width, batch_size in product(*SIZES.values()):
        keys[width, batch_size] = f"03/step/{device}/width {width}/batch {batch_size}"
    for net in NETS:
        keys[net, NET_BATCH] = f"03/step/{device}/{net}/batch {NET_BATCH}"
    return keys


def their_line(device: str, runs: Sequence[Card] | None = None) -> Reference | None:
    """Return one line of the sweep that `their_sweep` finds: the dense models at batch size `GREY`.

    It takes what `their_sweep` takes, and is None where that is None. Where it is to be drawn alone
    (see `for_page`), it is the whole sweep.
    """
    whole_sweep = their_sweep(device, runs)
    if whole_sweep is None:
        return None
    reference = for_page(whole_sweep)
    if reference.alone:
        return reference
    line = {}
    for (model, batch_size), ratio in whole_sweep.data.items():
        if batch_size == GREY:
            line[model, batch_size] = ratio
    return replace(reference, data=line)


def make_net(filters: Sequence[int] = (16, 32)):
    """Make and compile a small Keras model that sorts grey pictures of 64 x 64 into 10 classes.

    It has a convolution and a pooling layer for each number of `filters`; without any, it has no
    convolutions.
    """
    import keras

    model = keras.Sequential([keras.Input((64, 64, 1))])
    for count in filters:
        model.add(keras.layers.Conv2D(count, 3, activation="relu"))
        model.add(keras.layers.MaxPooling2D())
    model.add(keras.layers.GlobalAveragePooling2D())
    model.add(keras.layers.Dense(10))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    # As `quickstart_model` does: on JAX False would run operation by operation.
    xla = backend.framework() == "jax"
    model.compile("adam", loss, metrics=["accuracy"], jit_compile=xla)
    return model


MAKERS = {CNN: make_net, BARE: partial(make_net, filters=())}


def sweep(x, y, *, seconds: float) -> Ratios:
    """Time a step of all sizes, and of the nets, on each device here, and return the ratios.

    The steps go on the result card: "03/step/DEVICE/width WIDTH/batch SIZE".

    Parameters
    ----------
    x, y : array
        The images to train on, (n, 28, 28), and their labels.
    seconds : float
        The time for each device; see `time_steps`.
    """
    steps = {}
    for device in backend.devices():
        steps[device] = time_steps(
            x, y, **SIZES, nets=MAKERS, seconds=seconds, keep="03/step", device=device
        )
    return times_as_fast(steps)


# --- the exercises: broken benchmarks of the pretend accelerator ----------------------------------

# A slip of `timed` -> the message that names it, and the hint.
_SLIPS = {
    "sends": (
        "The sending is inside.",
        "This one asks for the step alone: send before the clock.",
    ),
    "cold": (
        "The first run compiles, and that time is still inside.",
        "Let the device run once, and wait for it, before you read the clock.",
    ),
    "early": (
        "That is the time it takes to give the order, not to carry it out.",
        "run() returns a job. Something must wait for that job before the clock is read.",
    ),
    "whole": (
        "Those are all your steps together.",
        "Divide by the number of steps between the two clock readings.",
    ),
}


def _repaired(answer: Callable[[Device], float]) -> Result:
    """Grade the benchmark that a learner wrote, which is to return the seconds of a step.

    It is right within 5 % of device A's step. A wrong time gets the message of the slip that gives
    the same time, if there is one. Raises Told where the answer is no function, or an empty one,
    stops with an error, or returns no number.
    """
    benchmark = Asked(answer, start="Copy the broken one, then fix it.")
    benchmark.stops = "The device has four verbs: send(data), run(batch), wait(job) and clock()."
    device = device_for("A")
    hint = "Return the difference of two clock readings."
    seconds = benchmark(device)
    # NaN is a number, and no time.
    is_time = isinstance(seconds, (int, float)) and abs(seconds) < 1e9
    if not is_time:
        raise Told(f"The function returned {shown(seconds)}, not a number of seconds.", hint)
    answer_text = f"Your timing says {format_seconds(max(seconds, 0))}"
    if math.isclose(seconds, TRUTH["A"], rel_tol=0.05):
        return Result(True, f"{answer_text}; the device's own record says the same.")
    # Each slip is tried with as many steps as the learner took.
    steps = max(device.steps, 1)
    for slip, (message, slip_hint) in _SLIPS.items():
        slip_seconds = timed(device_for("A"), steps, **{slip: True})
        if math.isclose(seconds, slip_seconds, rel_tol=0.05, abs_tol=1e-9):
            return Result(False, f"{answer_text}. {message}", slip_hint)
    error = abs(seconds / TRUTH["A"] - 1)
    return Result(False, f"{answer_text}. That is {percent(error)} off.", hint)


# What is wrong with the four broken benchmarks, A to D.
CAUSES = ("waiting", "compiling", "transfer", "too small")
_RIGHT = {"A": "waiting", "B": "compiling", "C": "transfer", "D": "too small"}
_HINTS = {
    "A": "A reads the clock right after run(). What has the device done by then?",
    "B": "B's device has never run before the clock starts. What happens at a first run?",
    "C": "C sends one batch, before the clock. How many batches does training need?",
    "D": "D times a single step. How long is a step, and how long is a tick of the clock?",
}


def _broken_benchmarks() -> list[tuple[Callable[[Device], float], str, str]]:
    """Return (benchmark, message, hint) for each slip of `timed`, as `Check` takes them."""
    benchmarks = []
    for slip, (message, hint) in _SLIPS.items():
        broken = partial(timed, **{slip: True})
        benchmarks.append((broken, message, hint))
    return benchmarks


CHECKS = {
    "03/diagnosis": choices(
        _RIGHT,
        CAUSES,
        {letter: ("", hint) for letter, hint in _HINTS.items()},
        done="All four causes found.",
        empty="The four are still empty.",
    ),
    "03/a": Check(_repaired, timed, _broken_benchmarks()),
}
