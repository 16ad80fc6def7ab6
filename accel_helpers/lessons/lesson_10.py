"""The exercises of lesson 10: scaling that is fitted once, and a split without copies across it."""

import random

from accel_helpers.learn.checks import calls, on_arrays


def scale(train, other):
    """Both, with mean 0 and spread 1 in each pixel of `train` alone.

    Of the shape (images, pixels); a pixel that never varies in `train` is divided by 1.

    Examples
    --------
    >>> train, other = scale([[0, 5], [2, 5]], [[4, 5]])
    >>> train.tolist(), other.tolist()
    ([[-1.0, 0.0], [1.0, 0.0]], [[3.0, 0.0]])
    """
    import numpy as np

    train, other = np.asarray(train, dtype=float), np.asarray(other, dtype=float)
    return _by(train, train), _by(other, train)


def nearest(known, labels, asked):
    """The label of the known image that is most similar to each image that is asked about.

    A model that learns by heart. The images are of whole numbers, so that every machine finds the
    same neighbour.

    Examples
    --------
    >>> nearest([[0, 0], [9, 9]], [3, 7], [[1, 0], [8, 9], [9, 9]]).tolist()
    [3, 7, 7]
    """
    import numpy as np

    known, asked = np.asarray(known, dtype=float), np.asarray(asked, dtype=float)
    # the squared distance, but for what is the same for all known images
    distance = (known**2).sum(axis=1) - 2 * asked @ known.T
    return np.asarray(labels)[distance.argmin(axis=1)]


def _by(images, seen, axis=0, divide=lambda spread: spread + (spread == 0)):
    """Images, scaled by the mean and the spread of those that were seen."""
    return (images - seen.mean(axis=axis)) / divide(seen.std(axis=axis))


def _by_both(train, other):
    import numpy as np

    both = np.concatenate([train, other])
    return _by(train, both), _by(other, both)


def _images(count: int, least: int):
    numbers = random.Random(10 + least)
    # pixel 4 never varies at all
    return [[float(numbers.randint(least, 16)) for _ in range(4)] + [0.0] for _ in range(count)]


TRAIN = [[*row[:2], 3.0, *row[3:]] for row in _images(12, 0)]  # pixel 2 never varies in training
OTHER = _images(5, 4)


def _scaled(ask, train, other):
    """Whether all are numbers of a usual size, and the pixels that vary in training."""
    first, second = on_arrays(ask, train, other)
    values = [value for row in first + second for value in row]
    fault = max(abs(value) if value == value else float("inf") for value in values)
    varies = [[[row[n] for n in (0, 1, 3)] for row in images] for images in (first, second)]
    return ["no numbers" if fault == float("inf") else "huge" if fault > 1_000 else "", *varies]


_SCALINGS = (
    (_by_both,
     "You fitted on both sets together. Then the other images have a say in the training.",
     "Mean and spread come from train alone."),
    (lambda train, other: (_by(train, train), _by(other, other)),
     "You scaled each set by its own numbers: the same ink then means two things.",
     "Use the mean and the spread of train for both."),
    (lambda train, other: [_by(each, train, None) for each in (train, other)],
     "You took one mean and one spread for all pixels together.",
     "Each pixel has its own: mean(axis=0) goes down the images and keeps the pixels apart."),
    (lambda train, other: [each - train.mean(axis=0) for each in (train, other)],
     "The mean is taken away, and the spread is left as it was.",
     "Divide by the spread of each pixel, std(axis=0)."),
    (lambda train, other: (scale(train, other)[0], other),
     "The training images are scaled, and the others are as they were.",
     "The model will meet them, too: scale them in the same way."),
    (lambda train, other: scale(train, other)[::-1], "You return the two in the wrong order.",
     "The training images first."),
    (lambda train, other: [_by(each, train, 0, lambda s: s) for each in (train, other)],
     "There are values that are no numbers: you divide by zero.",
     "A pixel that never varies in training has the spread 0. np.where can put 1 in its place."),
    (lambda train, other: [_by(each, train, 0, lambda s: s + 1e-9) for each in (train, other)],
     "A pixel that never varied in training gets a value in the thousands or more.",
     "A tiny number added to the spread avoids the error, not the harm. Divide by 1 there."),
)  # fmt: skip


