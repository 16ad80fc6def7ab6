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

    def clock(self):
        return self.now

    def make_product(self, dtype, n):
        rate = self.rates[dtype]
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

    def measure(self, **options):
        options = {"dtypes": tuple(self.rates)} | options
        return measure(
            clock=self.clock,
            make_product=self.make_product,
            make_pass=self.make_pass,
            **options,
        )


def made(memory=10e9, **rates):
    one = Measurement.from_samples([1.0])
    products = [Ceiling("matrix product", name, "cpu", r, one) for name, r in rates.items()]
    return Ceilings("cpu", tuple(products), Ceiling("copy", "float32", "cpu", memory, one))


# Measuring


def test_the_rates_of_a_known_device_come_out():
    found = Pretend(float32=100e9, bfloat16=250e9).measure()
    assert [p.dtype for p in found.products] == ["float32", "bfloat16"]
    assert [p.rate for p in found.products] == pytest.approx([100e9, 250e9])
    assert found.copy.rate == pytest.approx(10e9) and found.copy.unit == "B/s"
    assert found.ridge("float32") == pytest.approx(10)
    assert found.notes == ()


def test_the_size_that_suits_the_device_best_is_kept():
    peaked = Pretend(float32=lambda n: 100e9 if n == 512 else 40e9)
    product = peaked.measure().products[0]
    assert product.work == 2 * 512**3 and product.rate == pytest.approx(100e9)
    assert "512 x 512" in product.detail and product.time.notes[0] == product.detail


def test_the_rate_is_that_of_the_median():
    time = Measurement.from_samples([1.0, 2.0, 2.0, 2.0, 9.0])
    assert Ceiling("matrix product", "float32", "cpu", 8e9, time).rate == 4e9


def test_a_slow_device_is_not_kept_busy_with_large_products():
    slow = Pretend(memory=1e9, float32=10e9, bfloat16=9e9)
    slow.measure()
    assert max(n for _, n in slow.tried) <= 512 and slow.now < 6


def test_a_number_type_that_is_hopelessly_slow_is_left_out_at_once():
    device = Pretend(float32=100e9, float16=0.5e9)
    found = device.measure()
    assert [p.dtype for p in found.products] == ["float32"]
    assert "float16 is left out: a product of two 256 x 256" in found.notes[0]
    assert [n for dtype, n in device.tried if dtype == "float16"] == [256]
    assert "float16" in str(found)


def test_a_number_type_that_the_framework_refuses_is_left_out():
    found = Pretend(float32=1e11, bfloat16=TypeError("no kernel for bfloat16\nmore")).measure()
    assert found.notes == ("bfloat16 is left out: no kernel for bfloat16",)
    with pytest.raises(ValueError, match="'bfloat16' on cpu; measured: float32. bfloat16 is left"):
        found.ridge("bfloat16")


def test_an_error_where_nothing_can_be_multiplied():
    with pytest.raises(RuntimeError, match="no matrix product.*no kernel"):
        Pretend(float32=TypeError("no kernel")).measure()


def test_quick_is_quicker():
    quick, full = Pretend(float32=100e9), Pretend(float32=100e9)
    quick.measure(quick=True), full.measure()
    assert quick.now < full.now / 3


def test_progress_names_what_is_measured():
    lines = []
    Pretend(float32=100e9).measure(progress=lines.append)
    assert lines == ["cpu: matrix products in float32", "cpu: a pass over memory"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dtypes": ()}, "dtypes must be a list"),
        ({"dtypes": "float32"}, "dtypes must be a list"),
        ({"sizes": (0,)}, "whole and above zero"),
        ({"sizes": ()}, "whole and above zero"),
    ],
)
def test_bad_input_is_named(options, words):
    with pytest.raises(ValueError, match=words):
        Pretend(float32=1e11).measure(**options)


def test_a_device_that_is_not_here_is_named():
    backend.choose()
    with pytest.raises(ValueError, match="device must be one of .*'tpu'"):
        measure("tpu")


# The real thing

CHECK = """
import json, sys
from accel_helpers.machine import backend
from accel_helpers.measure import ceilings
backend.choose()
product = ceilings._product_on("cpu")("float32", 8)
one = ceilings._pass_on("cpu")(1000)
sums = []
for _ in range(3):
    total = one()
    sums.append(float(total if total.ndim == 0 else total[0]))
found = ceilings.measure("cpu", quick=True)
print(json.dumps([found.to_dict(), sums, [[float(v) for v in row] for row in product()]]))
"""


