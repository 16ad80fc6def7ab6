"""Measure and draw the course's first picture: how much faster a better chip could make a step.

python tools/answer_picture.py    on a quiet machine: some five minutes

A model with next to nothing to compute stands in for an infinitely fast chip: width 1, or the small
net without its convolutions. What its step still takes, no chip takes away.
"""

import json
import math
from datetime import date
from types import SimpleNamespace

import lesson

import accel_helpers as ah
from accel_helpers._values.words import times
from accel_helpers.course.lessons.lesson_00 import ANSWER
from accel_helpers.course.quickstart import quickstart_model
from accel_helpers.fit.images import load_images
from accel_helpers.machine import runtime
from accel_helpers.measure import pictures

WIDTHS = (16, 128, 512, 2048)
BATCH_SIZES = (32, 256, 2048)
SECONDS = 9  # for each training
CNN = "small CNN"
TITLE = "Wide layers and large batches gain most from a better chip"
NOTE = "Ceilings: about the most that a better chip could gain. No GPU was measured."
MADE = "# Made by tools/answer_picture.py, like the picture beside it; never by hand."
README_PICTURE = lesson.ROOT / "docs" / "pictures" / "is-it-worth-it.png"


def make_net(*convolutions):
    """A small net for grey pictures of 64 x 64."""
    import keras

    first, last = keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(10)
    net = keras.Sequential([keras.Input((64, 64, 1)), *convolutions, first, last])
    net.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return net


def ceiling(model, smallest, x, y, batch_size):
    """How many times as fast an epoch of the smallest model is."""
    timed = []
    for each in (model, smallest):
        timing = ah.time_fit(each, x, y[: len(x)], batch_size=batch_size, seconds=SECONDS)
        timed.append(timing.epochs)
    return ah.compare(*timed)


def measure():
    """The ceiling of each width and batch size, by both, and of the small net."""
    from keras.layers import Conv2D, MaxPooling2D

    images = load_images(60_000)
    x, y = images.x_train, images.y_train
    ceilings = {}
    for width in WIDTHS:
        for size in BATCH_SIZES:
            model, smallest = quickstart_model(width=width), quickstart_model(width=1)
            ceilings[width, size] = ceiling(model, smallest, x, y, size)
    grey = x[:2048, ::7, ::7].repeat(16, axis=1).repeat(16, axis=2)
    net = make_net(
        Conv2D(16, 3, activation="relu"),
        MaxPooling2D(),
        Conv2D(32, 3, activation="relu"),
        MaxPooling2D(),
    )
    ceilings[CNN, 32] = ceiling(net, make_net(), grey, y, 32)
    return ceilings


def draw(ceilings):
    """The picture, with a curve for each batch size; the net's is level."""
    curves = {f"batches of {size:,}": {} for size in BATCH_SIZES}
    net = f"{CNN}, pictures of 64 x 64, batches of 32"
    for (model, size), found in ceilings.items():
        point = SimpleNamespace(median=math.prod(found.interval) ** 0.5, interval=found.interval)
        if model == CNN:
            curves[net] = {WIDTHS[0]: point, WIDTHS[-1]: point}
        else:
            curves[f"batches of {size:,}"][model] = point
    x = "width: units in the hidden layer", pictures.number
    y = "times as fast, at most", pictures.number
    return pictures.lines(curves, x, y, title=TITLE, log=True, dashed=[net])


def main():
    """Measure, draw, and write the picture, its text and its numbers."""
    ah.use_backend("tensorflow")
    ceilings = measure()
    machine = f"{runtime.describe().name}, {date.today()}"
    words = {}
    for (model, size), found in ceilings.items():
        low, high = map(times, found.interval)
        words[f"{model}, {size}"] = f"{low} to {high} times"
    said = "; ".join(f"{key}: {text}" for key, text in words.items())
    alt = f"{TITLE}, by width and batch size. {NOTE} On {machine}: {said}."
    png = draw(ceilings).png
    ANSWER.with_suffix(".png").write_bytes(png)
    README_PICTURE.write_bytes(png)
    # A text of JSON is one of TOML.
    lines = [f"alt = {json.dumps(alt)}", f"machine = {json.dumps(machine)}", "[ratios]"]
    lines += [f'"{key}" = "{text}"' for key, text in words.items()]
    ANSWER.write_text("\n".join([MADE, *lines, ""]), "utf-8")


if __name__ == "__main__":
    main()
