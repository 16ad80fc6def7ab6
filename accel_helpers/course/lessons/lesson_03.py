"""What lesson 03 compares; a pretend accelerator whose every cost is known, for its exercises.

It does as a GPU does: it compiles at the first run, takes its orders at once, and works on its own
until it has finished. Its clock is its own, so every machine sees the same.
"""

import math
from functools import partial
from itertools import product

from accel_helpers._values.words import format_seconds, percent, shown
from accel_helpers.course import climb
from accel_helpers.course.checks import Asked, Check, Result, Told
from accel_helpers.course.quickstart import time_steps
from accel_helpers.course.references import for_page
from accel_helpers.course.word_checks import choices
from accel_helpers.machine import backend
from accel_helpers.measure import ceilings, results, timing

__all__ = ["TRUTH", "device_for"]

WIDTHS = (16, 128, 512, 2048)
BATCH_SIZES = (32, 256, 2048)
# Width 1 has next to no work.
SIZES = {"widths": (1, *WIDTHS), "batch_sizes": BATCH_SIZES}
NET_BATCH = 32
# As a result card names the two nets, and as a picture does.
CNN = "cnn"
BARE = "cnn-bare"
NETS = {CNN: "small CNN, 64 x 64", BARE: "small CNN without convolutions"}
# The batches of the one grey line of a sweep.
GREY = 256


def times_as_fast(steps: dict) -> dict:
    """Compare the CPU's steps with the accelerator's, size by size.

    Without an accelerator each is compared with what has the same pictures and next to nothing to
    compute: width 1, or the CNN without convolutions.
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


def finding(ratios: dict, device: str) -> str:
    """Return the title of a sweep: what its dense models show; on a CPU, where there is most room.

    That more width and larger batches always bring more is said where it holds: from each size to
    the next larger one no ratio is surely smaller, and over all it grows surely.
    """
    nets = NETS.values()
    dense = {}
    for (model, batch_size), ratio in ratios.items():
        if model not in nets:
            dense[model, batch_size] = ratio
    measured = {size: ratio.ratio for size, ratio in dense.items() if ratio.conclusive}
    if not measured:
        return "No difference could be measured at any size"
    if _grows_with_size(dense):
        return "The wider the layer and the larger the batch, the more a better chip can gain"
    best_size = max(measured, key=measured.get)
    width, batch_size = best_size
    place = f"at width {width:,} and batches of {batch_size:,}"
    factor = dense[best_size].times
    if device == "cpu":
        return f"Most room {place}: {factor} times"
    return f"Most {place}: {factor} times as fast"


def _grows_with_size(ratios: dict) -> bool:
    """Return whether no larger size has surely less than a smaller one, and the largest more."""

    def is_surely_less(size, rival_size):
        _, high = ratios[size].interval
        low, _ = ratios[rival_size].interval
        return high < low

    for width, batch_size in ratios:
        for larger_width, larger_batch in ratios:
            is_larger = width <= larger_width and batch_size <= larger_batch
            if is_larger and is_surely_less((larger_width, larger_batch), (width, batch_size)):
                return False
    return is_surely_less(min(ratios), max(ratios))


def of_the_net(ratios: dict, device: str) -> str:
    """Say in a sentence what the sweep shows of the small convolutional net."""
    ratio = ratios[NETS[CNN], NET_BATCH]
    if not ratio.conclusive:
        return f"Pictures and convolutions: not measurable. {ratio.reason}"
    subject = "yours made the CNN"
    if device == "cpu":
        subject = "at most, a better chip makes the CNN"
    low, high = ratio.interval
    interval = f"({low:.2g} to {high:.2g})"
    return f"Pictures and convolutions: {subject} {ratio.times} times as fast {interval}."


def their_sweep(device: str, runs=None):
    """Return the sweep of the newest reference run that has a whole one of this kind; or None."""
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


def _step_keys(device: str) -> dict:
    """Return the names on a card of a device's steps, by model and batch size."""
    keys = {}
    for width, batch_size in product(*SIZES.values()):
        keys[width, batch_size] = f"03/step/{device}/width {width}/batch {batch_size}"
    for net in NETS:
        keys[net, NET_BATCH] = f"03/step/{device}/{net}/batch {NET_BATCH}"
    return keys


def their_line(device: str, runs=None):
    """Return one line of their sweep, the dense models in batches of `GREY`; or None."""
    card = their_sweep(device, runs)
    if card is None:
        return None
    line = {}
    for (model, batch_size), ratio in card.data.items():
        if batch_size == GREY:
            line[model, batch_size] = ratio
    return for_page(results.Reference(line, card.label))


def make_net(filters=(16, 32)):
    """Make a small net for pictures of 64 x 64; without filters it has no convolutions."""
    import keras

    model = keras.Sequential([keras.Input((64, 64, 1))])
    for count in filters:
        model.add(keras.layers.Conv2D(count, 3, activation="relu"))
        model.add(keras.layers.MaxPooling2D())
    model.add(keras.layers.GlobalAveragePooling2D())
    model.add(keras.layers.Dense(10))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    xla = backend.framework() == "jax"
    model.compile("adam", loss, metrics=["accuracy"], jit_compile=xla)
    return model


MAKERS = {CNN: make_net, BARE: partial(make_net, filters=())}


def sweep(x, y, *, seconds: float) -> dict:
    """Time a step of all sizes, and of the nets, on each device here, and return the ratios.

    The steps go on the result card: "03/step/DEVICE/width WIDTH/batch SIZE".
    """
    steps = {}
    for device in backend.devices():
        steps[device] = time_steps(
            x, y, **SIZES, nets=MAKERS, seconds=seconds, keep="03/step", device=device
        )
    return times_as_fast(steps)


