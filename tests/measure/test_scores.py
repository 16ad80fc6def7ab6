"""Scores: a change is told apart from luck, of the seeds and of the images."""

import math
import random

import pytest

from accel_helpers.measure import scores
from accel_helpers.measure.scores import Score, compare_scores


def drawn(dice, seeds, images, gain=0.0, seed_luck=0.01):
    """Two scores of the same seeds and images, the second better by `gain` in the long run."""
    hard = [dice.gauss(1.6, 1.0) for _ in range(images)]
    rows = []
    for extra in (0.0, gain):
        rows.append([])
        for _ in range(seeds):
            luck = dice.gauss(0, seed_luck) * 10
            row = [dice.random() < 1 / (1 + 2.718 ** (-2 * (h + luck + extra))) for h in hard]
            rows[-1].append(tuple(row))
    return Score("before", tuple(rows[0])), Score("after", tuple(rows[1]))


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_where_nothing_changed_a_change_is_hardly_ever_reported(seeds):
    dice = random.Random(seeds)
    found = [compare_scores(*drawn(dice, seeds, 150)).verdict for _ in range(200)]
    assert found.count(scores.SAME) >= 0.95 * len(found)


def test_a_large_gain_is_seen_and_so_is_a_loss():
    dice = random.Random(1)
    pairs = [drawn(dice, 5, 300, gain=1.0) for _ in range(20)]
    assert [compare_scores(*pair).verdict for pair in pairs].count("better") >= 18
    assert [compare_scores(*pair[::-1]).verdict for pair in pairs].count("worse") >= 18


def test_the_luck_of_seeds_and_of_images_counts_together():
    steady = Score("steady", (tuple([True] * 80 + [False] * 20),) * 3)
    rows = [tuple([True] * n + [False] * (100 - n)) for n in (75, 85, 95)]
    found = compare_scores(steady, Score("restless", tuple(rows)))
    # t(2 degrees) = 4.303 over the seeds; t(99) = 1.984 over the images: five moved by -1/3, five
    # by 2/3 and ten by 1/3, with Agresti and Min's four halves
    by_seeds = 4.303 * 0.1 / math.sqrt(3)
    by_images = 1.984 * math.sqrt(35 / 9 + 1 - 25 / 102) / 102
    half = (found.interval[1] - found.interval[0]) / 2
    assert half == pytest.approx(math.hypot(by_seeds, by_images), rel=1e-3)
    assert found.verdict == scores.SAME
    assert (
        compare_scores(*drawn(random.Random(2), 12, 60, gain=3.0)).verdict == "better"
    )  # many seeds


def test_the_luck_of_the_images_alone_widens_the_interval_by_students_t():
    before = Score("before", ((True,) * 28 + (False,) * 2,) * 2)
    found = compare_scores(
        before, of(2, 30)
    )  # two images, the same in every seed: that may be chance
    # two of 32 moved, with Agresti and Min's four halves: t(29 degrees) = 2.045
    expected = 2.045 * math.sqrt(2 + 1 - 4 / 32) / 32
    assert (found.interval[1] - found.interval[0]) / 2 == pytest.approx(expected, rel=1e-3)
    assert found.verdict == scores.SAME
    assert compare_scores(before, before).verdict == scores.SAME  # no division by zero


def of(seeds, images):
    return Score(f"{seeds} of {images}", ((True,) * images,) * seeds)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: compare_scores(of(1, 30), of(1, 30)), "two seeds"),
        (lambda: compare_scores(of(2, 29), of(2, 29)), "29"),
        (lambda: compare_scores(of(2, 30), of(3, 30)), "same seeds"),
        (lambda: compare_scores(of(2, 30), of(2, 31)), r"\(2, 31\)"),
        (lambda: Score.of("mine", [[1]], [1, 2]), "longer"),
    ],
)
def test_what_does_not_fit_is_refused_and_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
