"""Two workers, processes that train one model over loopback; started and stopped for certain."""

import contextlib
import itertools
import json
import math
import os
import re
import signal
import socket
import sys
import time
from dataclasses import dataclass

from accel_helpers import probe
from accel_helpers.train import training

NAMES = ("worker 0", "worker 1", "one process")  # the third is alone, and has the whole batches
BATCH, BATCHES = 64, 20  # pictures in a batch; after the last one comes the first again
TOLERANCE = 1e-6  # of a weight: float32 added up in another order is rounded otherwise
PATIENCE = 10.0  # seconds that a worker has to notice that another one is gone
_CHILD = "import sys; from accel_helpers.lessons.workers import child; child(*sys.argv[1:])"
_ON_CPU = {
    "KERAS_BACKEND": "tensorflow",
    "CUDA_VISIBLE_DEVICES": "-1",
    "no_grpc_proxy": "127.0.0.1",
}


@dataclass(frozen=True)
class Trained:
    """What the processes said, and numbers."""

    said: tuple[str, ...]
    apart: float = math.nan  # the most by which a worker's weight is not that of one process
    noticed: float = math.nan  # seconds after a kill


def train(steps: int = 20, *, kill: int | None = None, time_limit: float = 60.0) -> Trained:
    """Train the quickstart model on two workers, each with half of every batch, on the CPU.

    With `kill`, that worker is killed after so many steps. Whatever happens, no process is left
    after the time limit, in seconds.
    """
    end = time.monotonic() + time_limit
    with socket.socket() as one, socket.socket() as two:  # on all addresses, as TensorFlow listens
        ports = [each.bind(("", 0)) or each.getsockname()[1] for each in (one, two)]
    with contextlib.ExitStack() as ending:  # also when the learner interrupts
        running = {}
        for name in NAMES if kill is None else NAMES[:2]:
            words = probe.python(_CHILD, name, steps, *ports)
            one = probe.Child(words, probe.variables(_ON_CPU), heard=1)
            running[name] = ending.enter_context(one)
        heard, trouble = _hear(running, end)
        if trouble:
            return Trained((trouble, "All of them are ended."))
        if kill is None:
            *ours, alone = (weights for _, weights in map(heard.get, NAMES))
            apart = max(abs(a - b) for w in ours for a, b in zip(w, alone, strict=True))
            return Trained(tuple(f"{name} {heard[name][0]}" for name in NAMES), apart)
        began, killed = time.monotonic(), running.pop(NAMES[kill])
        killed.process.kill()
        _, gone = _hear({NAMES[kill]: killed}, began + PATIENCE)
        noticed = time.monotonic() - began
        return Trained((gone, _hear(running, began + 2 * PATIENCE)[1]), noticed=noticed)


def _hear(running: dict, end: float) -> tuple[dict, str]:
    """What each says, by name, and a sentence where one of them is gone or late."""
    heard = {}
    while late := [name for name in running if name not in heard]:
        for name in late:
            if line := running[name].hear(0.05):
                heard[name] = json.loads(line)
            elif line == "":
                running[name].stop()
                why = re.findall(r"\w+Error: .+|Collective ops .+", running[name].output)
                return heard, " ".join([f"{name} is gone.", *why[-2:]])
        if time.monotonic() > end:
            return heard, f"{late[0]} was not done in time, and was ended."
    return heard, ""


def child(name: str, steps: str, *ports: str) -> None:
    """In a child process: train without end, and after so many steps say how it went."""
    # While a worker waits for another it holds Python's lock, and no thread would see that the
    # parent is gone. A process does, and ends the group, which is this worker's own.
    if not os.fork():
        os.close(1)
        sys.stdin.read()
        os.killpg(0, signal.SIGKILL)
    import keras
    import tensorflow as tf

    strategy, number, share = tf.distribute.get_strategy(), NAMES.index(name), BATCH
    if number < 2:
        hosts, task = [f"127.0.0.1:{port}" for port in ports], {"type": "worker", "index": number}
        os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": hosts}, "task": task})
        strategy, share = tf.distribute.MultiWorkerMirroredStrategy(), BATCH // 2
    images = training.load_images(BATCHES * BATCH, source="bundled")
    x, y = (images.x_train / 255).astype("float32"), images.y_train
    with strategy.scope():
        model, optimizer = training.quickstart_model(dropout=0), keras.optimizers.SGD(0.1)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x))
            loss = tf.reduce_sum(losses) / BATCH  # a share of the whole batch's mean
        weights = model.trainable_variables
        # Keras adds the workers' gradients up, and only then takes the step.
        optimizer.apply(tape.gradient(loss, weights), weights)
        return tf.reduce_mean(losses)

    for done in itertools.count(1):
        begin = done % BATCHES * BATCH + number % 2 * share
        loss = strategy.run(step, (x[begin : begin + share], y[begin : begin + share]))
        if done == int(steps):
            said = f"had {share} pictures of every {BATCH}; loss in its last step {loss:.4f}"
            weights = [float(w) for v in model.trainable_variables for w in v.numpy().ravel()]
            print(json.dumps([said, weights]), flush=True)
