"""The pictures of lesson 00."""

from pathlib import Path

from accel_helpers._values import records
from accel_helpers.measure.pictures import Picture, plot

ANSWER = Path(__file__).parents[1] / "data" / "answer.toml"


def measured() -> dict:
    """Return what the picture shows: "alt", "machine", and "ratios" as texts, by "width, batch"."""
    return records.load(ANSWER)


def answer() -> Picture:
    """Return the picture that answers the course's question; `tools/answer_picture.py` drew it."""
    png = ANSWER.with_suffix(".png").read_bytes()
    return Picture(png, measured()["alt"])


PICTURES = {"answer": answer, "twice": plot}
