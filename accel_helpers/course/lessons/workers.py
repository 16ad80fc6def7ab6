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
from collections.abc import Sequence
from dataclasses import dataclass

from accel_helpers._values import probe
from accel_helpers.course import quickstart
from accel_helpers.train.images import load_images

# The process that trains on whole batches, to compare the workers with.
ALONE = "one process"
WORKERS = ("worker 0", "worker 1")
NAMES = (*WORKERS, ALONE)
# Pictures in a batch.
BATCH = 64
# Batches of the data, which start over when all have been used.
STEPS = 20
# Seconds for which the other worker is heard after one has ended.
PATIENCE = 10.0
# The most that a weight may differ: float32 added up in another order is rounded otherwise.
TOLERANCE = 1e-6
_CHILD = "import sys; from accel_helpers.course.lessons.workers import child; child(*sys.argv[1:])"
_OWN = {"KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": "-1", "no_grpc_proxy": "127.0.0.1"}
# What a worker whose partner is gone writes among much else, such as
# "tensorflow...UnavailableError: Collective ops is aborted by: Connection reset by peer".
_ERROR_LINE = re.compile(r"\w+Error: .+|Collective ops .+")


@dataclass(frozen=True)
class Trained:
    """The result of `train`: what happened, and how far the workers' weights are off."""

    # Lines such as " 3.2 s: worker 1 is killed."
    log: tuple[str, ...]
    # The largest difference between a weight of a worker and the same weight of the process
    # alone; infinite where nothing was compared.
    apart: float


def train(steps: int = 20, *, kill: int | None = None, time_limit: float = 60.0) -> Trained:
    """Train the quickstart model on two workers, and compare their weights with one process's.

    Each worker has one half of every batch; a third process has whole batches. All processes are
    ended before this returns, or raises.

    Parameters
    ----------
    steps : int
        The steps after which the weights are reported.
    kill : int, optional
        The worker, 0 or 1, that is killed when both workers have reported. Then there is no third
        process, and nothing is compared.
    time_limit : float
        Seconds after which all processes are ended, whatever they have done.

    Returns
    -------
    Trained
        The `log`, and how far the weights are `apart`.
    """
    names = NAMES
    if kill is not None:
        names = WORKERS
    with contextlib.ExitStack() as open_processes:
        # Whatever happens, also where the learner interrupts, all processes are ended.
        run = _Run(time_limit)
        run.start(steps, names, open_processes)
        was_killed = False
        while run.goes_on():
            run.hear()
            both_reported = len(run.weights) == len(WORKERS)
            if kill is not None and both_reported and not was_killed:
                run.kill(WORKERS[kill])
                was_killed = True
        run.note_ends()
    return Trained(tuple(run.log), run.largest_difference())


