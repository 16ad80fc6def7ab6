"""The matrix unit and the warp: numbers that are right, and pictures that play anywhere."""

import json
from collections import Counter
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accel_helpers.course import warp
from accel_helpers.course.unit import MatrixUnit

TWO = MatrixUnit(2, 2)
sizes = st.tuples(*[st.integers(1, 7)] * 5)


@settings(max_examples=30, deadline=None)  # the first example also imports
@given(sizes)
def test_products_are_exact_and_the_cells_compute_them_in_so_many_cycles(sizes):
    rows, columns, m, k, n = sizes
    unit = MatrixUnit(rows, columns)
    a, b = np.arange(m * k).reshape(m, k) - 9, np.arange(k * n).reshape(k, n) - 9
    run, steps = unit.multiply(a, b), [*unit.steps(a, b)]
    for product in (run.product, steps[-1].product):
        assert product.tolist() == (a @ b).tolist()
    tiles = ceil(k / rows) * ceil(n / columns)
    assert run.cycles == len(steps) == tiles * (rows + m + rows + columns - 2)
    kinds = Counter(kind for step in steps for kind, _ in step.cells.values())
    assert kinds == Counter(run.use)
    assert kinds["useful"] == m * k * n  # zeros in a and b count too
    assert unit.utilisation(m, k, n) == kinds["useful"] / kinds.total()


def test_small_numbers_do_not_wrap_around_and_shapes_that_do_not_fit_are_named():
    small = np.array([[200]], np.uint8)
    assert TWO.multiply(small, small).product.tolist() == [[40000]]
    with pytest.raises(ValueError, match=r"as many columns .*\(1, 2\) and \(1, 1\)"):
        TWO.multiply([[1, 2]], [[1]])


def test_each_cell_adds_to_the_sum_from_above_and_the_last_one_hands_it_to_the_product():
    a, b = np.arange(1, 13).reshape(4, 3), np.arange(1, 10).reshape(3, 3)
    steps = [*MatrixUnit(3, 3).steps(a, b)]
    # The first activations, 1, 2 and 3, meet the weights 1, 4 and 7 on their way down.
    assert steps[3].cells[0, 0] == ("useful", "1 × 1\n+ 0\n= 1")
    assert steps[4].cells[1, 0] == ("useful", "2 × 4\n+ 1\n= 9")
    assert steps[5].cells[2, 0] == ("useful", "3 × 7\n+ 9\n= 30")
    assert steps[5].leaving[0, 0]
    assert steps[5].product[0, 0] == 30


def test_lanes_of_a_warp_follow_one_instruction_and_wait_where_no_number_is_left(monkeypatch):
    monkeypatch.setattr(warp, "played", lambda frames, title: [*frames.values()])
    frames = warp.warp_animation(33)
    assert [frame[3, 7][1] for frame in frames[:4]] == ["32", "64", "65", "65"]
    assert [frame[0, 0][1] for frame in frames[4:]] == ["33", "66", "67", "67"]
    assert frames[4][0, 1] == frames[4][3, 7] == ("waiting", "–")


def test_a_player_has_words_for_each_frame_and_needs_no_server():
    made = warp.warp_animation(33)
    shown, metadata = made._repr_mimebundle_()
    html = shown["text/html"]
    assert len(made.frames) == 8
    for frame in made.frames:
        assert json.dumps(frame.alt) in html
    assert "1 of 32 lanes working, 31 waiting." in made.frames[4].alt
    assert "http" not in html
    # For a page on which nothing plays: a frame, and what all of them show.
    assert shown["image/png"] == made.frames[4].png
    assert "52 % of the lanes' time" in metadata["image/png"]["alt"]
