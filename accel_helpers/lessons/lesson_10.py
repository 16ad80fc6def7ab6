"""The exercises of lesson 10: scaling that is fitted once, and a split without copies across it."""

from __future__ import annotations

from accel_helpers.learn.checks import Result, called, shown

TRY = "Call it yourself first, on small arrays."  # where a function stops with an error
SEEDS = (0, 1, 2)


def scale(train, other):
    """Scale two sets of images alike: mean 0 and spread 1 in each pixel of the training images.

    Parameters
    ----------
    train, other : array of shape (images, pixels)

    Returns
    -------
    tuple of numpy.ndarray
        Both, by what was found in `train` alone. A pixel that never varies there is divided by 1.

    Examples
    --------
    >>> train, other = scale([[0, 5], [2, 5]], [[4, 5]])
    >>> train.tolist(), other.tolist()
    ([[-1.0, 0.0], [1.0, 0.0]], [[3.0, 0.0]])
    """
    import numpy as np

    train, other = np.asarray(train, dtype=float), np.asarray(other, dtype=float)
    mean, spread = train.mean(axis=0), train.std(axis=0)
    spread = np.where(spread == 0, 1, spread)
    return (train - mean) / spread, (other - mean) / spread


def nearest(known, labels, asked):
    """Say about each image what the most similar known one is: a model that learns by heart.

    Parameters
    ----------
    known, asked : array of shape (images, pixels)
        Of whole numbers, so that every machine finds the same neighbour.
    labels : array of shape (images,)
        Of the known ones.

    Returns
    -------
    numpy.ndarray
        A label for each image that was asked about.

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


# ---------------------------------------------------------------------------------------------


def _images():
    """Two small sets: pixel 2 never varies in training, pixel 4 never varies at all."""
    import numpy as np

    rng = np.random.default_rng(10)
    train, other = rng.integers(0, 17, (12, 5)), rng.integers(4, 17, (5, 5))
    train[:, 2], train[:, 4], other[:, 4] = 3, 0, 0
    return train.astype(float), other.astype(float)


def _pair(said):
    """Two arrays of numbers, or None."""
    import numpy as np

    try:
        first, second = said
        first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    except Exception:
        return None
    return first, second


def _scaling(answer) -> Result:
    import numpy as np

    train, other = _images()
    lent = train.copy(), other.copy()
    with np.errstate(all="ignore"):  # what a division by zero gives is told below
        said, problem = called(answer, *lent, hint=TRY)
    if problem is not None:
        return problem
    given = _pair(said)
    if given is None:
        return Result(
            False,
            f"Two arrays are needed; got {shown(said)}.",
            "Return the scaled training images and the scaled other ones, in this order.",
        )
    if not (np.array_equal(lent[0], train) and np.array_equal(lent[1], other)):
        return Result(
            False,
            "Your function changes the arrays that it was given: whoever lent them loses them.",
            "Write train - mean, which is a new array, instead of train -= mean.",
        )
    shapes = given[0].shape, given[1].shape
    if shapes == (other.shape, train.shape):
        return Result(False, "You return the two in the wrong order.", "The training images first.")
    if shapes != (train.shape, other.shape):
        return Result(
            False,
            f"The shapes are {shapes[0]} and {shapes[1]}; {train.shape} and {other.shape} went in.",
            "Every pixel of every image has one scaled value.",
        )
    for rule, message, hint in _SCALINGS:
        if rule(given, train, other):
            return Result(False, message, hint)
    varies = train.std(axis=0) > 0
    right = scale(train, other)
    for name, mine, true in zip(("training", "other"), given, right, strict=True):
        if not np.allclose(mine[:, varies], true[:, varies], rtol=0.06, atol=1e-3):
            return Result(
                False,
                f"The {name} images come out differently: the first pixel is {mine[0, 0]:.3g}, "
                f"and should be {true[0, 0]:.3g}.",
                "From each pixel take its mean in train, then divide by its spread in train.",
            )
    return Result(True, "Both sets are scaled alike, and only the training images were asked.")


def _fitted(fit_train, fit_other, axis=0, centre=True, divide=True):
    """A rule: the answer is what one gets who fits like this."""

    def rule(given, train, other):
        import numpy as np

        for mine, images, fit in zip(given, (train, other), (fit_train, fit_other), strict=True):
            seen = fit(train, other)
            mean = seen.mean(axis=axis) if centre else 0 * seen.mean(axis=axis)
            spread = seen.std(axis=axis) if divide else 1 + 0 * seen.std(axis=axis)
            spread = np.where(spread == 0, 1, spread)
            keep = train.std(axis=0) > 0
            if not np.allclose(mine[:, keep], ((images - mean) / spread)[:, keep]):
                return False
        return True

    return rule


def _of_train(train, other):
    return train


def _of_other(train, other):
    return other


def _of_both(train, other):
    import numpy as np

    return np.concatenate([train, other])


def _not_finite(given, train, other):
    import numpy as np

    return not all(np.isfinite(images).all() for images in given)


def _huge(given, train, other):
    import numpy as np

    return float(np.abs(given[1][:, train.std(axis=0) == 0]).max()) > 1_000


def _unchanged(given, train, other):
    import numpy as np

    return np.allclose(given[1], other) and not np.allclose(given[0], train)


# (rule; message; hint)
_SCALINGS = (
    (
        _not_finite,
        "There are values that are no numbers: you divide by zero.",
        "A pixel that never varies in training has the spread 0. np.where can put 1 in its place.",
    ),
    (
        _huge,
        "A pixel that never varied in training gets a value in the thousands or more.",
        "A tiny number added to the spread avoids the error, not the harm. Divide by 1 there.",
    ),
    (
        _fitted(_of_both, _of_both),
        "You fitted on both sets together. Then the other images have a say in the training.",
        "Mean and spread come from train alone.",
    ),
    (
        _fitted(_of_train, _of_other),
        "You scaled each set by its own numbers: the same ink then means two things.",
        "Use the mean and the spread of train for both.",
    ),
    (
        _fitted(_of_other, _of_other),
        "You fitted on the other images. They are the ones that nobody has seen yet.",
        "Mean and spread come from train alone.",
    ),
    (
        _fitted(_of_train, _of_train, axis=None),
        "You took one mean and one spread for all pixels together.",
        "Each pixel has its own: mean(axis=0) goes down the images and keeps the pixels apart.",
    ),
    (
        _fitted(_of_train, _of_train, divide=False),
        "The mean is taken away, and the spread is left as it was.",
        "Divide by the spread of each pixel, std(axis=0).",
    ),
    (
        _fitted(_of_train, _of_train, centre=False),
        "You divide by the spread, and the mean is still in there.",
        "Take the mean of each pixel away first.",
    ),
    (
        _unchanged,
        "The training images are scaled, and the others are as they were.",
        "The model will meet them, too: scale them in the same way.",
    ),
)


def _originals():
    """The original that each of 180 pictures was made from: three copies of 60, mixed."""
    import numpy as np

    return np.random.default_rng(10).permutation(np.repeat(np.arange(100, 160), 3))


def _split(answer) -> Result:
    splits = []
    for seed in SEEDS:
        originals = _originals()
        said, problem = called(answer, originals, seed, hint=TRY)
        if problem is not None:
            return problem
        places, problem = _places(said, len(originals))
        if problem is None:
            problem = _why_split(*places, _originals())
        if problem is not None:
            return problem
        splits.append(places)
    if all(set(split[1]) == set(splits[0][1]) for split in splits):
        return Result(
            False,
            "No copy crosses the line. But the split is the same whatever the seed.",
            "Images are often sorted. Let np.random.default_rng(seed) choose the originals.",
        )
    return Result(True, "All copies of an original lie on one side, and chance chose which.")


def _places(said, count: int):
    """Two lists of places, or the Result that says what is missing."""
    import numpy as np

    try:
        train, held = (np.asarray(part) if len(part) else np.array([], int) for part in said)
        if train.dtype == held.dtype == bool and len(train) == len(held) == count:
            train, held = np.flatnonzero(train), np.flatnonzero(held)
        if train.ndim != 1 or held.ndim != 1 or {train.dtype.kind, held.dtype.kind} - set("iu"):
            raise TypeError
    except Exception:
        return None, Result(
            False,
            f"Two lists of places are needed; got {shown(said)}.",
            "Return train, held_out: the places in originals, as whole numbers from 0 on.",
        )
    return (train.tolist(), held.tolist()), None


def _why_split(train, held, originals) -> Result | None:
    count, both = len(originals), set(train) & set(held)
    known = set(originals.tolist())
    if train and held and set(train) | set(held) == known:
        return Result(
            False,
            "You return the originals themselves. Asked for are the places of their copies.",
            "np.isin(originals, chosen) says for each place whether its original was chosen.",
        )
    if not train or not held:
        return Result(False, "One side is empty.", "Hold out about a fifth of the originals.")
    if both:
        return Result(
            False,
            f"{len(both)} places are on both sides: what is held out is trained on as well.",
            "What is held out must be taken away from the training part.",
        )
    if sorted(train + held) != list(range(count)):
        return Result(
            False,
            f"There are {count} places, and you return {len(set(train + held))} different ones.",
            "Every place from 0 on belongs to one side, and to one only.",
        )
    crossing = {originals[place] for place in train} & {originals[place] for place in held}
    if crossing:
        return Result(
            False,
            f"Of {len(crossing)} originals there are copies on both sides.",
            "Choose originals, not pictures. Then give each picture the side of its original.",
        )
    share = len(held) / count
    if not 0.1 <= share <= 0.35:
        return Result(
            False,
            f"No copy crosses the line. But you hold out {100 * share:.0f} % of the pictures.",
            "Hold out about a fifth of the originals."
            + (" Are the two sides in the right order?" if share > 0.5 else ""),
        )
    return None


GRADERS = {"10/scaling": _scaling, "10/split": _split}
