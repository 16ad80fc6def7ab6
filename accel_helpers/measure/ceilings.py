"""The best rates of the machine at hand, measured: what a training can be held against."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

from accel_helpers._values.records import positive
from accel_helpers._values.words import format_rate, format_seconds
from accel_helpers.machine import backend
from accel_helpers.machine.hardware import MARGIN
from accel_helpers.machine.quiet import held_back
from accel_helpers.measure import kernels, results
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.timing import benchmark

DTYPES = ("float32", "bfloat16", "float16")
FEW_SECONDS = 2  # for all ceilings: in less, large arrays take too long to make
HOPELESS = 20  # a number type that is so many times slower than the best is left out
SHARE = 0.5  # of what the chip allows: from there on, the chip is what bounds the work

# `MakeProduct` makes from number type and rows what multiplies two matrices; `MakePass` makes from
# a count of numbers what passes over two arrays.
MakeProduct = Callable[[str, int], Callable[[], object]]
MakePass = Callable[[int], Callable[[], object]]
Clock = Callable[[], float]  # returns seconds

__all__ = ["Ceilings", "bound_by", "measure"]


@dataclass(frozen=True)
class _Plan:
    """What is timed for the ceilings of a device, and for how long."""

    sizes: tuple[int, ...]  # rows of the square matrices to try, growing
    numbers: int  # in each array of the pass, 4 bytes each
    seconds: float = 1.0  # of timing for one ceiling


QUICK = _Plan((256, 512), 2**24)
CPU = _Plan((256, 512, 1024, 2048), 2**25)
ACCELERATOR = _Plan((1024, 2048, 4096, 8192), 2**27)


@dataclass(frozen=True)
class Ceiling:
    """One best rate of a device: of a matrix product, or of a pass over arrays (a copy)."""

    dtype: str  # such as "float32"
    work: float  # of one call: FLOP of a product, bytes read and written of a copy
    time: Measurement  # of one call; its first note is what exactly was run

    @property
    def rate(self) -> float:
        """The FLOP/s of a product or the B/s of a copy, by the median time."""
        return self.work / self.time.median

    @property
    def fastest(self) -> "Ceiling":
        """The same ceiling with only the shortest of its times."""
        fastest_call = min(self.time.samples)
        timing = Measurement((fastest_call,), name=self.time.name, notes=self.time.notes)
        return replace(self, time=timing)


@dataclass(frozen=True)
class Ceilings:
    """The ceilings of one device: the best product of each number type, and the best copy."""

    device: str  # one of `backend.devices`, such as "cpu"
    products: tuple[Ceiling, ...]  # one for each number type that could be measured
    copy: Ceiling
    notes: tuple[str, ...] = ()  # what was left out, and why

    @property
    def fastest(self) -> Self:
        """The same ceilings by their fastest calls, for a step that was timed by its fastest one.

        Noise only ever adds time, and on a busy machine it may add more to one than to the other.
        """
        products = tuple(product.fastest for product in self.products)
        copy = self.copy.fastest
        return replace(self, products=products, copy=copy)

    def record_as(self, prefix: str) -> tuple[dict[str, Measurement], dict[str, tuple[float, ...]]]:
        """Return measurements and numbers by the names that they have on a result card.

        A time is named as "PREFIX/product float32" or "PREFIX/copy float32"; the FLOP or bytes of
        one call have the same name with "/work" at its end.
        """
        ceilings: dict[str, Ceiling] = {}
        for product in self.products:
            ceilings[f"{prefix}/product {product.dtype}"] = product
        ceilings[f"{prefix}/copy {self.copy.dtype}"] = self.copy
        times: dict[str, Measurement] = {}
        work: dict[str, tuple[float, ...]] = {}
        for name, ceiling in ceilings.items():
            times[name] = ceiling.time
            work[f"{name}/work"] = (float(ceiling.work),)
        return times, work

    @classmethod
    def from_card(
        cls,
        measurements: Mapping[str, Measurement],
        numbers: Mapping[str, Sequence[float]],
        prefix: str,
        device: str = "cpu",
    ) -> Self:
        """Return the ceilings that `record_as` named for a card.

        `measurements` and `numbers` are those of the card; other names on it are left out. Raises
        ValueError if it has no copy under this prefix.
        """
        ceilings: dict[str, list[Ceiling]] = {"product": [], "copy": []}
        start = f"{prefix}/"
        for name, timing in measurements.items():
            name_of_work = f"{name}/work"
            if not name.startswith(start) or name_of_work not in numbers:
                continue
            # Such as "product float32".
            operation, dtype = name.removeprefix(start).split()
            [work] = numbers[name_of_work]
            ceiling = Ceiling(dtype, work, timing)
            ceilings[operation].append(ceiling)
        products = tuple(ceilings["product"])
        [copy] = ceilings["copy"]
        return cls(device, products, copy)

    def __str__(self) -> str:
        lines = []
        for product in self.products:
            rate = format_rate(product.rate, "FLOP/s")
            lines.append(f"matrix product, {product.dtype}, on {self.device}: {rate}")
        copy_rate = format_rate(self.copy.rate, "B/s")
        lines.append(f"memory, on {self.device}: {copy_rate}")
        for note in self.notes:
            lines.append(f"  Note: {note}")
        return "\n".join(lines)


BOUNDS = ("arithmetic", "memory", "neither", "above the ceiling")  # the verdicts of a Bound


@dataclass(frozen=True)
class Bound:
    """What bounds a piece of work, and how much of that limit it reaches."""

    verdict: str  # one of `BOUNDS`
    share: float  # the rate over the attainable rate; 1 at the limit


def bound_by(work: Any, seconds: float | Measurement, ceilings: Ceilings) -> Bound:
    """Return what bounds a piece of work: arithmetic, memory, or neither of them.

    Work that does few operations per byte waits for memory, work that does many for arithmetic:
    the roofline of Williams, Waterman and Patterson (2009), https://doi.org/10.1145/1498765.1498785

    The `share` is of what is attainable at so many operations per byte. The `verdict` is
    "arithmetic" or "memory" from one half on; "neither" below, so that something else bounds it,
    such as Python between steps; "above the ceiling" where it is faster than can be: the time or
    the count is wrong, or the data stayed in the chip's own memory.

    Parameters
    ----------
    work : StepWork
        Or anything else with `flops`, in float32, and `bytes`, both above zero.
    seconds : float or Measurement
        How long the work took; a Measurement counts by its median.
    ceilings : Ceilings
        Of the device on which it ran, with a product in float32.

    Returns
    -------
    Bound
        With `verdict` and `share`.

    Raises
    ------
    ValueError
        If `seconds` is no finite number above zero.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> times = Measurement.from_samples([1.0])
    >>> product, copy = (Ceiling("float32", work, times) for work in (100e9, 10e9))
    >>> bound_by(SimpleNamespace(flops=2e9, bytes=5e9), 1.0, Ceilings("cpu", (product,), copy))
    Bound(verdict='memory', share=0.5)
    """
    duration = positive(getattr(seconds, "median", seconds), "seconds")
    rate = work.flops / duration
    product_rates = {product.dtype: product.rate for product in ceilings.products}
    peak = product_rates["float32"]
    intensity = work.flops / work.bytes
    rate_of_memory = intensity * ceilings.copy.rate
    attainable = min(peak, rate_of_memory)
    share = rate / attainable
    if share > MARGIN:
        return Bound("above the ceiling", share)
    if share < SHARE:
        return Bound("neither", share)
    if peak <= rate_of_memory:
        return Bound("arithmetic", share)
    return Bound("memory", share)


def measure(
    device: str = "cpu",
    *,
    seconds: float | None = None,
    keep: str = "",
    clock: Clock = time.perf_counter,
    make_product: MakeProduct | None = None,
    make_pass: MakePass | None = None,
) -> Ceilings:
    """Measure the best rates of a device with the framework under Keras.

    The best product of two square matrices for every number type, and the best pass over arrays
    far too large for the chip's own, faster memory; by the median, as a training is measured. Of
    growing sizes the best is timed anew, so that the figure is not the luckiest of many. A number
    type that cannot be multiplied here, or over 20 times slower than the best, gets a note instead.

    Parameters
    ----------
    device : str, optional
        One of `backend.devices`.
    seconds : float, optional
        About how long it may take; in less than two, sizes are small, too.
    keep : str, optional
        The prefix of the names on the result card, such as "03/ceiling"; "" saves nothing.
    clock : callable, optional
        For tests: returns the time in seconds.
    make_product : callable, optional
        For tests: makes, from number type and rows, a function that multiplies two matrices.
    make_pass : callable, optional
        For tests: makes, from how many numbers an array has, a function that passes over arrays.

    Returns
    -------
    Ceilings
        With `products`, `copy`, and `notes` on what is left out.

    Raises
    ------
    ValueError
        If there is no such device.
    RuntimeError
        If no number type could be measured.

    Examples
    --------
    >>> [product.rate > 0 for product in measure("cpu", seconds=0.5).products][0]
    True
    """
    plan = _plan(device, seconds)
    if make_product is None:
        make_product = partial(kernels.product, device)
    if make_pass is None:
        make_pass = partial(kernels.array_pass, device)
    copy = _measure_pass(make_pass, plan, clock)
    products = []
    notes = []
    fastest: dict[int, float] = {}
    for dtype in DTYPES:
        try:
            trials = _find_best_sizes(make_product, dtype, plan, clock, fastest)
        except Exception as error:  # a framework raises what it likes where a type is unknown to it
            notes.append(f"{dtype} is left out: {_reason(error)}")
            continue
        products.append(_measure_best_product(trials, dtype, plan, clock))
    if not products:
        reasons = " ".join(notes)
        raise RuntimeError(f"no matrix product could be measured on {device}. {reasons}")
    ceilings = Ceilings(device, tuple(products), copy, tuple(notes))
    measurements, numbers = ceilings.record_as(keep)
    results.keep(keep, measurements, numbers)
    return ceilings


def _plan(device: str, seconds: float | None) -> _Plan:
    """Return what to time on a device in about so many seconds in all; None: as long as usual."""
    plan = CPU if device == "cpu" else ACCELERATOR
    if seconds is None:
        return plan
    if seconds < FEW_SECONDS:
        plan = QUICK
    # A ceiling for each number type and for memory; making the arrays takes about as long as one.
    parts = len(DTYPES) + 2
    return replace(plan, seconds=seconds / parts)


def _reason(error: Exception) -> str:
    """Return the first 160 characters of an error's first line, or its type if it has no text."""
    text = str(error).strip()
    if not text:
        return type(error).__name__
    first_line = text.splitlines()[0]
    return first_line[:160]


