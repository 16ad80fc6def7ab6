"""The ways to train the same model that lesson 03 climbs, as far as this machine has them."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from accel_helpers.course import quickstart
from accel_helpers.fit import epochs as epochs_of_fit
from accel_helpers.fit.resident import fit_resident, start_anew
from accel_helpers.machine import backend, runtime
from accel_helpers.machine.quiet import held_back

if TYPE_CHECKING:
    import numpy as np

SMALL_BATCH = epochs_of_fit.BATCH_SIZE
BATCH_SIZE = 256  # of the bigger batches
GROUP = 16  # steps between two returns to Python, where that is changed
# Of every stage, in the order climbed: its id, and what a learner reads.
STAGES = {
    "default": "default fit",
    "bigger-batches": "bigger batches",
    "grouped-steps": "steps per execution",
    "xla": "XLA",
    "tf-data": "tf.data with prefetch",
    "resident": "resident",
    "resident-small": "resident, small batches",
}
# Which parts of an epoch the change of a stage makes smaller, in the words of `profile_fit`. With
# XLA it is overhead, since operations that are fused are launched once.
TAKES_AWAY = {
    "bigger-batches": "overhead and memory",
    "grouped-steps": "overhead",
    "xla": "overhead",
    "tf-data": "input",
    "resident": "overhead and input",
    "resident-small": "overhead and input",
}
DEFAULT, BIGGER, GROUPED, XLA, TF_DATA, RESIDENT, RESIDENT_SMALL = STAGES


class Way:
    """One way to train: a model compiled for it, and how the data get to it.

    `data` is "arrays" (``fit`` copies them batch by batch), "pipeline" (tf.data makes the batches)
    or "resident" (all of them lie on the device before). `compiled` are options of
    `quickstart_model`, such as jit_compile=True.
    """

    def __init__(self, batch_size: int, data: str = "arrays", **compiled: Any):
        self.batch_size = batch_size
        self.data = data
        self.model = quickstart.quickstart_model(dropout=0, **compiled)

    def on(self, x: "np.ndarray", y: "np.ndarray") -> Callable:
        """Return a function that trains the model on these data.

        It takes the options `epochs` and `callbacks` as ``fit`` does, and prints nothing.
        """
        if self.data == "pipeline":
            return partial(self.model.fit, self._pipeline(x, y), shuffle=False, verbose=0)
        fit = self.model.fit
        if self.data == "resident":
            import keras

            # Moved to the device once, before any epoch is timed.
            x = keras.ops.convert_to_tensor(x)
            y = keras.ops.convert_to_tensor(y)
            fit = partial(fit_resident, self.model)
        return partial(fit, x, y, batch_size=self.batch_size, verbose=0)

    def _pipeline(self, x: "np.ndarray", y: "np.ndarray"):
        """Return a tf.data.Dataset that makes and shuffles the batches itself."""
        import tensorflow as tf

        # TensorFlow reuses the program for arrays only if it is told that all batches are full.
        all_full = len(x) % self.batch_size == 0
        pictures = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(len(x))
        return pictures.batch(self.batch_size, all_full).prefetch(tf.data.AUTOTUNE)

    def start_anew(self, seed: int) -> None:
        """Set weights and optimizer to those of a new model with this seed.

        The model stays the same object, so that its compiled program can be used again.
        """
        start_anew(self.model, quickstart.quickstart_model(dropout=0, seed=seed))


def in_turns(
    trainings: Mapping[str, Callable],
    watches: Mapping[str, Any],
    turns: int,
    enough: Callable[[int], bool],
) -> None:
    """Train each way for one epoch a turn, for at most so many turns.

    The order goes there and back, so that a machine that slowly changes affects all ways alike.

    Parameters
    ----------
    trainings : mapping
        What `Way.on` returned, by the way's id.
    watches : mapping
        The stopwatch of each way, a callback of Keras, by the same ids: it keeps the times.
    turns : int
        The most turns.
    enough : callable
        Called before each turn with the number of turns taken; True ends it.
    """
    for turn in range(turns):
        if enough(turn):
            break
        order = trainings if turn % 2 == 0 else reversed(trainings)
        for id in order:
            with held_back():
                trainings[id](epochs=1, callbacks=[watches[id]])


def ways_on(device: str) -> tuple[dict[str, Way], tuple[str, ...]]:
    """Return the ways to train on a device (one of `backend.devices`), and notes.

    The ways are by their ids, in the order of `STAGES`; each note is a sentence on a way that this
    machine lacks. Raises a ValueError where this machine has no such device.
    """
    notes = []
    # The options of `compile` so far: a stage keeps those of the stages before it.
    options = {}
    with backend.on(device):
        ways = {DEFAULT: Way(SMALL_BATCH), BIGGER: Way(BATCH_SIZE)}
        if backend.groups_steps():
            options["steps_per_execution"] = GROUP
            ways[GROUPED] = Way(BATCH_SIZE, **options)
        else:
            notes.append("Steps per execution are left out: this Keras loops over them in Python.")
        if backend.framework() == "jax":
            notes.append("XLA is on in all stages: without it, Keras on JAX compiles nothing.")
        else:
            options["jit_compile"] = True
            ways[XLA] = Way(BATCH_SIZE, **options)
        if "tensorflow" in runtime.describe().frameworks:
            ways[TF_DATA] = Way(BATCH_SIZE, "pipeline", **options)
            # It is the same program, so one model does for both, and it is compiled once.
            if XLA in ways:
                ways[TF_DATA].model = ways[XLA].model
        else:
            notes.append("tf.data is left out: TensorFlow is not installed here.")
        ways[RESIDENT] = Way(BATCH_SIZE, "resident")
        ways[RESIDENT_SMALL] = Way(SMALL_BATCH, "resident")
    return ways, tuple(notes)
