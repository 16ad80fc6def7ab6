"""Pictures: they are PNG, they say in words what they show, and they draw what they are given."""

import pytest

from accel_helpers import plots
from accel_helpers.measure.timing import Measurement, compare


def m(name, *samples, first=None):
    return Measurement.from_samples(samples, name=name, first_call=first)


CPU = m("CPU", 1.0, 1.1, 1.0, 1.2, 1.1, 1.0, first=2.5)
GPU = m("GPU", 0.1, 0.11, 0.1, 0.12, 0.11, 0.1)
SAME = m("CPU again", 1.1, 1.0, 1.1, 1.0, 1.2, 1.1)


@pytest.mark.parametrize(
    ("picture", "words"),
    [
        (lambda: plots.epochs(CPU), "the first epoch took 2.5 s"),
        (lambda: plots.measurements([CPU, GPU], title="One epoch"), "CPU 1.05 s; GPU 105 ms"),
        (
            lambda: plots.measurements([CPU], title="T", reference=[GPU]),
            "CPU 1.05 s; GPU 105 ms",
        ),
        (
            lambda: plots.heatmap(
                {(16, 32): compare(CPU, SAME), (512, 32): compare(CPU, GPU)}, title="T", note="N."
            ),
            "16 by 32: no difference; 512 by 32: 10",
        ),
        (lambda: plots.parts({"a": 0.001, "b": 0.003}, title="T"), "a 1 ms; b 3 ms"),
        (
            lambda: plots.losses({"a": [2, 1.5], "b": [2, 1]}, title="T", level=("chance", 4.11)),
            "a from 2 to 1.5; b from 2 to 1. chance: 4.11",
        ),
        (lambda: plots.losses({"alone": [2.0]}, title="T", own=False), "alone from 2 to 2"),
    ],
)
def test_a_picture_is_a_png_with_a_sentence(picture, words):
    made = picture()
    data, metadata = made._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG") and len(data["image/png"]) < 150_000
    assert words in data["text/plain"] and data["text/plain"].endswith(".")
    assert metadata["image/png"]["alt"] == made.alt and 300 < metadata["image/png"]["width"] < 800


def test_the_same_values_give_the_same_picture():
    assert plots.epochs(CPU).png == plots.epochs(CPU).png


def test_no_ratio_is_drawn_where_nothing_can_be_told():
    picture = plots.heatmap({(1, 1): compare(CPU, SAME)}, title="T", note="N.")
    assert "no difference" in picture.alt


def test_what_is_not_1_is_not_written_as_1():
    """An interval that touches 1 means no difference, so a rounded end must not seem to."""
    from accel_helpers.plots.style import _short

    said = [_short(ratio) for ratio in (1.0015, 1.04, 0.996, 1.0, 1.25, 26.4, 120.4)]
    assert said == ["1.002", "1.04", "0.996", "1", "1.2", "26", "120"]


def test_pyplot_and_its_global_state_stay_out():
    import subprocess
    import sys

    code = (
        "import sys; from accel_helpers import plots; plots.parts({'a': 1.0}, title='T'); "
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
