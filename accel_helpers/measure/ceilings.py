"""The best rates of the machine at hand, measured: what a training can be held against."""

import math
import time
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

from accel_helpers._values.records import positive
from accel_helpers._values.words import format_rate, format_seconds
from accel_helpers.machine import backend
from accel_helpers.machine.hardware import MARGIN
from accel_helpers.machine.quiet import held_back
from accel_helpers.measure import results
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.timing import benchmark

DTYPES = ("float32", "bfloat16", "float16")
# Rows of the matrices; numbers of 4 bytes in an array, 67 to 537 MB; seconds for one ceiling
QUICK = (256, 512), 2**24
FEW_SECONDS = 2  # for all ceilings: in less, large arrays take too long to make
CPU, ACCELERATOR = ((256, 512, 1024, 2048), 2**25, 1.0), ((1024, 2048, 4096, 8192), 2**27, 1.0)
HOPELESS = 20  # a number type that is so many times slower than the best is left out
SHARE = 0.5  # of what the chip allows: from there on, the chip is what bounds the work

__all__ = ["Ceilings", "bound_by", "measure"]


@dataclass(frozen=True)
class Ceiling:
    """One best rate of a device."""

    dtype: str
    work: float  # FLOP or bytes moved, in one call
    time: Measurement  # its first note is what exactly was run

    @property
    def rate(self) -> float:
        return self.work / self.time.median

    @property
    def fastest(self) -> "Ceiling":
        """The same by its fastest call."""
        shortest = [min(self.time.samples)]
        time = Measurement.from_samples(shortest, name=self.time.name, notes=self.time.notes)
        return replace(self, time=time)


@dataclass(frozen=True)
class Ceilings:
    """The ceilings of one device: the best `products` of its number types, the best `copy`."""

    device: str
    products: tuple[Ceiling, ...]
    copy: Ceiling
    notes: tuple[str, ...] = ()  # what was left out, and why

    @property
    def fastest(self) -> Self:
        """The same by the fastest calls, for a step that was timed by its fastest one, too.

        Noise only ever adds time, and on a busy machine it may add more to one than to the other.
        """
        products = tuple(product.fastest for product in self.products)
        return replace(self, products=products, copy=self.copy.fastest)

    def record_as(self, prefix: str) -> tuple[dict[str, Measurement], dict[str, tuple[float, ...]]]:
        """Measurements and numbers, "PREFIX/product float32" and its "/work", for a result card."""
        named = {f"{prefix}/product {product.dtype}": product for product in self.products}
        named[f"{prefix}/copy {self.copy.dtype}"] = self.copy
        times = {name: ceiling.time for name, ceiling in named.items()}
        return times, {f"{name}/work": (float(named[name].work),) for name in named}

    @classmethod
    def from_card(cls, measurements, numbers, prefix: str, device: str = "cpu") -> Self:
        """The ceilings that `record_as` put on a card."""
        found = {"product": [], "copy": []}
        for name, timed in measurements.items():
            if name.startswith(f"{prefix}/") and f"{name}/work" in numbers:
                what, dtype = name.removeprefix(f"{prefix}/").split()
                found[what].append(Ceiling(dtype, *numbers[f"{name}/work"], timed))
        (copy,) = found["copy"]
        return cls(device, tuple(found["product"]), copy)

    def __str__(self) -> str:
        rates = {f"matrix product, {p.dtype}": format_rate(p.rate, "FLOP/s") for p in self.products}
        rates["memory"] = format_rate(self.copy.rate, "B/s")
        lines = [f"{what}, on {self.device}: {rate}" for what, rate in rates.items()]
        return "\n".join(lines + [f"  Note: {note}" for note in self.notes])


Bound = namedtuple("Bound", "verdict share")
BOUNDS = ("arithmetic", "memory", "neither", "above the ceiling")  # its verdicts


def bound_by(work, seconds: float | Measurement, ceilings: Ceilings) -> Bound:
    """Say what bounds a piece of work: arithmetic, memory, or neither of them.

    Work that does few operations per byte waits for memory, work that does many for arithmetic:
    the roofline of Williams, Waterman and Patterson (2009), https://doi.org/10.1145/1498765.1498785
    The `share` is of what is attainable at so many operations per byte. The `verdict` is
    "arithmetic" or "memory" from one half on; "neither" below, so that something else bounds it,
    such as Python between steps; "above the ceiling" where it is faster than can be: the time or
    the count is wrong, or the data stayed in the chip's own memory.

    The `work` is a `work.StepWork`, or anything else that knows its `flops`, in float32, and
    `bytes`; the ceilings are those of the device on which it ran.

    >>> from types import SimpleNamespace
    >>> times = Measurement.from_samples([1.0])
    >>> product, copy = (Ceiling("float32", work, times) for work in (100e9, 10e9))
    >>> bound_by(SimpleNamespace(flops=2e9, bytes=5e9), 1.0, Ceilings("cpu", (product,), copy))
    Bound(verdict='memory', share=0.5)
    """
    rate = work.flops / positive(getattr(seconds, "median", seconds), "seconds")
    ceiling = {product.dtype: product.rate for product in ceilings.products}["float32"]
    attainable = min(ceiling, work.flops / work.bytes * ceilings.copy.rate)
    share = rate / attainable
    verdict = "arithmetic" if ceiling <= attainable else "memory"
    if share > MARGIN:
        verdict = "above the ceiling"
    elif share < SHARE:
        verdict = "neither"
    return Bound(verdict, share)


