"""The data of a training as ``fit`` takes them: arrays, or a set that makes its own batches."""

from dataclasses import dataclass
from math import ceil
from typing import Any

# the forms of data; the last two are the sets
ARRAYS = "arrays"
DATASET = "tf.data"
SEQUENCE = "keras.utils.PyDataset"


@dataclass(frozen=True)
class TrainingData:
    """What a model is trained on, and how many samples an epoch of it has."""

    x: object  # an array, a list or dict of arrays, or a set
    y: object  # an array, or a list or dict of arrays; None of a set, which holds its targets
    form: str  # ARRAYS, DATASET or SEQUENCE
    samples: int  # of an epoch; of a set, as if all batches were as large as the first
    batch_size: int  # of a set, the size of its first batch

    def steps(self, batch_size: int) -> int:
        """Return how many steps an epoch has, the last one perhaps smaller."""
        return ceil(self.samples / batch_size)

    def first_steps(self, steps: int, batch_size: int) -> tuple[Any, Any]:
        """Return (x, y) with the samples of the first steps of an epoch; of arrays alone.

        They are views, and nothing is copied. Where the data have fewer samples, all are returned.
        """
        import keras

        samples = steps * batch_size
        return keras.tree.map_structure(lambda array: array[:samples], (self.x, self.y))

    def for_fit(self, batch_size: int, most_steps: int) -> tuple[dict, int]:
        """Return the keyword arguments of ``fit`` with the data, and how many steps an epoch has.

        Of arrays only the first `most_steps` steps are handed over, since ``fit`` copies and
        shuffles whatever it is given. A set is handed over whole; a ``tf.data.Dataset`` is made to
        give batches of `batch_size`, and a ``PyDataset`` must give such batches already.
        """
        steps = self.steps(batch_size)
        if self.form == ARRAYS:
            x, y = self.first_steps(most_steps, batch_size)
            arguments = {"x": x, "y": y, "batch_size": batch_size, "shuffle": True}
            return arguments, min(steps, most_steps)
        # a tf.data.Dataset shuffles by itself, and fit warns if it is asked to do so
        arguments = {"x": self.x, "shuffle": self.form == SEQUENCE}
        if batch_size != self.batch_size:
            arguments["x"] = _rebatched(self.x, batch_size, steps)
        return arguments, steps


def _rebatched(dataset, batch_size: int, steps: int):
    """Return a tf.data.Dataset in batches of another size; `steps` says how many these are."""
    import tensorflow as tf

    # rebatch forgets how many batches there are, and fit would not know where an epoch ends
    with_length = tf.data.experimental.assert_cardinality(steps)
    return dataset.rebatch(batch_size).apply(with_length)


def training_data(x, y, batch_size: int) -> TrainingData:
    """Check the data that a user hands over for ``fit``, and count their samples.

    `x` and `y` are arrays, or lists or dicts of arrays, which `batch_size` cuts into steps. Or `x`
    is a ``tf.data.Dataset`` or a ``keras.utils.PyDataset``, and `y` is None; then the size of its
    own batches counts.

    Raises TypeError for a generator, and ValueError for arrays that are empty or do not have
    equally many samples, and for a set with a `y` or of unknown or infinite length.
    """
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
        # num_batches is None for a set without end, which is refused as an empty one is
        batches = x.num_batches or 0
        return _of_batches(x, y, SEQUENCE, batches)
    return _of_arrays(x, y, batch_size)


def _of_arrays(x, y, batch_size: int) -> TrainingData:
    """Return the data of arrays; ValueError if they are empty or of different lengths."""
    import keras

    # a value without a shape, such as a number, has no samples, and so is refused below
    counts = set()
    for array in keras.tree.flatten((x, y)):
        if array is None:
            continue
        has_samples = bool(getattr(array, "shape", ()))
        counts.add(len(array) if has_samples else 0)
    samples = max(counts, default=0)
    if len(counts) != 1 or samples == 0:
        counts_text = sorted(counts) or "none"
        raise ValueError(
            "x and y must be arrays, or lists or dicts of arrays, with the same number of "
            f"samples, at least one; got {counts_text}."
        )
    return TrainingData(x, y, ARRAYS, samples, batch_size)


def _of_batches(x, y, form: str, batches: int) -> TrainingData:
    """Return the data of a set; ValueError if there is a `y`, or there are no batches.

    `form` is DATASET or SEQUENCE. `batches` is 0 or below where their number is not known.
    """
    import keras

    if y is not None or batches < 1:
        raise ValueError(
            f"a {type(x).__name__} holds its targets (so y=None), and must know how many "
            "batches it has: .take(n), or tf.data.experimental.assert_cardinality(n)."
        )
    # all batches of a set are as large as the first one, but perhaps for the last
    first_batch = next(iter(x)) if form == DATASET else x[0]
    first_tensor = keras.tree.flatten(first_batch)[0]
    batch_size = int(first_tensor.shape[0])
    return TrainingData(x, y, form, batches * batch_size, batch_size)