@dataclass(frozen=True)
class _Trial:
    """A product of two matrices of one size, called a few times."""

    size: int  # rows of the square matrices
    seconds: float  # of the fastest call
    run: Callable[[], object]  # multiplies them once


def _find_best_sizes(
    make_product: MakeProduct, dtype: str, plan: _Plan, clock: Clock, fastest: dict[int, float]
) -> list[_Trial]:
    """Return trials of the two sizes with the best rates, the better one first; one at least.

    Sizes that would take longer than half of `plan.seconds` are not tried. `fastest` has the
    seconds of each size with the fastest number type so far, and is updated. Raises RuntimeError
    for a number type that is far slower than that, and the framework's error for an unknown one.
    """
    deadline = clock() + plan.seconds / 2
    trials: list[_Trial] = []
    for size in plan.sizes:
        if trials and clock() + _expected_seconds(trials[-1], size) > deadline:
            break
        trial = _try_size(make_product, dtype, size, clock, deadline)
        fastest[size] = min(trial.seconds, fastest.get(size, trial.seconds))
        if trial.seconds > HOPELESS * fastest[size]:
            duration = format_seconds(trial.seconds)
            raise RuntimeError(
                f"a product of two {size} x {size} matrices takes {duration}, over {HOPELESS} "
                "times as long as with the fastest number type."
            )
        trials.append(trial)
    by_rate = sorted(trials, key=lambda trial: trial.seconds / trial.size**3)
    return by_rate[:2]


