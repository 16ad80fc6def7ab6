"""The data of a training as ``fit`` takes them: arrays, or a set that makes its own batches."""

from dataclasses import dataclass
from math import ceil

ARRAYS = "arrays"
DATASET = "tf.data"
SEQUENCE = "keras.utils.PyDataset"


@dataclass(frozen=True)
class TrainingData:
    """What a model is trained on, and how many samples an epoch of it has."""

    x: object
    y: object
    form: str  # ARRAYS, DATASET or SEQUENCE
    samples: int
    batch_size: int  # of a set, the size of its first batch

    def steps(self, batch_size: int) -> int:
        """Return how many steps an epoch has."""
        return ceil(self.samples / batch_size)

    def first_steps(self, steps: int, batch_size: int):
        """Return the arrays of the first steps of an epoch."""
        import keras

        samples = steps * batch_size
        return keras.tree.map_structure(lambda array: array[:samples], (self.x, self.y))

    def for_fit(self, batch_size: int, most_steps: int) -> tuple[dict, int]:
        """Return the arguments of ``fit``, and how many steps an epoch of them has.

        Of arrays no more than `most_steps` are handed over: ``fit`` copies and shuffles them all.
        """
        steps = self.steps(batch_size)
        if self.form == ARRAYS:
            x, y = self.first_steps(most_steps, batch_size)
            arguments = {"x": x, "y": y, "batch_size": batch_size, "shuffle": True}
            return arguments, min(steps, most_steps)
        # a tf.data.Dataset shuffles by itself, and fit warns where it is told to
        arguments = {"x": self.x, "shuffle": self.form == SEQUENCE}
        if batch_size != self.batch_size:
            arguments["x"] = _rebatched(self.x, batch_size, steps)
        return arguments, steps


def _rebatched(dataset, batch_size: int, steps: int):
    """Return a tf.data.Dataset in batches of another size, which knows how many they are."""
    import tensorflow as tf

    with_length = tf.data.experimental.assert_cardinality(steps)
    return dataset.rebatch(batch_size).apply(with_length)


def training_data(x, y, batch_size: int) -> TrainingData:
    """Check what was handed over for ``fit``, and count it."""
    import keras

    if hasattr(x, "__next__"):
        raise TypeError(
            f"x is a {type(x).__name__}, which cannot be rewound, and every turn begins anew. "
            "Give arrays, a tf.data.Dataset or a keras.utils.PyDataset."
        )
    if hasattr(x, "rebatch"):
        batches = int(x.cardinality())
        return _of_batches(x, y, DATASET, batches)
    if isinstance(x, keras.utils.PyDataset):
        # None where the set is infinite
        batches = x.num_batches or 0
        return _of_batches(x, y, SEQUENCE, batches)
    return _of_arrays(x, y, batch_size)


def _of_arrays(x, y, batch_size: int) -> TrainingData:
    """Return the data of arrays, which must have equally many samples."""
    import keras

    # what has no shape, as a number, is counted as empty
    counts = set()
    for array in keras.tree.flatten((x, y)):
        if array is None:
            continue
        has_samples = bool(getattr(array, "shape", ()))
        counts.add(len(array) if has_samples else 0)
    samples = max(counts, default=0)
    if len(counts) != 1 or samples == 0:
        counted = sorted(counts) or "none"
        raise ValueError(
            "x and y must be arrays, or lists or dicts of arrays, with the same number of "
            f"samples, at least one; got {counted}."
        )
    return TrainingData(x, y, ARRAYS, samples, batch_size)


def _of_batches(x, y, form: str, batches: int) -> TrainingData:
    """Return the data of a set that holds its targets and makes its own batches."""
    import keras

    if y is not None or batches < 1:
        raise ValueError(
            f"a {type(x).__name__} holds its targets (so y=None), and must know how many "
            "batches it has: .take(n), or tf.data.experimental.assert_cardinality(n)."
        )
    # the batches of a set are alike, but perhaps for the last one
    first_batch = next(iter(x)) if form == DATASET else x[0]
    first_tensor = keras.tree.flatten(first_batch)[0]
    batch_size = int(first_tensor.shape[0])
    return TrainingData(x, y, form, batches * batch_size, batch_size)
