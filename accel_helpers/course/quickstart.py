"""The model of the lessons, and the times of its training steps by width and batch size."""

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back
from accel_helpers.measure import results
from accel_helpers.measure.measurement import Measurement
from accel_helpers.train.epochs import BATCH_SIZE
from accel_helpers.train.stopwatch import stopwatch

if TYPE_CHECKING:
    import numpy as np

__all__ = ["quickstart_model", "time_steps"]

CLASSES = 10
SIDE = 64  # pixels along a side of an enlarged picture
STEPS = 25  # timed steps of a size, at most
TURNS = 5  # turns in which they are taken, at most
# (width of the quickstart model, or the name of another model; batch size): (128, 32), ("cnn", 32).
Size = tuple[int | str, int]


def quickstart_model(
    *,
    width: int = 128,
    dropout: float = 0.2,
    seed: int = 0,
    steps_per_execution: int = 1,
    jit_compile: bool | None = None,
):
    """Make the quickstart model, compiled: flatten, dense, dropout, dense, Adam.

    The study material does not print its layers: they are those of the TensorFlow beginner's
    quickstart of those years (https://www.tensorflow.org/tutorials/quickstart/beginner).

    Parameters
    ----------
    width : int, optional
        Units of the hidden layer.
    dropout : float, optional
        Share of hidden units that are switched off in training, from 0 to 1; 0 leaves the layer
        out.
    seed : int, optional
        Of the weights and of the dropout. It is set for the whole process.
    steps_per_execution : int, optional
        As `compile` takes it.
    jit_compile : bool, optional
        As `compile` takes it; by default what `fit` does on a CPU: False on TensorFlow. On JAX
        True, since False there runs operation by operation. Keras's own "auto" asks which devices
        are visible and not which one is used, so with a GPU it would compile the CPU's model, too.

    Returns
    -------
    keras.Model
        For images of 28 x 28 pixels; it returns ten scores, without a softmax.

    Examples
    --------
    >>> quickstart_model().count_params()
    101770
    """
    import keras

    keras.utils.set_random_seed(seed)
    # Each layer takes the next random seed when it is made, so their order counts.
    flatten = keras.layers.Flatten(name="flatten")
    hidden = keras.layers.Dense(width, activation="relu", name="hidden")
    model = keras.Sequential([keras.Input((28, 28)), flatten, hidden])
    if dropout:
        model.add(keras.layers.Dropout(dropout, name="dropout"))
    model.add(keras.layers.Dense(CLASSES, name="output"))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    if jit_compile is None:
        jit_compile = backend.framework() == "jax"
    model.compile(
        "adam",
        loss,
        metrics=["accuracy"],
        steps_per_execution=steps_per_execution,
        jit_compile=jit_compile,
    )
    return model


def time_steps(
    x: "np.ndarray",
    y: "np.ndarray",
    *,
    widths: Iterable[int],
    batch_sizes: Iterable[int],
    device: str = "cpu",
    nets: Mapping[str, Callable] | None = None,
    seconds: float = math.inf,
    keep: str = "",
) -> dict[Size, Measurement]:
    """Time one training step of the quickstart model for every width and batch size.

    All sizes take turns of five timed steps. The order of the sizes is reversed in every second
    turn, so that a machine that changes meanwhile changes all of them alike. There are five turns,
    or as many as fit into the `seconds`, but two at least. Images and labels are repeated as
    needed.

    Parameters
    ----------
    x : array
        Images of 28 x 28 pixels.
    y : array
        Their labels.
    widths : iterable of int
        Units of the hidden layer.
    batch_sizes : iterable of int
        Each is combined with every width.
    device : str, optional
        One of `backend.devices`.
    nets : mapping of str to callable, optional
        Functions without parameters that make other models, by name. These models get the images
        enlarged to 64 x 64, in batches of 32.
    seconds : float, optional
        About how long all turns together may take.
    keep : str, optional
        The prefix under which the result card keeps the times: "KEEP/DEVICE/width WIDTH/batch SIZE"
        or "KEEP/DEVICE/NAME/batch 32". Empty (the default) keeps nothing.

    Returns
    -------
    dict
        The measurement of a step in seconds, by (width, batch size) or (name, batch size).

    Raises
    ------
    ValueError
        Where this machine has no such device.

    Examples
    --------
    >>> from accel_helpers.train.images import load_images
    >>> _, images = backend.choose(), load_images(64, source="bundled")
    >>> list(time_steps(images.x_train, images.y_train, widths=[8], batch_sizes=[4]))
    [(8, 4)]
    """
    deadline = time.perf_counter() + seconds
    if nets is None:
        nets = {}
    sizes: list[Size] = list(product(widths, batch_sizes))
    subjects = {}
    with backend.on(device):
        # One model for all batch sizes of a width, since compiling a model takes long.
        for width in dict.fromkeys(width for width, _ in sizes):
            model = quickstart_model(width=width)
            subjects[width] = _Subject(model, x, y, device)
        for name, make_model in nets.items():
            pictures = _enlarged(x[:BATCH_SIZE])
            subjects[name] = _Subject(make_model(), pictures, y, device)
            sizes.append((name, BATCH_SIZE))
    if backend.framework() == "tensorflow":
        for subject in subjects.values():
            subject.train_on_a_rest()
    watches = _time_in_turns(subjects, sizes, deadline)
    steps = {}
    card_entries = {}
    for size, watch in watches.items():
        name, batch_size = size
        label = name if name in nets else f"width {name}"
        parts = (device, label, f"batch {batch_size}")
        samples = _step_seconds(watch)
        measurement = Measurement.from_samples(samples, name=", ".join(parts))
        steps[size] = measurement
        key = "/".join((keep, *parts))
        card_entries[key] = measurement
    results.keep(keep, card_entries)
    return steps


