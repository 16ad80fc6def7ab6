"""Measure and draw the course's first picture: how much faster a better chip could make a step.

python tools/answer_picture.py    on a quiet machine: some two minutes

A model with next to nothing to compute stands in for an infinitely fast chip: width 1, or the small
net without its convolutions. What its step still takes, no chip takes away.
"""

import io
import json
import shutil
from datetime import date
from itertools import product

import lesson
from PIL import Image

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
MARKS = ("o", "s", "D", "^")  # of the batch sizes, and of the net
COLOURS = 24  # of the file: fewer bytes, and nobody sees it
CNN = "small CNN"
README_PICTURE = lesson.ROOT / "docs" / "pictures" / "is-it-worth-it.png"
TITLE = "With wide layers and large batches a better chip can gain most"
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


def ratio(model, empty_model, x, y, batch_size):
    """How many times as long an epoch of the model takes as one of the empty model."""
    epochs = []
    for each in (model, empty_model):
        timed = ah.time_fit(each, x, y, batch_size=batch_size, seconds=SECONDS)
        epochs.append(timed.epochs)
    return ah.compare(*epochs)


def measure():
    """The ratio of each width and batch size, by both, and of the small net."""
    images = load_images(60_000)
    x, y = images.x_train, images.y_train
    ratios = {}
    for width, batch_size in product(WIDTHS, BATCH_SIZES):
        models = quickstart_model(width=width), quickstart_model(width=1)
        ratios[width, batch_size] = ratio(*models, x, y, batch_size)
        print(width, batch_size, ratios[width, batch_size])
    pictures = x[:2048, ::7, ::7].repeat(16, axis=1).repeat(16, axis=2)
    nets = make_net(filters=(16, 32)), make_net(filters=())
    ratios[CNN, 32] = ratio(*nets, pictures, y[:2048], 32)
    return ratios


def draw(ratios, machine):
    """The picture, with a curve for each batch size and a mark for the net."""
    places = {model: place for place, model in enumerate([*WIDTHS, CNN])}
    with pictures.drawing(TITLE, 3.2) as axes:
        axes.axhline(1, color="black", lw=1.2)
        axes.annotate("1: no gain", (3.4, 1), (0, 3), textcoords="offset points")
        for number, batch_size in enumerate(BATCH_SIZES):
            curve = {width: ratios[width, batch_size] for width in WIDTHS}
            _draw_curve(axes, curve, places, number, f"batches of {batch_size:,}")
        name = f"{CNN}, 64 x 64, batches of 32"
        _draw_curve(axes, {CNN: ratios[CNN, 32]}, places, 3, name)
        axes.legend(frameon=False)
        pictures.scale(axes.yaxis, "times as fast", pictures.number, log=True)
        axes.set_xticks([*places.values()], [*(f"{width:,}" for width in WIDTHS), CNN])
        axes.set_xlabel(f"width: units in the hidden layer. {machine}; hollow: no difference")
        said = [f"{model} by {size}: {text(each)}" for (model, size), each in ratios.items()]
        return pictures.finished(axes.figure, [NOTE, f"on {machine}", *said])


def _draw_curve(axes, curve, places, number, name):
    """Draw ratios with their intervals; hollow where there is no measurable difference."""
    colour = pictures.COLOURS[number]
    xs, heights = [], []
    for model, each in curve.items():
        low, high = each.interval
        height = each.ratio or (low * high) ** 0.5
        x = places[model] + 0.06 * (number - 1)  # beside one another
        face = colour if each.conclusive else "white"
        axes.plot([x, x], [low, high], color=colour, lw=3, alpha=0.4, solid_capstyle="butt")
        axes.plot([x], [height], MARKS[number], color=colour, mfc=face, ms=6, zorder=4)
        xs.append(x)
        heights.append(height)
    axes.plot(xs, heights, color=colour, lw=1.6, label=name)


def text(each):
    """A ratio in words."""
    if each.conclusive:
        return f"{times(each.ratio)} times"
    return "nothing measurable"


def holds(ratios):
    """Whether the title is true: nowhere less, clearly, for a wider layer or a larger batch."""
    sizes = [*product(WIDTHS, BATCH_SIZES)]
    for (width, batch_size), (wider, larger) in product(sizes, sizes):
        if wider >= width and larger >= batch_size:
            low, _ = ratios[width, batch_size].interval
            _, high = ratios[wider, larger].interval
            if high < low:
                return False
    _, least = ratios[sizes[0]].interval
    most, _ = ratios[sizes[-1]].interval
    return least < most


def main():
    """Measure, draw, and write the picture, its text and its numbers."""
    ah.use_backend("tensorflow")
    ratios = measure()
    machine = f"{runtime.describe().name}, {date.today()}"
    if not holds(ratios):
        raise SystemExit("The title does not hold on this machine; nothing was written.")
    drawn = draw(ratios, machine)
    whole = Image.open(io.BytesIO(drawn.png)).convert("RGB")
    few = whole.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE)
    few.save(ANSWER.with_suffix(".png"), optimize=True)
    shutil.copy(ANSWER.with_suffix(".png"), README_PICTURE)
    lines = [
        "# Made by tools/answer_picture.py, like the picture beside it; never by hand.",
        f"alt = {json.dumps(drawn.alt)}",
        f"machine = {json.dumps(machine)}",
        "[ratios]  # by width and batch size: an epoch over one of a model of width 1",
    ]
    for (model, batch_size), each in ratios.items():
        lines.append(f'"{model}, {batch_size}" = "{text(each)}"')
    ANSWER.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
