"""The picture of lesson 00, and its exercise: intervals tell two results apart, and not medians."""

from collections.abc import Sequence
from pathlib import Path

from accel_helpers._values import records
from accel_helpers.course.word_checks import choices
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.timing import compare
from accel_helpers.plots.style import Picture

ANSWER = Path(__file__).parents[1] / "data" / "answer.toml"


def answer() -> Picture:
    """Return the picture that answers the course's question; `tools/answer_picture.py` drew it."""
    png = ANSWER.with_suffix(".png").read_bytes()
    return Picture(png, measured()["alt"])


def measured() -> dict:
    """Return what the picture shows: "alt", "machine", and "ratios" as texts, by "width, batch"."""
    return records.load(ANSWER, "file of the course")


def _measured(milliseconds: Sequence[float], name: str) -> Measurement:
    """Return a measurement of timings that are given in milliseconds."""
    seconds = [ms / 1000 for ms in milliseconds]
    return Measurement.from_samples(seconds, name=name)


# milliseconds, before and after a change; in B, C and D the medians are about 8 % apart
_OLD = {
    "A": (20.1, 19.8, 20.4, 20.0, 19.9, 20.3, 20.2, 19.7),
    "B": (20.5, 18.6, 22.3, 19.7, 21.6, 18.9, 23.0, 19.2),
    "C": (20.1, 19.9, 20.2, 20.0, 19.8, 20.1, 20.0, 19.9),
    "D": (20.3, 19.8, 20.1, 19.7, 20.4, 19.9, 20.2, 20.0),
}
_NEW = {
    "A": (14.1, 13.8, 14.3, 14.0, 13.9, 14.2, 13.7, 14.4),
    "B": (17.9, 20.4, 17.2, 19.3, 18.3, 21.1, 17.5, 18.8),
    "C": (21.7, 21.9, 21.6, 21.8, 21.9, 21.7, 21.6, 21.8),
    "D": (22.7, 22.1, 18.5, 21.3, 24.1, 19.3),
}


def _pairs() -> dict[str, tuple[Measurement, Measurement]]:
    """Return (the measurement before, the one after) for each change, by its letter "A" to "D"."""
    pairs = {}
    for letter, milliseconds in _OLD.items():
        old = _measured(milliseconds, "old")
        new = _measured(_NEW[letter], "new")
        pairs[letter] = (old, new)
    return pairs


PAIRS = _pairs()
NONE = "no measurable difference"
VERDICTS = ("faster", "slower", NONE)

# (letter, the learner's wrong verdict) -> the message and the hint
_MISTAKES = {
    ("A", "slower"): (
        "The new one takes fewer milliseconds, and you call it slower.",
        "These are times. Is a short time fast or slow?",
    ),
    ("A", NONE): (
        "The intervals lie far apart, so the two can be told apart.",
        "Where does the interval of the old one begin, and where does that of the new one end?",
    ),
    ("B", "faster"): (
        "The new median is lower. But some times fit into both intervals.",
        "Cover the medians with a finger, and compare the intervals alone.",
    ),
    ("B", "slower"): (
        "Neither the medians nor the intervals say that the new one takes longer.",
        "Look at where each interval begins and ends. Do they overlap?",
    ),
    ("C", "faster"): (
        "The new one takes more milliseconds, and you call it faster.",
        "The intervals are apart, you are right in that. Which of them has the longer times?",
    ),
    ("C", NONE): (
        "The medians are close. The intervals are short, and they do not overlap.",
        "What counts is the gap between the intervals, not how close the medians look.",
    ),
    ("D", "faster"): (
        "The new interval begins lower than the old one, and it also ends higher.",
        "Is there a time that lies in both intervals?",
    ),
    ("D", "slower"): (
        "The new median is higher. But the whole old interval lies inside the new one.",
        "The new times vary a lot. Does their interval leave the old one out?",
    ),
}


def _right_verdicts() -> dict[str, str]:
    """Return the verdict of `compare` on each change, one of `VERDICTS`, by its letter."""
    verdicts = {}
    for letter, (old, new) in PAIRS.items():
        comparison = compare(old, new)
        verdicts[letter] = comparison.verdict
    return verdicts


CHECKS = {
    "00/told_apart": choices(
        _right_verdicts(),
        VERDICTS,
        _MISTAKES,
        done="In B, C and D the medians are about 8 % apart. Only in C are the intervals, too.",
        empty="The four answers are still empty.",
    )
}
