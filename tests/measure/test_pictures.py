"""Pictures say in words what they show, and nothing is cut or covered."""

import io
import subprocess
import sys
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from accel_helpers import course
from accel_helpers.course.climb import Stage
from accel_helpers.course.lessons import drawings
from accel_helpers.course.lessons.lesson_10 import share_axis
from accel_helpers.fit.time_fit import FitTiming
from accel_helpers.machine import hardware
from accel_helpers.measure import pictures
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.pictures import plot
from accel_helpers.measure.scores import Score
from accel_helpers.measure.timing import compare

pytestmark = pytest.mark.usefixtures("keras")
LONG = "several training steps between two returns to Python (64)"


def m(name, at):
    samples = [at * (1 + p / 50) for p in (0, 1, -1, 0.5, -0.5, 0.2, -0.2)]
    return Measurement.from_samples(samples, name=name)


START = m("default fit", 4.8)
STEPS = {"default fit": START, "batches of 256": m("b", 1.2), LONG: m("c", 4.75)}
STEPS |= {"unsure": m("d", 1.0), "slower": m("e", 8.0), "resident": m("f", 0.006)}
GAINS = {name: compare(START, step) for name, step in STEPS.items() if step is not START}
GAINS["unsure"] = Speedup(START, STEPS["unsure"], (1.4, 11.0), True, 4.8)
LINE = {size: m("", 1e-6 * (50 + size)) for size in (8, 800, 80_000)}
POINTS = {"adding": (0.125, 1.4e9), "matmul": (170, 1.1e11), "training step": (3, 3.5e9)}
ROOFLINE = {"points": POINTS, "roof": {"memory": 12e9, "compute": 1.1e11}}
RIGHT = {"right": [1] * 98 + [0] * 2, "wrong": [1] * 79 + [0] * 21}
CHAIN = {"NumPy": {2: m("", 5e-5), 64: m("", 1.6e-3)}, "XLA": {2: m("", 2e-4), 64: m("", 4e-4)}}


def climb(larger):
    """A climb whose stages of these names have batches of 256, and all others of 32."""
    stages = []
    for name, epoch in STEPS.items():
        batch_size = 256 if name in larger else 32
        stages.append(Stage(name, batch_size, epoch, (0.96,)))
    return SimpleNamespace(stages=stages, overall=GAINS)


def scores(*rates):
    """Scores of three seeds on 300 images, each right at about this rate."""
    found = []
    for rate in rates:
        right = [
            tuple(place % 100 < 100 * rate + seed for place in range(300)) for seed in range(3)
        ]
        found.append(Score(f"right at {rate}", tuple(right)))
    return found


def lesson(number, place, *result):
    return drawings(number)[place](*result)


DRAWN = {  # each with what its sentence says
    "measurement": (lambda: plot(START), "Default fit takes 4.8 s: default fit 4.8 s."),
    "epochs": (lambda: plot(FitTiming(START, 10)), "An epoch takes 4.8 s: "),
    "comparison": (lambda: plot(GAINS["slower"]), "Default fit is 1.67 times as fast as e: "),
    "far apart": (lambda: plot(GAINS["resident"], title="T"), "T: default fit 4.8 s; f 6 ms."),
    "a step": (lambda: plot({"a": 1e-3, LONG: 3e-3}), "75 % of a step is several"),
    "answer": (lambda: lesson("00", "answer"), "With wide layers and large batches"),
    "climb": (
        lambda: lesson("03", "climb", climb({"batches of 256"})),
        "Resident: at least 780 times as fast, same batch size: ",
    ),
    "bars": (
        lambda: lesson("05", "bars", {"T4": {"memory": 1e-3, "overhead": 3e-3}}),
        "The overhead stays: no chip shortens it: T4, memory 1 ms, overhead 3 ms.",
    ),
    "adding": (lambda: lesson("07", "adding", {"cpu:0": LINE}), "a T4 would probably add faster"),
    "roofline": (
        lambda: lesson("07", "roofline", ROOFLINE),
        "The training step reaches 10 % of what the roof allows: yours, measured: 110 GFLOP/s",
    ),
    "chain": (lambda: lesson("08", "chain", CHAIN), "NumPy 32 times as long, XLA 2: NumPy from"),
    "prepared": (
        lambda: lesson("10", "scaling", RIGHT),
        "Wrong: 19 points lost, without an error: right 98.0 %; wrong 79.0 %.",
    ),
    "ladder": (  # the third model is the second one once more
        lambda: lesson("10", "ladder", scores(0.7, 0.9, 0.9)),
        "Right at 0.9 is the last change that measurably helps: right at 0.7 71.0 %; right at 0.9",
    ),
}  # fmt: skip


@cache
def drawn(name):
    draw, _ = DRAWN[name]
    return draw()


