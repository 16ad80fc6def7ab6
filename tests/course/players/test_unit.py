"""Pictures of the matrix unit: figures in words, nothing covered or cut, a player that plays."""

import base64
import functools
import io
import itertools
import re

import numpy as np
import pytest

from accel_helpers.course.players import unit, unit_texts
from accel_helpers.course.players.systolic import MatrixUnit
from accel_helpers.course.players.unit import unit_animation, unit_strip
from accel_helpers.plots import style

A, B = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [2, 0, 1]], [[1, 0, 2], [3, 1, 0], [0, 2, 1]]
THREE, TWO = MatrixUnit(3, 3), MatrixUnit(2, 2)
PADDED = (TWO, [[1, 1, 1]], [[1], [1], [1]])
draw = np.random.default_rng(0)
CASES = {
    "plain": (THREE, A, B),
    "tiles": (TWO, draw.integers(-9, 9, (3, 3)), draw.integers(-9, 9, (3, 3))),
    "one": (MatrixUnit(1, 1), [[3]], [[4]]),
    "wide": (MatrixUnit(1, 8), [[1, 2]], draw.integers(0, 9, (2, 8))),
    "tall": (MatrixUnit(8, 1), draw.integers(0, 9, (8, 8)), draw.integers(0, 9, (8, 1))),
    "floats": (TWO, draw.normal(size=(2, 2)) / 1000, draw.normal(size=(2, 2))),
    "long": (TWO, draw.integers(-9999, 9999, (2, 2)), draw.integers(-999, 999, (2, 2))),
}


@functools.cache
def strip():
    return unit_strip(THREE, A, B)


@functools.cache
def player():
    return unit_animation(THREE, A, B)


def pixels(png):
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def texts(step, plan):
    with unit.sheet([step], plan) as (_, axes):
        return [text.get_text() for text in axes.texts]


def test_a_strip_says_what_happens_and_fits_on_a_page_with_nothing_cut():
    for words in (
        "Matrix unit of 3 x 3 cells, (4, 3) times (3, 3). Cycle 1 of 11, loading.",
        "Cycle 3 of 11, loading. All weights are in place",
        "Cycle 5 of 11, computing. 3 of 9 cells useful; no sum leaves below.",
        "Cycle 7 of 11, computing. 8 of 9 cells useful; 2 sums leave below.",
        "In all 36 of 99 cell-cycles are useful (36.4 %).",
    ):
        assert words in strip().alt
    shown = pixels(strip().png)
    assert all((side == 255).all() for side in (shown[:2], shown[-2:], shown[:, :2], shown[:, -2:]))
    assert len(strip().png) < 400_000
    assert shown.shape[1] <= 8 * style.DPI


@pytest.mark.parametrize("case", CASES)
def test_no_text_of_a_frame_covers_another_or_is_too_small_or_leaves_its_box(case):
    steps, plan = unit.planned(*CASES[case])
    for step in steps:
        with unit.sheet([step], plan) as (figure, axes):
            figure.draw_without_rendering()
            letters = [text.get_window_extent() for text in axes.texts]
            frames = [patch.get_window_extent() for patch in axes.patches]
            assert min(text.get_fontsize() for text in axes.texts) >= 9
        for a, b in itertools.combinations(letters, 2):
            # lines of one cell stand close: their boxes, not their letters, may touch
            assert not (a.x0 < b.x1 and b.x0 < a.x1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1.5)
        width, height = figure.get_size_inches() * figure.dpi
        for text in letters:
            assert text.x0 > 0
            assert text.x1 < width
            assert text.y0 > 0
            assert text.y1 < height
            x, y = (text.x0 + text.x1) / 2, (text.y0 + text.y1) / 2
            around = [f for f in frames if f.x0 < x < f.x1 and f.y0 < y < f.y1]
            assert all(f.x0 < text.x0 and text.x1 < f.x1 for f in around)


def test_a_frame_shows_the_numbers_of_its_step():
    steps, plan = unit.planned(THREE, A, B)
    shown = texts(steps[6], plan)
    assert {"8 ×", "+ 7", "= 31", "19", "0", "9"} <= set(shown)
    assert "Useful so far: 18 of 63 cell-cycles." in shown
    assert "padding" not in shown


def test_a_sum_that_is_not_complete_says_so():
    steps, plan = unit.planned(*PADDED)
    shown = [texts(step, plan) for step in steps]
    assert "2…" in shown[3]
    assert "2…" not in shown[-1]
    assert "3" in shown[-1]
    assert all("padding" in words for words in shown)
    # and the kinds of its cells differ without colour
    with unit.sheet([steps[3]], plan) as (_, axes):
        looks = {(patch.get_linewidth(), patch.get_hatch()) for patch in axes.patches}
    assert {(1.8, None), (1.0, "////"), (0.8, None)} <= looks


def test_the_player_has_a_frame_for_each_cycle_and_needs_no_other_server():
    html = player()._repr_html_()
    assert len(set(player().frames)) == THREE.cycles(4, 3, 3) == 11
    found = re.findall(r'"data:image/png;base64,([^"]+)"', html.partition("<script>")[2])
    assert [base64.b64decode(each) for each in found] == list(player().frames)
    for name in ("First frame", "Previous frame", "Play", "Pause", "Next frame"):
        assert re.search(rf"<button [^>]*>{name}</button>", html)
    assert "http" not in html
    assert len(html) < 400_000
    assert 'alt="Animation of 11 cycles. Matrix unit' in html
    assert 'aria-label="cycle"' in html
    again = player()._repr_html_()  # two players can be on one page
    one, two = (re.search(r'id="([^"]+)"', page)[1] for page in (html, again))
    assert one != two
    assert html.replace(one, two) == again
    assert repr(player()) == str(player()) == player().alt
    assert player().alt == strip().alt.replace("Strip", "Animation of 11 cycles")


@pytest.mark.parametrize(
    ("cycles", "named"), [((3, 5, 7, 10), "cycles 3, 5, 7 and 10"), ((2,), "cycle 2")]
)
def test_the_heading_of_a_strip_names_its_cycles(cycles, named):
    steps, plan = unit.planned(THREE, A, B)
    chosen = [step for step in steps if step.cycle in cycles]
    assert unit_texts.title(plan.name, chosen).endswith(f": {named}")


def test_cycles_are_drawn_in_order_and_by_default_evenly_spread():
    assert re.findall(r"Cycle (\d+) of", strip().alt) == ["1", "3", "5", "7", "9", "11"]
    made = unit_strip(THREE, A, B, cycles=(11, 5, 5))
    assert re.findall(r"Cycle (\d+) of", made.alt) == ["5", "11"]


NINE, ONES = MatrixUnit(9, 3), [[1] * 9]


@pytest.mark.parametrize(
    ("call", "given"),
    [
        (lambda: unit_strip(NINE, A, B), r"9 x 3 cells, \(4, 3\)"),
        (lambda: unit_strip(THREE, [[1]], ONES), r"\(1, 1\) times \(1, 9\)"),
        (lambda: unit_animation(TWO, np.ones((8, 8)), np.ones((8, 8))), "192"),
        (lambda: unit_strip(THREE, A, B, cycles=[12]), r"got \[12\]"),
        (lambda: unit_strip(THREE, A[0], B), "two dimensions"),
    ],
)
def test_what_cannot_be_drawn_is_named(call, given):
    with pytest.raises(ValueError, match=given):
        call()
