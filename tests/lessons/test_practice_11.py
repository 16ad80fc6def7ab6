"""Is it worth it? The interval decides, and the price with it."""

import pytest

from accel_helpers import lessons as checks


def solution(low, high, price):
    return "cheaper" if low > price else "dearer" if high < price else "cannot tell"


def middle(low, high, price):
    return "cheaper" if (low + high) / 2 > price else "dearer"


def no_price(low, high, price):
    return solution(low, high, 1)


def swapped(low, high, price):
    return {"cheaper": "dearer", "dearer": "cheaper"}.get(solution(low, high, price), "cannot tell")


def cautious(low, high, price):
    return "cheaper" if low > price else "dearer"


def fast_only(low, high, price):
    return "cannot tell" if price < 1 else solution(low, high, price)


def test_a_right_function_is_right():
    assert checks.check("11/worth_it", solution)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (middle, "takes one number out of the interval"),
        (no_price, "looks at the speed and not at the price"),
        (swapped, "The two sides are swapped"),
        (cautious, "The interval reaches over the price"),
        (fast_only, "The whole interval lies on one side of the price"),
        (lambda low, high, price: "dearer", "It is the same for every case"),
        (lambda low, high, price: True, "returned True, and that is none of the three verdicts"),
        (lambda low, high: "dearer", "The function stopped with TypeError"),
        ("cheaper", "A function is needed; got 'cheaper'"),
    ],
)
def test_each_mistake_has_its_own_words(answer, said):
    result = checks.check("11/worth_it", answer)
    assert not result and said in result.message and result.hint