class _Run:
    """One training by several processes, each called by its name in `NAMES`.

    A *report* is the one line that a process prints after its steps: a sentence and its weights.
    Times are in seconds since the training began.
    """

    def __init__(self, time_limit: float):
        self.start_time = time.monotonic()
        self.time_limit = time_limit
        # name -> process, of those that have not ended
        self.processes: dict[str, probe.Child] = {}
        # name -> all weights of its model in a row, of those that have reported
        self.weights: dict[str, list[float]] = {}
        # what happened, a line for each event
        self.log: list[str] = []

    @property
    def elapsed(self) -> float:
        """Return the seconds since the training began."""
        return time.monotonic() - self.start_time

    def note(self, text: str) -> None:
        """Add an event to the log, with its time."""
        self.log.append(f"{self.elapsed:4.1f} s: {text}")

    def start(self, steps: int, names: Sequence[str], open_processes: contextlib.ExitStack) -> None:
        """Start a process for each name; leaving `open_processes` ends them all.

        Each gets the addresses of both workers. `steps` is the step after which it reports.
        """
        hosts = _free_addresses(len(WORKERS))
        for number, name in enumerate(names):
            task = {"type": "worker", "index": number}
            config = {"cluster": {"worker": hosts}, "task": task}
            settings = {**_OWN, "TF_CONFIG": json.dumps(config)}
            environ = probe.variables(settings)
            command = probe.python(_CHILD, number, steps)
            process = probe.Child(command, environ, heard=True)
            self.processes[name] = open_processes.enter_context(process)

    def goes_on(self) -> bool:
        """Return whether a report, or the end of a process, is still to be waited for."""
        if len(self.weights) == len(NAMES):
            return False
        return bool(self.processes) and self.elapsed < self.time_limit

    def hear(self) -> None:
        """Log what each process reports, and keep its weights; log which processes have ended."""
        for name, process in list(self.processes.items()):
            line = process.hear(seconds=0.05)
            # None: it said nothing in that time. Empty: it has ended.
            if line is None:
                continue
            if line == "":
                self._note_end(name, process)
                continue
            sentence, weights = json.loads(line)
            self.weights[name] = weights
            self.note(f"{name} {sentence}")

    def _note_end(self, name: str, process: probe.Child) -> None:
        """Log that a process has ended by itself, with the last two errors that it wrote.

        The others are then heard for no more than `PATIENCE` seconds.
        """
        del self.processes[name]
        # What it wrote can be read only after this.
        process.stop()
        errors = _ERROR_LINE.findall(process.output)
        sentences = [f"{name} is gone.", *errors[-2:]]
        self.note(" ".join(sentences))
        end_of_patience = self.elapsed + PATIENCE
        self.time_limit = min(self.time_limit, end_of_patience)

    def kill(self, name: str) -> None:
        """Kill a process, and forget all reports, so that the survivor's next one is waited for."""
        self.processes[name].process.kill()
        self.note(f"{name} is killed.")
        self.weights.clear()

    def note_ends(self) -> None:
        """Log that each process that still runs is ended now."""
        for name in self.processes:
            self.note(f"{name} is ended.")

    def largest_difference(self) -> float:
        """Return how far a worker's weight is at most from the same weight of the process alone.

        It is infinite where one of the three has not reported.
        """
        if len(self.weights) < len(NAMES):
            return float("inf")
        largest = 0.0
        for name in WORKERS:
            pairs = zip(self.weights[name], self.weights[ALONE], strict=True)
            differences = [abs(weight - true_weight) for weight, true_weight in pairs]
            largest = max(largest, *differences)
        return largest


def _free_addresses(count: int) -> list[str]:
    """Return that many addresses on this machine that no server uses: ["127.0.0.1:40123", ...]."""
    with contextlib.ExitStack() as servers:
        ports = []
        # All are open at the same time, so that no port comes twice.
        for _ in range(count):
            server = servers.enter_context(socket.create_server(("", 0)))
            ports.append(server.getsockname()[1])
    return [f"127.0.0.1:{port}" for port in ports]


def child(number: str, steps: str) -> None:
    """Train without end in a child process, and print one report as a line of JSON.

    Parameters
    ----------
    number : str
        The place in `NAMES` of what this process is: "0", "1" or "2".
    steps : str
        The steps after which it prints [sentence, weights].
    """
    _end_with_parent()
    import keras
    import tensorflow as tf

    name = NAMES[int(number)]
    x, y = _batches_of(name)
    if name == ALONE:
        strategy = tf.distribute.get_strategy()
    else:
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        model = quickstart.quickstart_model(dropout=0)
        optimizer = keras.optimizers.SGD(0.1)

    @tf.function
    def step(images, labels):
        with tf.GradientTape() as tape:
            logits = model(images)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
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
            pictures = len(batch[1])
            sentence = f"had {pictures} of {BATCH} pictures, and {loss:.4f} of the last loss."
            weights = []
            for variable in model.weights:
                weights += variable.numpy().ravel().tolist()
            print(json.dumps([sentence, weights]), flush=True)


def _end_with_parent() -> None:
    """Start a process that kills this one, and itself, when the parent is gone.

    A thread would not do: a worker that waits for another holds Python's lock.
    """
    is_watcher = os.fork() == 0
    if is_watcher:
        # Otherwise the parent would wait for what this process could still print.
        os.close(1)
        # It comes back when the parent's end of standard input is closed.
        sys.stdin.read()
        os.killpg(0, signal.SIGKILL)


def _batches_of(name: str):
    """Return the images and the labels of a process, as arrays (STEPS, its share of BATCH, ...).

    "worker 0" has the first half of every batch, "worker 1" the second, "one process" all of it.
    """
    half = BATCH // 2
    shares = {"worker 0": slice(half), "worker 1": slice(half, None), ALONE: slice(None)}
    share = shares[name]
    images = load_images(STEPS * BATCH, source="bundled")
    pictures = (images.x_train / 255).astype("float32")
    x = pictures.reshape(STEPS, BATCH, 28, 28)
    y = images.y_train.reshape(STEPS, BATCH)
    return x[:, share], y[:, share]
