"""The exercise of lesson 11: is the job cheaper on the GPU?"""

from accel_helpers.course.checks import FunctionCheck, meant, plain

VERDICTS = ("cheaper", "dearer", "cannot tell")


def verdict(low: float, high: float, price: float) -> str:
    """Return whether the job is "cheaper" or "dearer" on the GPU, or that one "cannot tell".

    The GPU is `low` to `high` times as fast, and an hour of it costs `price` times as much. Where
    the price lies between the two, the ends of the interval do not agree.
    """
    if low > price:
        return "cheaper"
    if high < price:
        return "dearer"
    return "cannot tell"


def _middle_alone(low, high, price):
    middle = (low + high) / 2
    return verdict(middle, middle, price)


_BOTH_ENDS = "Let the price decide, and both ends of the interval."
_MIDDLE = "If one end of the interval says cheaper and the other dearer, what do you know?"


class WorthIt(FunctionCheck):
    # (low, high, price) of each case.
    cases = (
        (3.0, 4.0, 1.0),
        (0.4, 0.6, 1.0),
        (0.9, 1.2, 1.0),
        (3.0, 4.0, 5.0),
        (7.0, 9.0, 5.0),
        (2.0, 8.0, 4.0),
        (4.1, 9.0, 4.0),
        (1.0, 3.9, 4.0),
    )
    # Slower, and so cheap that it pays.
    edges = ((0.5, 0.7, 0.2),)
    hint = (
        'It is "cheaper", "dearer" or "cannot tell". '
        "Hold both ends of the interval against the price. Do they say the same?"
    )
    right = "Every verdict fits: the whole interval decides, and the price with it."
    slips = (
        (
            lambda *case: "cheaper",
            'Your verdict is "cheaper" for every case.',
            _BOTH_ENDS,
        ),
        (
            lambda *case: "dearer",
            'Your verdict is "dearer" for every case.',
            _BOTH_ENDS,
        ),
        (
            lambda *case: "cannot tell",
            'Your verdict is "cannot tell" for every case.',
            _BOTH_ENDS,
        ),
        (
            # With all signs turned, what was above the price is below it.
            lambda low, high, price: verdict(-high, -low, -price),
            "The two sides are swapped.",
            "The factor makes the job shorter, the price makes every hour dearer.",
        ),
        (
            lambda low, high, price: verdict(low, high, 1),
            "That looks at the speed and not at the price.",
            "Four times as fast, at five times the price for an hour: what does it cost?",
        ),
        (_middle_alone, "That takes one number out of the interval.", _MIDDLE),
        (
            lambda low, high, price: verdict(low, low, price),
            "You are never unsure, also where the interval reaches over the price.",
            _MIDDLE,
        ),
    )

    def read(self, returned: object) -> str | None:
        """Return the verdict that an answer means; None where it means none."""
        return meant(plain(returned), VERDICTS)


CHECKS = {"11/worth_it": WorthIt(verdict)}
