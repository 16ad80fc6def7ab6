"""The pictures of lesson 00."""

from pathlib import Path

from accel_helpers._values import records
from accel_helpers.measure import pictures

ANSWER = Path(__file__).parents[1] / "data" / "answer.toml"

# A training step is drawn as so many operations, each of which takes Python 1 to hand out.
OPERATIONS = 5
# What each frame shows, and how long the chip then works on an operation.
FRAMES = {
    "A batch of 32: the chip waits for Python": 0.6,
    "A batch of 2,048: the gaps are gone": 38.4,
    "A batch of 32, and a chip ten times as fast": 0.06,
}
# The picture ends there; what takes longer runs out of it.
EDGE = 10


def measured() -> dict:
    """Return what the picture shows: "alt", "machine", and "ratios" as texts, by "width, batch"."""
    return records.load(ANSWER)


def answer() -> pictures.Picture:
    """Return the picture that answers the course's question; `tools/answer_picture.py` drew it."""
    png = ANSWER.with_suffix(".png").read_bytes()
    return pictures.Picture(png, measured()["alt"])


def overhead() -> pictures.Picture:
    """Draw a training step in time, Python's lane above the chip's, in three frames."""
    handing_out = pictures.PIECES["overhead"]
    working = pictures.PIECES["compute"]
    texts = ["A drawing, not a measurement. Python hands out five operations, one after the other"]
    with pictures.drawing("A faster chip only waits longer: Python sets the pace", 3.6) as axes:
        for frame, (name, work) in enumerate(FRAMES.items()):
            python = 3 * frame
            chip = python + 1
            done = 0.0
            for number in range(OPERATIONS):
                axes.barh(python, 0.94, 0.7, number, color=handing_out)
                # The chip starts what has been handed out, when the one before is done.
                start = max(number + 1, done)
                axes.barh(chip, 0.99 * work, 0.7, start, color=working)
                done = start + work
            # Behind the blocks: where it is seen, the chip waits.
            axes.barh(chip, done, 0.7, color="#DDDDDD", zorder=0)
            axes.text(0, python - 0.6, name, size=11)
            said = f"done at {done:.4g}"
            beside = {"x": done, "s": f" {said}", "ha": "left", "color": "black"}
            if done > EDGE:
                beside = {"x": EDGE, "s": f"{said}  → ", "ha": "right", "color": "white"}
            axes.text(y=chip, size=11, va="center", **beside)
            texts.append(f"{name}, {said}")
        axes.set_yticks([0, 1, 3, 4, 6, 7], ["Python", "chip"] * 3)
        axes.set_xlim(0, EDGE)
        axes.invert_yaxis()
        axes.grid(visible=False)
        pictures.scale(axes.xaxis, "time (1: to hand out an operation)", pictures.number)
        return pictures.finished(axes.figure, texts)


PICTURES = {"answer": answer, "overhead": overhead, "twice": pictures.plot}