@dataclass(frozen=True)
class _Subject:
    """A model whose steps are timed, what it is trained on, and where."""

    model: Any  # compiled, of Keras
    x: "np.ndarray"
    y: "np.ndarray"
    device: str  # one of `backend.devices`

    def train_on_a_rest(self) -> None:
        """Train on a batch that is not full; then TensorFlow has one program for all sizes."""
        # Three pictures in batches of two leave one over.
        x = self.x[:3]
        y = self.y[:3]
        # TensorFlow would print a remark about so many programs from the fifth model on.
        with backend.on(self.device), held_back():
            self.model.fit(x, y, batch_size=2, verbose=0)

    def train(self, batch_size: int, watch: Any) -> None:
        """Train for the steps of one turn, and let `watch`, a stopwatch callback, time them."""
        import numpy as np

        # Two steps more than are counted: `_step_seconds` leaves the first two out.
        steps = STEPS // TURNS + 2
        indices = np.arange(batch_size * steps)
        # Where there are fewer pictures than that, they are used again from the first on.
        rows = indices % len(self.x)
        x = self.x[rows]
        y = self.y[rows]
        with backend.on(self.device), held_back():
            self.model.fit(x, y, batch_size, verbose=0, callbacks=[watch])


def _time_in_turns(
    subjects: Mapping[int | str, _Subject], sizes: list[Size], deadline: float
) -> dict[Size, Any]:
    """Train all sizes in turns until the deadline, and return the stopwatch of each size.

    `subjects` are the models by the first part of a size; the deadline is by `time.perf_counter`.
    """
    watches = {size: stopwatch(steps=True) for size in sizes}
    for turn in range(TURNS):
        began = time.perf_counter()
        # There and back, so that a machine that slowly changes affects all sizes alike.
        order = sizes if turn % 2 == 0 else reversed(sizes)
        for size in order:
            name, batch_size = size
            subject = subjects[name]
            subject.train(batch_size, watches[size])
        ended = time.perf_counter()
        # The next turn is expected to take as long as this one.
        next_turn_ends = ended + (ended - began)
        # One turn alone would show no spread.
        if turn >= 1 and next_turn_ends > deadline:
            break
    return watches


def _enlarged(pictures: "np.ndarray") -> "np.ndarray":
    """Return square pictures, of shape (count, side, side), enlarged to 64 x 64 pixels.

    Pixels are repeated: a side [1, 2] of two pixels becomes 32 times 1, and then 32 times 2.
    """
    import numpy as np

    side = pictures.shape[1]
    # For each pixel of an enlarged side, the pixel that it is taken from.
    pixels = np.arange(SIDE) * side // SIDE
    rows = pictures[:, pixels]
    return rows[:, :, pixels]


def _step_seconds(watch: Any) -> list[float]:
    """Return the seconds of every step but the first two of each turn, which also compile.

    `watch` is a stopwatch that has seen an epoch for each turn.
    """
    seconds = []
    for ticks in watch.ticks:
        # The ticks of an epoch are its beginning, the ends of its steps, and its end. From the end
        # of the second step on, each step lies between two of them.
        ends = ticks[2:-1]
        for before, after in pairwise(ends):
            seconds.append(after - before)
    return seconds
