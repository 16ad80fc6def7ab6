"""Measure and draw the course's first picture: how much faster a better chip could make a step.

python tools/answer_picture.py    on a quiet machine: some two minutes

A model with next to nothing to compute stands in for an infinitely fast chip: width 1, or the small
net without its convolutions. What its step still takes, no chip takes away.
"""

import json
from datetime import date
from itertools import product

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
SECONDS = 5  # for each training
CNN = "small CNN"
TITLE = "With wide layers and large batches a better chip can gain most"
MADE = "# Made by tools/answer_picture.py, like the picture beside it; never by hand."
README_PICTURE = lesson.ROOT / "docs" / "pictures" / "is-it-worth-it.png"
NOTE = "Ceilings: about the most that a better chip could gain. No GPU was measured."


def make_net(filters):
    """A small net for grey pictures of 64 x 64, with a convolution for each number of filters."""
    import keras

    net = keras.Sequential([keras.Input((64, 64, 1))])
    for count in filters:
        net.add(keras.layers.Conv2D(count, 3, activation="relu"))
        net.add(keras.layers.MaxPooling2D())
    net.add(keras.layers.GlobalAveragePooling2D())
    net.add(keras.layers.Dense(10))
    net.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return net


def measure():
    """The ratio of each width and batch size, by both, and of the small net."""
    images = load_images(60_000)
    x, y = images.x_train, images.y_train
    pairs = {}
    for width, batch_size in product(WIDTHS, BATCH_SIZES):
        pairs[width, batch_size] = quickstart_model(width=width), quickstart_model(width=1), x
    smaller = x[:2048, ::7, ::7].repeat(16, axis=1).repeat(16, axis=2)
    pairs[CNN, 32] = make_net((16, 32)), make_net(()), smaller
    ratios = {}
    for key, (*models, inputs) in pairs.items():
        how = {"batch_size": key[1], "seconds": SECONDS}
        timed = [ah.time_fit(model, inputs, y[: len(inputs)], **how) for model in models]
        ratios[key] = ah.compare(timed[0].epochs, timed[1].epochs)
    return ratios


def draw(ratios, said, machine):
    """The picture, with a curve for each batch size and a mark for the net."""
    with pictures.drawing(TITLE, 3.2) as axes:
        axes.axhline(1, color="black")
        for batch_size, mark in zip(BATCH_SIZES, "osD", strict=True):
            curve = {str(width): ratios[width, batch_size] for width in WIDTHS}
            _draw(axes, curve, mark, f"batches of {batch_size:,}")
        _draw(axes, {CNN: ratios[CNN, 32]}, "^", f"{CNN}, 64 x 64, batches of 32")
        axes.legend(frameon=False)
        pictures.scale(axes.yaxis, "times as fast", pictures.number, log=True)
        axes.set_xlabel(f"width: units in the hidden layer. {machine}; hollow: no difference")
        return pictures.finished(axes.figure, [NOTE, f"on {machine}", *said])


def _draw(axes, curve, mark, name):
    """Draw marks with their intervals; hollow where there is no measurable difference."""
    middles = {model: (each.interval[0] * each.interval[1]) ** 0.5 for model, each in curve.items()}
    (line,) = axes.plot(*zip(*middles.items(), strict=True), f"{mark}-", mfc="white", label=name)
    for model, each in curve.items():
        axes.vlines(model, *each.interval, line.get_color())
        if each.conclusive:
            axes.plot(model, middles[model], mark, color=line.get_color())


def main():
    """Measure, draw, and write the picture, its text and its numbers."""
    ah.use_backend("tensorflow")
    ratios = measure()
    machine = f"{runtime.describe().name}, {date.today()}"
    words = {}
    for (model, size), each in ratios.items():
        text = f"{times(each.ratio)} times" if each.conclusive else "nothing measurable"
        words[f"{model}, {size}"] = text
    drawn = draw(ratios, [f"{key}: {text}" for key, text in words.items()], machine)
    ANSWER.with_suffix(".png").write_bytes(drawn.png)
    README_PICTURE.write_bytes(drawn.png)
    # A text of JSON is one of TOML.
    lines = [f"alt = {json.dumps(drawn.alt)}", f"machine = {json.dumps(machine)}", "[ratios]"]
    lines += [f'"{key}" = "{text}"' for key, text in words.items()]
    ANSWER.write_text("\n".join([MADE, *lines, ""]), "utf-8")


if __name__ == "__main__":
    main()