def _otherwise(said, train, other):
    for fault, (_, *words) in zip(("no numbers", "huge"), _SCALINGS[-2:], strict=True):
        if said[0] == fault:
            return words
    hint = "From each pixel take its mean in train, then divide by its spread in train."
    return "The scaled images come out differently.", hint


# the original that each of 180 pictures was made from: three copies of 60, mixed
ORIGINALS = random.Random(10).sample([*range(100, 160)] * 3, 180)


def split(originals, seed, share=5):
    """Places for training and places held out; all copies of an original are on one side."""
    import numpy as np

    images = np.random.default_rng(seed).permutation(np.unique(originals))
    held_out = np.isin(originals, images[: len(images) // share])
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def _by_picture(originals, seed):
    places = random.Random(seed).sample(range(len(originals)), len(originals))
    return places[36:], places[:36]


def _splits(ask, originals):
    """The first fault of three splits, in a word or two."""
    import numpy as np

    held_out = set()
    for seed in (0, 1, 2):
        first, second = ask(np.array(originals), seed)
        sides = [np.asarray(first), np.asarray(second)]
        if all(side.dtype == bool and side.shape == (len(originals),) for side in sides):
            sides = [np.flatnonzero(side) for side in sides]
        train, held = ([int(place) for place in side] for side in sides)
        if fault := _fault(train, held, originals):
            return fault
        held_out.add(frozenset(held))
    return "the same" if len(held_out) == 1 else ""


def _fault(train, held, originals) -> str:
    if set(train) | set(held) == set(originals):
        return "originals"
    if set(train) & set(held):
        return "twice"
    if set(train) | set(held) != set(range(len(originals))):
        return "missing"
    if {originals[place] for place in train} & {originals[place] for place in held}:
        return "crossing"
    return "" if 0.1 <= len(held) / len(originals) <= 0.35 else "share"


_SPLITS = (
    (lambda originals, seed: [originals[side] for side in split(originals, seed)],
     "You return the originals themselves. Asked for are the places of their copies.",
     "np.isin(originals, chosen) says for each place whether its original was chosen."),
    (lambda originals, seed: (range(len(originals)), split(originals, seed)[1]),
     "Some places are on both sides: what is held out is trained on as well.",
     "What is held out must be taken away from the training part."),
    (lambda originals, seed: [side[1:] for side in split(originals, seed)],
     "Some places are on neither side.",
     "Every place from 0 on belongs to one side, and to one only."),
    (_by_picture, "There are originals with copies on both sides.",
     "Choose originals, not pictures. Then give each picture the side of its original."),
    (lambda originals, seed: split(originals, seed)[::-1],
     "No copy crosses the line. But you do not hold out about a fifth of the pictures.",
     "Hold out about a fifth of the originals. Are the two sides in the right order?"),
    (lambda originals, seed: split(originals, 0),
     "No copy crosses the line. But the split is the same whatever the seed.",
     "Images are often sorted. Let np.random.default_rng(seed) choose the originals."),
)  # fmt: skip

CHECKS = {
    "10/scaling": calls(
        scale,
        on=((TRAIN, OTHER),),
        right="Both sets are scaled alike, and only the training images were asked.",
        needs="Return the scaled training images and the scaled other ones, in this order.",
        put=_scaled,
        within=0.06,  # of the spread of a sample, with n - 1, too
        slips=_SCALINGS,
        otherwise=_otherwise,
    ),
    "10/split": calls(
        split,
        on=((ORIGINALS,),),
        right="All copies of an original lie on one side, and chance chose which.",
        needs="Return train, held_out: the places in originals, as whole numbers from 0 on.",
        put=_splits,
        slips=_SPLITS,
    ),
}
