"""Pictures of the matrix unit: figures in words, nothing covered or cut, a player that plays."""

import base64
import functools
import io
import itertools
import re

import numpy as np
import pytest

from accel_helpers.plots import style as picture
from accel_helpers.plots import unit as plots_systolic
from accel_helpers.plots.unit import unit_animation, unit_sizes, unit_strip
from accel_helpers.tpu.systolic import MatrixUnit

A, B = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [2, 0, 1]], [[1, 0, 2], [3, 1, 0], [0, 2, 1]]
THREE, TWO = MatrixUnit(3, 3), MatrixUnit(2, 2)
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


@functools.cache
def saw():
    return unit_sizes(range(64, 301), MatrixUnit(128, 128))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (strip, "Matrix unit of 3 x 3 cells, (4, 3) times (3, 3). Cycle 1 of 11, loading."),
        (strip, "Cycle 3 of 11, loading. All weights are in place"),
        (strip, "Cycle 4 of 11, computing. 1 of 9 cells useful; no sum leaves below."),
        (strip, "Cycle 7 of 11, computing. 8 of 9 cells useful; 2 sums leave below."),
        (strip, "In all 36 of 99 cell-cycles are useful (36.4 %)."),
        (saw, "25.1 % at 128, but 6.4 % at 129; 40.1 % at 256, but 18.0 % at 257."),
    ],
)
def test_a_picture_is_a_png_with_a_sentence(make, words):
    data, metadata = make()._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG") and len(data["image/png"]) < 400_000
    assert words in make().alt and str(make()) == data["text/plain"]
    assert 300 < metadata["image/png"]["width"] <= 800


@pytest.mark.parametrize("make", [strip, saw])
def test_nothing_is_cut_at_the_edge(make):
    pixels = pixels_of(make())
    frame = [pixels[:2], pixels[-2:], pixels[:, :2], pixels[:, -2:]]
    assert all((part == 1).all() for part in frame)


@pytest.mark.parametrize("case", CASES)
def test_no_text_of_a_frame_covers_another_or_is_too_small(case):
    steps, plan = plots_systolic._planned(*CASES[case])
    for step in steps:
        with frame(step, plan) as (figure, axes):
            boxes = [text.get_window_extent() for text in axes.texts]
            assert min(text.get_fontsize() for text in axes.texts) >= 9
        for a, b in itertools.combinations(boxes, 2):
            # lines of one cell stand close: their boxes, not their letters, may touch
            assert not (a.x0 < b.x1 and b.x0 < a.x1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1.5)
        width, height = figure.get_size_inches() * figure.dpi
        assert all(0 < b.x0 and b.x1 < width and 0 < b.y0 and b.y1 < height for b in boxes)


@pytest.mark.parametrize("case", CASES)
def test_what_stands_in_a_box_fits_into_it(case):
    steps, plan = plots_systolic._planned(*CASES[case])
    for step in steps[-3:]:
        with frame(step, plan) as (_, axes):
            boxes = [patch.get_window_extent() for patch in axes.patches]
            for text in axes.texts:
                letters = text.get_window_extent()
                x, y = (letters.x0 + letters.x1) / 2, (letters.y0 + letters.y1) / 2
                around = [b for b in boxes if b.x0 < x < b.x1 and b.y0 < y < b.y1]
                assert all(b.x0 < letters.x0 and letters.x1 < b.x1 for b in around)


def test_a_frame_shows_the_numbers_of_its_step():
    steps, plan = plots_systolic._planned(THREE, A, B)
    with frame(steps[6], plan) as (_, axes):
        texts = [text.get_text() for text in axes.texts]
    assert {"8 ×", "+ 7", "= 31", "19", "0", "9"} <= set(texts)
    assert "Useful so far: 18 of 63 cell-cycles." in texts and "padding" not in texts


def test_a_sum_that_is_not_complete_says_so():
    steps, plan = plots_systolic._planned(TWO, [[1, 1, 1]], [[1], [1], [1]])
    shown = []
    for step in steps:
        with frame(step, plan) as (_, axes):
            shown.append({text.get_text() for text in axes.texts})
    assert "2…" in shown[3] and "2…" not in shown[-1] and "3" in shown[-1]
    assert all("padding" in texts for texts in shown)


def test_kinds_of_cells_differ_without_colour():
    marks = {(width, hatch, edge) for _, edge, width, hatch, _ in plots_systolic.KINDS.values()}
    assert len(marks) == len(plots_systolic.KINDS)
    steps, plan = plots_systolic._planned(TWO, [[1, 1, 1]], [[1], [1], [1]])
    with frame(steps[3], plan) as (_, axes):
        looks = {(patch.get_linewidth(), patch.get_hatch()) for patch in axes.patches}
    assert {(1.8, None), (1.0, "////"), (0.8, None)} <= looks


@pytest.mark.slow
def test_the_colour_of_useful_cells_is_the_same_in_every_frame_and_its_key():
    from PIL import Image

    frames = re.findall(r'"data:image/png;base64,([^"]+)"', player().html)
    assert len(frames) == 11
    for frame in frames:
        pixels = Image.open(io.BytesIO(base64.b64decode(frame))).convert("RGB")
        assert (0, 114, 178) in {colour for _, colour in pixels.getcolors(1 << 20)}


