"""Pictures say in words what they show, and nothing is cut or covered."""

import io
import itertools
import subprocess
import sys
from dataclasses import replace
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pytest

from accel_helpers import plots
from accel_helpers._values import words
from accel_helpers.course.lessons import lesson_06
from accel_helpers.course.pictures import climb_picture
from accel_helpers.course.unit import MatrixUnit
from accel_helpers.machine import hardware
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.timing import compare
from accel_helpers.plots import accuracy, rows, style
from accel_helpers.worth.break_even import Plan, break_even

LONG = "several training steps between two returns to Python (64)"


def m(name, at, first=None):
    samples = [at * (1 + p / 50) for p in (0, 1, -1, 0.5, -0.5, 0.2, -0.2)]
    return Measurement.from_samples(samples, name=name, first_call=first)


START = m("default fit", 4.8, first=9.5)
STEPS = {"default fit": START, "batches of 256": m("b", 1.2), LONG: m("c", 4.75)}
STEPS |= {"unsure": m("d", 1.0), "slower": m("e", 8.0), "resident": m("f", 0.006)}
GAINS = {name: compare(START, step) for name, step in STEPS.items() if name != "default fit"}
GAINS["unsure"] = Speedup(START, STEPS["unsure"], (1.4, 11.0), True, 4.8)
DECADES = [m(f"{LONG} {i}", 1e-9 * 10**i) for i in range(12)]
POINTS = {f"point {i}": (12 + i / 50, 1.1e9 + i * 1e7) for i in range(6)}
POINTS |= {"on the roof": (45.0, 110e9)}
MODELS = {"before": [0.7, 0.75], "after": [0.9, 0.92], "later": [0.9, 0.93]}
CHANGES = {"after": (0.185, 0.1, 0.27), "later": (0.005, -0.01, 0.02)}
PLANS = Plan("a CPU", (60, 60)), Plan("a T4", (10, 20), setup_minutes=5)
CROSSING = break_even(*PLANS, epochs=9)
CURVES = {"a": [2, 1.5], LONG: [2, 1]}
TIMES = {"a": {10: START}, "b": {1: STEPS["batches of 256"], 1000: STEPS[LONG]}}


HERE = {"memory": 4e9, "compute": 8e10}


def climb_of(larger):
    """A climb whose stages of these names have batches of 256, and all others of 32."""
    stages = []
    for name, epoch in STEPS.items():
        size = 256 if name in larger else 32
        less = "overhead" if name == "resident" else ""
        stage = SimpleNamespace(
            name=name, batch_size=size, epoch=epoch, accuracy=(0.96,), takes_away=less
        )
        stages.append(stage)
    return SimpleNamespace(stages=stages, overall=GAINS)