def roofline_points(work, climbed) -> dict:
    """Return each stage's operations for each byte and operations a second, in small batches."""
    points = {}
    for stage_id in (climb.DEFAULT, climb.RESIDENT_SMALL):
        stage = climbed[stage_id]
        points[stage.name] = (work.intensity, work.flops / stage.step)
    return points


def their_roofline(work, runs=None):
    """Return the points and the ceilings of the newest reference run that has both; or None."""
    names = climb.needed("03/climb")
    for ceiling in ("product", "copy"):
        name = f"03/ceiling/{ceiling} float32"
        names += [name, f"{name}/work"]
    card = results.reference(*names, runs=runs)
    if card is None:
        return None
    limits = ceilings.Ceilings.from_card(card.measurements, card.numbers, "03/ceiling", "cpu")
    climbed = climb.Climb.from_card(card.measurements, card.numbers, "03/climb")
    return for_page(card.reference((roofline_points(work, climbed), limits)))


# --- the pretend accelerator ---------------------------------------------------------------------

# Seconds of what each benchmark is about; C is to send, too.
TRUTH = {"A": 0.0101, "B": 0.0101, "C": 0.0401, "D": 0.0022}
# Seconds that the pretend device takes for each.
ORDER = 0.0001
COMPILING = 2.0
SENDING = 0.030


class Device:
    """A pretend accelerator with a clock of its own.

    >>> device = Device()
    >>> device.wait(device.run(device.send("images")))  # the first run compiles
    >>> start = device.clock()
    >>> job = device.run("images")  # only gives the order
    >>> round(device.clock() - start, 6)
    0.0001
    """

    def __init__(self, step=0.010, tick=1e-9):
        self._now = 0.0
        self._free_at = 0.0
        self._step = step
        self._tick = tick
        self._has_run = False
        self._was_read = False
        # Counted from the first reading of the clock on.
        self.steps = 0

    def clock(self) -> float:
        """Return the time in seconds, in whole ticks."""
        self._was_read = True
        ticks = math.floor(self._now / self._tick + 1e-6)
        return ticks * self._tick

    def send(self, data):
        """Copy a batch from the computer's memory to the device; takes a while."""
        self._now += SENDING
        return data

    def run(self, batch) -> float:
        """Order one training step on a batch; comes back at once (but for the first time)."""
        self._now += ORDER
        if not self._has_run:
            self._now += COMPILING
        self._has_run = True
        if self._was_read:
            self.steps += 1
        self._free_at = max(self._now, self._free_at) + self._step
        return self._free_at

    def wait(self, job: float) -> None:
        """Come back when a job is done."""
        self._now = max(self._now, job)


def device_for(letter: str) -> Device:
    """Return the device of a broken benchmark, "A" to "D".

    >>> 2 < device_for("A").run("images") < 2.1  # the first run compiles
    True
    """
    if letter == "D":
        return Device(0.0021, tick=0.005)
    return Device()


def timed(device, steps=10, *, sends=False, cold=False, early=False, whole=False) -> float:
    """Return the seconds of a step as a benchmark takes them; with a slip, as a broken one does."""
    batch = device.send("images")
    if not cold:
        device.wait(device.run(batch))
    start = device.clock()
    for _ in range(steps):
        if sends:
            batch = device.send("images")
        job = device.run(batch)
        if not early:
            device.wait(job)
    elapsed = device.clock() - start
    if whole:
        return elapsed
    return elapsed / steps


# Slips of `timed`: what each is, and what leads on.
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


def _repaired(answer) -> Result:
    """Grade a benchmark of device A: right within 5 %, or which slip would give its time."""
    call = Asked(answer, start="Copy the broken one, then fix it.")
    call.stops = "The device has four verbs: send(data), run(batch), wait(job) and clock()."
    device = device_for("A")
    hint = "Return the difference of two clock readings."
    seconds = call(device)
    # NaN is a number, and no time.
    is_time = isinstance(seconds, (int, float)) and abs(seconds) < 1e9
    if not is_time:
        raise Told(f"The function returned {shown(seconds)}, not a number of seconds.", hint)
    answer_text = f"Your timing says {format_seconds(max(seconds, 0))}"
    if math.isclose(seconds, TRUTH["A"], rel_tol=0.05):
        return Result(True, f"{answer_text}; the device's own record says the same.")
    # Each slip, with as many steps as the learner took.
    steps = max(device.steps, 1)
    for slip, (message, slip_hint) in _SLIPS.items():
        slipped = timed(device_for("A"), steps, **{slip: True})
        if math.isclose(seconds, slipped, rel_tol=0.05, abs_tol=1e-9):
            return Result(False, f"{answer_text}. {message}", slip_hint)
    error = abs(seconds / TRUTH["A"] - 1)
    return Result(False, f"{answer_text}. That is {percent(error)} off.", hint)


CAUSES = ("waiting", "compiling", "transfer", "too small")
_RIGHT = {"A": "waiting", "B": "compiling", "C": "transfer", "D": "too small"}
_HINTS = {
    "A": "A reads the clock right after run(). What has the device done by then?",
    "B": "B's device has never run before the clock starts. What happens at a first run?",
    "C": "C sends one batch, before the clock. How many batches does training need?",
    "D": "D times a single step. How long is a step, and how long is a tick of the clock?",
}


def _broken_benchmarks() -> list[tuple]:
    """Return a benchmark with each slip, with what it is and what leads on."""
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
