"""The matrix unit and the warp: numbers that are right, and pictures that play anywhere."""

import json
from collections import Counter
from math import ceil

import numpy as np
import pytest

from accel_helpers.course import warp
from accel_helpers.course.unit import MatrixUnit

# Rows and columns of the unit, rows of a, columns of a, and columns of b.
SIZES = [(2, 3, 4, 5, 6), (3, 2, 1, 7, 5)]


@pytest.mark.parametrize("sizes", SIZES)
def test_products_are_exact_and_the_cells_compute_them_in_so_many_cycles(sizes):
    rows, columns, m, k, n = sizes
    unit = MatrixUnit(rows, columns)
    a = np.arange(m * k).reshape(m, k) - 9
    b = np.arange(k * n).reshape(k, n) - 9
    run = unit.multiply(a, b)
    steps = [*unit.steps(a, b)]
    tiles = ceil(k / rows) * ceil(n / columns)
    assert run.product.tolist() == (a @ b).tolist()
    assert steps[-1].product.tolist() == (a @ b).tolist()
    assert len(steps) == tiles * (rows + m + rows + columns - 2)
    assert run.cycles == len(steps)
    kinds = Counter()
    for step in steps:
        kinds.update(kind for kind, _ in step.cells.values())
    assert kinds == Counter(run.use)
    assert kinds["useful"] == m * k * n  # zeros in a and b count too
    assert unit.utilisation(m, k, n) == kinds["useful"] / kinds.total()


def test_small_numbers_do_not_wrap_around():
    small = np.array([[200]], np.uint8)
    assert MatrixUnit(2, 2).multiply(small, small).product.tolist() == [[40000]]


def test_each_cell_adds_to_the_sum_from_above_and_the_last_one_hands_it_to_the_product():
    a = np.arange(1, 13).reshape(4, 3)
    b = np.arange(1, 10).reshape(3, 3)
    _, _, _, first, second, third, *_ = MatrixUnit(3, 3).steps(a, b)
    # The first activations, 1, 2 and 3, meet the weights 1, 4 and 7 on their way down.
    assert first.cells[0, 0] == ("useful", "1 × 1\n+ 0\n= 1")
    assert second.cells[1, 0] == ("useful", "2 × 4\n+ 1\n= 9")
    assert third.cells[2, 0] == ("useful", "3 × 7\n+ 9\n= 30")
    assert third.product[0, 0] == 30


def test_lanes_of_a_warp_wait_where_no_number_is_left_and_each_frame_says_so():
    made = warp.warp_animation(33)
    shown, metadata = made._repr_mimebundle_()
    html = shown["text/html"]
    assert len(made.frames) == 8
    for frame in made.frames:
        assert json.dumps(frame.alt) in html
    assert "1 of 32 lanes working, 31 waiting." in made.frames[4].alt
    assert "http" not in html, "it needs no server"
    # For a page on which nothing plays: a frame, and what all of them show.
    assert shown["image/png"] == made.frames[4].png
    assert "52% of the lanes' time" in metadata["image/png"]["alt"]
