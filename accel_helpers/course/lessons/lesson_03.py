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
from accel_helpers.machine import backend
from accel_helpers.measure import ceilings, results, timing

__all__ = ["TRUTH", "device_for"]

WIDTHS, BATCH_SIZES = (16, 128, 512, 2048), (32, 256, 2048)
SIZES = {"widths": (1, *WIDTHS), "batch_sizes": BATCH_SIZES}  # width 1 has next to no work
CNN, BARE = "cnn", "cnn-bare"  # as a result card names them; in batches of 32
NETS = {CNN: "small CNN, 64 x 64", BARE: "small CNN without convolutions"}  # as a picture does
GREY = 256  # the batches of the one grey line of a sweep


def times_as_fast(steps: dict) -> dict:
    """The CPU against the accelerator; alone, against width 1 or the CNN without convolutions."""
    cpu, other = steps["cpu"], [*steps.values()][-1]
    if other is cpu:  # these have the same pictures, and next to nothing to compute
        other = {(net, n): cpu[BARE if net in NETS else 1, n] for net, n in cpu}
    return {
        (NETS.get(model, model), n): timing.compare(cpu[model, n], other[model, n])
        for model, n in cpu
        if model not in (1, BARE)
    }


def finding(ratios: dict, device: str) -> str:
    """The title of a sweep: what its dense models show; on a CPU, where there is most room.

    That more width and larger batches always bring more is said where it holds: from each size to
    the next larger one no ratio is surely smaller, and over all it grows surely.
    """
    dense = {size: ratio for size, ratio in ratios.items() if size[0] not in NETS.values()}
    if not any(ratio.conclusive for ratio in dense.values()):
        return "No difference could be measured at any size"

    def surely_less(one, other):
        return dense[one].interval[1] < dense[other].interval[0]

    smallest, largest = min(dense), max(dense)
    larger = [
        (one, other)
        for one in dense
        for other in dense
        if one[0] <= other[0] and one[1] <= other[1]
    ]
    never_falls = not any(surely_less(other, one) for one, other in larger)
    if never_falls and surely_less(smallest, largest):
        return "The wider the layer and the larger the batch, the more a better chip can gain"
    width, batch = max(dense, key=lambda size: dense[size].ratio or 0)
    factor = dense[width, batch].times
    what, unit = ("Most room", "times") if device == "cpu" else ("Most", "times as fast")
    return f"{what} at width {width:,} and batches of {batch:,}: {factor} {unit}"


def of_the_net(ratios: dict, device: str) -> str:
    """What the sweep says of the small convolutional net, in a sentence."""
    ratio = ratios[NETS[CNN], 32]
    if not ratio.conclusive:
        return f"Pictures and convolutions: not measurable. {ratio.reason}"
    who = "at most, a better chip makes the CNN" if device == "cpu" else "yours made the CNN"
    low, high = ratio.interval
    return (
        f"Pictures and convolutions: {who} {ratio.times} times as fast ({low:.2g} to {high:.2g})."
    )


def their_sweep(device: str, runs=None):
    """The sweep of the newest reference run that has a whole one of the same kind; or None."""
    names = {(w, b): f"width {w}/batch {b}" for w, b in product(*SIZES.values())}
    names |= {(net, 32): f"{net}/batch 32" for net in NETS}
    kinds = dict.fromkeys(("cpu", device))  # one, where the device is the CPU
    keys = {kind: {at: f"03/step/{kind}/{name}" for at, name in names.items()} for kind in kinds}
    card = results.reference(*(key for of in keys.values() for key in of.values()), runs=runs)
    if card is None:
        return None
    steps = {
        kind: {at: card.measurements[key] for at, key in of.items()} for kind, of in keys.items()
    }
    return card.reference(times_as_fast(steps))


def their_line(device: str, runs=None):
    """Of their sweep, the dense models in batches of `GREY`: one line beside one's own; or None."""
    card = their_sweep(device, runs)
    if card is None:
        return None
    line = {at: ratio for at, ratio in card.data.items() if at[1] == GREY}
    return results.Reference(line, card.label)


def make_net(filters=(16, 32)):
    """A small convolutional net for pictures of 64 x 64; without filters it has no convolutions."""
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
    """Time a step of all sizes, and of the nets, on each device here; the ratios.

    The steps go on the result card: "03/step/DEVICE/width WIDTH/batch SIZE".
    """
    timed = partial(time_steps, x, y, **SIZES, nets=MAKERS, seconds=seconds, keep="03/step")
    return times_as_fast({device: timed(device=device) for device in backend.devices()})


