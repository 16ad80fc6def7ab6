"""The best rates of the machine at hand, measured: what a training can be held against.

Two rates bound what a chip does. *Operations*: the best product of two square matrices. *Memory*:
the best pass over arrays that are far too large for the chip's own, faster memory.

A published peak says what the chip could do; a measured ceiling says what *this* machine does,
through the same framework as the training. They are measured as a training is: by the median.
A minimum would fall the longer one looks, and no training runs at its luckiest moment.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from accel_helpers._records import positive
from accel_helpers._words import format_rate, format_seconds, percent
from accel_helpers.machine.hardware import MARGIN
from accel_helpers.machine.quiet import held_back
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.timing import benchmark

DTYPES = ("float32", "bfloat16", "float16")
# Rows of the matrices; numbers of 4 bytes in an array, 67 to 537 MB; seconds for one ceiling
QUICK = (256, 512), 2**24, 0.15
CPU, ACCELERATOR = ((256, 512, 1024, 2048), 2**25, 1.0), ((1024, 2048, 4096, 8192), 2**27, 1.0)
HOPELESS = 20  # a number type that is so many times slower than the best is left out
SHARE = 0.5  # of what the chip allows: from there on, the chip is what bounds the work

__all__ = ["Ceilings", "bound_by", "measure"]


@dataclass(frozen=True)
class Ceiling:
    """One best rate of a device: the `time` of so much `work`, in FLOP or in bytes moved.

    `what` is "matrix product" or "copy" (a pass over memory), `detail` what exactly was run.
    """

    what: str
    dtype: str
    device: str
    work: float
    time: Measurement
    detail: str = ""

    @property
    def rate(self) -> float:
        """Work per second of the median."""
        return self.work / self.time.median

    def __str__(self) -> str:
        product = self.what == "matrix product"
        kind = f"{self.what}, {self.dtype}" if product else "memory"
        rate = format_rate(self.rate, "FLOP/s" if product else "B/s")
        scale = self.rate / float(rate.split()[0])  # the ends of the interval in the same unit
        low, high = (f"{self.work / end / scale:.3g}" for end in self.time.interval[::-1])
        return f"{kind}, on {self.device}: {rate} (interval {low} to {high}; {self.detail})"


@dataclass(frozen=True)
class Ceilings:
    """The ceilings of one device: the best `products` of its number types, the best `copy`."""

    device: str
    products: tuple[Ceiling, ...]
    copy: Ceiling
    notes: tuple[str, ...] = ()  # what was left out, and why

    def product(self, dtype: str = "float32") -> Ceiling:
        """The ceiling of a number type; a ValueError where it was not measured."""
        for product in self.products:
            if product.dtype == dtype:
                return product
        raise ValueError(f"no ceiling for {dtype!r} on {self.device}. {' '.join(self.notes)}")

    def record_as(self, prefix: str) -> tuple[dict[str, Measurement], dict[str, tuple[float, ...]]]:
        """Measurements and numbers for `results.record`, "PREFIX/product float32" and so on.

        The numbers, "PREFIX/product float32/work", are operations or bytes of one call.
        """
        named = {f"{prefix}/product {product.dtype}": product for product in self.products}
        named[f"{prefix}/copy {self.copy.dtype}"] = self.copy
        return (
            {name: ceiling.time for name, ceiling in named.items()},
            {f"{name}/work": (float(ceiling.work),) for name, ceiling in named.items()},
        )

    @classmethod
    def from_card(
        cls,
        measurements: Mapping[str, Measurement],
        numbers: Mapping[str, Sequence[float]],
        prefix: str,
        device: str = "cpu",
    ) -> Ceilings:
        """The ceilings that `record_as` put on a card; a ValueError where it has none."""
        found = []
        for name, seconds in measurements.items():
            what, _, dtype = name.removeprefix(f"{prefix}/").partition(" ")
            if name != f"{prefix}/{what} {dtype}" or what not in ("product", "copy"):
                continue
            work = tuple(numbers.get(f"{name}/work", ()))
            if len(work) != 1 or not work[0] > 0:
                raise ValueError(f"the card needs one number above zero named {name + '/work'!r}.")
            what = "matrix product" if what == "product" else what
            detail = seconds.notes[0] if seconds.notes else ""
            found.append(Ceiling(what, dtype, device, work[0], seconds, detail))
        copies = [each for each in found if each.what == "copy"]
        if len(copies) != 1 or len(found) < 2:
            raise ValueError(f"the card needs products and one copy of {prefix!r}.")
        return cls(device, tuple(each for each in found if each.what != "copy"), copies[0])

    def __str__(self) -> str:
        lines = [str(ceiling) for ceiling in (*self.products, self.copy)]
        return "\n".join(lines + [f"  Note: {note}" for note in self.notes])


@dataclass(frozen=True)
class Bound:
    """What bounds a piece of work."""

    verdict: str
    share: float  # of what is attainable at this intensity
    reason: str

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}"


def bound_by(
    work,
    seconds: float | Measurement,
    ceilings: Ceilings,
    *,
    dtype: str = "float32",
) -> Bound:
    """Say what bounds a piece of work: arithmetic, memory, or neither of them.

    Work that does few operations per byte waits for memory, work that does many waits for
    arithmetic: the roofline of Williams, Waterman and Patterson (2009, Communications of the ACM
    52, number 4, https://doi.org/10.1145/1498765.1498785).

    Parameters
    ----------
    work : work.StepWork
        Or anything else that knows its `flops` and `bytes`.
    seconds : float or Measurement
        How long it takes; the median of a Measurement.
    ceilings : Ceilings
        Of the device on which it ran.
    dtype : str, optional
        The number type of its matrix products.

    Returns
    -------
    Bound
        Its verdict is "arithmetic" or "memory" where it reaches at least half of what that
        ceiling allows; "neither" where it reaches less, so that something else bounds it, such as
        Python between steps; "above the ceiling" where it is faster than can be: the time or the
        count is wrong, or the data stayed in the chip's own memory.

    Raises
    ------
    ValueError, TypeError
        If a quantity is missing or not above zero.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> one = Measurement.from_samples([1.0])
    >>> product = Ceiling("matrix product", "float32", "cpu", 100e9, one)
    >>> ceilings = Ceilings("cpu", (product,), Ceiling("copy", "float32", "cpu", 10e9, one))
    >>> work = SimpleNamespace(flops=2e9, bytes=5e9)
    >>> print(bound_by(work, 1.0, ceilings))
    memory: 2 GFLOP/s is 50 % of the 4 GFLOP/s that memory allows at 0.4 FLOP per byte.
    """
    flops = positive(getattr(work, "flops", None), "work.flops")
    moved = positive(getattr(work, "bytes", None), "work.bytes")
    seconds = positive(getattr(seconds, "median", seconds), "seconds")
    intensity, rate, ceiling = flops / moved, flops / seconds, ceilings.product(dtype).rate
    attainable = min(ceiling, intensity * ceilings.copy.rate)
    share, lower = rate / attainable, "arithmetic" if ceiling <= attainable else "memory"
    reason = (
        f"{format_rate(rate, 'FLOP/s')} is {percent(share)} of the "
        f"{format_rate(attainable, 'FLOP/s')} that {lower} allows at {intensity:.3g} FLOP per byte."
    )
    verdict = lower if share >= SHARE else "neither"
    if share > MARGIN:
        verdict = "above the ceiling"
        reason += (
            " Either the time or the count is wrong, or the data stayed in the chip's own memory "
            "and fewer bytes were moved than counted, or the ceiling was measured too low."
        )
    elif verdict == "neither":
        reason += " Something else takes most of the time, such as Python between two steps."
    return Bound(verdict, share, reason)


def measure(
    device: str = "cpu",
    *,
    dtypes: Sequence[str] = DTYPES,
    quick: bool = False,
    clock: Callable[[], float] = time.perf_counter,
    make_product: Callable[[str, int], Callable[[], object]] | None = None,
    make_pass: Callable[[int], Callable[[], object]] | None = None,
) -> Ceilings:
    """Measure the best rates of a device with the framework under Keras.

    Every number type gets about a second: products of growing size are tried a few times each, and
    the best size is then timed anew, so that the figure is not the luckiest of many.

    Parameters
    ----------
    device : str, optional
        One of `backend.devices`.
    dtypes : sequence of str, optional
        Number types. One that the framework cannot multiply here, or that is over 20 times slower
        than the best, is left out, and a note says so.
    quick : bool, optional
        Small sizes and a fraction of the time: for a test, not for a result.
    clock, make_product, make_pass : callable, optional
        What tells the time in seconds, and what makes the functions that are timed, from number
        type and size and from how many numbers.

    Returns
    -------
    Ceilings

    Raises
    ------
    ValueError
        If there is no such device, or no number types are given.
    RuntimeError
        If no number type can be multiplied, or Keras runs on another framework.
    """
    if isinstance(dtypes, str) or not dtypes:
        raise ValueError(f"dtypes must be a list such as ['float32']; got {dtypes!r}.")
    sizes, numbers, budget = QUICK if quick else CPU if device == "cpu" else ACCELERATOR
    make_product = make_product or _product_on(device)
    products, notes, fastest = [], [], {}
    for dtype in dtypes:
        try:
            tried = _try_sizes(make_product, dtype, sizes, budget / 2, clock, fastest)
        except Exception as error:  # a framework raises what it likes where a type is unknown to it
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            notes.append(f"{dtype} is left out: {reason[:160]}")
            continue
        found = []
        best = sorted(tried, key=lambda n: tried[n][0] / n**3)[:2]
        for n in best:
            detail, share = f"{n} x {n} matrices: 2 x {n}³ operations", budget / 2 / len(best)
            timed = _timed(tried[n][1], f"product {dtype}", detail, share, clock)
            found.append(Ceiling("matrix product", dtype, device, 2 * n**3, timed, detail))
        fastest |= {n: min(spent, fastest.get(n, spent)) for n, (spent, _) in tried.items()}
        products.append(max(found, key=lambda ceiling: ceiling.rate))
    if not products:
        raise RuntimeError(f"no matrix product could be measured on {device}. {' '.join(notes)}")
    run = (make_pass or _pass_on(device))(numbers)
    detail = f"{numbers:,} numbers added to {numbers:,} in place: 2 read, 1 written, 4 bytes each"
    timed = _timed(run, "copy float32", detail, budget, clock)
    copy = Ceiling("copy", "float32", device, 12 * numbers, timed, detail)
    return Ceilings(device, tuple(products), copy, tuple(notes))


def _try_sizes(make_product, dtype, sizes, budget, clock, fastest):
    """Time each size a few times, and stop before one that would take too long."""
    from accel_helpers.machine import backend

    tried, began = {}, clock()
    for n, larger in zip(sizes, [*sizes[1:], math.inf], strict=True):
        shortest = math.inf
        with held_back():  # TensorFlow remarks there how it will multiply float16
            run = make_product(dtype, n)
            backend.wait(run())  # compiles
        for _ in range(3):
            start = clock()
            backend.wait(run())
            shortest = min(shortest, clock() - start)
            if clock() - began > budget:
                break
        if shortest > HOPELESS * fastest.get(n, shortest):
            raise RuntimeError(
                f"a product of two {n} x {n} matrices takes {format_seconds(shortest)}, over "
                f"{HOPELESS} times as long as with the fastest number type."
            )
        tried[n] = (max(shortest, 1e-9), run)
        if clock() - began + 4 * shortest * (larger / n) ** 3 > budget:
            break
    return tried


def _timed(run, name, detail, budget, clock) -> Measurement:
    limits = {"repeats": 5, "min_time": 0.7 * budget, "max_time": budget}
    found = benchmark(run, clock=clock, name=name, **limits)
    return replace(found, notes=(detail, *found.notes))


def _product_on(device):
    """Make functions that multiply two square matrices on a device."""
    from accel_helpers.machine import backend

    def make(dtype, n):
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

    backend.on(device)  # says now where there is no such device
    return make


def _pass_on(device):
    """Make functions that add one array to another where it lies.

    In place, since a new array for every result would measure how fast the system hands out
    memory, which on a CPU can be far slower than the memory itself.
    """
    from accel_helpers.machine import backend

    def make(numbers):
        import keras

        name = keras.backend.backend()
        passes = {"tensorflow": _pass_tensorflow, "jax": _pass_jax}
        if name not in passes:
            raise RuntimeError(f"ceilings need TensorFlow or JAX; Keras runs on {name}.")
        with backend.on(device):
            return passes[name](*(keras.ops.full((numbers,), x, "float32") for x in (0.0, 1.0)))

    return make


def _pass_tensorflow(total, ones):
    import tensorflow as tf

    variable = tf.Variable(total)

    @tf.function(autograph=False)
    def run():
        variable.assign_add(ones)
        return variable[0]  # one number to wait for

    return run


def _pass_jax(total, ones):
    import jax

    add = jax.jit(lambda total, ones: total + ones, donate_argnums=0)  # into its own place
    held = [total]

    def run():
        held[0] = add(held[0], ones)
        return held[0]

    return run
