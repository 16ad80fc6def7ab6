"""The matrix unit: exact products, counts that add up, numbers handed from cell to cell, frames."""

import re

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accel_helpers.course.unit import MatrixUnit
from accel_helpers.course.unit_pictures import unit_animation, unit_strip

SMALL = settings(max_examples=30, deadline=None)  # the first example also imports
side, edge = st.integers(1, 7), st.integers(1, 5)
products = st.tuples(edge, edge, side, side, side, st.integers(0, 2**32 - 1))
A, B = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [2, 0, 1]], [[1, 0, 2], [3, 1, 0], [0, 2, 1]]
THREE, TWO = MatrixUnit(3, 3), MatrixUnit(2, 2)


def made(case):
    rows, columns, m, k, n, seed = case
    draw = np.random.default_rng(seed).integers
    return MatrixUnit(rows, columns), draw(-30, 30, (m, k)), draw(-30, 30, (k, n))


@SMALL
@given(products)
def test_products_are_exact_and_the_cycles_are_those_of_the_formula(case):
    unit, a, b = made(case)
    (m, k), n = a.shape, b.shape[1]
    run, steps = unit.multiply(a, b), list(unit.steps(a, b))
    cells = unit.rows * unit.columns
    assert (run.product == a @ b).all()
    assert (steps[-1].product == a @ b).all()
    tiles = unit.tiles(k, n)
    assert tiles == -(-k // unit.rows) * -(-n // unit.columns)
    formula = tiles * (unit.rows + m + unit.rows + unit.columns - 2)
    assert run.cycles == unit.cycles(m, k, n) == formula == len(steps)
    assert sum(run.use.values()) == cells * run.cycles
    assert unit.utilisation(m, k, n) == pytest.approx(m * k * n / (cells * run.cycles))
    kinds = [kind for step in steps for kind, _ in step.cells.values()]
    assert {kind: kinds.count(kind) for kind in run.use} == run.use
    assert run.use["useful"] == m * k * n  # zeros in a and b count too
    # each number of the product gets a sum from each tile above it
    assert sum(step.leaving.sum() for step in steps) == m * n * unit.tiles(k, 1)


@SMALL
@given(products)
def test_each_cell_has_what_its_neighbour_had_a_cycle_ago(case):
    steps = list(made(case)[0].steps(*made(case)[1:]))
    for old, new in zip(steps, steps[1:], strict=False):
        before = numbers_in(old)
        for (row, column), (activation, weight, above, total) in numbers_in(new).items():
            left = new.queues[new.time - row, row] if column == 0 else before[row, column - 1][0]
            assert activation == left
            assert above == (before[row - 1, column][-1] if row else 0)
            assert total == above + activation * weight
            if (row, column) in before:
                assert weight == before[row, column][1]  # it stays
        if new.phase == "loading":
            assert not numbers_in(new)
            assert new.product.tolist() == old.product.tolist()


def numbers_in(step):
    """(activation, weight, sum from above, sum) by the places of the cells that compute."""
    busy = {place: text for place, (kind, text) in step.cells.items() if kind == "useful"}
    return {place: [int(n) for n in re.findall(r"-?\d+", text)] for place, text in busy.items()}


def test_numbers_of_any_kind_can_be_given():
    small = np.array([[200]], np.uint8)  # would wrap around in its own type
    assert TWO.multiply(small, small).product.tolist() == [[40000]]
    assert TWO.multiply(np.array([[1.5, 2]], ml_dtypes.bfloat16), [[2], [1]]).product == 5


def test_a_run_is_told_in_words():
    told = str(TWO.multiply([[1, 1, 1]], [[1], [1], [1]]))
    assert told.startswith("(1, 3) times (3, 1) on 2 x 2 cells: 10 cycles, 2 tiles.\n")
    assert told.endswith("useful 7.5 %, padding 12.5 %, waiting 80.0 %.")


def test_a_strip_says_what_happens_in_the_chosen_cycles():
    strip = unit_strip(THREE, A, B, cycles=(10, 1, 3, 5, 7, 99))
    assert strip.alt == (
        "Cycle 1 of 11, loading. Weights move down: 1 of 3 rows are in. "
        "Cycle 3 of 11, loading. All weights are in place; from now on they stay. "
        "Cycle 5 of 11, computing. 3 of 9 cells useful; no sum leaves below. "
        "Cycle 7 of 11, computing. 8 of 9 cells useful; 2 sums leave below. "
        "Cycle 10 of 11, computing. 3 of 9 cells useful; 2 sums leave below."
    )
    assert len(strip.png) < 100_000


def test_a_frame_shows_the_queues_the_cells_and_the_product_so_far(frames_of):
    frames = frames_of(unit_animation, THREE, A, B)
    shown = [text for _, text in frames[6].values()]
    assert {"8 × 3\n+ 7\n= 31", "19", "0", "9", "useful", "waiting"} <= {*shown}
    assert "padding" not in shown  # this product has none
    assert frames[6][0, 0] == ("useful", "2 × 1\n+ 0\n= 2")
    assert ("new", "19") in frames[6].values()
    # a queue is a column of the activations, and its front is on its right
    queue = {x: text for (y, x), (look, text) in frames[2].items() if look == "queued" and y == 0}
    assert [queue[x] for x in sorted(queue, reverse=True)] == ["1", "4", "7", "2"]
    padded = frames_of(unit_animation, TWO, [[1, 1, 1]], [[1], [1], [1]])
    assert padded[3][0, 1] == ("padding", "")
    assert ("padding", "padding") in padded[3].values()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: TWO.multiply([[1, 2]], [[1]]), r"as many columns .*\(1, 2\) and \(1, 1\)"),
        (lambda: next(TWO.steps([1], [[1]])), r"matrices.*\(1,\)"),
        (lambda: unit_animation(TWO, np.ones((8, 8)), np.ones((8, 8))), "60 cycles; .* 192"),
        (lambda: unit_strip(MatrixUnit(128, 128), A, B, [1]), "386"),
    ],
)
def test_what_cannot_be_multiplied_or_drawn_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
