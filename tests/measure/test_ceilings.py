"""Ceilings: chosen and timed on a pretend device, really measured once, and what they say."""

import importlib.util
import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from accel_helpers.machine import backend
from accel_helpers.machine.hardware import MARGIN
from accel_helpers.measure import ceilings, results
from accel_helpers.measure.ceilings import Ceiling, Ceilings, bound_by, measure
from accel_helpers.measure.measurement import Measurement


class Pretend:
    """A device with a clock of its own: each number type has a rate (FLOP/s) by size."""

    def __init__(self, memory=10e9, **rates):
        self.now, self.memory, self.rates, self.tried = 0.0, memory, rates, []

    def make_product(self, dtype, n):
        rate = self.rates.get(dtype, TypeError(f"no kernel for {dtype}\nmore"))
        if isinstance(rate, Exception):
            raise rate
        self.tried.append((dtype, n))
        return self._run(2 * n**3 / (rate(n) if callable(rate) else rate))

    def make_pass(self, numbers):
        return self._run(12 * numbers / self.memory)

    def _run(self, seconds):
        def run():
            self.now += seconds
            return 0

        return run

    def measure(self, seconds=None):
        makers = {"make_product": self.make_product, "make_pass": self.make_pass}
        return measure(seconds=seconds, clock=lambda: self.now, **makers)


def test_the_rates_of_a_known_device_come_out():
    found = Pretend(float32=100e9, bfloat16=250e9, float16=250e9).measure()
    assert [p.dtype for p in found.products] == [*ceilings.DTYPES]
    assert found.notes == ()
    assert [p.rate for p in found.products] == pytest.approx([100e9, 250e9, 250e9])
    assert found.copy.rate == pytest.approx(10e9)
    assert "memory, on cpu: 10 GB/s" in str(found)
    of_the_median = Measurement.from_samples([1.0, 2.0, 2.0, 2.0, 9.0])
    assert Ceiling("float32", 8e9, of_the_median).rate == 4e9


def test_the_size_that_suits_the_device_best_is_kept_and_a_slow_one_is_spared():
    peaked = Pretend(float32=lambda n: 100e9 if n == 512 else 40e9)
    found = peaked.measure()
    product = found.products[0]
    assert product.work == 2 * 512**3
    assert product.rate == pytest.approx(100e9)
    assert "512" in product.time.notes[0]
    slow = Pretend(memory=1e9, float32=10e9, bfloat16=9e9)
    slow.measure()
    assert max(n for _, n in slow.tried) <= 512
    assert slow.now < 6
    quick, full = Pretend(float32=100e9), Pretend(float32=100e9)
    full.measure()
    quick.measure(seconds=0.75)
    assert quick.now < full.now / 3


def test_a_number_type_that_is_hopeless_or_refused_is_left_out_at_once():
    device = Pretend(float32=100e9, bfloat16=0.5e9)
    found = device.measure()
    assert [p.dtype for p in found.products] == ["float32"]
    for dtype, note in zip(("bfloat16", "float16"), found.notes, strict=True):
        assert dtype in note
        assert note in str(found)
    assert [n for dtype, n in device.tried if dtype == "bfloat16"] == [256]


def test_what_is_not_here_is_named():
    with pytest.raises(RuntimeError, match="no kernel"):
        Pretend().measure()
    backend.choose()
    with pytest.raises(ValueError, match="'tpu'"):
        measure("tpu")


CHECK = """
import json, numpy as np
from accel_helpers.machine import backend
from accel_helpers.measure import ceilings, kernels
backend.choose()
product = kernels.product("cpu", "float32", 8)
one = kernels.array_pass("cpu", 1000)
sums = [float(sum(np.ravel(one())[:1])) for _ in range(3)]
found = ceilings.measure("cpu", seconds=0.75)
parts = [(c.dtype, c.work, c.rate, c.time.median) for c in (*found.products, found.copy)]
print(json.dumps([parts, found.notes, sums, [[float(v) for v in row] for row in product()]]))
"""


@pytest.mark.parametrize("framework", ["tensorflow", pytest.param("jax", marks=pytest.mark.slow)])
def test_a_real_device_is_measured(framework, monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", framework)
    if not importlib.util.find_spec(framework):
        pytest.skip(f"{framework} is not installed here")
    done = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    parts, notes, sums, product = json.loads(done.stdout.splitlines()[-1])
    assert {part[0] for part in parts} | {note.split()[0] for note in notes} == {*ceilings.DTYPES}
    for _, work, rate, seconds in parts:
        assert rate * seconds == pytest.approx(work)
        assert seconds > 0
    assert all(round((work / 2) ** (1 / 3)) in (256, 512) for _, work, *_ in parts[:-1])
    assert parts[-1][1] == 12 * ceilings.QUICK.numbers
    # what is timed does its work: sums grow in place, the product is the product
    assert sums == [1, 2, 3]
    a, b = np.random.default_rng(0).random((2, 8, 8), dtype="float32") - 0.5
    assert np.allclose(product, a @ b, atol=1e-4)


@pytest.mark.parametrize(
    ("flops", "moved", "verdict", "share"),
    [
        (100e9, 10e9, "arithmetic", 1.0),  # at the ridge
        (12e9, 6e9, "memory", 0.6),
        (50e9, 1e9, "arithmetic", 0.5),  # half counts
        (49e9, 1e9, "neither", 0.49),
        (100e9 * MARGIN * 1.01, 1e9, "above the ceiling", MARGIN * 1.01),
        (100e9 * MARGIN * 0.99, 1e9, "arithmetic", MARGIN * 0.99),
    ],
)
def test_what_bounds_a_piece_of_work(flops, moved, verdict, share):
    one = Measurement.from_samples([1.0])
    product, copy = (Ceiling("float32", rate, one) for rate in (100e9, 10e9))
    roof = Ceilings("cpu", (product,), copy)
    work = SimpleNamespace(flops=flops, bytes=moved)
    answer = bound_by(work, 1.0, roof)
    assert answer.verdict == verdict
    assert answer.share == pytest.approx(share)
    time = Measurement.from_samples([0.9, 1.0, 5.0])
    assert bound_by(work, time, roof) == answer
    with pytest.raises(ValueError, match="seconds"):
        bound_by(work, -1.0, roof)


def test_ceilings_go_on_a_card_and_come_back(tmp_path):
    found, path = Pretend(float32=1e11, bfloat16=2e11).measure(), tmp_path / "card.json"
    measurements, numbers = found.record_as("03/ceiling")
    kinds = ("product float32", "product bfloat16", "copy float32")
    assert set(measurements) == {f"03/ceiling/{kind}" for kind in kinds}
    other = {"04/ceiling/copy x": Measurement.from_samples([1.0])}
    assert results.save_on_card(measurements | other, numbers, path=path).ok
    card = results.load(path)
    again = Ceilings.from_card(card.measurements, card.numbers, "03/ceiling")
    assert (again.products, again.copy) == (found.products, found.copy)
    with pytest.raises(ValueError):
        Ceilings.from_card(card.measurements, card.numbers, "05/ceiling")
