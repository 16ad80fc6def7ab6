"""The exercise of lesson 11: is the job cheaper on the GPU?"""

from collections.abc import Callable

from accel_helpers.course.answers import meant
from accel_helpers.course.checks import calls
from accel_helpers.course.slips import Slips

CHEAPER = "cheaper"
DEARER = "dearer"
CANNOT_TELL = "cannot tell"
VERDICTS = (CHEAPER, DEARER, CANNOT_TELL)
# (low, high, price) of each case, as `verdict` takes them
CASES = (
    (3.0, 4.0, 1.0),
    (0.4, 0.6, 1.0),
    (0.9, 1.2, 1.0),
    (3.0, 4.0, 5.0),
    (7.0, 9.0, 5.0),
    (2.0, 8.0, 4.0),
    (4.1, 9.0, 4.0),
    (1.0, 3.9, 4.0),
)
# slower, and so cheap that it pays
EDGES = ((0.5, 0.7, 0.2),)


def verdict(low: float, high: float, price: float) -> str:
    """Return whether the job is "cheaper" or "dearer" on the GPU, or that one "cannot tell".

    The GPU is `low` to `high` times as fast, and an hour of it costs `price` times as much. Where
    the price lies between the two, the ends of the interval do not agree.
    """
    if low > price:
        return CHEAPER
    if high < price:
        return DEARER
    return CANNOT_TELL


def _put(call: Callable, *case: float) -> str:
    """Return the verdict, one of `VERDICTS`, that an answer returns for a case.

    `call` takes the (low, high, price) of `case`. Raises ValueError where what it returns means no
    verdict.
    """
    answer = call(*case)
    word = meant(answer, VERDICTS)
    # Any other word ends here in an error, which the check answers.
    place = VERDICTS.index(word)
    return VERDICTS[place]


def _otherwise(answer: str, low: float, high: float, price: float) -> tuple[str, str]:
    """Return the message and the hint for a wrong verdict that no slip explains.

    `answer` is the learner's verdict on the case (low, high, price).
    """
    case = f"{low:g} to {high:g} times as fast, {price:g} times the price"
    message = f'For "{case}" your verdict is "{answer}". '
    if verdict(low, high, price) == CANNOT_TELL:
        hint = "Look at both ends of the interval. Do they say the same?"
        return f"{message}The interval reaches over the price.", hint
    hint = "It takes less time by the factor, and every hour costs more by the price. Which wins?"
    return f"{message}The whole interval lies on one side of the price.", hint


_MIDDLE = "If one end of the interval says cheaper and the other dearer, what do you know?"
_SWAPPED = {CHEAPER: DEARER, DEARER: CHEAPER, CANNOT_TELL: CANNOT_TELL}

# Wrong answers to the exercise; each takes what `verdict` takes.
_SLIPS = Slips()


def _always(word: str) -> Callable:
    """Return a function of (low, high, price) whose verdict is always `word`."""

    def verdict_of(low, high, price):
        return word

    return verdict_of


for _word in VERDICTS:
    _add_slip = _SLIPS.add(
        f'Your verdict is "{_word}" for every case.',
        "Let the price decide, and both ends of the interval.",
    )
    _add_slip(_always(_word))


@_SLIPS.add(
    "The two sides are swapped.",
    "The factor makes the job shorter, the price makes every hour dearer.",
)
def _swapped(low, high, price):
    right = verdict(low, high, price)
    return _SWAPPED[right]


@_SLIPS.add(
    "That looks at the speed and not at the price.",
    "Four times as fast, at five times the price for an hour: what does it cost?",
)
def _speed_alone(low, high, price):
    return verdict(low, high, price=1)


@_SLIPS.add("That takes one number out of the interval.", _MIDDLE)
def _middle_alone(low, high, price):
    middle = (low + high) / 2
    if middle > price:
        return CHEAPER
    return DEARER


@_SLIPS.add("You are never unsure, also where the interval reaches over the price.", _MIDDLE)
def _never_unsure(low, high, price):
    if low > price:
        return CHEAPER
    return DEARER


CHECKS = {
    "11/worth_it": calls(
        verdict,
        on=CASES,
        edges=EDGES,
        right="Every verdict fits: the whole interval decides, and the price with it.",
        needs=f'Return "{CHEAPER}", "{DEARER}" or "{CANNOT_TELL}".',
        put=_put,
        otherwise=_otherwise,
        slips=_SLIPS,
    )
}
