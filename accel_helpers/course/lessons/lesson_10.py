"""Lesson 10: its exercises: scaling fitted once, and a split without leaks."""

import random
from collections.abc import Callable, Sequence
from itertools import chain

from accel_helpers.course.checks import Told, calls, on_arrays
from accel_helpers.course.slips import Slips


def scale(train, other) -> tuple:
    """Return the images of both sets, each pixel scaled by its mean and its spread in `train`.

    `train` and `other` are arrays or lists of the shape (images, pixels); so are the two arrays of
    floats that are returned. A pixel that never varies in `train` is divided by 1.
    """
    import numpy as np

    train = np.asarray(train, dtype=float)
    other = np.asarray(other, dtype=float)
    mean = train.mean(axis=0)
    spread = train.std(axis=0)
    # A pixel that never varies would be divided by zero.
    spread = np.where(spread == 0, 1, spread)
    scaled_train = (train - mean) / spread
    scaled_other = (other - mean) / spread
    return scaled_train, scaled_other


def split(originals: Sequence[int], seed: int, share: int = 5) -> tuple:
    """Return the places of the pictures to train on, and of those to hold out, as two arrays.

    Places count from 0. All copies of an original are on one side.

    Parameters
    ----------
    originals : sequence of int
        The number of the original that each picture is a copy of.
    seed : int
        Of the random numbers that choose the originals to hold out.
    share : int
        One in so many originals is held out.
    """
    import numpy as np

    # Originals are drawn, and not pictures: so all copies of one share its side.
    generator = np.random.default_rng(seed)
    shuffled_originals = generator.permutation(np.unique(originals))
    held_out_count = len(shuffled_originals) // share
    held_out_originals = shuffled_originals[:held_out_count]
    # A yes or no for each picture.
    is_held_out = np.isin(originals, held_out_originals)
    train = np.flatnonzero(~is_held_out)
    held_out = np.flatnonzero(is_held_out)
    return train, held_out


def _train_image(n: int) -> list[float]:
    """Return an image for training, of four pixels: two of them never vary."""
    varied = n * n % 17
    return [float(n), float(varied), 3.0, 0.0]


def _other_image(n: int) -> list[float]:
    """Return an image that is not trained on: the third pixel varies, and never did in training."""
    varied = n * n % 13
    return [float(n), float(varied), float(n), 0.0]


TRAIN = [_train_image(n) for n in range(12)]
OTHER = [_other_image(n) for n in (4, 7, 10, 13)]
# Wrong answers to the first exercise; each takes and returns what `scale` does.
_SCALINGS = Slips()


@_SCALINGS.add(
    "You fitted on both sets together. Then the other images have a say in the training.",
    "Mean and spread come from train alone.",
)
def _fitted_on_both(train, other):
    both = [*train, *other]
    _, scaled_train = scale(both, train)
    _, scaled_other = scale(both, other)
    return scaled_train, scaled_other


@_SCALINGS.add(
    "You scaled each set by its own numbers: the same ink then means two things.",
    "Use the mean and the spread of train for both.",
)
def _each_by_its_own(train, other):
    scaled_train, _ = scale(train, train)
    scaled_other, _ = scale(other, other)
    return scaled_train, scaled_other


@_SCALINGS.add(
    "You took one mean and one spread for all pixels together.",
    "Each pixel has its own: mean(axis=0) goes down the images and keeps the pixels apart.",
)
def _one_mean_for_all(train, other):
    mean = train.mean()
    spread = train.std()
    scaled_train = (train - mean) / spread
    scaled_other = (other - mean) / spread
    return scaled_train, scaled_other


def _values(call: Callable, train: list, other: list) -> list[list[float]]:
    """Return all pixels of the scaled training images in a row, and those of the other ones.

    `call` is a function that takes and returns what `scale` does; it is called with `train` and
    `other` as arrays. Raises Told where it changes these, or where a pixel is so large, or not a
    number, that it must have been divided by zero.
    """
    import numpy as np

    scaled_sets = on_arrays(call, train, other)
    rows = []
    for images in scaled_sets:
        values = np.ravel(images).astype(float)
        rows.append(values.tolist())
    every_value = chain.from_iterable(rows)
    # Said so, and not with >= 1000, since NaN is not below it either.
    if not all(abs(value) < 1_000 for value in every_value):
        raise Told(
            "A pixel that never varied in training is divided by zero, or by nearly that.",
            "Its spread is 0. Put 1 in the place of that, such as with np.where.",
        )
    return rows


# Wrong answers to the second exercise; each takes and returns what `split` does.
_SPLITS = Slips()


@_SPLITS.add(
    "Some places are on both sides, or on neither.",
    "Places count the pictures from 0 on, and each is on one side. They are not originals.",
)
def _originals_as_places(originals, seed):
    train, held_out = split(originals, seed)
    return originals[train], originals[held_out]


@_SPLITS.add(
    "There are originals with copies on both sides.",
    "Choose originals, not pictures. Then give each picture the side of its original.",
)
def _split_by_picture(originals, seed):
    # A fifth of the 180 pictures, whatever their originals are.
    train = range(36, 180)
    held_out = range(36)
    return train, held_out


@_SPLITS.add(
    "No copy crosses the line. But you do not hold out about a fifth of the pictures.",
    "Hold out about a fifth of the originals. Are the two sides in the right order?",
)
def _sides_swapped(originals, seed):
    train, held_out = split(originals, seed)
    return held_out, train


def _fault(call: Callable, originals: list[int]) -> str:
    """Return the first fault of a split in a word, or an empty text if it has none.

    "places" means that not every picture is on one side, "copies" that an original is on both, and
    "share" that by far not a fifth of the pictures is held out. `call` takes what `split` does and
    returns the two sides: each as places, or as a yes or no for every picture.
    """
    import numpy as np

    originals = np.array(originals)
    places = np.arange(len(originals))
    train_side, held_out_side = call(originals.copy(), 1)
    # Places select themselves here, and so does a mask of yes and no.
    train = places[np.asarray(train_side)]
    held_out = places[np.asarray(held_out_side)]
    if sorted([*train, *held_out]) != [*places]:
        return "places"
    if np.isin(originals[train], originals[held_out]).any():
        return "copies"
    share = len(held_out) / len(places)
    if not 0.1 <= share <= 0.35:
        return "share"
    return ""


_SCALING = calls(
    scale,
    on=[(TRAIN, OTHER)],
    right="Both sets are scaled alike, and only the training images were asked.",
    needs="Return the scaled training images and the scaled other ones, in this order.",
    hint="From each pixel take its mean in train, then divide by its spread in train.",
    put=_values,
    # The spread of a sample, with n - 1, is right, too.
    within=0.06,
    slips=_SCALINGS,
)

# Three copies of each of 60 originals, in any order.
_THREE_COPIES = 3 * list(range(100, 160))
ORIGINALS = random.Random(10).sample(_THREE_COPIES, len(_THREE_COPIES))
_SPLIT = calls(
    split,
    on=[(ORIGINALS,)],
    right="All copies of an original lie on one side.",
    needs="Return train, held_out: the places in originals, as whole numbers from 0 on.",
    put=_fault,
    slips=_SPLITS,
)
CHECKS = {"10/scaling": _SCALING, "10/split": _SPLIT}