@pytest.mark.parametrize("framework", ["tensorflow", pytest.param("jax", marks=pytest.mark.slow)])
def test_a_real_device_is_measured(framework, monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", framework)
    if not importlib.util.find_spec(framework):
        pytest.skip(f"{framework} is not installed here")
    done = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found, sums, product = json.loads(done.stdout.splitlines()[-1])
    assert {p["dtype"] for p in found["products"]} | {n.split()[0] for n in found["notes"]} == set(
        ceilings.DTYPES
    )
    for ceiling in (*found["products"], found["copy"]):
        seconds = Measurement.from_dict(ceiling["time"]).median
        assert ceiling["rate"] * seconds == pytest.approx(ceiling["work"]) and seconds > 0
    assert all(round((p["work"] / 2) ** (1 / 3)) in (256, 512) for p in found["products"])
    assert found["copy"]["work"] == 12 * ceilings.QUICK_ARRAY
    # what is timed does its work: sums grow in place, the product is the product
    assert sums == [1, 2, 3]
    a, b = np.random.default_rng(0).random((2, 8, 8), dtype="float32") - 0.5
    assert np.allclose(product, a @ b, atol=1e-4)


# What they say


def test_the_roof_is_the_lower_of_the_two():
    roof = made(memory=10e9, float32=100e9)
    assert roof.attainable(2) == 20e9 and roof.attainable(50) == 100e9
    assert roof.attainable(roof.ridge()) == pytest.approx(100e9)
    for bad in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="intensity"):
            roof.attainable(bad)


@pytest.mark.parametrize(
    ("flops", "moved", "verdict", "share"),
    [
        (60e9, 1e9, "arithmetic", 0.6),
        (100e9, 10e9, "arithmetic", 1.0),  # at the ridge
        (12e9, 6e9, "memory", 0.6),
        (50e9, 1e9, "arithmetic", 0.5),  # half counts
        (49e9, 1e9, "neither", 0.49),
        (1e9, 5e9, "neither", 0.5 - 1e-9),
        (100e9 * MARGIN * 1.01, 1e9, "above the ceiling", MARGIN * 1.01),
        (100e9 * MARGIN * 0.99, 1e9, "arithmetic", MARGIN * 0.99),
    ],
)
def test_what_bounds_a_piece_of_work(flops, moved, verdict, share):
    roof = made(memory=10e9, float32=100e9)
    seconds = 1.0 if verdict != "neither" else 1 + 1e-6
    answer = bound_by(flops, seconds, roof, bytes_moved=moved)
    assert answer.verdict == verdict and answer.share == pytest.approx(share, rel=1e-5)
    assert answer.reason.startswith(ceilings.format_rate(flops, "FLOP/s"))
    assert str(answer).startswith(f"{verdict}: ") and answer.reason.endswith(".")
    assert answer.intensity == flops / moved and answer.ridge == 10


def test_work_may_know_its_flops_and_bytes_and_a_measurement_its_median():
    roof, step = made(float32=100e9), SimpleNamespace(flops=80e9, bytes=2e9)
    time = Measurement.from_samples([0.9, 1.0, 1.0, 1.0, 5.0])
    assert bound_by(step, time, roof) == bound_by(80e9, 1.0, roof, bytes_moved=2e9)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((1e9, 1.0), TypeError, "bytes_moved must be a number"),
        (("much", 1.0, 1e9), TypeError, "work must be a number"),
        ((0, 1.0, 1e9), ValueError, "work must be finite and above zero"),
        ((1e9, -1.0, 1e9), ValueError, "seconds must be finite"),
    ],
)
def test_a_quantity_that_is_missing_is_named(arguments, error, words):
    work, seconds, *moved = arguments
    with pytest.raises(error, match=words):
        bound_by(work, seconds, made(float32=1e11), bytes_moved=moved[0] if moved else None)


# On a card and back


def test_ceilings_go_on_a_card_and_come_back(tmp_path):
    found, path = Pretend(float32=100e9, bfloat16=250e9).measure(), tmp_path / "card.json"
    measurements, numbers = found.record_as("03/ceiling")
    assert set(measurements) == {
        "03/ceiling/product float32",
        "03/ceiling/product bfloat16",
        "03/ceiling/copy float32",
    }
    other = Measurement.from_samples([1.0])
    said = results.record(measurements | {"04/ceiling/copy x": other}, numbers=numbers, path=path)
    assert said.startswith("Saved")
    card = results.load(path)
    assert Ceilings.from_card(card.measurements, card.numbers, "03/ceiling") == found


@pytest.mark.parametrize("broken", ["no work", "zero", "two", "no copy", "other prefix"])
def test_a_card_is_not_trusted(broken):
    measurements, numbers = made(float32=100e9).record_as("03/ceiling")
    work, prefix = "03/ceiling/product float32/work", "03/ceiling"
    if broken == "no work":
        del numbers[work]
    elif broken == "no copy":
        del measurements["03/ceiling/copy float32"]
    elif broken == "other prefix":
        prefix = "04/ceiling"
    else:
        numbers[work] = (0.0,) if broken == "zero" else (1.0, 2.0)
    with pytest.raises(ValueError, match="the card needs"):
        Ceilings.from_card(measurements, numbers, prefix)