EPOCH = {"input": 3.0, "validation": 0.0, "overhead": 1.0, "memory": 0.0}
CLIMB = climb_of({"batches of 256"})
DRAWN = {  # each with what its sentence says
    "measurements": (partial(plots.measurements, DECADES), f"{LONG} 0 1 ns; "),
    "parts": (partial(plots.parts, {"a": 1e-3, LONG: 3e-3}), "a 1 ms; "),
    "an epoch": (
        partial(plots.epoch_parts, EPOCH),
        "75 % input: overhead 1 s; input 3 s",
    ),
    "climb": (
        partial(climb_picture.climb, CLIMB),
        "batches of 256: 4 times (3.9 to 4.1), 1.2 s, 96.0 %",
    ),
    "shares": (
        partial(plots.shares, MODELS, {"after": (0.8, 0.99)}),
        "before 72.5 %; after 91.0 %; later 91.5 %",
    ),
    "ladder": (
        partial(plots.ladder, MODELS, CHANGES),
        "before 72.5 %; after 91.0 %, +18.5 points (+10.0 to +27.0), better; later 91.5 %, "
        "+0.5 points (-1.0 to +2.0), no measurable difference",
    ),
    "one model": (partial(plots.ladder, {"a": [0.9]}, {}), "a 90.0 %"),
    "curves": (
        partial(plots.curves, CURVES, said={"chance": [4.11]}),
        "a from 2 at 1 to 1.5 at 2; several training steps between two returns to Python (64) from",
    ),
    "log curves": (
        partial(plots.curves, TIMES, said={"none": {1: 1, 99: 1e-3}}, y=("time", str), log=True),
        "a 4.8; b from 1.2 at 1 to 4.75 at 1,000. Dashed: none from 1 at 1 to 0.001 at 99.",
    ),
    "epochs": (partial(plots.epochs, START), "the first epoch took 9.5 s"),
    "break_even": (
        partial(plots.break_even, CROSSING),
        "a CPU 9 to 9 at 9 epochs; a T4 6.5 to 8 at 9 epochs",
    ),
}
BARS = {"a": {"compute": 1e-3, "wait": 0.0}, LONG: {"compute": 0.0, "wait": 3e-3}}
DRAWN["bars"] = (partial(plots.bars, BARS), "a compute 1 ms, wait 0")
FAST = {"memory": 14e9, "compute": 110e9}
DRAWN["roofline"] = (
    partial(plots.roofline, POINTS, FAST),
    "ceilings measured: memory 14 GB/s, float32 110 GFLOP/s",
)
H200 = hardware.match("NVIDIA H200")
DRAWN["published"] = (
    partial(plots.roofline, {"fit": (12.0, 1e9)}, HERE, published=H200),
    "ceilings published: memory 4.8 TB/s, float32 494 TFLOP/s",
)
UNIT = MatrixUnit(128, 128)
USEFUL = {n: UNIT.utilisation(n, n, n) for n in range(64, 301)}
DRAWN["sizes"] = (
    partial(lesson_06.useful_cells, USEFUL),
    "25.1 % at 128, but 6.4 % at 129; 40.1 % at 256, but 18.0 % at 257",
)


@cache
def drawn(name):
    draw, _ = DRAWN[name]
    return draw(title="T")


def pixels(picture):
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(picture.png)).convert("RGB")).astype(int)


def test_the_pieces_of_a_bar_lie_end_to_end():
    shown = pixels(plots.parts({"a": 1.0, "b": 3.0}, title="T"))
    ends = []
    for colour in style.COLOURS[:2]:
        rgb = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
        (columns,) = np.nonzero((shown == rgb).all(axis=2).any(axis=0))
        ends.append((columns.min(), columns.max()))
    (start, middle), (begins, end) = ends
    assert abs(begins - middle) < 4
    assert 2.9 < (end - begins) / (middle - start) < 3.1


def has_colour(picture, colour):
    """Whether some pixels of a picture have exactly this colour, given as "#0072B2"."""
    rgb = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return (pixels(picture) == rgb).all(axis=2).any()


def test_a_part_has_the_same_colour_in_the_bar_of_an_epoch_and_of_a_step():
    step = plots.parts({"compute": 1.0, "memory": 1.0, "overhead": 1.0}, title="T")
    epoch = plots.epoch_parts({"input": 3.0, "overhead": 1.0}, title="T")
    compute, _, overhead = style.COLOURS[:3]
    assert has_colour(step, overhead)
    assert has_colour(epoch, overhead)
    assert has_colour(step, compute)
    assert not has_colour(epoch, compute)


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_a_png_with_a_sentence_and_nothing_is_cut_at_its_edge(name):
    made = drawn(name)
    data, metadata = made._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    assert len(data["image/png"]) < 150_000
    assert DRAWN[name][1] in made.alt
    assert made.alt.endswith(".")
    assert metadata["image/png"]["alt"] == made.alt == str(made) == data["text/plain"]
    assert 300 < metadata["image/png"]["width"] <= 860
    shown = pixels(made)
    assert all((side == 255).all() for side in (shown[:2], shown[-2:], shown[:, :2], shown[:, -2:]))


