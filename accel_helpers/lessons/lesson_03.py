"""What lesson 03 compares; a pretend accelerator whose every cost is known, for its exercises.

It does as a GPU does: it compiles at the first run, takes its orders at once, and works on its own
until it has finished. Its clock is its own, so every machine sees the same.
"""

import math
from functools import partial
from itertools import product

from accel_helpers._words import format_seconds, percent, shown
from accel_helpers.learn.checks import Asked, Check, Result, Told, choices
from accel_helpers.machine import backend
from accel_helpers.measure import results, timing, verdicts

__all__ = ["TRUTH", "device_for"]

WIDTHS, BATCH_SIZES = (16, 128, 512, 2048), (32, 256, 2048)
CNN, BARE = NETS = ("small CNN, 64 x 64", "small CNN without convolutions")  # batches of 32
WORTH = 2  # times as fast: a lower ceiling is no reason to look for another chip
SWEPT = tuple(f"{k}: {v}" for k in ("faster", "room") for v in verdicts.LABELS["where_it_pays"])


def race(make_model, x, y, *, seconds: float, batch_size: int = 32, keep="03/race"):
    """The same training on the CPU and on the accelerator, in turns; None where there is none."""
    cpu, *others = backend.devices()
    if not others:
        return None

    def trains_on(device):
        with backend.on(device):
            model = make_model()

        def train():
            with backend.on(device):
                model.fit(x, y, batch_size=batch_size, verbose=0)
            return model  # so that it can be waited for

        return train

    both, names = (trains_on(cpu), trains_on(others[-1])), ("CPU", others[-1].upper())
    return timing.compare(*both, seconds=seconds, names=names, keep=keep)


def times_as_fast(steps: dict) -> dict:
    """The CPU against the accelerator; alone, against width 1 or the CNN without convolutions."""
    cpu, other = steps["cpu"], [*steps.values()][-1]
    if other is cpu:  # these have the same pictures, and next to nothing to compute
        other = {(net, n): cpu[BARE if net in NETS else 1, n] for net, n in cpu}
    return {k: timing.compare(cpu[k], other[k]) for k in cpu if cpu[k] and k[0] not in (1, BARE)}


def swept(ratios: dict, device: str):
    """Where a width pays, measured ("faster: …") or, on a CPU alone, at most ("room: …")."""
    kind, least = ("room", WORTH) if device == "cpu" else ("faster", 1)
    dense = {at: ratio for at, ratio in ratios.items() if at[0] not in NETS}
    found = verdicts.where_it_pays(dense, at_least=least)
    return found._replace(verdict=f"{kind}: {found.verdict}")


def their_sweep(device: str) -> dict:
    """The sweep of the reference run, if it has one of the same kind."""
    card, sizes = results.reference().measurements, product((1, *WIDTHS), BATCH_SIZES)
    names = {(w, b): f"width {w}/batch {b}" for w, b in sizes}
    names |= {(net, 32): f"{net}/batch 32" for net in NETS}
    steps = {
        kind: {at: card.get(f"03/step/{kind}/{name}") for at, name in names.items()}
        for kind in ("cpu", device)
    }
    return times_as_fast(steps) if steps[device][1, 32] else {}


def their_parts() -> dict:
    """The parts of a step on the reference machine."""
    card = results.reference().measurements
    kinds = ("ordinary", "grouped", "products")
    return verdicts.step_parts(*(card[f"03/step parts/{kind}"] for kind in kinds)).seconds


def theirs(kind, prefix: str, *more):
    """A Climb or the Ceilings of the reference run."""
    card = results.reference()
    return kind.from_card(card.measurements, card.numbers, prefix, *more)


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
    ask = Asked(answer, start="Copy the broken one, then mend it.")
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
