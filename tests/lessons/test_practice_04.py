"""The checks of lesson 04, on right answers and on plausible wrong ones."""

import math

import pytest

from accel_helpers.lessons import check
from accel_helpers.lessons.lesson_04 import whole_batch


def batches(samples, per_replica, replicas):
    together = per_replica * replicas
    steps = math.ceil(samples / together)
    return together, steps, samples - (steps - 1) * together


def with_rule(place, rule):
    """The right answer with one number of three taken from another rule."""

    def answer(samples, per_replica, replicas):
        right = list(batches(samples, per_replica, replicas))
        right[place] = rule(samples, per_replica, replicas)
        return tuple(right)

    return answer


def by_columns(combine):
    def answer(gradients, counts):
        return [combine(parts, counts) for parts in zip(*gradients, strict=True)]

    return answer


def weighed(parts, counts):
    return sum(count * part for count, part in zip(counts, parts, strict=True))


def mended(gradients, counts):
    return by_columns(lambda parts, counts: weighed(parts, counts) / sum(counts))(gradients, counts)


def empty(*arguments):
    raise NotImplementedError


def test_the_right_answers_pass():
    assert check("04/batch", batches).ok
    assert check("04/batch", lambda *case: list(map(float, batches(*case)))).ok
    assert check("04/all_reduce", mended).ok


def test_an_answer_in_numpy_passes_too():
    np = pytest.importorskip("numpy")
    assert check("04/batch", lambda *case: np.array(batches(*case))).ok
    assert check("04/all_reduce", lambda g, c: np.average(g, axis=0, weights=c)).ok


@pytest.mark.parametrize(
    ("place", "rule", "words"),
    [
        (0, lambda n, per, r: per, "what one replica sees"),
        (0, lambda n, per, r: per // r, "divided by the replicas"),
        (0, lambda n, per, r: per + r, "added the two"),
        (0, lambda n, per, r: n, "your global batch is 60,000"),
        (1, lambda n, per, r: n // (per * r), "leave out the pictures"),
        (1, lambda n, per, r: n // (per * r) + 1, "always add a step"),
        (1, lambda n, per, r: math.ceil(n / per), "batch of one replica"),
        (1, lambda n, per, r: n, "you have 60,000 steps"),
        (2, lambda n, per, r: n % (per * r), "last batch of 0"),
        (2, lambda n, per, r: per * r, "always full"),
        (2, lambda n, per, r: -n % (per * r), "the last batch lacks"),
        (2, lambda n, per, r: n, "your last batch has 60,000"),
    ],
)
def test_a_wrong_count_is_told_apart(place, rule, words):
    result = check("04/batch", with_rule(place, rule))
    assert not result.ok and words in result.message and result.hint


@pytest.mark.parametrize(
    ("combine", "words"),
    [
        (lambda parts, counts: sum(parts) / len(parts), "plain mean"),
        (lambda parts, counts: sum(parts), "That is the sum"),
        (lambda parts, counts: parts[0], "first replica's"),
        (lambda parts, counts: max(parts), "largest"),
        (weighed, "not divided"),
        (lambda parts, counts: weighed(parts, counts) / len(parts), "number of replicas"),
        (lambda parts, counts: min(parts), "you have [2.0, -4.0]"),
    ],
)
def test_a_wrong_all_reduce_is_told_apart(combine, words):
    result = check("04/all_reduce", by_columns(combine))
    assert not result.ok and words in result.message and result.hint


@pytest.mark.parametrize("exercise", ["04/batch", "04/all_reduce"])
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (empty, "still empty"),
        (7, "A function is needed; got 7"),
        (lambda *arguments: None, "needed"),
        (lambda *arguments: "abc", "needed"),
        (lambda *arguments: [], "needed"),
        (lambda *arguments: [float("nan")] * 3, "needed"),
        (lambda: 1, "stopped with TypeError"),
        (lambda *arguments: 1 / 0, "stopped with ZeroDivisionError"),
    ],
)
def test_what_is_no_answer_is_told_so(exercise, answer, words):
    result = check(exercise, answer)
    assert not result.ok and result.hint
    assert words in result.message


def test_a_learners_function_cannot_spoil_the_numbers_that_it_is_graded_on():
    def greedy(gradients, counts):
        right = mended(gradients, counts)
        gradients.clear(), counts.clear()
        return right

    assert check("04/all_reduce", greedy).ok
    assert check("04/all_reduce", mended).ok


def test_the_whole_batch_is_what_all_pictures_together_say():
    pictures = [[1.0, 4.0], [3.0, -2.0], [5.0, 1.0]]
    mean = [sum(column) / 3 for column in zip(*pictures, strict=True)]
    first_two = [sum(column) / 2 for column in zip(*pictures[:2], strict=True)]
    assert whole_batch([first_two, pictures[2]], [2, 1]) == pytest.approx(mean)
