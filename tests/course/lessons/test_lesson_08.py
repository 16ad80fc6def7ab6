"""What lesson 08 shows: one loop, a trace for each shape, a graph in fit, data that wait."""

import math
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from accel_helpers.course.lessons import lesson_08
from accel_helpers.machine import backend
from accel_helpers.measure import timing

NOTEBOOK = Path(__file__).parents[3] / "notebooks" / "08_graphs_and_compilers.ipynb"
CELLS = {cell.id: cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells}
PROSE = "\n".join(cell.source for cell in CELLS.values() if cell.cell_type == "markdown")
CALLS = [(100, 10, 6), (50, 20, 8), (11, 10, 1), (20, 10, 5), (90, 10, 10), (90, 10, 12)]


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
    numpy, eager, xla = page["chain"](page["numbers"]), page["chain"](page["x"]), page["xla"]
    expected = float(numpy[3])
    assert float(eager[3]) == pytest.approx(expected, rel=1e-5)
    assert float(xla(page["x"])[3]) == pytest.approx(expected, rel=1e-5)


def test_a_chain_of_64_is_compiled_to_one_loop(page, capsys):
    capsys.readouterr()
    run("l08loops", **page)
    assert capsys.readouterr().out == CELLS["l08loops"].outputs[0].text
    assert "**All 64 in one loop:**" in PROSE


def test_a_sort_begins_a_new_loop_as_the_text_says(page, capsys):
    chain, sort = page["chain"], page["keras"].ops.sort

    def parted(x, length=64):
        return chain(sort(chain(x, length // 2)), length // 2)

    names = run("l08xla", **{**page, "chain": parted})
    capsys.readouterr()
    run("l08loops", **names)
    assert "loops: 2" in capsys.readouterr().out


def test_the_graph_of_a_chain_of_two_has_its_two_operations(page, capsys):
    capsys.readouterr()
    run("l08nodes", **page)
    shown = capsys.readouterr().out
    assert "mul" in shown
    assert "add" in shown


def test_python_runs_a_compiled_function_once_for_each_shape(page):
    names = run("l08step", "l08spikes", **page)
    assert names["traced"] == [64, 65, 66]


def test_python_runs_the_step_of_fit_to_trace_it_alone(keras):
    names = run("l08counted", "l08count", keras=keras, np=np)
    assert 1 <= len(names["ran"]) <= 2


def test_keras_resolves_auto_as_the_table_says(keras):
    rows = re.findall(r"^\| (\w+) \| (on|off) \| (on|off) \|$", PROSE, re.M)
    said = {name.lower(): row for name, *row in rows}
    assert set(said) == {"tensorflow", "jax"}
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    accelerator = len(backend.devices()) > 1
    assert said[backend.framework()][accelerator] == ("on" if model.jit_compile else "off")


def test_a_pass_over_the_data_ends_also_where_keras_cannot_iterate_over_them():
    class OldDataset:  # Keras 3.8 to 3.10 have no __iter__
        pass

    class Keras:
        class utils:
            PyDataset = OldDataset

    given = {"keras": Keras, "np": np, "pictures": np.zeros((640, 4)), "digits": np.zeros(640)}
    names = run("l08dataset", **given)
    names["load"] = lambda number: np.zeros(4)
    assert len([*names["Pictures"]()]) == 5


@pytest.mark.night
def test_on_jax_all_of_it_is_so_too(on_jax):
    on_jax("not on_jax", __file__)


@pytest.mark.parametrize(("first", "before", "after"), CALLS)
def test_compiling_pays_when_the_sums_of_the_calls_cross(first, before, after):
    crossed = (n for n in range(1, 1000) if first + (n - 1) * after <= n * before)
    assert lesson_08.pays_after(first, before, after) == next(crossed, math.inf)


def test_the_title_of_the_chains_says_how_they_grew():
    def lasting(micro):
        return timing.Measurement.from_samples([micro * 1e-6] * 5)

    ends = {"NumPy": (50, 1600), "one by one": (500, 9000), "XLA": (250, 500)}
    times = {way: {2: lasting(a), 64: lasting(b)} for way, (a, b) in ends.items()}
    drawn = lesson_08.chain(times).alt
    assert "32 times the operations: NumPy 32 times as long, XLA 2" in drawn


def test_what_the_text_says_is_so():
    assert "With `first=100, before=10, after=6` it's 24." in PROSE
    assert lesson_08.pays_after(first=100, before=10, after=6) == 24
    assert "1,000 pictures in batches of 64 leave 40" in PROSE
    assert 1000 % 64 == 40
