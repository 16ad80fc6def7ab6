"""The pictures that go deeper: what they say, that no label covers another, that none is cut."""

import functools
import io
import itertools
from types import SimpleNamespace

import pytest

from accel_helpers import plots
from accel_helpers.machine import hardware
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.timing import compare
from accel_helpers.plots import curves as plots_depth
from accel_helpers.plots import style as picture

LONG = "several training steps between two returns to Python (64)"


def m(name, at, spread=0.02):
    pattern = (0, 1, -1, 0.5, -0.5, 0.2, -0.2)
    return Measurement.from_samples([at * (1 + spread * p) for p in pattern], name=name)


def gain(first, other, **changes):
    made = compare(first, other)
    values = {name: getattr(made, name) for name in made.__dataclass_fields__} | changes
    return Speedup(**values)


START = m("default fit", 4.8)
STEPS = {"default fit": START, "batches of 256": m("b", 1.2), LONG: m("c", 4.75)}
STEPS |= {"unsure": m("d", 1.0), "slower": m("e", 8.0), "resident": m("f", 0.006)}
GAINS = {name: gain(START, step) for name, step in STEPS.items() if name != "default fit"}
GAINS["unsure"] = gain(START, STEPS["unsure"], interval=(1.4, 11.0))
RIGHT = {"default fit": 0.9712, "batches of 256": 0.9604, "resident": 1.0}


def ladder(**style):
    return plots.climb(STEPS, GAINS, RIGHT, title="One epoch", **style)


def ceilings(memory=14e9, **rates):
    products = tuple(SimpleNamespace(dtype=name, rate=rate) for name, rate in rates.items())
    return SimpleNamespace(products=products, copy=SimpleNamespace(rate=memory))


CLOSE = {f"a point, number {i}": (12 + i / 50, 1.1e9 + i * 1e7) for i in range(6)}


def roof(**style):
    points = CLOSE | {"on the roof": (45.0, 110e9)}
    here = ceilings(float32=110e9, bfloat16=109e9, float16=2e9)
    return plots.roofline(points, here, title="Under the roof", **style)


def published(**style):
    here, h200 = ceilings(4e9, float32=8e10), hardware.match("NVIDIA H200")
    return plots.roofline({"fit": (12.0, 1e9)}, here, published=h200, title="T", **style)


SIZES = (1_000, 10_000, 100_000, 1_000_000)


def lines(**style):
    flat = {name: {x: m(name, 4e-6) for x in SIZES} for name in ("TensorFlow", "JAX", LONG)}
    return plots.series(flat, title="T", xlabel="samples", ylabel="time per sample", **style)


MANY = {name: {32: m(name, 0.5)} for name in "ABCDEFGH"}


def falling(**style):
    one = {"one": {x: m("one", 1 / x) for x in (32, 512)}, "two": {32: m("two", 0.5)}}
    return plots.series(one, title="T", xlabel="batch size", ylabel="time", **style)


@functools.cache
def drawn(draw, own=True):
    return draw(own=own)


ALL = (ladder, roof, published, lines, falling)


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (ladder, "batches of 256: 4 times (3.9 to 4.1), 1.2 s, 96.0 % right"),
        (ladder, f"{LONG}: no measurable difference, 4.75 s; "),
        (ladder, "unsure: between 1.4 and 11 times, 1 s"),
        (ladder, "slower: 0.6 times"),
        (roof, "on the roof 110 GFLOP/s at 45"),
        (roof, "ceilings measured: memory 14 GB/s, float32 110 GFLOP/s, bfloat16 109 GFLOP/s"),
        (published, "ceilings published: memory 4.8 TB/s, float32 494 TFLOP/s"),
        (lines, "JAX from 4 µs at 1,000 to 4 µs at 1,000,000"),
        (falling, "two from 500 ms at 32"),
    ],
)
def test_a_picture_is_a_png_with_a_sentence(draw, words):
    made = drawn(draw)
    data, metadata = made._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG") and len(data["image/png"]) < 150_000
    assert words in made.alt and made.alt.endswith(".")
    assert metadata["image/png"]["alt"] == made.alt and 300 < metadata["image/png"]["width"] <= 800


