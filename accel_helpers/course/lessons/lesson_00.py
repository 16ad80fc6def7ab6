"""The picture of lesson 00, and its exercise: intervals tell two results apart, and not medians."""

from pathlib import Path

from accel_helpers._values import records
from accel_helpers.course.checks import WordCheck
from accel_helpers.measure.pictures import Picture, plot

NONE = "no measurable difference"


class ToldApart(WordCheck):
    truth = {"A": "faster", "B": NONE, "C": "slower", "D": NONE}
    allowed = ("faster", "slower", NONE)
    done = "In B, C and D the medians are about 8 % apart. Only in C are the intervals, too."
    # letter -> wrong verdict -> the message and the hint
    slips = {
        "A": {
            "slower": (
                "The new one takes fewer milliseconds, and you call it slower.",
                "These are times. Is a short time fast or slow?",
            ),
            NONE: (
                "The intervals lie far apart, so the two can be told apart.",
                "Where does the interval of the old one begin, "
                "and where does that of the new one end?",
            ),
        },
        "B": {
            "faster": (
                "The new median is lower. But some times fit into both intervals.",
                "Cover the medians with a finger, and compare the intervals alone.",
            ),
            "slower": (
                "Neither the medians nor the intervals say that the new one takes longer.",
                "Look at where each interval begins and ends. Do they overlap?",
            ),
        },
        "C": {
            "faster": (
                "The new one takes more milliseconds, and you call it faster.",
                "The intervals are apart, you are right in that. "
                "Which of them has the longer times?",
            ),
            NONE: (
                "The medians are close. The intervals are short, and they do not overlap.",
                "What counts is the gap between the intervals, not how close the medians look.",
            ),
        },
        "D": {
            "faster": (
                "The new interval begins lower than the old one, and it also ends higher.",
                "Is there a time that lies in both intervals?",
            ),
            "slower": (
                "The new median is higher. But the whole old interval lies inside the new one.",
                "The new times vary a lot. Does their interval leave the old one out?",
            ),
        },
    }


CHECKS = {"00/told_apart": ToldApart()}


ANSWER = Path(__file__).parents[1] / "data" / "answer.toml"


def measured() -> dict:
    """Return what the picture shows: "alt", "machine", and "ratios" as texts, by "width, batch"."""
    return records.load(ANSWER, "file of the course")


def answer() -> Picture:
    """Return the picture that answers the course's question; `tools/answer_picture.py` drew it."""
    png = ANSWER.with_suffix(".png").read_bytes()
    return Picture(png, measured()["alt"])


PICTURES = {"answer": answer, "twice": plot}
