"""The check of lesson 11: is it worth it?"""

from __future__ import annotations

from accel_helpers.learn.checks import Result, called, shown

CHEAPER, DEARER, CANNOT_TELL = "cheaper", "dearer", "cannot tell"
# (lowest and highest factor by which it is faster, factor by which an hour costs more): the answer
CASES = {
    (3.0, 4.0, 1.0): CHEAPER,
    (0.4, 0.6, 1.0): DEARER,
    (0.9, 1.2, 1.0): CANNOT_TELL,
    (3.0, 4.0, 5.0): DEARER,
    (7.0, 9.0, 5.0): CHEAPER,
    (2.0, 8.0, 4.0): CANNOT_TELL,
    (4.1, 9.0, 4.0): CHEAPER,
    (1.0, 3.9, 4.0): DEARER,
    (0.5, 0.7, 0.2): CHEAPER,  # slower, and so cheap that it pays
}
HINT = "It takes less time by the factor, and every hour costs more by the price. Which one wins?"


def _worth_it(answer) -> Result:
    said = {}
    for low, high, price in CASES:
        given, problem = called(answer, low, high, price, hint="It gets three numbers.")
        if problem is not None:
            return problem
        if not isinstance(given, str) or given not in (CHEAPER, DEARER, CANNOT_TELL):
            return Result(
                False,
                f"The function returned {shown(given)}, and that is none of the three verdicts.",
                f'Return "{CHEAPER}", "{DEARER}" or "{CANNOT_TELL}".',
            )
        said[low, high, price] = given
    wrong = [case for case, right in CASES.items() if said[case] != right]
    if not wrong:
        return Result(
            True, "Every verdict fits: the whole interval decides, and the price with it."
        )
    low, high, price = wrong[0]
    case = f"{low:g} to {high:g} times as fast, {price:g} times the price"
    message = f'For "{case}" your verdict is "{said[wrong[0]]}". '
    if len(set(said.values())) == 1:
        return Result(
            False,
            message + "It is the same for every case.",
            "Let the price decide, and both ends of the interval.",
        )
    if all(said[c] == {CHEAPER: DEARER, DEARER: CHEAPER}.get(r, r) for c, r in CASES.items()):
        return Result(False, message + "The two sides are swapped.", HINT)
    if said == {c: _by(c, 1.0) for c in CASES}:
        hint = "Four times as fast, at five times the price for an hour: what does the job cost?"
        return Result(False, message + "That looks at the speed and not at the price.", hint)
    if said == {c: _by(c, c[2], middle=True) for c in CASES}:
        hint = "If one end of the interval says cheaper and the other dearer, what do you know?"
        return Result(False, message + "That takes one number out of the interval.", hint)
    if CASES[wrong[0]] == CANNOT_TELL:
        hint = "Look at both ends of the interval. Do they say the same?"
        return Result(False, message + "The interval reaches over the price.", hint)
    return Result(False, message + "The whole interval lies on one side of the price.", HINT)


def _by(case: tuple[float, float, float], price: float, middle: bool = False) -> str:
    low, high, _ = case
    if middle:
        low = high = (low + high) / 2
    return CHEAPER if low > price else DEARER if high < price else CANNOT_TELL


GRADERS = {"11/worth_it": _worth_it}