def test_no_ratio_stands_where_the_gain_is_vague_or_none():
    said = dict(part.split(": ", 1) for part in drawn(ladder).alt.split("; ")[1:])
    assert not any(said[LONG].startswith(digit) for digit in "0123456789")
    assert said["unsure"].startswith("between")


@pytest.mark.parametrize("draw", ALL)
def test_nothing_is_cut_at_the_edge(draw):
    pixels = _pixels(drawn(draw))
    frame = [pixels[:2], pixels[-2:], pixels[:, :2], pixels[:, -2:]]
    assert all((part == 1).all() for part in frame)


@pytest.mark.parametrize("draw", ALL)
def test_a_reference_machine_is_grey_and_the_learner_is_not(draw):
    for own in (True, False):
        pixels = _pixels(drawn(draw, own))
        coloured = (pixels.max(axis=2) - pixels.min(axis=2)).max() > 0.05
        assert coloured == own


def test_the_same_values_give_the_same_picture():
    assert lines().png == drawn(lines).png


def test_no_two_lines_of_a_picture_look_alike():
    # the seventh way to train had the colour and the ring of the first
    assert len(set(plots_depth.LINES)) == len(plots_depth.LINES) == len(plots_depth.MARKS)
    assert len(set(plots_depth.MARKS)) == len(plots_depth.MARKS)


def test_room_for_text_takes_no_tick_from_the_data():
    # a ladder whose longest label needed room up to 400 had ticks at 1 and 10 only
    with picture._figure(8, 4) as (_, axes):
        axes.set(xscale="log", xlim=(0.9, 400))
        picture._log_ticks(axes.xaxis, 0.9, 400, picture._plain, last=17)
        assert {1, 2, 5, 10} <= set(axes.get_xticks())


def test_labels_beside_the_axes_keep_their_order_and_do_not_overlap():
    wanted, heights = [5, 5, 5, 68, 72, 99.0], [10, 10, 20, 10, 10, 10]
    places = picture._apart(wanted, heights, 0, 100)
    ends = [(place - h / 2, place + h / 2) for place, h in zip(places, heights, strict=True)]
    assert all(a[1] <= b[0] + 1e-9 for a, b in itertools.pairwise(ends))
    assert ends[0][0] >= 0 and ends[-1][1] <= 100
    assert places[3:5] == [65, 75]  # two that are too close share the way
    assert picture._apart([20, 60.0], [10, 10], 0, 100) == [20, 60]  # room enough: nothing moves


def test_labels_of_dots_do_not_cover_each_other():
    with picture._figure(8, 4.6) as (figure, axes):
        axes.set(xscale="log", yscale="log", xlim=(0.1, 1000), ylim=(1e8, 1e11))
        figure.draw_without_rendering()
        points = CLOSE | {"a point in the corner": (900, 9e10)}
        picture._free_place(figure, axes, points, [], [(0.1, 5e10, 1000, 5e10)])
        figure.draw_without_rendering()
        boxes = [text.get_bbox_patch().get_window_extent() for text in axes.texts]
        inside = axes.get_window_extent()
    assert len(boxes) == len(points)
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    assert all(inside.x0 < b.x0 and b.x1 < inside.x1 and b.y1 < inside.y1 for b in boxes)


def test_an_axis_makes_room_for_the_text_at_its_right():
    with picture._figure(8, 3) as (figure, axes):
        axes.set(xscale="log", xlim=(1, 100))
        label = axes.annotate("a text that needs room", (100, 0.5))
        picture._room(figure, axes, [(100, label)])
        figure.draw_without_rendering()
        assert label.get_window_extent().x1 < axes.get_window_extent().x1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plots.climb({}, {}, {}, title="T"), "at least one step"),
        (lambda: plots.climb(STEPS, {}, {}, title="T"), "'batches of 256' has none"),
        (lambda: plots.roofline({"p": (0, 1e9)}, ceilings(float32=1e9), title="T"), "'p' needs"),
        (lambda: plots.series({}, title="T", xlabel="x", ylabel="y"), "needs lines"),
        (lambda: plots.series({"a": {}}, title="T", xlabel="x", ylabel="y"), "at least one size"),
        (lambda: plots.series(MANY, title="T", xlabel="x", ylabel="y"), "7 lines apart; got 8"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def _pixels(made):
    from matplotlib.image import imread

    return imread(io.BytesIO(made.png))[..., :3]
