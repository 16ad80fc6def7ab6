"""Two workers, processes that train one model over loopback; started and stopped for certain."""

import contextlib
import itertools
import json
import os
import re
import signal
import socket
import sys
import time
from dataclasses import dataclass

from accel_helpers._values import probe
from accel_helpers.course import quickstart
from accel_helpers.train.images import load_images

NAMES = ("worker 0", "worker 1", "one process")  # that is alone, and has the whole batches
BATCH, PATIENCE = 64, 10.0  # pictures; seconds in which the other worker may say what it sees
TOLERANCE = 1e-6  # of a weight: float32 added up in another order is rounded otherwise
_CHILD = "import sys; from accel_helpers.course.lessons.workers import child; child(*sys.argv[1:])"
_OWN = {"KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": "-1", "no_grpc_proxy": "127.0.0.1"}


@dataclass(frozen=True)
class Trained:
    """What happened, line by line; and how far a weight is at most from that of one process."""

    log: tuple[str, ...]
    apart: float  # infinite where nothing was compared


def train(steps: int = 20, *, kill: int | None = None, time_limit: float = 60.0) -> Trained:
    """Train the quickstart model on two workers, each with half of every batch; or `kill` one."""
    with socket.create_server(("", 0)) as one, socket.create_server(("", 0)) as two:
        hosts = [f"127.0.0.1:{each.getsockname()[1]}" for each in (one, two)]
    running, weights, log, apart, began = {}, {}, [], float("inf"), time.monotonic()
    with contextlib.ExitStack() as ending:  # ends them also when the learner interrupts
        for number, name in enumerate(NAMES if kill is None else NAMES[:2]):
            config = {"cluster": {"worker": hosts}, "task": {"type": "worker", "index": number}}
            environ = probe.variables({**_OWN, "TF_CONFIG": json.dumps(config)})
            one = probe.Child(probe.python(_CHILD, number, steps), environ, heard=1)
            running[name] = ending.enter_context(one)
        while running and len(weights) < 3 and (passed := time.monotonic() - began) < time_limit:
            for name, one in list(running.items()):
                if line := one.hear(0.05):
                    words, weights[name] = json.loads(line)
                    log.append(f"{passed:4.1f} s: {name} {words}")
                elif line == "":
                    running.pop(name).stop()
                    why = re.findall(r"\w+Error: .+|Collective ops .+", one.output)[-2:]
                    log.append(" ".join([f"{passed:4.1f} s: {name} is gone.", *why]))
                    time_limit = min(time_limit, passed + PATIENCE)
            if len(weights) == len(NAMES):
                *ours, alone = map(weights.get, NAMES)
                apart = max(abs(a - b) for w in ours for a, b in zip(w, alone, strict=True))
            elif kill is not None and len(weights) == 2:
                running[NAMES[kill]].process.kill()
                log.append(f"{passed:4.1f} s: {NAMES[kill]} is killed.")
                weights.clear()  # once is enough
    return Trained((*log, *(f"{passed:4.1f} s: {name} is ended." for name in running)), apart)


def child(number: str, steps: str) -> None:
    """In a child process: train without end, and after so many steps say how it went."""
    # While a worker waits it holds Python's lock, and no thread sees the parent's end; this does.
    if not os.fork():
        os.close(1)
        sys.stdin.read()
        os.killpg(0, signal.SIGKILL)
    import keras
    import tensorflow as tf

    ways, half = tf.distribute, BATCH // 2
    strategy = ways.get_strategy() if number == "2" else ways.MultiWorkerMirroredStrategy()
    mine = (slice(half), slice(half, None), slice(None))[int(number)]
    images = load_images(20 * BATCH, source="bundled")
    x = (images.x_train / 255).astype("float32").reshape(20, BATCH, 28, 28)[:, mine]
    y = images.y_train.reshape(20, BATCH)[:, mine]
    with strategy.scope():
        model, optimizer = quickstart.quickstart_model(dropout=0), keras.optimizers.SGD(0.1)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x))
            loss = tf.reduce_sum(losses) / BATCH  # this worker's share of the mean
        # Keras adds the workers' gradients up, and only then takes the step.
        optimizer.apply(tape.gradient(loss, model.trainable_weights), model.trainable_weights)
        return loss

    for done, batch in enumerate(itertools.cycle(zip(x, y, strict=True)), 1):
        loss = strategy.run(step, batch)
        if done == int(steps):
            said = f"had {len(batch[1])} of {BATCH} pictures, and {loss:.4f} of the last loss."
            weights = [w for v in model.weights for w in v.numpy().ravel().tolist()]
            print(json.dumps([said, weights]), flush=True)