def pixels(picture):
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(picture.png)).convert("RGB")).astype(int)


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_a_png_with_a_sentence_and_nothing_is_cut_at_its_edge(name):
    made = drawn(name)
    data, metadata = made._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    assert len(data["image/png"]) < 150_000
    assert DRAWN[name][1] in made.alt
    assert metadata["image/png"]["alt"] == made.alt == str(made) == data["text/plain"]
    assert 300 < metadata["image/png"]["width"] <= 860
    shown = pixels(made)
    assert all((side == 255).all() for side in (shown[:2], shown[-2:], shown[:, :2], shown[:, -2:]))


def test_a_title_is_a_finding_and_no_question():
    titles = [drawn(name).alt.partition(": ")[0] for name in DRAWN]
    assert not [title for title in titles if "?" in title]


def columns(picture, colour):
    """The first and the last column of a picture in which some pixel has exactly this colour."""
    rgb = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    (found,) = np.nonzero((pixels(picture) == rgb).all(axis=2).any(axis=0))
    return (found.min(), found.max()) if found.size else None


def test_the_pieces_of_a_bar_lie_end_to_end():
    made = plot({"compute": 1.0, "memory": 3.0})
    (start, middle), (begins, end) = (
        columns(made, pictures.PIECES[piece]) for piece in ("compute", "memory")
    )
    assert abs(begins - middle) < 4
    assert 2.9 < (end - begins) / (middle - start) < 3.1


def test_a_piece_has_the_same_colour_in_every_picture():
    assert len({*pictures.PIECES.values()}) == len(pictures.PIECES)
    epoch = pictures.bar({"input": 3.0, "overhead": 1.0}, title="T", whole="an epoch")
    both = pictures.bars({"a": {"input": 3.0}, "b": {"overhead": 1.0}}, title="T")
    for piece in ("input", "overhead"):
        assert columns(epoch, pictures.PIECES[piece])
        assert columns(both, pictures.PIECES[piece])
    assert not columns(epoch, pictures.PIECES["compute"])


def contrast(colour):
    """With white, as the WCAG reckon."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 1.05 / (np.dot((0.2126, 0.7152, 0.0722), linear) + 0.05)


def test_what_is_written_in_grey_can_be_read():
    assert contrast("#777777") < 4.5
    assert contrast(pictures.GREY) >= 4.5


def test_a_climb_has_no_ratio_where_nothing_can_be_told_and_no_title_that_large_batches_brought():
    said = drawn("climb").alt
    assert f"{LONG} no measurable difference; 96.0 % right" in said
    large = lesson("03", "climb", climb({*GAINS})).alt
    assert large.startswith("Nothing here is measurably faster with the same batch size")


@pytest.mark.parametrize(("lowest", "start"), [(93.0, 90), (60.0, 60)])
def test_an_axis_that_does_not_begin_at_0_says_so_and_hides_nothing(lowest, start):
    label, begins = share_axis(lowest)
    assert begins == start <= lowest
    assert label.endswith(f"begins at {start}")


def test_names_of_lines_stand_in_the_order_in_which_they_end():
    axis = ("x", pictures.number)
    made = pictures.lines({"low": {1: 3, 2: 1}, "high": {1: 1, 2: 3}}, axis, axis, title="T")
    at = []
    for colour in pictures.COLOURS[:2]:
        _, last = columns(made, colour)  # of a colour, the rightmost pixels are beside its name
        rgb = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
        (rows,) = np.nonzero((pixels(made)[:, last] == rgb).all(axis=1))
        at.append(rows.mean())
    low, high = at
    assert high < low


def test_a_figure_of_ones_own_is_shown_once_under_its_finding():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    axes.plot([1, 2])
    made = course.lesson("06").show(figure, "it grows")
    assert made.alt == "It grows."
    assert not pyplot.get_fignums()  # else a notebook would show it twice


def test_a_chip_that_is_beaten_everywhere_has_no_crossing():
    slow = {size: m("", 1e-9 * (5 + size / 1e3)) for size in LINE}
    said = lesson("07", "adding", {"cpu:0": slow}).alt
    assert said.startswith("Up to 80,000 numbers, your CPU is faster: ")


def test_memory_is_drawn_to_where_chips_are_full():
    names = ("shakespeare", "resnet50-large")
    said = lesson("04", "memory", {name: course.stored_step(name) for name in names}).alt
    assert "v5e: 16.9 GB; v6e: 33.6 GB; Shakespeare, float32, batch of 64 24.2 MB, fits; " in said
    assert "ResNet-50, bfloat16, batch of 1,024 23.6 GB, too much; 512 fit." in said


def test_a_rating_stands_beside_what_was_measured():
    time = Measurement.from_samples([0.001] * 5, name="cpu:0")
    judged = SimpleNamespace(time=time, work=7e7, chip=hardware.match("Tesla T4"))
    said = lesson("01", "product", [judged]).alt
    assert (
        "is rated at 120 times what was measured here: NVIDIA T4: rated at 8,100; CPU 70 measured."
        in said
    )


def test_pyplot_and_its_global_state_stay_out():
    code = (
        "import sys; from accel_helpers.measure import pictures; "
        "pictures.plot({'a': 1.0}, title='T'); print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
