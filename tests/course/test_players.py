"""The matrix unit and the warp: numbers that are right, and pictures that play anywhere."""

import json
import re
from collections import Counter
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accel_helpers.course import unit_pictures, warp
from accel_helpers.course.unit import MatrixUnit

TWO = MatrixUnit(2, 2)
sizes = st.tuples(*[st.integers(1, 7)] * 5)


@settings(max_examples=30, deadline=None)  # the first example also imports
@given(sizes)
def test_products_are_exact_and_the_cells_compute_them_in_so_many_cycles(sizes):
    rows, columns, m, k, n = sizes
    unit, draw = MatrixUnit(rows, columns), np.random.default_rng(0).integers
    a, b = draw(-30, 30, (m, k)), draw(-30, 30, (k, n))
    run, steps = unit.multiply(a, b), [*unit.steps(a, b)]
    for product in (run.product, steps[-1].product):
        assert product.tolist() == (a @ b).tolist()
    tiles = ceil(k / rows) * ceil(n / columns)
    assert run.cycles == len(steps) == tiles * (rows + m + rows + columns - 2)
    cells = [cell for step in steps for cell in step.cells.values()]
    kinds = Counter(kind for kind, _ in cells)
    assert kinds == Counter(run.use)
    assert kinds["useful"] == m * k * n  # zeros in a and b count too
    assert unit.utilisation(m, k, n) == kinds["useful"] / len(cells)
    for kind, text in cells:
        if kind == "useful":
            activation, weight, above, total = map(int, re.findall(r"-?\d+", text))
            assert total == above + activation * weight


def test_small_numbers_do_not_wrap_around_and_shapes_that_do_not_fit_are_named():
    small = np.array([[200]], np.uint8)
    assert TWO.multiply(small, small).product.tolist() == [[40000]]
    with pytest.raises(ValueError, match=r"as many columns .*\(1, 2\) and \(1, 1\)"):
        TWO.multiply([[1, 2]], [[1]])


@pytest.fixture
def _frames(monkeypatch):
    """Players are the boxes of their frames."""
    for module in (unit_pictures, warp):
        monkeypatch.setattr(module, "played", lambda frames, title: [*frames.values()])


@pytest.mark.usefixtures("_frames")
def test_a_frame_shows_the_queues_the_cells_and_the_product_so_far():
    a, b = np.arange(1, 13).reshape(4, 3), np.arange(1, 10).reshape(3, 3)
    frames = unit_pictures.unit_animation(MatrixUnit(3, 3), a, b)
    # The first activations, 1, 2 and 3, meet the weights 1, 4 and 7 on their way down.
    for row, text in enumerate(["1 × 1\n+ 0\n= 1", "2 × 4\n+ 1\n= 9", "3 × 7\n+ 9\n= 30"]):
        assert frames[3 + row][row, 0] == ("useful", text)
    assert ("new", "30") in frames[5].values()
    # A queue is a column of the activations, and its front is on its right.
    queue = {x: text for (y, x), (look, text) in frames[2].items() if look == "queued" and y == 0}
    assert [queue[x] for x in sorted(queue)] == ["10", "7", "4", "1"]


@pytest.mark.usefixtures("_frames")
def test_lanes_of_a_warp_follow_one_instruction_and_wait_where_no_number_is_left():
    frames = warp.warp_animation(33)
    assert [frame[3, 7][1] for frame in frames[:4]] == ["32", "64", "65", "65"]
    assert [frame[0, 0][1] for frame in frames[4:]] == ["33", "66", "67", "67"]
    assert [*frames[4].values()].count(("waiting", "–")) == 31


def test_a_player_has_a_picture_and_words_for_each_frame_and_needs_no_server():
    made = warp.warp_animation(33)
    shown, metadata = made._repr_mimebundle_()
    html = shown["text/html"]
    frames = dict(json.loads(re.search(r"frames = (\[.*?\]\]);", html)[1]))
    assert [*frames.values()] == [frame.alt for frame in made.frames]
    assert "1 of 32 lanes working, 31 waiting." in made.frames[4].alt
    assert "http" not in html
    # For a page on which nothing plays: a frame, and what all of them show.
    assert shown["image/png"] == made.frames[4].png
    assert "52 % of the lanes' time" in metadata["image/png"]["alt"]
    again = made._repr_mimebundle_()[0]["text/html"]  # two players can be on one page
    assert re.search('id="([^"]+)"', html)[1] not in again
