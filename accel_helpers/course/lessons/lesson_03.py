"""What lesson 03 compares; a pretend accelerator whose every cost is known, for its exercises.

It does as a GPU does: it compiles at the first run, takes its orders at once, and works on its own
until it has finished. Its clock is its own, so every machine sees the same.
"""

import math
from functools import partial
from itertools import product

from accel_helpers._values.words import format_seconds, percent, shown
from accel_helpers.course import climb
from accel_helpers.course.checks import Asked, Check, Result, Told, choices
from accel_helpers.course.quickstart import time_steps
from accel_helpers.course.references import for_page
from accel_helpers.machine import backend
from accel_helpers.measure import ceilings, results, timing

__all__ = ["TRUTH", "device_for"]

WIDTHS = (16, 128, 512, 2048)
BATCH_SIZES = (32, 256, 2048)
SIZES = {"widths": (1, *WIDTHS), "batch_sizes": BATCH_SIZES}  # width 1 has next to no work
NET_BATCH = 32
# As a result card names the two nets, and as a picture does.
CNN = "cnn"
BARE = "cnn-bare"
NETS = {CNN: "small CNN, 64 x 64", BARE: "small CNN without convolutions"}
GREY = 256  # the batches of the one grey line of a sweep


def times_as_fast(steps: dict) -> dict:
    """Compare the CPU's steps with the accelerator's, size by size.

    Without an accelerator each is compared with what has the same pictures and next to nothing to
    compute: width 1, or the CNN without convolutions.
    """
    cpu = steps["cpu"]
    accelerator = list(steps.values())[-1]
    is_alone = accelerator is cpu
    ratios = {}
    for model, batch_size in cpu:
        if model in (1, BARE):
            continue
        rival = accelerator[model, batch_size]
        if is_alone:
            empty_model = BARE if model in NETS else 1
            rival = cpu[empty_model, batch_size]
        label = NETS.get(model, model)
        ratios[label, batch_size] = timing.compare(cpu[model, batch_size], rival)
    return ratios


def finding(ratios: dict, device: str) -> str:
    """Give the title of a sweep: what its dense models show; on a CPU, where there is most room.

    That more width and larger batches always bring more is said where it holds: from each size to
    the next larger one no ratio is surely smaller, and over all it grows surely.
    """
    dense = {size: ratio for size, ratio in ratios.items() if size[0] not in NETS.values()}
    if not any(ratio.conclusive for ratio in dense.values()):
        return "No difference could be measured at any size"

    if _grows_with_size(dense):
        return "The wider the layer and the larger the batch, the more a better chip can gain"
    width, batch_size = max(dense, key=lambda size: dense[size].ratio or 0)
    place = f"at width {width:,} and batches of {batch_size:,}"
    factor = dense[width, batch_size].times
    if device == "cpu":
        return f"Most room {place}: {factor} times"
    return f"Most {place}: {factor} times as fast"


def _grows_with_size(ratios: dict) -> bool:
    """Whether no larger size has surely less than a smaller one, and the largest surely more."""

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
    """Give the sweep of the newest reference run that has a whole one of this kind; or None."""
    sizes = {}
    for width, batch_size in product(*SIZES.values()):
        sizes[width, batch_size] = f"width {width}/batch {batch_size}"
    for net in NETS:
        sizes[net, NET_BATCH] = f"{net}/batch {NET_BATCH}"
    # One kind of device, where it is the CPU.
    keys = {}
    for kind in dict.fromkeys(("cpu", device)):
        keys[kind] = {size: f"03/step/{kind}/{name}" for size, name in sizes.items()}
    all_keys = [key for keys_of_kind in keys.values() for key in keys_of_kind.values()]
    card = results.reference(*all_keys, runs=runs)
    if card is None:
        return None
    steps = {}
    for kind, keys_of_kind in keys.items():
        steps[kind] = {size: card.measurements[key] for size, key in keys_of_kind.items()}
    return card.reference(times_as_fast(steps))


def their_line(device: str, runs=None):
    """Give one line of their sweep, the dense models in batches of `GREY`; or None."""
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
    """Time a step of all sizes, and of the nets, on each device here, and give the ratios.

    The steps go on the result card: "03/step/DEVICE/width WIDTH/batch SIZE".
    """
    steps = {}
    for device in backend.devices():
        steps[device] = time_steps(
            x, y, **SIZES, nets=MAKERS, seconds=seconds, keep="03/step", device=device
        )
    return times_as_fast(steps)


def roofline_points(work, climbed) -> dict:
    """Give, by stage in small batches, operations for each byte and operations in a second."""
    points = {}
    for stage_id in (climb.DEFAULT, climb.RESIDENT_SMALL):
        stage = climbed[stage_id]
        points[stage.name] = (work.intensity, work.flops / stage.step)
    return points


def their_roofline(work, runs=None):
    """Give the points and the ceilings of the newest reference run that has both; or None."""
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

TRUTH = {"A": 0.0101, "B": 0.0101, "C": 0.0401, "D": 0.0022}  # seconds; C is to send, too
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
        self.steps = 0  # since the clock was first read

    def clock(self) -> float:
        """Give the time in seconds, in whole ticks."""
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
    """Give the device of a broken benchmark, "A" to "D".

    >>> 2 < device_for("A").run("images") < 2.1  # the first run compiles
    True
    """
    if letter == "D":
        return Device(0.0021, tick=0.005)
    return Device()


def timed(device, steps=10, *, sends=False, cold=False, early=False, whole=False) -> float:
    """Give the seconds of a step as a benchmark takes them; with a slip, as a broken one does."""
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


_SLIPS = {  # of `timed`: what it is, what leads on
    "sends": ("The sending is inside.", "This one asks for the step alone: send before the clock."),
    "cold": ("The first run compiles, and that time is still inside.",
        "Let the device run once, and wait for it, before you read the clock."),
    "early": ("That is the time it takes to give the order, not to carry it out.",
        "run() returns a job. Something must wait for that job before the clock is read."),
    "whole": ("Those are all your steps together.",
        "Divide by the number of steps between the two clock readings."),
}  # fmt: skip


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
    for slip, (message, slip_hint) in _SLIPS.items():
        slipped = timed(device_for("A"), device.steps or 1, **{slip: True})
        if math.isclose(seconds, slipped, rel_tol=0.05, abs_tol=1e-9):
            return Result(False, f"{answer_text}. {message}", slip_hint)
    error = abs(seconds / TRUTH["A"] - 1)
    return Result(False, f"{answer_text}. That is {percent(error)} off.", hint)


CAUSES = ("waiting", "compiling", "transfer", "too small")
_HINTS = {
    "A": "A reads the clock right after run(). What has the device done by then?",
    "B": "B's device has never run before the clock starts. What happens at a first run?",
    "C": "C sends one batch, before the clock. How many batches does training need?",
    "D": "D times a single step. How long is a step, and how long is a tick of the clock?",
}
CHECKS = {
    "03/diagnosis": choices(
        dict(zip(_HINTS, CAUSES, strict=True)),
        CAUSES,
        {letter: ("", hint) for letter, hint in _HINTS.items()},
        done="All four causes found.",
        empty="The four are still empty.",
    ),
}
_SLIPPED = tuple((partial(timed, **{slip: True}), *texts) for slip, texts in _SLIPS.items())
CHECKS["03/a"] = Check(_repaired, timed, _SLIPPED)
