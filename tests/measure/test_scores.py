"""Scores: a change is told apart from luck, of the seeds and of the images."""

import math
import random

import pytest

from accel_helpers.measure import scores
from accel_helpers.measure.scores import Score, change


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
    found = [change(*drawn(dice, seeds, 150)).verdict for _ in range(200)]
    assert found.count(scores.SAME) >= 0.95 * len(found)


def test_a_large_gain_is_seen_and_so_is_a_loss():
    dice = random.Random(1)
    pairs = [drawn(dice, 5, 300, gain=1.0) for _ in range(20)]
    assert [change(*pair).verdict for pair in pairs].count("better") >= 18
    assert [change(*pair[::-1]).verdict for pair in pairs].count("worse") >= 18


def test_the_luck_of_the_seeds_alone_widens_the_interval():
    steady = Score("steady", (tuple([True] * 80 + [False] * 20),) * 3)
    rows = [tuple([True] * n + [False] * (100 - n)) for n in (75, 85, 95)]
    restless = change(steady, Score("restless", tuple(rows)))
    assert restless.by_seeds > 0.2 and restless.verdict == scores.SAME


def test_the_luck_of_the_images_alone_widens_the_interval():
    before = Score("before", (tuple([True] * 96 + [False] * 4),) * 5)
    after = Score("after", (tuple([True] * 100),) * 5)
    found = change(before, after)  # four images, the same in every seed: that may be chance
    assert found.by_seeds == 0 and found.by_images > 0.04 and found.verdict == scores.SAME


def test_both_kinds_of_luck_count_together():
    dice = random.Random(7)
    found = change(*drawn(dice, 4, 100, gain=0.3, seed_luck=0.05))
    half = (found.interval[1] - found.interval[0]) / 2
    assert max(found.by_seeds, found.by_images) < half < found.by_seeds + found.by_images


def test_many_seeds_work_too():
    found = change(*drawn(random.Random(2), 12, 60, gain=3.0))
    assert found.verdict == "better"


def test_two_seeds_that_agree_on_everything_are_no_division_by_zero():
    same = Score("same", ((True,) * 30,) * 2)
    assert change(same, same).verdict == scores.SAME


def test_one_seed_is_refused_with_what_to_do():
    one = Score.of("one", [[1, 2]], [1, 2])
    with pytest.raises(ValueError, match="two seeds"):
        change(one, one)


def test_few_images_are_refused_with_what_to_do():
    few, enough = (Score("few", ((True,) * count,) * 2) for count in (29, 30))
    with pytest.raises(ValueError, match="29 images are too few.* 30 or more"):
        change(few, few)
    assert change(enough, enough).verdict == scores.SAME


def test_the_luck_of_the_images_takes_students_t():
    before = Score("before", ((True,) * 20 + (False,) * 10,) * 2)
    after = Score("after", ((True,) * 26 + (False,) * 4,) * 2)
    # six of 32 moved, with Agresti and Min's four halves: t(29 degrees) = 2.045
    assert change(before, after).by_images == pytest.approx(
        2.045 * math.sqrt(6 + 1 - 36 / 32) / 32, rel=1e-3
    )


def test_scores_that_do_not_fit_together_are_named():
    two, three = Score("two", ((True,),) * 2), Score("three", ((True,),) * 3)
    with pytest.raises(ValueError, match="'two' has 2 seeds.*'three'.*3"):
        change(two, three)


@pytest.mark.parametrize("answers", [[[1]], [], [[1, 2, 3]]])
def test_answers_that_do_not_fit_the_labels_are_refused(answers):
    with pytest.raises(ValueError, match="'mine'"):
        Score.of("mine", answers, [1, 2])


def test_wilson_is_the_published_interval_and_stays_between_0_and_1():
    assert scores.wilson(0, 10) == (0.0, pytest.approx(0.2775, abs=1e-4))
    assert scores.wilson(10, 10) == (pytest.approx(0.7225, abs=1e-4), 1.0)
    assert scores.wilson(81, 263) == (
        pytest.approx(0.2553, abs=1e-4),
        pytest.approx(0.3662, abs=1e-4),
    )  # Newcombe 1998, Statistics in Medicine 17, table I
    for wrong in ((3, 2), (-1, 5), (0, 0)):
        with pytest.raises(ValueError, match="wilson needs"):
            scores.wilson(*wrong)


def test_the_numbers_for_the_card_are_the_difference_and_its_ends():
    found = change(*drawn(random.Random(3), 3, 50, gain=2.0))
    assert found.numbers() == (found.difference, *found.interval)
    assert scores.verdict(*found.numbers()[1:]) == found.verdict