def measure(
    device: str = "cpu",
    *,
    seconds: float | None = None,
    keep: str = "",
    clock: Callable[[], float] = time.perf_counter,
    make_product: Callable[[str, int], Callable[[], object]] | None = None,
    make_pass: Callable[[int], Callable[[], object]] | None = None,
) -> Ceilings:
    """Measure the best rates of a device with the framework under Keras.

    The best product of two square matrices for every number type, and the best pass over arrays
    far too large for the chip's own, faster memory; by the median, as a training is measured. Of
    growing sizes the best is timed anew, so that the figure is not the luckiest of many. A number
    type that cannot be multiplied here, or over 20 times slower than the best, gets a note instead.

    Parameters
    ----------
    device : str, optional
        One of `backend.devices`; a ValueError where it is not.
    seconds, keep : float, str, optional
        About how long it may take (in less than two, sizes are small, too); under which prefix
        the result card keeps it ("03/ceiling").
    clock, make_product, make_pass : callable, optional
        What tells the time in seconds, and what makes the functions that are timed, from number
        type and size and from how many numbers.

    Examples
    --------
    >>> [product.rate > 0 for product in measure("cpu", seconds=0.5).products][0]
    True
    """
    sizes, numbers, budget = CPU if device == "cpu" else ACCELERATOR
    if seconds is not None:
        if seconds < FEW_SECONDS:
            sizes, numbers = QUICK
        budget = seconds / (len(DTYPES) + 2)  # a ceiling each, and what is made before
    make_product = make_product or partial(_product, device)
    run = (make_pass or partial(_pass, device))(numbers)
    detail = f"{numbers:,} numbers added to {numbers:,} in place: 2 read, 1 written, 4 bytes each"
    copy = _timed(run, "copy", "float32", 12 * numbers, detail, budget, clock)
    products, notes, fastest = [], [], {}
    for dtype in DTYPES:
        try:
            best = _best_sizes(make_product, dtype, sizes, budget / 2, clock, fastest)
        except Exception as error:  # a framework raises what it likes where a type is unknown to it
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            notes.append(f"{dtype} is left out: {reason[:160]}")
            continue
        found, share = [], budget / 2 / len(best)
        for _, n, run in best:
            detail = f"{n} x {n} matrices: 2 x {n}³ operations"
            found.append(_timed(run, "product", dtype, 2 * n**3, detail, share, clock))
        products.append(max(found, key=lambda ceiling: ceiling.rate))
    if not products:
        raise RuntimeError(f"no matrix product could be measured on {device}. {' '.join(notes)}")
    found = Ceilings(device, tuple(products), copy, tuple(notes))
    results.keep(keep, *found.record_as(keep))
    return found


def _best_sizes(make_product, dtype, sizes, budget, clock, fastest):
    """Try sizes until one would take too long: the two best, as seconds per n³, n, and function."""
    tried, began = [], clock()
    for n, larger in zip(sizes, [*sizes[1:], math.inf], strict=True):
        shortest = math.inf
        with held_back():  # TensorFlow remarks there how it will multiply float16
            run = make_product(dtype, n)
            backend.wait(run())  # compiles
        for _ in range(3):
            start = clock()
            backend.wait(run())
            shortest = min(shortest, max(clock() - start, 1e-9))
            if clock() - began > budget:
                break
        fastest[n] = min(shortest, fastest.get(n, shortest))
        if shortest > HOPELESS * fastest[n]:
            raise RuntimeError(
                f"a product of two {n} x {n} matrices takes {format_seconds(shortest)}, over "
                f"{HOPELESS} times as long as with the fastest number type."
            )
        tried.append((shortest / n**3, n, run))
        if clock() - began + 4 * shortest * (larger / n) ** 3 > budget:
            break
    return sorted(tried)[:2]


def _timed(run, what, dtype, work, detail, budget, clock) -> Ceiling:
    limits = {"repeats": 5, "min_time": 0.7 * budget, "max_time": budget}
    found = benchmark(run, clock=clock, name=f"{what} {dtype}", **limits)
    return Ceiling(dtype, work, replace(found, notes=(detail, *found.notes)))


def _product(device, dtype, n):
    """A function that multiplies two square matrices on a device."""
    import numpy as np
    from keras import ops

    values = np.random.default_rng(0).random((2, n, n), dtype="float32") - 0.5
    with backend.on(device):
        a, b = (ops.cast(ops.convert_to_tensor(v), dtype) for v in values)
    compiled = backend.jit(ops.matmul)

    def run():
        with backend.on(device):
            return compiled(a, b)

    return run


def _pass(device, numbers):
    """A function that adds one array to another in place: a new one would time the allocator."""
    import keras

    with backend.on(device):
        total, ones = (keras.ops.full((numbers,), x, "float32") for x in (0.0, 1.0))
        if keras.backend.backend() == "jax":
            import jax

            add = jax.jit(lambda total, ones: total + ones, donate_argnums=0)  # into its own place

            def run():
                nonlocal total
                total = add(total, ones)
                return total

        else:
            import tensorflow as tf

            variable = tf.Variable(total)

            @tf.function(autograph=False)
            def run():
                variable.assign_add(ones)
                return variable[0]  # one number to wait for

    return run
