"""The ways to train the same model that lesson 03 climbs, as far as this machine has them."""

from collections.abc import Callable, Mapping
from functools import partial

from accel_helpers.course import quickstart
from accel_helpers.machine import backend, runtime
from accel_helpers.machine.quiet import without_remarks
from accel_helpers.train import epochs as epochs_of_fit
from accel_helpers.train.resident import fit_resident

SMALL_BATCH = epochs_of_fit.BATCH_SIZE
BATCH_SIZE = 256  # of the bigger batches
GROUP = 16  # steps between two returns to Python, where that is changed
# Of every stage, in the order climbed: what a result card calls it, and what a learner reads.
STAGES = {
    "default": "default fit",
    "bigger-batches": "bigger batches",
    "grouped-steps": "steps per execution",
    "xla": "XLA",
    "tf-data": "tf.data with prefetch",
    "resident": "resident",
    "resident-small": "resident, small batches",
}
DEFAULT, BIGGER, GROUPED, XLA, TF_DATA, RESIDENT, RESIDENT_SMALL = STAGES


class Way:
    """One way to train: a model compiled for it, and where it wants its data (as `data` says)."""

    def __init__(self, batch_size, data="arrays", **compiled):
        self.batch_size = batch_size
        self.data = data
        self.model = quickstart.quickstart_model(dropout=0, **compiled)

    def on(self, x, y) -> Callable:
        """Return a function that trains on these data; it takes options as ``fit`` does."""
        if self.data == "pipeline":
            return partial(self.model.fit, self._pipeline(x, y), shuffle=False, verbose=0)
        if self.data == "resident":
            import keras

            x = keras.ops.convert_to_tensor(x)
            y = keras.ops.convert_to_tensor(y)
            return partial(fit_resident, self.model, x, y, batch_size=self.batch_size, verbose=0)
        return partial(self.model.fit, x, y, batch_size=self.batch_size, verbose=0)

    def _pipeline(self, x, y):
        """Return a tf.data set, which makes and shuffles the batches itself."""
        import tensorflow as tf

        # TensorFlow reuses the program for arrays only if it is told that all batches are full.
        all_full = len(x) % self.batch_size == 0
        pictures = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(len(x))
        return pictures.batch(self.batch_size, all_full).prefetch(tf.data.AUTOTUNE)

    def start_anew(self, seed):
        """Reset weights and optimizer to those of a new model with this seed."""
        fresh = quickstart.quickstart_model(dropout=0, seed=seed)
        self.model.set_weights(fresh.get_weights())
        for variable in self.model.optimizer.variables:
            if variable is not self.model.optimizer.learning_rate:
                variable.assign(variable.value * 0)


def _never_enough(turns: int) -> bool:
    """Return False, whatever the number of turns."""
    return False


def in_turns(
    trainings: Mapping, watches: Mapping, turns: int, enough: Callable = _never_enough
) -> None:
    """Train each way for one epoch a turn, until the turns are over or there are enough.

    The order goes there and back, so that a machine that slowly changes affects all ways alike.
    """
    for turn in range(turns):
        if enough(turn):
            break
        order = trainings if turn % 2 == 0 else reversed(trainings)
        for id in order:
            with without_remarks():
                trainings[id](epochs=1, callbacks=[watches[id]])


def ways_on(device: str) -> tuple[dict[str, Way], tuple[str, ...]]:
    """Return the ways that this machine has, by their ids, and notes on those that it lacks."""
    notes = []
    # What a stage is compiled with stays in those after it.
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
            # It is the same program, translated once.
            if XLA in ways:
                ways[TF_DATA].model = ways[XLA].model
        else:
            notes.append("tf.data is left out: TensorFlow is not installed here.")
        ways[RESIDENT] = Way(BATCH_SIZE, "resident")
        ways[RESIDENT_SMALL] = Way(SMALL_BATCH, "resident")
    return ways, tuple(notes)
