"""Scores: a change is told apart from luck, of the seeds and of the images."""

import math

import numpy as np
import pytest

from accel_helpers.measure.scores import SAME, Score, compare_scores


def verdicts(seeds, images=150, gain=0.0, times=200):
    """What is said of scores that differ by luck, and by `gain` in the long run."""
    rng = np.random.default_rng(seeds)
    found = []
    for _ in range(times):
        # some images are harder than others, and each training has a luck of its own
        easy = rng.normal(1.6, 1.0, images)
        pair = []
        for extra in (0.0, gain):
            luck = rng.normal(0, 0.1, (seeds, 1))
            strength = 2 * (easy + luck + extra)
            right = rng.random((seeds, images)) < 1 / (1 + np.exp(-strength))
            pair.append(Score("a model", right))
        found.append(compare_scores(*pair).verdict)
    return found


def test_where_nothing_changed_a_change_is_hardly_ever_reported():
    for seeds in (2, 3, 5):
        assert verdicts(seeds).count(SAME) >= 0.95 * 200


def test_a_large_gain_is_seen_and_so_is_a_loss():
    assert verdicts(5, 300, 1.0, 20).count("better") >= 18
    assert verdicts(5, 300, -1.0, 20).count("worse") >= 18


def right(*counts, images=100):
    """A row for every seed, in which so many images are right, always the first ones."""
    rows = []
    for count in counts:
        rows.append([True] * count + [False] * (images - count))
    return Score("right", rows)


def test_the_luck_of_seeds_and_of_images_counts_together():
    # t(2 degrees) = 4.303 over the seeds; t(99) = 1.984 over the images: five moved by -1/3, five
    # by 2/3 and ten by 1/3, with Agresti and Min's four halves
    by_seeds = 4.303 * 0.1 / math.sqrt(3)
    by_images = 1.984 * math.sqrt(35 / 9 + 1 - 25 / 102) / 102
    half_width = math.hypot(by_seeds, by_images)
    found = compare_scores(right(80, 80, 80), right(75, 85, 95)).interval
    assert found == pytest.approx((0.05 - half_width, 0.05 + half_width), rel=1e-3)


def test_scores_from_too_few_are_refused():
    one_seed = right(9)
    with pytest.raises(ValueError, match="got 1 and 100"):
        compare_scores(one_seed, one_seed)
    few_images = right(9, 9, images=29)
    with pytest.raises(ValueError, match="got 2 and 29"):
        compare_scores(few_images, few_images)
