"""Pictures say in words what they show, their bars are as long as what they stand for."""

import io

import numpy as np
import pytest

from accel_helpers import course
from accel_helpers.course.climb import Climb, Stage
from accel_helpers.course.lessons import drawings
from accel_helpers.measure import pictures
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.pictures import plot
from accel_helpers.measure.scores import Score
from accel_helpers.measure.timing import compare

pytestmark = pytest.mark.usefixtures("keras")
LONG = "several training steps between two returns to Python (64)"
NOISE = (1, 1.02, 0.98, 1.01, 0.99)


def taking(seconds, name=""):
    return Measurement.from_samples([seconds * each for each in NOISE], name=name)


def climb(resident_batch):
    """A climb with one stage that gains nothing, one that loses, and one that gains much."""
    stages = []
    for name, seconds in {"default fit": 4.8, LONG: 4.75, "slower": 8.0}.items():
        stages.append(Stage(name, 32, taking(seconds, name), (0.96,)))
    best = "resident, small batches"
    stages.append(Stage(best, resident_batch, taking(0.006, best), (0.96,)))
    return drawings("03")["climb"](Climb(tuple(stages)))


def ladder():
    """Models that are right at 70 and at 90 of 100 images; the third is the second once more."""
    models = []
    for name, right in {"plain": 70, "wider": 90, "longer": 90}.items():
        images = [1] * right + [0] * (100 - right)
        models.append(Score(name, (images * 3,) * 3))
    return drawings("10")["ladder"](models)


def roofline():
    points = {"adding": (0.125, 1.4e9), "step": (3, 3.5e9)}
    roofs = {"here": (12e9, 1.1e11), "a T4": (3e11, 8e12)}
    return pictures.roofline(points, roofs, title="Under a roof", step="step")


START = taking(4.8, "default fit")
PARTS = {"compute": 1.0, "memory": 3.0}


def drawn():
    """Each picture, and what it says in words."""
    yield plot(START), "Default fit takes 4.8 s: default fit 4.8 s."
    slower = plot(compare(START, taking(8.0, "e")))
    yield slower, "Default fit is 1.67 times as fast as e: default fit 4.8 s; e 8 s."
    far_apart = plot(compare(START, taking(0.006, "f")), title="T")
    yield far_apart, "T: default fit 4.8 s; f 6 ms."
    yield plot(PARTS), "75% of a step is memory: a step, compute 1 s, memory 3 s."
    yield roofline(), "Under a roof: here: 110 GFLOP/s; a T4: 8 TFLOP/s; adding 1.4 GFLOP/s at 0.1"
    climbed = climb(32)
    yield climbed, "Resident, small batches: at least 800 times as fast, same batch size: "
    yield climbed, f"{LONG} no measurable difference; accuracy 96%"
    yield climb(256), "Nothing here is measurably faster with the same batch size: "
    yield ladder(), "Wider is the last change that measurably helps: plain 70.0%; wider 90.0%, +"
    fitting = drawings("04")["memory"]()
    yield fitting, "v5e: 16.9 GB; v6e: 33.6 GB; Shakespeare, batch of 64, float32 24.2 MB, fits; "
    yield fitting, "ResNet-50, batch of 1,024, bfloat16 23.6 GB, too much for a v5e."


def pixels(picture):
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(picture.png)).convert("RGB")).astype(int)


def test_a_picture_has_a_sentence_and_nothing_is_cut_at_its_edge():
    for made, said in drawn():
        assert said in made.alt
        data, metadata = made._repr_mimebundle_()
        assert metadata["image/png"]["alt"] == data["text/plain"] == made.alt
        shown = pixels(made)
        for side in (shown[:2], shown[-2:], shown[:, :2], shown[:, -2:]):
            assert (side == 255).all(), made.alt


def columns(picture, colour):
    """The first and the last column of a picture in which some pixel has exactly this colour."""
    wanted = [*bytes.fromhex(colour[1:])]
    is_colour = (pixels(picture) == wanted).all(axis=2)
    (found,) = np.nonzero(is_colour.any(axis=0))
    return found.min(), found.max()


def test_the_pieces_of_a_bar_lie_end_to_end_each_as_long_as_it_takes():
    made = plot(PARTS)
    start, middle = columns(made, pictures.PIECES["compute"])
    begins, end = columns(made, pictures.PIECES["memory"])
    assert abs(begins - middle) < 4
    assert (end - begins) / (middle - start) == pytest.approx(3, abs=0.1)


def test_an_axis_that_does_not_begin_at_0_says_so_and_hides_nothing(monkeypatch):
    asked = {}

    def draw(things, x, **others):
        asked.update(label=x[0], **others)

    monkeypatch.setattr(pictures, "rows", draw)
    ladder()
    assert asked["start"] == 60
    assert asked["label"].endswith("from 60")


def test_a_figure_of_ones_own_is_shown_once_under_its_finding():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    axes.plot([1, 2])
    assert course.lesson("06").show(figure, "it grows").alt == "It grows."
    assert not pyplot.get_fignums(), "else a notebook would show it twice"