def _expected_seconds(trial: _Trial, size: int) -> float:
    """Return the seconds that the four calls of a trial of another `size` will take in all."""
    growth = size / trial.size
    return 4 * trial.seconds * growth**3


def _try_size(
    make_product: MakeProduct, dtype: str, size: int, clock: Clock, deadline: float
) -> _Trial:
    """Return a trial of one size: one call to compile, then three, or fewer from `deadline` on."""
    with held_back():  # TensorFlow remarks there how it will multiply float16
        run = make_product(dtype, size)
        backend.wait(run())
    shortest = math.inf
    for _ in range(3):
        start = clock()
        backend.wait(run())
        elapsed = clock() - start
        shortest = min(shortest, elapsed)
        if clock() > deadline:
            break
    # A coarse clock may say zero.
    return _Trial(size, max(shortest, 1e-9), run)


def _measure_best_product(trials: list[_Trial], dtype: str, plan: _Plan, clock: Clock) -> Ceiling:
    """Time the product of each trial anew, and return the ceiling with the best rate."""
    seconds = plan.seconds / 2 / len(trials)
    ceilings = []
    for trial in trials:
        size = trial.size
        detail = f"{size} x {size} matrices: 2 x {size}³ operations"
        timing = _time(trial.run, f"product {dtype}", detail, seconds, clock)
        ceiling = Ceiling(dtype, 2 * size**3, timing)
        ceilings.append(ceiling)
    return max(ceilings, key=lambda ceiling: ceiling.rate)


def _measure_pass(make_pass: MakePass, plan: _Plan, clock: Clock) -> Ceiling:
    """Return the ceiling of memory: a pass over two arrays, timed."""
    count = plan.numbers
    run = make_pass(count)
    detail = f"{count:,} numbers added to {count:,} in place: 2 read, 1 written, 4 bytes each"
    timing = _time(run, "copy float32", detail, plan.seconds, clock)
    moved_bytes = 3 * 4 * count
    return Ceiling("float32", moved_bytes, timing)


def _time(
    run: Callable[[], object], name: str, detail: str, seconds: float, clock: Clock
) -> Measurement:
    """Return the time of a call of `run`, measured for at most `seconds` where calls are short.

    Its first note is `detail`, which says what was run.
    """
    min_time = 0.7 * seconds
    timing = benchmark(run, clock=clock, name=name, repeats=5, min_time=min_time, max_time=seconds)
    notes = (detail, *timing.notes)
    return replace(timing, notes=notes)