def test_the_player_has_a_frame_for_each_cycle_and_needs_no_other_server():
    data = player()._repr_mimebundle_()
    html = data["text/html"]
    assert player().frames == THREE.cycles(4, 3, 3) == 11
    found = re.findall(r'frames\[\d+\] = "data:image/png;base64,([^"]+)"', html)
    assert len(found) == 11 and len(set(found)) == 11
    assert all(base64.b64decode(each).startswith(b"\x89PNG") for each in found)
    for button in ("Play", "Pause", "Next frame", "Previous frame"):
        assert re.search(rf'<button [^>]*aria-label="{button}"[^>]*>{button}</button>', html)
    assert "http" not in html.replace("http://www.w3.org", "") and "fa-" not in html
    assert 'alt="Animation of 11 cycles. Matrix unit' in html and 'aria-label="cycle"' in html
    assert len(html) < 400_000
    assert data["text/plain"] == str(player()) and set(data) == {"text/html", "text/plain"}
    assert player().still.png == strip().png and player().still.alt == strip().alt
    assert "36 of 99 cell-cycles" in player().alt and "Strip" not in player().alt


def test_a_frame_of_the_player_is_a_frame_of_the_strip():
    from matplotlib.image import imread

    found = re.findall(r'base64,([^"]+)"', player().html)
    steps, plan = plots_systolic._planned(THREE, A, B)
    with frame(steps[6], plan) as (figure, _):
        file = io.BytesIO()
        figure.savefig(file, dpi=100)
    drawn, played = (
        imread(io.BytesIO(data))[..., :3] for data in (file.getvalue(), base64.b64decode(found[6]))
    )
    wide = min(drawn.shape[1], played.shape[1])  # half a pixel is rounded either way
    assert abs(drawn[:, :wide] - played[:, :wide]).mean() < 0.01


@pytest.mark.slow
def test_the_same_values_give_the_same_pictures():
    assert unit_strip(THREE, A, B).png == strip().png
    again = unit_animation(THREE, A, B).html
    ids = re.compile(r"(?<=anim|_img|ider|lect|io1_|io2_|io3_)[0-9a-f]{32}")
    assert again != player().html  # ids are new, so that two players can be on one page
    assert ids.sub("", again) == ids.sub("", player().html)


@pytest.mark.slow
def test_the_largest_animation_stays_small():
    a, b = draw.integers(0, 9, (8, 8)), draw.integers(0, 9, (8, 8))
    made = unit_animation(MatrixUnit(8, 4), a, b)
    assert made.frames == 2 * (8 + 8 + 8 + 4 - 2) == 52
    assert len(made.html) < 2_000_000


def test_cycles_that_show_something_new_are_chosen():
    assert re.findall(r"Cycle (\d+) of", strip().alt) == ["1", "3", "4", "6", "7", "11"]


def test_chosen_cycles_are_drawn_in_order():
    made = unit_strip(THREE, A, B, cycles=(11, 5, 5))
    assert re.findall(r"Cycle (\d+) of", made.alt) == ["5", "11"]


def test_a_line_without_a_step_has_no_labels():
    assert unit_sizes([64, 100], MatrixUnit(128, 128), title="Mine").alt == (
        "Line plot. Mine: Useful share of 128 x 128 cells over n, in the model: "
        "3.6 % at 64, 13.8 % at 100."
    ).replace("13.8", f"{100 * MatrixUnit(128, 128).utilisation(100, 100, 100):.1f}")


NINE, ONES = MatrixUnit(9, 3), [[1] * 9]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: unit_strip(NINE, A, B), r"room for 8 rows .* got 9 x 3 cells, \(4, 3\)"),
        (lambda: unit_animation(NINE, A, B), "room for 8 rows"),
        (lambda: unit_strip(THREE, np.ones((9, 1)), [[1]]), r"room .*\(9, 1\) times"),
        (lambda: unit_strip(THREE, [[1]], ONES), r"room .*\(1, 1\) times \(1, 9\)"),
        (lambda: unit_strip(THREE, ONES, np.transpose(ONES)), r"room .*\(1, 9\) times"),
        (lambda: unit_animation(TWO, np.ones((8, 8)), np.ones((8, 8))), "60 cycles; .* takes 192"),
        (lambda: unit_strip(MatrixUnit(2, 8), [[123456]], [[7] * 8]), "numbers of 6 .* 8. Use"),
        (lambda: unit_strip(THREE, A, B, cycles=[]), r"1 to 12 cycles between 1 and 11.*got \[\]"),
        (lambda: unit_strip(THREE, A, B, cycles=[0, 1]), r"got \[0, 1\]"),
        (lambda: unit_strip(THREE, A, B, cycles=[12]), r"got \[12\]"),
        (lambda: unit_strip(THREE, A[0], B), "a must have two dimensions"),
        (lambda: unit_sizes([128], THREE), r"at least two sizes; got \[128\]"),
    ],
)
def test_what_cannot_be_drawn_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


# ---------------------------------------------------------------------------------------------


class frame:
    """One frame as the animation draws it."""

    def __init__(self, step, plan):
        self.step, self.plan = step, plan

    def __enter__(self):
        size = (self.plan.width, self.plan.height + plots_systolic.FOOT)
        self.figure = picture._figure(*size)
        figure, axes = self.figure.__enter__()
        plots_systolic._paper(figure, axes)
        plots_systolic._panel(axes, self.step, self.plan, 0, 0)
        plots_systolic._key(axes, self.plan, size[1])
        figure.draw_without_rendering()
        return figure, axes

    def __exit__(self, *error):
        return self.figure.__exit__(*error)


def pixels_of(made):
    from matplotlib.image import imread

    return imread(io.BytesIO(made.png))[..., :3]
