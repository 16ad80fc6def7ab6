"""The matrix unit: exact products, counts that add up, numbers handed from cell to cell."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accel_helpers.course.players.systolic import MatrixUnit

multiply = MatrixUnit(np.int64(2), 2).multiply

SMALL = settings(max_examples=40, deadline=None)  # the first example also imports
side, edge = st.integers(1, 12), st.integers(1, 6)
products = st.tuples(edge, edge, side, side, side, st.integers(0, 2**32 - 1))


def made(case, low=-99, high=99):
    rows, columns, m, k, n, seed = case
    draw = np.random.default_rng(seed).integers
    return MatrixUnit(rows, columns), draw(low, high, (m, k)), draw(low, high, (k, n))


@SMALL
@given(products)
def test_integers_are_exact_and_the_cycles_are_those_of_the_formula(case):
    unit, a, b = made(case)
    (m, k), n = a.shape, b.shape[1]
    run = unit.multiply(a, b)
    assert run.product.dtype == np.int64
    assert (run.product == a @ b).all()
    assert run.tiles == unit.tiles(k, n) == -(-k // unit.rows) * -(-n // unit.columns)
    formula = run.tiles * (unit.rows + m + unit.rows + unit.columns - 2)
    assert run.cycles == unit.cycles(m, k, n) == formula == len(list(unit.steps(a, b)))
    assert run.useful == m * k * n  # zeros among the given numbers count as numbers
    # in each tile all cells see all m rows, so what is not useful of that is padding
    assert run.padding == run.tiles * unit.cells * m - m * k * n
    assert run.useful + run.padding + run.waiting == unit.cells * run.cycles
    assert unit.utilisation(m, k, n) == pytest.approx(run.useful / (unit.cells * run.cycles))


@settings(max_examples=30, deadline=None)
@given(products)
def test_bfloat16_is_rounded_before_and_added_up_in_float32(case):
    unit, a, b = made(case, -999, 999)
    a, b = a / 7, b / 3
    x, y = (v.astype(ml_dtypes.bfloat16).astype(np.float32) for v in (a, b))
    expected = np.zeros((len(a), b.shape[1]), np.float32)
    for top in range(0, len(b), unit.rows):  # a tile is added up first, then joins the others
        tile = np.zeros_like(expected)
        for k in range(top, min(top + unit.rows, len(b))):
            tile += x[:, k, None] * y[None, k]
        expected += tile
    product = unit.multiply(a, b, dtype="bfloat16").product
    assert product.dtype == np.float32
    assert (product == expected).all()


def test_numbers_of_any_kind_can_be_given():
    draw = np.random.default_rng(1).normal
    a, b = draw(size=(7, 11)).astype("float16"), draw(size=(11, 5)).astype("float32")
    product = MatrixUnit(4, 3).multiply(a, b).product  # added up in float64
    np.testing.assert_allclose(product, a.astype(float) @ b.astype(float), rtol=1e-12, atol=1e-14)
    small = np.array([[200]], np.uint8)  # would wrap around in its own type
    assert multiply(small, small).product.tolist() == [[40000]]
    assert multiply(np.array([[1.5, 2]], ml_dtypes.bfloat16), [[2], [1]]).product == 5
    assert multiply([[257, 3]], [[1], [1]], dtype="bfloat16").product == 259


@SMALL
@given(products)
def test_each_cell_has_what_its_neighbour_had_a_cycle_ago(case):
    unit, a, b = made(case, 1, 99)
    steps = list(unit.steps(a, b))
    for old, new in zip(steps, steps[1:], strict=False):
        if new.phase == "loading":  # row by row, downwards
            assert new.waiting.all()
            assert same(new.product, old.product)
            assert old.phase != "loading" or same(new.weights[1:], old.weights[:-1])
            continue
        assert same(new.activations[:, 1:], old.activations[:, :-1])
        assert same(new.activations[:, 0], old.queue[:, 0])
        assert same(new.queue, old.queue[:, 1:])
        assert (new.from_above[0].compressed() == 0).all()
        if old.phase == "computing":
            assert same(new.from_above[1:], old.sums[:-1])
        assert same(new.sums, new.from_above + new.activations * new.weights)
        assert same(new.weights, old.weights)  # they stay


@SMALL
@given(products)
def test_the_steps_count_what_the_run_counts(case):
    unit, a, b = made(case)
    run, steps = unit.multiply(a, b), list(unit.steps(a, b))
    for kind in ("useful", "padding", "waiting"):
        assert sum(int(getattr(step, kind).sum()) for step in steps) == getattr(run, kind)
    for step in steps:
        assert (step.useful.astype(int) + step.padding + step.waiting == 1).all()
    assert [step.cycle for step in steps] == list(range(1, run.cycles + 1))
    assert {(step.cycles, step.tiles) for step in steps} == {(run.cycles, run.tiles)}
    assert steps[-1].useful_so_far == run.useful
    assert steps[-1].tile == run.tiles
    assert (steps[-1].product == run.product).all()
    assert not steps[-1].product.mask.any()
    done = [step.finished.sum() for step in steps]
    assert done == sorted(done)
    assert done[-1] == run.product.size
    left = sum(step.leaving.astype(int) for step in steps)
    assert (left == unit.tiles(len(b), 1)).all()  # once for each tile above it


def test_a_step_keeps_its_product_while_the_next_ones_go_on():
    steps = list(MatrixUnit(1, 1).steps([[1, 1]], [[3], [4]]))  # two tiles for one result
    assert [step.product.tolist() for step in steps] == [[[None]], [[3]], [[3]], [[7]]]
    assert [step.finished.all() for step in steps] == [False, False, False, True]


ONE = [[1]]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: MatrixUnit(0, 1), ValueError, "rows .* got 0"),
        (lambda: MatrixUnit(1, 1).utilisation(1, 1, -1), ValueError, "n must .* got -1"),
        (lambda: multiply(ONE, np.zeros((1, 0))), ValueError, r"^b .*\(1, 0\)"),
        (lambda: multiply([[1, 2]], ONE), ValueError, r"\(1, 2\) .* \(1, 1\)"),
        (lambda: multiply(ONE, [[1j]]), TypeError, "b holds complex128"),
        (lambda: MatrixUnit(1, 1).steps([1], ONE), ValueError, r"^a .*\(1,\)"),  # at the call
        (lambda: multiply(ONE, ONE, dtype="float16"), ValueError, "'bfloat16'; got 'float16'"),
    ],
)
def test_what_cannot_be_multiplied_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def same(one, other) -> bool:
    masks = (np.ma.getmaskarray(one) == np.ma.getmaskarray(other)).all()
    return bool(masks and (one.compressed() == other.compressed()).all())
