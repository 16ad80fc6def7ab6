"""Three claims about speed, each measured beside what it is held against.

1. An epoch of `fit_resident` beside one of `fit`, and of a scan in JAX by hand.
2. The same job twice on a machine that grows slower: does `compare` find a difference, does timeit?
3. What `time_fit` says of an epoch, beside whole epochs timed by hand.
"""

import random
import statistics
import time
import timeit
from functools import partial

import numpy as np

from accel_helpers.machine import backend
from accel_helpers.measure.timing import APART, compare

BATCH_SIZES = (32, 128, 512)
IMAGES = 51_200  # of an epoch: whole batches of each of these sizes
ROUNDS = 7
JOB = 0.01  # seconds
JITTER = 0.02  # of a job on the machine that is made up
DRIFTS = (0, 0.02, 0.05, 0.1)  # by this share a job takes longer, a second later
TRIES = 200


def by_hand(train, epochs):
    """Seconds of whole epochs by a clock; a first epoch is left out."""
    import keras

    ends = []
    watch = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: ends.append(time.perf_counter())
    )
    train(epochs=epochs + 1, callbacks=[watch])
    return np.diff(ends).tolist()


# --- fit_resident ---------------------------------------------------------------------------------


def in_turns(ways, rounds):
    """Seconds of an epoch of each way in every round.

    Every other round goes backwards: a machine that gets slower is unfair to nobody. A round before
    these compiles.
    """
    seconds = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name in sorted(ways, reverse=number % 2):
            seconds[name] += by_hand(ways[name], 1)
    return {name: own[1:] for name, own in seconds.items()}


def ways(x, y, batch_size):
    """Trainings of one model, each a function of epochs and callbacks."""
    from accel_helpers.course.quickstart import quickstart_model
    from accel_helpers.fit.resident import fit_resident

    given = {"x": x, "y": y, "batch_size": batch_size, "verbose": 0}
    found = {
        "fit": partial(quickstart_model(dropout=0).fit, **given),
        "fit_resident": partial(fit_resident, quickstart_model(dropout=0), **given),
    }
    if backend.framework() == "jax":
        found["scan by hand"] = scan(x, y, batch_size)
    return found


def scan(x, y, batch_size):
    """The same model in JAX, without Keras: an epoch is one program, its steps a scan."""
    import jax
    from jax import numpy as jnp
    from jax.example_libraries import optimizers, stax

    layers = (stax.Flatten, stax.Dense(128), stax.Relu, stax.Dense(10))
    make_weights, scores_of = stax.serial(*layers)
    make_state, update, weights_of = optimizers.adam(0.001)
    _, weights = make_weights(jax.random.key(0), x.shape)
    data = jnp.asarray(x), jnp.asarray(y, "int32")
    carried = [(0, make_state(weights))]

    def loss_of(weights, images, labels):
        scores = scores_of(weights, images)
        chances = jax.nn.log_softmax(scores)
        loss = -jnp.take_along_axis(chances, labels[:, None], 1).mean()
        return loss, (scores.argmax(-1) == labels).mean()

    @jax.jit
    def epoch(carry, key, x, y):
        def step(carry, rows):
            number, state = carry
            logs, slopes = jax.value_and_grad(loss_of, has_aux=True)(
                weights_of(state), x[rows], y[rows]
            )
            return (number + 1, update(number, slopes, state)), logs

        order = jax.random.permutation(key, len(x))
        carry, (losses, right) = jax.lax.scan(step, carry, order.reshape(-1, batch_size))
        return carry, losses.mean(), right.mean()

    def train(epochs, callbacks):
        for number in range(epochs):
            carry, loss, accuracy = epoch(carried.pop(), jax.random.key(number), *data)
            carried.append(carry)
            logs = {"loss": float(loss), "accuracy": float(accuracy)}  # float() waits
            callbacks[0].on_epoch_end(number, logs)

    return train


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

    def best(job):
        timer = timeit.Timer(job, timer=clock)
        number, _ = timer.autorange()
        return min(timer.repeat(number=number)) / number

    return best(slow) / best(fast)


JUDGES = {"compare": by_compare, "timeit": by_timeit}


def apart(ratios):
    """How many ratios are 5% from one, from where `compare` calls it a difference."""
    distances = np.abs(np.log(ratios))
    return int(np.sum(distances > np.log1p(APART)))


def on_a_drifting_machine(drift, tries=TRIES):
    """What each says of the same job twice, and of one that takes a fifth longer."""
    found = {"drift": drift}
    for name, judge in JUDGES.items():
        ratios = {1.0: [], 1.2: []}
        for truth in ratios:
            for seed in range(tries):
                machine = Machine(drift, seed)
                slow = partial(machine.run, truth * JOB)
                fast = partial(machine.run, JOB)
                ratio = judge(slow, fast, machine.clock)
                ratios[truth].append(ratio)
        found[name] = {"alarms": apart(ratios[1.0]), "fifth": statistics.median(ratios[1.2])}
    return found


# --- time_fit -------------------------------------------------------------------------------------


def said_and_whole(x, y, seconds=3, epochs=10):
    """An epoch by `time_fit`, with its interval, and the middle of whole epochs by hand."""
    from accel_helpers.course.quickstart import quickstart_model
    from accel_helpers.fit.time_fit import time_fit

    train = partial(quickstart_model().fit, x=x, y=y, verbose=0)
    # half before and half after: a machine that slowly changes does so for both
    whole = by_hand(train, epochs // 2)
    said = time_fit(quickstart_model(), x, y, seconds=seconds).epochs
    whole += by_hand(train, epochs // 2)
    return {"said": said.median, "interval": said.interval, "whole": statistics.median(whole)}


def of_backend(count=IMAGES, batch_sizes=BATCH_SIZES, rounds=ROUNDS, runs=10, **box):
    """What a process of one backend finds; the box is that of `said_and_whole`."""
    from accel_helpers.fit.images import load_images

    backend.choose()
    images = load_images(count)
    x = (images.x_train / 255).astype("float32")
    y = images.y_train
    found = {"images": {"name": images.name, "count": count}, "training": {}, "epochs": []}
    for size in batch_sizes:
        found["training"][size] = in_turns(ways(x, y, size), rounds)
    x = x[: count // 4]
    y = y[: count // 4]
    for _ in range(runs):
        found["epochs"].append(said_and_whole(x, y, **box))
    return found
