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

# The process that has the whole batches, to compare the workers with.
ALONE = "one process"
NAMES = ("worker 0", "worker 1", ALONE)
# Pictures of a batch, and batches of the data.
BATCH = 64
STEPS = 20
# Seconds in which the other worker may say what it sees.
PATIENCE = 10.0
# Of a weight: float32 added up in another order is rounded otherwise.
TOLERANCE = 1e-6
_CHILD = "import sys; from accel_helpers.course.lessons.workers import child; child(*sys.argv[1:])"
_OWN = {"KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": "-1", "no_grpc_proxy": "127.0.0.1"}


@dataclass(frozen=True)
class Trained:
    """What happened, line by line; and how far a weight is at most from that of one process."""

    log: tuple[str, ...]
    # Infinite where nothing was compared.
    apart: float


def train(steps: int = 20, *, kill: int | None = None, time_limit: float = 60.0) -> Trained:
    """Train the quickstart model on two workers, each with half of every batch; or `kill` one."""
    names = NAMES
    if kill is not None:
        # Where one is killed there is nothing to compare with.
        names = NAMES[:2]
    with contextlib.ExitStack() as ending:
        # Whatever happens, also where the learner interrupts, all processes are ended.
        run = _Run(time_limit)
        run.start(steps, names, ending)
        was_killed = False
        while run.goes_on():
            run.hear()
            if kill is not None and len(run.weights) == 2 and not was_killed:
                run.kill(NAMES[kill])
                was_killed = True
        run.end()
    return Trained(tuple(run.log), run.apart())


class _Run:
    """The processes of a training, what they have said, and until when they may."""

    def __init__(self, time_limit: float):
        self.began = time.monotonic()
        self.time_limit = time_limit
        self.running: dict[str, probe.Child] = {}
        self.weights: dict[str, list[float]] = {}
        self.log: list[str] = []

    @property
    def passed(self) -> float:
        return time.monotonic() - self.began

    def note(self, text: str) -> None:
        self.log.append(f"{self.passed:4.1f} s: {text}")

    def start(self, steps: int, names, ending: contextlib.ExitStack) -> None:
        """Start a process of each name; the workers know each other's addresses."""
        hosts = _free_addresses(2)
        for number, name in enumerate(names):
            task = {"type": "worker", "index": number}
            config = {"cluster": {"worker": hosts}, "task": task}
            settings = {**_OWN, "TF_CONFIG": json.dumps(config)}
            environ = probe.variables(settings)
            command = probe.python(_CHILD, number, steps)
            process = probe.Child(command, environ, heard=True)
            self.running[name] = ending.enter_context(process)

    def goes_on(self) -> bool:
        """Return whether somebody is still to be heard."""
        if len(self.weights) == len(NAMES):
            return False
        return bool(self.running) and self.passed < self.time_limit

    def hear(self) -> None:
        """Note what each process says, or that it has ended."""
        for name, process in list(self.running.items()):
            line = process.hear(0.05)
            if line:
                words, self.weights[name] = json.loads(line)
                self.note(f"{name} {words}")
            elif line == "":
                self._note_end(name, process)

    def _note_end(self, name: str, process: probe.Child) -> None:
        """Note that a process has ended, and the last errors that it wrote."""
        del self.running[name]
        process.stop()
        errors = re.findall(r"\w+Error: .+|Collective ops .+", process.output)
        sentences = [f"{name} is gone.", *errors[-2:]]
        self.note(" ".join(sentences))
        end_of_patience = self.passed + PATIENCE
        self.time_limit = min(self.time_limit, end_of_patience)

    def kill(self, name: str) -> None:
        self.running[name].process.kill()
        self.note(f"{name} is killed.")
        self.weights.clear()

    def end(self) -> None:
        """Note who is ended now."""
        for name in self.running:
            self.note(f"{name} is ended.")

    def apart(self) -> float:
        """Return how far a worker's weight is at most from that of the process that was alone."""
        if len(self.weights) < len(NAMES):
            return float("inf")
        largest = 0.0
        for name in NAMES[:2]:
            pairs = zip(self.weights[name], self.weights[ALONE], strict=True)
            largest = max(largest, *(abs(weight - other) for weight, other in pairs))
        return largest


def _free_addresses(count: int) -> list[str]:
    """Return addresses on this machine that nobody uses."""
    with contextlib.ExitStack() as servers:
        ports = []
        for _ in range(count):
            server = servers.enter_context(socket.create_server(("", 0)))
            ports.append(server.getsockname()[1])
    return [f"127.0.0.1:{port}" for port in ports]


def child(number: str, steps: str) -> None:
    """Train without end in a child process, and after so many steps print how it went."""
    # While a worker waits it holds Python's lock, and no thread sees the parent's end; this does.
    if not os.fork():
        os.close(1)
        sys.stdin.read()
        os.killpg(0, signal.SIGKILL)
    import keras
    import tensorflow as tf

    half = BATCH // 2
    shares = (slice(half), slice(half, None), slice(None))
    place = int(number)
    share = shares[place]
    if NAMES[place] == ALONE:
        strategy = tf.distribute.get_strategy()
    else:
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    images = load_images(STEPS * BATCH, source="bundled")
    pictures = (images.x_train / 255).astype("float32")
    x = pictures.reshape(STEPS, BATCH, 28, 28)[:, share]
    y = images.y_train.reshape(STEPS, BATCH)[:, share]
    with strategy.scope():
        model = quickstart.quickstart_model(dropout=0)
        optimizer = keras.optimizers.SGD(0.1)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x))
            # This worker's share of the mean.
            loss = tf.reduce_sum(losses) / BATCH
        gradients = tape.gradient(loss, model.trainable_weights)
        # Keras adds the workers' gradients up, and only then takes the step.
        optimizer.apply(gradients, model.trainable_weights)
        return loss

    batches = itertools.cycle(zip(x, y, strict=True))
    for steps_done, batch in enumerate(batches, 1):
        loss = strategy.run(step, batch)
        if steps_done == int(steps):
            words = f"had {len(batch[1])} of {BATCH} pictures, and {loss:.4f} of the last loss."
            weights = []
            for variable in model.weights:
                weights += variable.numpy().ravel().tolist()
            print(json.dumps([words, weights]), flush=True)
