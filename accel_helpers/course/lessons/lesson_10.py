"""Lesson 10: its exercises: scaling fitted once, and a split without leaks."""

import random
from collections.abc import Mapping, Sequence
from itertools import pairwise

from accel_helpers.course.checks import FunctionCheck, Told, plain
from accel_helpers.measure import pictures, scores
from accel_helpers.measure.scores import Score


class _OnArrays(FunctionCheck):
    """An exercise whose function gets arrays in place of lists."""

    def arguments(self, case: tuple) -> list:
        """Return the arguments of a case for one call, each list as an array of its own."""
        import numpy as np

        return [np.array(value) if isinstance(value, list) else value for value in case]


def _scaled(images, fitted, axis=0, power=1):
    """Return images less the mean of others, and divided by their spread."""
    import numpy as np

    mean = np.mean(fitted, axis=axis)
    spread = np.std(fitted, axis=axis)
    # A pixel that never varies would be divided by zero.
    spread = np.where(spread == 0, 1, spread)
    return (images - mean) / spread**power


def scale(train, other, **slip) -> list:
    """Return the images of both sets, each pixel scaled by its mean and its spread in `train`.

    Both are arrays of the shape (images, pixels). Slips change the `axis`, or the `power` of the
    spread that is divided by.
    """
    return [_scaled(images, train, **slip) for images in (train, other)]


# Images of four pixels: the last two never vary in training, and one of them does so elsewhere.
_TRAIN = [[n, n * n % 17, 3.0, 0.0] for n in range(12)]
_OTHER = [[n, n * n % 13, n, 0.0] for n in (4, 7, 10, 13)]


class Scaling(_OnArrays):
    cases = [(_TRAIN, _OTHER)]
    hint = (
        "From each pixel take its mean in train, then divide by its spread in train. "
        "Return the training images, and then the other ones."
    )
    right = "Both sets are scaled alike, and only the training images were asked."
    # The spread of a sample, with n - 1, is right, too.
    within = 0.06
    slips = (
        (
            lambda *both: [_scaled(images, [*both[0], *both[1]]) for images in both],
            "You fitted on both sets together. Then the other images have a say in the training.",
            "Mean and spread come from train alone.",
        ),
        (
            lambda *both: [_scaled(images, images) for images in both],
            "You scaled each set by its own numbers: the same ink then means two things.",
            "Use the mean and the spread of train for both.",
        ),
        (
            {"axis": None},
            "You took one mean and one spread for all pixels together.",
            "Each pixel has its own: mean(axis=0) goes down the images and keeps the pixels apart.",
        ),
        (
            {"power": 2},
            "You divide by the variance. That is the square of the spread.",
            "The spread is the standard deviation: std(axis=0), the root of the variance.",
        ),
    )

    def read(self, returned: object) -> object:
        """Return both sets as lists; raise `Told` where a pixel was divided by zero."""
        import numpy as np

        # What is not a number is not below it either.
        if not np.all(abs(np.concatenate(returned)) < 1_000):
            raise Told(
                "A pixel that never varied in training is divided by zero, or by nearly that.",
                "Its spread is 0. Put 1 in the place of that, such as with np.where.",
            )
        return plain(returned)


def split(originals, seed: int, share: int = 5) -> tuple:
    """Return the places of the pictures to train on, and of those to hold out, as two arrays.

    `originals` is an array of the numbers of the originals that the pictures are copies of. One in
    `share` of them is held out with all its copies, whatever the seed: the check takes any.
    """
    import numpy as np

    is_held_out = originals % share == 0
    return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


# Three copies of each of 60 originals, in any order.
_ORIGINALS = random.Random(10).sample(3 * list(range(100, 160)), 180)


class Split(_OnArrays):
    cases = [(_ORIGINALS, 1)]
    right = "All copies of an original lie on one side."
    hint = "Return train, held_out: the places in originals, as whole numbers from 0 on."
    slips = (
        (
            lambda originals, seed: [originals[places] for places in split(originals, seed)],
            "Some places are on both sides, or on neither.",
            "Places count the pictures from 0 on, and each is on one side. They are not originals.",
        ),
        (
            lambda originals, seed: (range(36, 180), range(36)),
            "There are originals with copies on both sides.",
            "Choose originals, not pictures. Then give each picture the side of its original.",
        ),
        (
            lambda originals, seed: split(originals, seed)[::-1],
            "No copy crosses the line. But you do not hold out about a fifth of the pictures.",
            "Hold out about a fifth of the originals. Are the two sides in the right order?",
        ),
    )

    def read(self, returned: tuple) -> str:
        """Return the first fault of a split in a word, or an empty text if it has none.

        Each of the two sides may be places, or a yes or no for every picture.
        """
        import numpy as np

        originals = np.array(_ORIGINALS)
        places = np.arange(180)
        # Places select themselves here, and so does a mask of yes and no.
        train, held_out = (places[np.asarray(side)] for side in returned)
        if sorted([*train, *held_out]) != [*places]:
            return "places"
        if np.isin(originals[train], originals[held_out]).any():
            return "copies"
        # About a fifth of them.
        if not 18 <= len(held_out) <= 63:
            return "share"
        return ""


CHECKS = {"10/scaling": Scaling(scale), "10/split": Split(split)}


def prepared(right: Mapping[str, Sequence[bool]]) -> pictures.Picture:
    """Draw the share of right answers by how the images were prepared, with its interval."""
    from scipy import stats

    shares = {}
    things = []
    for name, answers in right.items():
        count = int(sum(answers))
        total = len(answers)
        share = 100 * count / total
        low, high = stats.binomtest(count, total).proportion_ci(method="wilson")
        interval = (100 * low, 100 * high)
        thing = pictures.Row(name, f"{share:.1f}%", (share,), interval)
        things.append(thing)
        shares[name] = share
    worst = min(shares, key=shares.__getitem__)
    best_share = max(shares.values())
    lost = best_share - shares[worst]
    title = f"{worst}: {lost:.0f} points lost, without an error"
    return _drawn(things, title, shares[worst], " (band: 95% interval)")


def ladder(models: Sequence[Score]) -> pictures.Picture:
    """Draw models, each one change away from the one before; the last that is better is strong."""
    best = models[0]
    notes = [f"{100 * best.accuracy:.1f}%"]
    for before, after in pairwise(models):
        change = scores.compare_scores(before, after)
        _, _, note = str(change).partition(": ")
        notes.append(note)
        if change.verdict == scores.BETTER:
            best = after
    things = []
    lowest = 100.0
    for model, note in zip(models, notes, strict=True):
        dots = [100 * share for share in model.by_seed]
        lowest = min(lowest, *dots)
        colour = pictures.PALE
        if model is best:
            colour = pictures.OWN
        mean = 100 * model.accuracy
        thing = pictures.Row(model.name, note, dots, None, mean, colour)
        things.append(thing)
    return _drawn(things, f"{best.name} is the last change that measurably helps", lowest)


def _drawn(
    things: Sequence[pictures.Row], title: str, lowest: float, more: str = ""
) -> pictures.Picture:
    """Draw shares in %, on an axis that begins at the ten below the lowest, which lies inside."""
    start = 10 * ((lowest - 1) // 10)
    label = f"right answers, in %{more}; axis from {start:.0f}"
    return pictures.rows(things, (label, pictures.number), title=title, start=start)


PICTURES = {"scaling": prepared, "ladder": ladder}