def contrast(colour):
    """With white, as the WCAG reckon."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 1.05 / (np.dot((0.2126, 0.7152, 0.0722), linear) + 0.05)


def test_what_is_written_in_grey_can_be_read():
    assert contrast("#777777") < 4.5
    assert min(map(contrast, (style.INK, style.SAID))) >= 4.5


def test_no_ratio_stands_where_nothing_can_be_told_or_the_interval_is_wide():
    said = dict(part.split(": ", 1) for part in drawn("climb").alt.split("; ")[1:])
    assert said[LONG].startswith("no measurable difference")
    assert said["unsure"].startswith("between 1.4 and 11 times")


def test_a_climb_has_in_its_title_no_gain_that_larger_batches_brought():
    assert "T: 800 times, same batch size:" in drawn("climb").alt
    assert " times, same" not in climb_picture.climb(climb_of({*GAINS}), title="T").alt


def test_the_finding_is_the_title_of_a_break_even_and_known_by_arithmetic():
    for epoch, said in {
        (10, 20): "Under 6 minutes of training here, stay; over 7.5, change",
        (20, 90): "Under 7.5 minutes of training here, stay where you are",  # it may never pay
        (70, 90): "a T4: it never pays",
    }.items():
        made = plots.break_even(break_even(PLANS[0], Plan("a T4", epoch, 5), epochs=9))
        assert f" {said}: " in made.alt


def test_what_is_not_1_is_not_written_as_1():
    """An interval that touches 1 means no difference, so a rounded end must not seem to."""
    said = [style.short(ratio) for ratio in (1.0015, 1.04, 0.996, 1.0, 1.25, 26.4, 120.4)]
    assert said == ["1.002", "1.04", "0.996", "1", "1.2", "26", "120"]


def test_an_axis_that_does_not_begin_at_0_says_so_and_hides_nothing():
    for lowest in (0.9, 0.6):
        made = plots.shares({"a": [lowest], "b": [0.95]}, title="T", start=70)
        assert ("the axis begins at 70" in made.alt) == (lowest == 0.9)


@pytest.mark.parametrize("count", [1, 12])
def test_what_stands_beside_rows_covers_nothing_and_is_not_cut(count):
    made = [
        rows.Row(LONG, style.OWN, (LONG[:26], "100 %"), (1, 2, 3), (1, 3), 2) for _ in range(count)
    ]
    with style.figure(8, 1.3 + rows.room(made), LONG) as (figure, axes):
        rows.paint(axes, made, ["median", "right on\ntest data"])
        axes.set_xlabel(LONG)
        figure.draw_without_rendering()
        texts = [*axes.texts, *axes.get_yticklabels(), *axes.get_xticklabels(), axes.xaxis.label]
        inside = axes.get_window_extent()
    assert all(text.get_window_extent().x0 > inside.x1 for text in axes.texts)
    _apart([*texts, *figure.texts], figure)


def test_labels_beside_the_axes_cover_each_other_nowhere_and_stay_beside_them():
    with style.figure(8, 3.4, "T") as (figure, axes):
        axes.plot([1, 2], [0, 1])
        mark = {"marker": "o", "ms": 8}
        ends = [style.Label(2, y, f"{LONG[:26]}\n{y}", style.OWN, mark) for y in (0, 0, 0, 1, 1, 1)]
        style.beside(figure, axes, ends)
        figure.draw_without_rendering()
        _apart(axes.texts, figure)
        places = [text.get_position()[1] for text in axes.texts]  # of the axes' height
    assert places == sorted(places)
    assert 0 < places[0] < 0.2
    assert 0.8 < places[-1] < 1


def _apart(texts, figure):
    from matplotlib.text import Text

    boxes = [Text.get_window_extent(text) for text in texts]  # without their leaders
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    width, height = figure.get_size_inches() * figure.dpi
    assert all(box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 for box in boxes)
    assert all(box.y1 <= height for box in boxes)


def test_pyplot_and_its_global_state_stay_out():
    code = (
        "import sys; from accel_helpers import plots; plots.parts({'a': 1.0}, title='T'); "
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


def test_a_card_has_its_text_form_only_where_there_is_no_jinja2(monkeypatch):
    assert "<table" in words.html_card("Sizes", [("a", "b")])
    monkeypatch.setitem(sys.modules, "jinja2", None)
    words.template.cache_clear()
    assert words.html_card("Sizes", [("a", "b")]) is None


def test_a_break_even_that_tells_nothing_says_so_in_its_title():
    here, there = PLANS
    few = break_even(replace(here, samples=1), there, epochs=9)
    assert "Too few timings to say" in plots.break_even(few).alt


def test_an_interval_that_crosses_zero_is_seen_to_cross_it_beside_a_large_one():
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    accuracy._around_zero(axes, -1.3, 35)
    left, zero, right = (axes.transData.transform((x, 0))[0] for x in (-0.3, 0, 35))
    assert zero - left > 0.02 * (right - left)
