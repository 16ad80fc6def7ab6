"""Two claims about speed, each measured beside what it is held against.

1. An epoch of `fit_resident` beside one of `fit`.
2. The same job twice on a machine that grows slower: does `compare` find a difference, does timeit?
"""

import itertools
import math
import random
import statistics
import time
import timeit
from functools import partial

from accel_helpers.machine import backend
from accel_helpers.measure.timing import APART, compare

BATCH_SIZES = (32, 128, 512)
IMAGES = 51_200  # of an epoch: whole batches of each of these sizes
ROUNDS = 7
JOB = 0.01  # seconds
JITTER = 0.02  # of a job on the machine that is made up
DRIFTS = (0, 0.02, 0.05, 0.1)  # by this share a job takes longer, a second later
TRIES = 200


# --- fit_resident ---------------------------------------------------------------------------------


def of_backend(count=IMAGES, batch_sizes=BATCH_SIZES, rounds=ROUNDS):
    """What a process of one backend finds."""
    from accel_helpers.fit.images import load_images

    backend.choose()
    images = load_images(count)
    x = (images.x_train / 255).astype("float32")
    training = {}
    for size in batch_sizes:
        training[size] = in_turns(ways(x, images.y_train, size), rounds)
    return {"images": {"name": images.name, "count": count}, "training": training}


def ways(x, y, batch_size):
    """Trainings of one model, each a function of epochs and callbacks."""
    from accel_helpers.course.quickstart import quickstart_model
    from accel_helpers.fit.resident import fit_resident

    given = {"x": x, "y": y, "batch_size": batch_size, "verbose": 0}
    return {
        "fit": partial(quickstart_model(dropout=0).fit, **given),
        "fit_resident": partial(fit_resident, quickstart_model(dropout=0), **given),
    }


def in_turns(ways, rounds):
    """Seconds of an epoch of each way in every round.

    Every other round goes backwards: a machine that gets slower is unfair to nobody. A round before
    these compiles.
    """
    seconds = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name in sorted(ways, reverse=number % 2):
            seconds[name].append(second_epoch(ways[name]))
    return {name: own[1:] for name, own in seconds.items()}


def second_epoch(train):
    """Seconds of an epoch by a clock; what a training begins with is left out."""
    import keras

    ends = []
    watch = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: ends.append(time.perf_counter())
    )
    train(epochs=2, callbacks=[watch])
    return ends[1] - ends[0]


# --- compare --------------------------------------------------------------------------------------


class Machine:
    """A machine that is made up, and grows slower on a clock of its own."""

    def __init__(self, drift, seed):
        self.drift = drift
        self.now = 0.0
        self.random = random.Random(seed)

    def clock(self):
        return self.now

    def run(self, seconds):
        slower = 1 + self.drift * self.now
        self.now += seconds * slower * self.random.lognormvariate(0, JITTER)


def by_compare(slow, fast, clock):
    """How many times as fast `compare` says that the second is; 1 where it sees no difference."""
    return compare(slow, fast, clock=clock, wait=lambda result: None).ratio or 1.0


def by_timeit(slow, fast, clock):
    """The same by timeit, as it is by default: the best of five, one after the other."""
    best = []
    for job in (slow, fast):
        timer = timeit.Timer(job, timer=clock)
        number, _ = timer.autorange()
        best.append(min(timer.repeat(number=number)) / number)
    return best[0] / best[1]


JUDGES = {"compare": by_compare, "timeit": by_timeit}


def on_a_drifting_machine(drift, tries=TRIES):
    """What each says of the same job twice, and of one that takes a fifth longer.

    An alarm is 5 % or more, from where `compare` calls it a difference.
    """
    found = {"drift": drift}
    for name, judge in JUDGES.items():
        ratios = {1.0: [], 1.2: []}
        for truth, seed in itertools.product(ratios, range(tries)):
            machine = Machine(drift, seed)
            slow = partial(machine.run, truth * JOB)
            fast = partial(machine.run, JOB)
            ratios[truth].append(judge(slow, fast, machine.clock))
        alarms = 0
        for ratio in ratios[1.0]:
            alarms += abs(math.log(ratio)) > math.log1p(APART)
        found[name] = {"alarms": alarms, "fifth": statistics.median(ratios[1.2])}
    return found