def roofline_points(work, climbed) -> dict:
    """By stage in small batches: operations for each byte moved, and operations in a second."""
    stages = [climbed[stage] for stage in (climb.DEFAULT, climb.RESIDENT_SMALL)]
    return {stage.name: (work.intensity, work.flops / stage.step) for stage in stages}


def their_roofline(work, runs=None):
    """The points and the ceilings of the newest reference run that has both; or None."""
    roof = [f"03/ceiling/{what} float32" for what in ("product", "copy")]
    names = (*climb.needed("03/climb"), *roof, *(f"{name}/work" for name in roof))
    card = results.reference(*names, runs=runs)
    if card is None:
        return None
    limits = ceilings.Ceilings.from_card(card.measurements, card.numbers, "03/ceiling", "cpu")
    climbed = climb.Climb.from_card(card.measurements, card.numbers, "03/climb")
    return card.reference((roofline_points(work, climbed), limits))


# --- the pretend accelerator ---------------------------------------------------------------------

TRUTH = {"A": 0.0101, "B": 0.0101, "C": 0.0401, "D": 0.0022}  # seconds; C is to send, too
ORDER, COMPILING, SENDING = 0.0001, 2.0, 0.030


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
        self._now = self._free_at = 0.0
        self._step, self._tick = step, tick
        self._has_run = self._was_read = False
        self.steps = 0  # since the clock was first read

    def clock(self) -> float:
        """The time in seconds, in whole ticks."""
        self._was_read = True
        return math.floor(self._now / self._tick + 1e-6) * self._tick

    def send(self, data):
        """Copy a batch from the computer's memory to the device; takes a while."""
        self._now += SENDING
        return data

    def run(self, batch) -> float:
        """Order one training step on a batch; comes back at once (but for the first time)."""
        self._now += ORDER if self._has_run else ORDER + COMPILING
        self._has_run = True
        self.steps += self._was_read
        self._free_at = max(self._now, self._free_at) + self._step
        return self._free_at

    def wait(self, job: float) -> None:
        """Come back when a job is done."""
        self._now = max(self._now, job)


def device_for(letter: str) -> Device:
    """The device of a broken benchmark, "A" to "D".

    >>> 2 < device_for("A").run("images") < 2.1  # the first run compiles
    True
    """
    return Device(0.0021, tick=0.005) if letter == "D" else Device()


def timed(device, steps=10, *, sends=False, cold=False, early=False, whole=False) -> float:
    """Seconds of a step as a benchmark takes them; with a slip, as a broken one does."""
    batch = device.send("images")
    device.wait(0 if cold else device.run(batch))
    start = device.clock()
    for _ in range(steps):
        job = device.run(device.send("images") if sends else batch)
        device.wait(0 if early else job)
    return (device.clock() - start) / (1 if whole else steps)


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
    ask = Asked(answer, start="Copy the broken one, then fix it.")
    ask.stops = "The device has four verbs: send(data), run(batch), wait(job) and clock()."
    device, between = device_for("A"), "Return the difference of two clock readings."
    seconds = ask(device)
    if not (isinstance(seconds, (int, float)) and abs(seconds) < 1e9):  # NaN is no time
        raise Told(f"The function returned {shown(seconds)}, not a number of seconds.", between)
    yours = f"Your timing says {format_seconds(max(seconds, 0))}"
    if math.isclose(seconds, TRUTH["A"], rel_tol=0.05):
        return Result(True, f"{yours}; the device's own record says the same.")
    for slip, (message, leads_on) in _SLIPS.items():  # with as many steps as the learner took
        would_say = timed(device_for("A"), device.steps or 1, **{slip: True})
        if math.isclose(seconds, would_say, rel_tol=0.05, abs_tol=1e-9):
            return Result(False, f"{yours}. {message}", leads_on)
    return Result(False, f"{yours}. That is {percent(abs(seconds / TRUTH['A'] - 1))} off.", between)


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
_SLIPPED = tuple((partial(timed, **{slip: True}), *said) for slip, said in _SLIPS.items())
CHECKS["03/a"] = Check(_repaired, timed, _SLIPPED)
