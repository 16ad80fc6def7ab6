"""Lesson 10's exercises: right answers pass, and each mistake is told what it is."""

import numpy as np
import pytest

from accel_helpers.lessons.lesson_10 import GRADERS, nearest, scale

scaling, split = GRADERS["10/scaling"], GRADERS["10/split"]


def by(mean_of, spread_of, keep=lambda spread: np.where(spread == 0, 1, spread)):
    """A way to scale: what the mean and the spread are taken from, for each of the two sets."""

    def way(train, other):
        both = np.concatenate([train, other])
        sets = {"train": train, "other": other, "both": both}
        done = []
        for i, images in enumerate((train, other)):
            mean = sets[mean_of[i]].mean(axis=0)
            done.append((images - mean) / keep(sets[spread_of[i]].std(axis=0)))
        return tuple(done)

    return way


TRAIN, BOTH, OWN = ("train", "train"), ("both", "both"), ("train", "other")


def in_place(train, other):
    mean, spread = train.mean(axis=0), train.std(axis=0)
    spread[spread == 0] = 1
    for images in (train, other):
        images -= mean
        images /= spread
    return train, other


def test_the_right_ways_to_scale_pass():
    assert scaling(scale)
    assert scaling(lambda train, other: list(scale(train, other)))
    assert scaling(by(TRAIN, TRAIN, keep=lambda spread: spread + (spread == 0)))

    def of_the_sample(train, other):  # divided by n - 1: as good
        spread = np.maximum(train.std(axis=0, ddof=1), 1e-6 + (train.std(axis=0) == 0))
        return (train - train.mean(axis=0)) / spread, (other - train.mean(axis=0)) / spread

    assert scaling(of_the_sample)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (by(TRAIN, TRAIN, keep=lambda spread: spread), "divide by zero"),
        (by(TRAIN, TRAIN, keep=lambda spread: spread + 1e-9), "thousands"),
        (by(BOTH, BOTH), "fitted on both"),
        (by(OWN, OWN), "each set by its own"),
        (by(("other", "other"), ("other", "other")), "fitted on the other"),
        (lambda a, b: ((a - a.mean()) / a.std(), (b - a.mean()) / a.std()), "for all pixels"),
        (lambda a, b: (a - a.mean(axis=0), b - a.mean(axis=0)), "spread is left"),
        (
            lambda a, b: tuple(i / np.where(a.std(axis=0) == 0, 1, a.std(axis=0)) for i in (a, b)),
            "mean is still in there",
        ),
        (lambda a, b: (scale(a, b)[0], b), "the others are as they were"),
        (lambda a, b: scale(a, b)[::-1], "wrong order"),
        (lambda a, b: (scale(a, b)[0][:, 0], b), "The shapes are"),
        (lambda a, b: scale(a, b)[0], "Two arrays are needed"),
        (lambda a, b: None, "Two arrays are needed"),
        (lambda a, b: (a / 16, b / 16), "come out differently"),
        (in_place, "changes the arrays"),
        (lambda a: a, "stopped with TypeError"),
        (4, "function is needed"),
    ],
)
def test_each_wrong_way_to_scale_is_told_what_it_is(answer, words):
    result = scaling(answer)
    assert not result.ok and words in result.message and result.hint, result


def right_split(originals, seed, share=5):
    images = np.random.default_rng(seed).permutation(np.unique(originals))
    held = np.isin(originals, images[: len(images) // share])
    return np.flatnonzero(~held), np.flatnonzero(held)


def at_random(originals, seed):
    places = np.random.default_rng(seed).permutation(len(originals))
    return places[36:], places[:36]


def test_the_right_ways_to_split_pass():
    assert split(right_split)
    assert split(lambda o, seed: [side.tolist() for side in right_split(o, seed)])
    assert split(lambda o, seed: right_split(o, seed, share=4))

    def masks(originals, seed):
        held = np.isin(np.arange(len(originals)), right_split(originals, seed)[1])
        return ~held, held

    assert split(masks)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (at_random, "copies on both sides"),
        (lambda o, s: (np.arange(len(o)), right_split(o, s)[1]), "trained on as well"),
        (lambda o, s: (right_split(o, s)[0], right_split(o, s)[0]), "both sides"),
        (lambda o, s: right_split(o, s)[::-1], "hold out 80 %"),
        (lambda o, s: right_split(o, 0), "the same whatever the seed"),
        (lambda o, s: (right_split(o, s)[0], []), "One side is empty"),
        (lambda o, s: (list(range(len(o))), []), "One side is empty"),
        (lambda o, s: (right_split(o, s)[0][1:], right_split(o, s)[1]), "179 different"),
        (lambda o, s: [np.unique(o[side]) for side in right_split(o, s)], "originals themselves"),
        (lambda o, s: [o[side] for side in right_split(o, s)], "originals themselves"),
        (lambda o, s: right_split(o, s, share=20), "hold out 5 %"),
        (lambda o, s: None, "Two lists of places"),
        (lambda o, s: ("ab", "cd"), "Two lists of places"),
        (lambda o: o, "stopped with TypeError"),
    ],
)
def test_each_wrong_split_is_told_what_it_is(answer, words):
    result = split(answer)
    assert not result.ok and result.hint, result
    assert words in result.message, result


def test_an_empty_stub_is_told_to_be_empty():
    def stub(train, other):
        raise NotImplementedError

    for grader in (scaling, split):
        assert "still empty" in grader(stub).message


def test_learning_by_heart_finds_the_nearest_also_far_from_zero():
    random = np.random.default_rng(0)
    known, asked = random.integers(0, 65, (50, 64)), random.integers(0, 65, (20, 64))
    labels = np.arange(50)
    slowly = [min(labels, key=lambda i: ((known[i] - a) ** 2).sum()) for a in asked]
    assert nearest(known, labels, asked).tolist() == slowly
    assert nearest(known, labels, known).tolist() == labels.tolist()
