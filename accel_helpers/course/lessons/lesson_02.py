"""Lesson 02: the check of three broken runtimes, which its page shows."""

from itertools import product

from accel_helpers.course.checks import WordCheck
from accel_helpers.measure.pictures import plot

# What may be true of an accelerator, to be checked in this order: the first that is not decides.
FACTS = ("attached", "visible", "placed", "faster")
# The letter of each cure on the page -> why it does not cure the other cases.
CURES = {
    "A": "A asks for another machine, but this one has its accelerator: see its first line.",
    "B": "B removes a setting. No setting of this machine hides a chip.",
    "C": "C changes the framework. The one in this log was loaded, and it is not what fails first.",
    "D": "D changes where the work is put. That helps only where a `with` line puts it somewhere.",
    "E": "E gives each step more work. "
    "That helps only where the work already runs on the accelerator.",
    "F": "F is popular, and cures none of the three. In Colab it breaks more than it fixes.",
}
# Of each case on the page the fact that decides, the letter of its cure, and where to look.
CASES = {
    1: (
        "visible B",
        "The machine has the chip, and the list is empty. One setting stands between the two.",
    ),
    2: (
        "attached A",
        'The program prints "TPU found" itself. '
        "Whom do you believe: a program, or the machine's own files?",
    ),
    3: (
        "faster E",
        "The chip is there, it is seen, and the model is on it. What is left to ask?",
    ),
}
CHOICES = [f"{fact} {cure}" for fact, cure in product(FACTS, CURES)]


def _reason(right: str, choice: str) -> str:
    """Return what is wrong with a choice for a case of which the right one is known."""
    right_fact, _ = right.split()
    fact, cure = choice.split()
    if fact == right_fact:
        return f"the fact is right. {CURES[cure]}"
    if FACTS.index(fact) < FACTS.index(right_fact):
        return f'"{fact}" holds there: the case shows it. Go further down the list.'
    return f'before "{fact}" something else fails already. The first no decides.'


def _detective() -> WordCheck:
    """Return the check of the three cases."""
    slips = {}
    for (number, (right, clue)), choice in product(CASES.items(), CHOICES):
        slips[number, choice] = (_reason(right, choice), clue)
    how = (
        'Such as {1: ("placed", "D"), 2: ("faster", "F"), 3: ...}. '
        "Choose from: attached, visible, placed, faster; A, B, C, D, E, F."
    )
    truth = {number: right for number, (right, _) in CASES.items()}
    return WordCheck(truth, CHOICES, "All three solved, with the cure of each.", slips, how)


CHECKS = {"02/detective": _detective()}


PICTURES = {"race": plot}
