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
from collections.abc import Callable, Sequence

from accel_helpers._words import format_seconds
from accel_helpers.machine.quiet import held_back
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.roofs import Bound, Ceiling, Ceilings, bound_by, format_rate
from accel_helpers.measure.timing import benchmark

DTYPES = ("float32", "bfloat16", "float16")
CPU_SIZES, LARGE_SIZES, QUICK_SIZES = (256, 512, 1024, 2048), (1024, 2048, 4096, 8192), (256, 512)
CPU_ARRAY, LARGE_ARRAY, QUICK_ARRAY = 2**25, 2**27, 2**24  # numbers of 4 bytes: 134, 537, 67 MB
BUDGET, QUICK_BUDGET = 1.0, 0.15  # seconds for one ceiling
HOPELESS = 20  # a number type that is so many times slower than the best is left out

__all__ = ["Bound", "Ceiling", "Ceilings", "bound_by", "format_rate", "measure"]


def measure(
    device: str = "cpu",
    *,
    dtypes: Sequence[str] = DTYPES,
    sizes: Sequence[int] | None = None,
    numbers: int | None = None,
    quick: bool = False,
    clock: Callable[[], float] = time.perf_counter,
    progress: Callable[[str], None] | None = None,
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
    sizes : sequence of int, optional
        Rows of the square matrices, from small to large; larger ones on an accelerator by default.
    numbers : int, optional
        How many numbers (float32) each of the two arrays has that pass through memory.
    quick : bool, optional
        Small sizes and a fraction of the time: for a test, not for a result.
    clock : callable, optional
        Returns the time in seconds.
    progress : callable, optional
        Called with a line of text before each.
    make_product, make_pass : callable, optional
        Make the function that is timed, from number type and size, and from how many numbers. By
        default products and passes of the framework under Keras.

    Returns
    -------
    Ceilings

    Raises
    ------
    ValueError
        If there is no such device, or no number types or sizes are given.
    RuntimeError
        If no number type can be multiplied, or Keras runs on another framework.
    """
    if isinstance(dtypes, str) or not dtypes:
        raise ValueError(f"dtypes must be a list such as ['float32']; got {dtypes!r}.")
    large = device != "cpu"
    if sizes is None:
        sizes = QUICK_SIZES if quick else LARGE_SIZES if large else CPU_SIZES
    if numbers is None:
        numbers = QUICK_ARRAY if quick else LARGE_ARRAY if large else CPU_ARRAY
    if not sizes or not all(isinstance(n, int) and n > 0 for n in (*sizes, numbers)):
        raise ValueError(f"sizes and numbers must be whole and above zero; got {sizes}, {numbers}.")
    make_product = make_product or _product_on(device)
    budget, say = QUICK_BUDGET if quick else BUDGET, progress or (lambda line: None)
    products, notes, fastest = [], [], {}
    for dtype in dtypes:
        say(f"{device}: matrix products in {dtype}")
        try:
            products.append(
                _best_product(make_product, dtype, sorted(sizes), device, budget, clock, fastest)
            )
        except Exception as error:  # a framework raises what it likes where a type is unknown to it
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            notes.append(f"{dtype} is left out: {reason[:160]}")
    if not products:
        raise RuntimeError(f"no matrix product could be measured on {device}. {' '.join(notes)}")
    say(f"{device}: a pass over memory")
    run = (make_pass or _pass_on(device))(numbers)
    detail = f"{numbers:,} numbers added to {numbers:,} in place: 2 read, 1 written, 4 bytes each"
    timed = _timed(run, "copy float32", detail, budget, clock)
    copy = Ceiling("copy", "float32", device, 12 * numbers, timed, detail)
    return Ceilings(device, tuple(products), copy, tuple(notes))


# ---------------------------------------------------------------------------------------------


class _TooSlow(Exception):
    """A number type that nobody would compute with here."""


def _best_product(make_product, dtype, sizes, device, budget, clock, fastest) -> Ceiling:
    """Try the sizes, time the two best ones anew, and keep the better one."""
    tried = _try_sizes(make_product, dtype, sizes, budget / 2, clock, fastest)
    best = sorted(tried, key=lambda n: tried[n][0] / n**3)[:2]
    found = []
    for n in best:
        detail = f"{n} x {n} matrices: 2 x {n}³ operations"
        timed = _timed(tried[n][1], f"product {dtype}", detail, budget / 2 / len(best), clock)
        found.append(Ceiling("matrix product", dtype, device, 2 * n**3, timed, detail))
    fastest |= {n: min(seconds, fastest.get(n, seconds)) for n, (seconds, _) in tried.items()}
    return max(found, key=lambda ceiling: ceiling.rate)


def _try_sizes(make_product, dtype, sizes, budget, clock, fastest):
    """Time each size a few times, and stop before one that would take too long."""
    from accel_helpers.machine import backend

    tried, began = {}, clock()
    for n in sizes:
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
            raise _TooSlow(
                f"a product of two {n} x {n} matrices takes {format_seconds(shortest)}, over "
                f"{HOPELESS} times as long as with the fastest number type."
            )
        tried[n] = (max(shortest, 1e-9), run)
        larger = [size for size in sizes if size > n][:1]
        if larger and clock() - began + 4 * shortest * (larger[0] / n) ** 3 > budget:
            break
    return tried


def _timed(run, name, detail, budget, clock) -> Measurement:
    found = benchmark(
        run, clock=clock, repeats=5, min_time=0.7 * budget, max_time=budget, name=name
    )
    return Measurement.from_samples(
        found.samples,
        first_call=found.first_call,
        name=name,
        calls_per_sample=found.calls_per_sample,
        notes=(detail, *found.notes),
    )


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
        with backend.on(device):
            total, ones = (keras.ops.full((numbers,), x, "float32") for x in (0.0, 1.0))
            if name == "tensorflow":
                return _pass_tensorflow(total, ones)
            if name == "jax":
                return _pass_jax(total, ones)
        raise RuntimeError(f"ceilings are measured on TensorFlow and JAX; Keras runs on {name}.")

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
