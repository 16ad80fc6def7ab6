"""What lesson 08 reads from a compiled program, counts and says, on TensorFlow and on JAX."""

import logging
import math
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

import accel_helpers as ah
from accel_helpers.lessons import lesson_08
from accel_helpers.machine import backend

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "08_graphs_and_compilers.ipynb"
CELLS = {cell.id: cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells}
PROSE = "\n".join(cell.source for cell in CELLS.values() if cell.cell_type == "markdown")
CALLS = [(100, 10, 6), (50, 20, 8), (11, 10, 1), (20, 10, 5), (90, 10, 10), (90, 10, 12)]


def chain(length):
    names: dict = {}
    exec(CELLS["l08time"].source.partition("\n\n\nx, times =")[0], names)
    return names["chain"](length)


def test_a_chain_is_one_loop_and_what_needs_every_number_parts_it(keras):
    ops, x = keras.ops, keras.ops.ones(1000)
    for length in (1, 64):
        found = lesson_08.loops(chain(length), x)
        assert found == {"sums and products": length, "loops": 1, "arrays read": 1}
    parted = lesson_08.loops(lambda x: chain(32)(ops.sort(chain(32)(x))), x)
    assert parted == {"sums and products": 64, "loops": 3, "arrays read": 3}
    square = ops.ones((64, 64))  # so does a product of matrices
    assert lesson_08.loops(lambda x: chain(2)(chain(2)(x) @ x), square)["loops"] >= 3
    two = lesson_08.loops(lambda x, y: chain(8)(x * y), x, x)
    assert two == {"sums and products": 9, "loops": 1, "arrays read": 2}


def test_all_ways_compute_the_same_and_jax_has_one_less(keras):
    x = keras.ops.ones(8)
    made = lesson_08.ways(chain(5), x)
    lacks = {"graph"} if backend.framework() == "jax" else set()
    assert set(made) == set(lesson_08.WAYS) - lacks
    first, *others = (float(call()[3]) for call in made.values())
    assert others == pytest.approx([first] * len(others), rel=1e-5)
    if not lacks:  # only what XLA compiles has such a text
        assert made["XLA"].func.experimental_get_compiler_ir(x)(stage="hlo")


def test_tensorflow_makes_no_remark_on_the_chains_of_all_lengths(keras, caplog):
    lesson_08.wake_xla.cache_clear()
    with caplog.at_level(logging.WARNING, "tensorflow"):
        for length in lesson_08.LENGTHS:
            for call in lesson_08.ways(chain(length), keras.ops.ones(8)).values():
                for _ in range(20):  # as a measurement calls it
                    call()
    assert "retracing" not in caplog.text


def test_a_graph_has_operations_and_the_arrays_between_them(keras):
    given = (keras.ops.ones(2) * n for n in (1, 2, 3))
    found = lesson_08.graph(lambda a, b, c: keras.ops.tanh(a * b + c), *given)
    assert "\n".join(found) == CELLS["l08nodes"].outputs[0].text.strip()


def test_keras_resolves_auto_as_the_table_says(keras):
    rows = re.findall(r"^\| (\w+) \| (on|off) \| (on|off) \|$", PROSE, re.M)
    said = {name.lower(): row for name, *row in rows}
    assert set(said) == {"tensorflow", "jax"}
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    accelerator = len(backend.devices()) > 1
    assert said[backend.framework()][accelerator] == ("on" if model.jit_compile else "off")


def test_python_runs_the_step_of_fit_to_trace_it_alone(keras):
    names = {"keras": keras, "ah": ah, "np": np, "choice": backend.choose()}
    exec(CELLS["l08count"].source, names)
    numbers = ah.results.load(ah.results.card_path()).numbers
    times, steps = numbers[f"08/{backend.framework()}/python calls"]
    assert steps == 20 and 1 <= times <= 2 and "once or twice" in PROSE


def test_the_drive_is_read_batch_by_batch_also_where_keras_cannot_iterate_over_it():
    class Drive:  # as Keras 3.8 to 3.10 have a PyDataset: no __iter__, and no IndexError at its end
        read: list = []

        def __len__(self):
            return 3

        def __getitem__(self, batch):
            self.read.append(range(3)[batch] if batch < 3 else 1 / 0)

    names = {"drive": Drive()}
    exec(CELLS["l08wait"].source.partition("\n\n\n")[0], names)
    names["only_read"]()
    assert Drive.read == [0, 1, 2]


def test_on_jax_all_of_it_is_so_too(on_jax):
    on_jax("not on_jax", __file__)


@pytest.mark.parametrize(("first", "before", "after"), CALLS)
def test_compiling_pays_when_the_sums_of_the_calls_cross(first, before, after):
    crossed = (n for n in range(1, 1000) if first + (n - 1) * after <= n * before)
    assert lesson_08.pays_after(first, before, after) == next(crossed, math.inf)


LINES = [
    (163, 6309, "1 µs", 1),
    (692, 6309, "9.4 µs", 0),
    (90, 6309, "0 s", 1),
    (163, 9, "1", 0),
]


@pytest.mark.parametrize(("xla", "by_one", "said", "flat"), LINES)
def test_the_title_says_one_line_is_flat_only_where_it_is(xla, by_one, said, flat):
    def lasting(micro):
        return ah.timing.Measurement.from_samples([micro * 1e-6] * 5)

    ends = {"NumPy": (5, 635), "one by one": (9, by_one), "XLA": (100, xla)}
    text = str(
        lesson_08.picture({w: {1: lasting(a), 64: lasting(b)} for w, (a, b) in ends.items()})
    )
    assert f"One more operation costs NumPy 10 µs, XLA {said}" in text
    assert ("two lines climb, one stays flat" in text) == flat


def test_what_the_text_says_is_so():
    assert "With 100, 10 and 6, it's call 24." in PROSE and lesson_08.pays_after(100, 10, 6) == 24
    assert "1,000 pictures in batches of 64 leave 40" in PROSE and 1000 % 64 == 40
    _, whole, parted = CELLS["l08loops"].outputs[0].text.splitlines()
    assert "All 64 in **one loop**" in PROSE and "'sums and products': 64, 'loops': 1" in whole
    assert "one after it, and the sort is the third" in PROSE and "'loops': 3" in parted
