"""Lesson 01: a matmul beside a chip's rating, and the old steps."""

from collections.abc import Sequence

from accel_helpers._values.words import times
from accel_helpers.course.checks import WordCheck
from accel_helpers.machine import hardware
from accel_helpers.machine.hardware import Plausibility
from accel_helpers.measure import pictures

_STOPS = "A notebook stops at this cell. Is that nothing?"


class OldSteps(WordCheck):
    """What the six old steps, A to F, do today."""

    truth = {
        "A": "fails",
        "B": "fails",
        "C": "fails",
        "D": "works",
        "E": "does nothing",
        "F": "works",
    }
    allowed = ("works", "fails", "does nothing")
    done = "Three fail, one does nothing, two still work."
    # step -> wrong answer (or "" for each) -> the message and the hint
    slips = {
        "A": {
            "works": ("That address belonged to TPUs on another machine.", "What is a KeyError?"),
            "does nothing": ("It raises an error, a KeyError.", _STOPS),
        },
        "B": {
            "works": ("pip downloads something, but look at its last line.", "Was it installed?"),
            "does nothing": (
                "It ends with an error, and nothing is installed.",
                "Which word does pip's last line begin with?",
            ),
        },
        "C": {
            "works": ("Sessions belong to TensorFlow 1.", "What does the module not have?"),
            "does nothing": ("It raises an error, an AttributeError.", _STOPS),
        },
        "D": {
            "": (
                "It answers either way: with a GPU's name, or with an empty text.",
                "Was it an error?",
            )
        },
        "E": {
            "": (
                "There is no error, and nothing left to switch.",
                "How does Colab's sentence end?",
            )
        },
        "F": {"": ("The menu is still there.", "How did you choose your own runtime?")},
    }


CHECKS = {"01/old": OldSteps()}


def rates(judged: Sequence[Plausibility]) -> pictures.Picture:
    """Draw the rate of a matmul on each device, and the rating of the last one's chip."""
    chip = judged[-1].chip
    if chip is None or not hardware.peak(chip):
        chip = hardware.match("Tesla T4")
    # Billions of operations a second; the table of chips has trillions.
    rated = 1000 * hardware.peak(chip)
    measured = {}
    for judgement in judged:
        kind, _, _ = judgement.time.name.partition(":")
        measured[kind.upper()] = judgement.work / judgement.time.median / 1e9
    things = []
    for kind, rate in measured.items():
        things.append(pictures.Row(kind, f"{rate:,.0f} measured", interval=(0, rate)))
    factor = times(rated / max(measured.values()))
    title = f"The {chip.name} is rated at {factor} times what was measured here"
    x = ("billion operations per second", pictures.number)
    levels = {f"{chip.name}: rated at {rated:,.0f}": rated}
    return pictures.rows(things, x, title=title, levels=levels)


PICTURES = {"product": rates}
