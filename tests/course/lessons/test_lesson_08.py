"""What lesson 08 shows: one loop, a trace for each shape, a graph in fit, data that wait."""

import math
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from accel_helpers.course.lessons import lesson_08
from accel_helpers.machine import backend

NOTEBOOK = Path(__file__).parents[3] / "notebooks" / "08_graphs_and_compilers.ipynb"
CELLS = {cell.id: cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells}
PROSE = "\n".join(cell.source for cell in CELLS.values() if cell.cell_type == "markdown")


def run(*cells, **names):
    """Run cells of the page one after the other, and give the names that they leave."""
    for cell in cells:
        exec(CELLS[cell].source, names)
    return names


@pytest.fixture
def page(keras):
    """The names that the first cells of the page leave, a short array in place of theirs."""
    numbers = np.ones(2**18, "float32")
    given = {"keras": keras, "np": np, "numbers": numbers, "x": keras.ops.ones(2**18)}
    return run("l08def", "l08seconds", "l08xla", **given)


def test_all_ways_of_the_page_compute_the_same(page):
    expected = pytest.approx(float(page["chain"](page["numbers"])[3]), rel=1e-5)
    assert float(page["chain"](page["x"])[3]) == expected
    assert float(page["xla"](page["x"])[3]) == expected


def test_a_chain_of_64_is_compiled_to_one_loop_and_a_sort_begins_a_new_one(page, capsys):
    chain, sort = page["chain"], page["keras"].ops.sort

    def parted(x, length=64):
        return chain(sort(chain(x, length // 2)), length // 2)

    capsys.readouterr()
    run("l08loops", **page)
    assert capsys.readouterr().out == CELLS["l08loops"].outputs[0].text
    run("l08xla", "l08loops", **{**page, "chain": parted})
    assert "loops: 2" in capsys.readouterr().out


def test_python_runs_a_compiled_function_once_for_each_shape(page):
    assert run("l08step", "l08spikes", **page)["traced"] == [64, 65, 66]


def test_python_runs_the_step_of_fit_to_trace_it_alone(keras):
    assert 1 <= len(run("l08counted", "l08count", keras=keras, np=np)["ran"]) <= 2


def test_keras_resolves_auto_as_the_table_says(keras):
    rows = re.findall(r"^\| (\w+) \| (on|off) \| (on|off) \|$", PROSE, re.M)
    said = {name.lower(): row for name, *row in rows}
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    accelerator = len(backend.devices()) > 1
    assert said[backend.framework()][accelerator] == ("on" if model.jit_compile else "off")


@pytest.mark.night
def test_on_jax_all_of_it_is_so_too(on_jax):
    on_jax("not on_jax", __file__)


@pytest.mark.parametrize("calls", [(100, 10, 6), (50, 20, 8), (11, 10, 1), (90, 10, 12)])
def test_compiling_pays_when_the_sums_of_the_calls_cross(calls):
    first, before, after = calls
    crossed = (n for n in range(1, 1000) if first + (n - 1) * after <= n * before)
    assert lesson_08.pays_after(first, before, after) == next(crossed, math.inf)
