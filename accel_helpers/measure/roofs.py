"""The ceilings of a machine as values, and what they say about a piece of work.

`ceilings` measures them and hands these names on. Work that does few operations per byte waits for
memory, work that does many waits for arithmetic: the roofline of Williams, Waterman and Patterson
(2009, Communications of the ACM 52, number 4, https://doi.org/10.1145/1498765.1498785).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accel_helpers._words import percent
from accel_helpers.machine.hardware import MARGIN
from accel_helpers.measure.measurement import Measurement

SHARE = 0.5  # of what the chip allows: from there on, the chip is what bounds the work


@dataclass(frozen=True)
class Ceiling:
    """One best rate of a device.

    Attributes
    ----------
    what : str
        "matrix product" or "copy" (a pass over memory).
    dtype : str
        The number type.
    device : str
        "cpu", "gpu" or "tpu".
    work : float
        Operations (FLOP) of one product, or bytes read and written in one pass.
    time : Measurement
        Seconds of it.
    detail : str
        What exactly was run.

    Examples
    --------
    >>> time = Measurement.from_samples([0.001, 0.0011, 0.001, 0.001, 0.0012])
    >>> print(Ceiling("matrix product", "float32", "cpu", 2 * 512**3, time, "512 x 512"))
    matrix product, float32, on cpu: 268 GFLOP/s (interval 229 to 280; 512 x 512)
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

    @property
    def unit(self) -> str:
        """FLOP/s or B/s."""
        return "FLOP/s" if self.what == "matrix product" else "B/s"

    def to_dict(self) -> dict:
        """The ceiling as plain JSON types."""
        return {
            "what": self.what,
            "dtype": self.dtype,
            "device": self.device,
            "work": self.work,
            "time": self.time.to_dict(),
            "detail": self.detail,
            "rate": self.rate,
            "unit": self.unit,
        }

    def __str__(self) -> str:
        kind = f"{self.what}, {self.dtype}" if self.what == "matrix product" else "memory"
        rate = format_rate(self.rate, self.unit)
        scale = self.rate / float(rate.split()[0])  # the ends of the interval in the same unit
        low, high = (f"{self.work / end / scale:.3g}" for end in self.time.interval[::-1])
        return f"{kind}, on {self.device}: {rate} (interval {low} to {high}; {self.detail})"


@dataclass(frozen=True)
class Ceilings:
    """The ceilings of one device.

    Attributes
    ----------
    device : str
    products : tuple of Ceiling
        The best matrix product of every number type.
    copy : Ceiling
        The best pass over memory.
    notes : tuple of str
        What was left out, and why.
    """

    device: str
    products: tuple[Ceiling, ...]
    copy: Ceiling
    notes: tuple[str, ...] = ()

    def product(self, dtype: str = "float32") -> Ceiling:
        """The ceiling of a number type; a ValueError where it was not measured."""
        found = {product.dtype: product for product in self.products}
        if dtype not in found:
            raise ValueError(
                f"no ceiling was measured for {dtype!r} on {self.device}; measured: "
                f"{', '.join(found)}. {' '.join(self.notes)}".rstrip()
            )
        return found[dtype]

    def ridge(self, dtype: str = "float32") -> float:
        """FLOP per byte from which on arithmetic is the lower of the two ceilings."""
        return self.product(dtype).rate / self.copy.rate

    def attainable(self, intensity: float, dtype: str = "float32") -> float:
        """The rate (FLOP/s) that work with so many operations per byte can reach at most."""
        if not (math.isfinite(intensity) and intensity > 0):
            raise ValueError(f"intensity must be FLOP per byte, above zero; got {intensity!r}.")
        return min(self.product(dtype).rate, intensity * self.copy.rate)

    def record_as(self, prefix: str) -> tuple[dict[str, Measurement], dict[str, tuple[float, ...]]]:
        """The ceilings as what `results.record` takes: measurements, and numbers.

        Parameters
        ----------
        prefix : str
            What the names begin with, such as "03/ceiling".

        Returns
        -------
        tuple of dict
            Names such as "03/ceiling/product float32" to the Measurement, and the same name with
            "/work" to the operations or bytes of one call.
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
        """The ceilings that `record_as` put on a card.

        Parameters
        ----------
        measurements, numbers : mapping
            Those of the card; what has another prefix is passed over.
        prefix : str
            As in `record_as`.
        device : str, optional
            Where they were measured.

        Returns
        -------
        Ceilings

        Raises
        ------
        ValueError
            If the card has no such ceilings, or one without its work.
        """
        products, copies = [], []
        for name, seconds in measurements.items():
            kind, _, dtype = name[len(prefix) + 1 :].partition(" ")
            if not name.startswith(f"{prefix}/") or kind not in ("product", "copy"):
                continue
            work = tuple(numbers.get(f"{name}/work", ()))
            if len(work) != 1 or not (math.isfinite(work[0]) and work[0] > 0):
                raise ValueError(
                    f"the card needs one number above zero named {name + '/work'!r}; it has "
                    f"{list(work) or 'none'}."
                )
            what = "matrix product" if kind == "product" else "copy"
            detail = seconds.notes[0] if seconds.notes else ""
            found = Ceiling(what, dtype, device, work[0], seconds, detail)
            (products if kind == "product" else copies).append(found)
        if not products or len(copies) != 1:
            raise ValueError(
                f"the card needs ceilings named '{prefix}/product float32' and '{prefix}/copy "
                f"float32'; it has {len(products)} products and {len(copies)} copies there."
            )
        return cls(device, tuple(products), copies[0])

    def to_dict(self) -> dict:
        """The ceilings as plain JSON types."""
        return {
            "device": self.device,
            "products": [product.to_dict() for product in self.products],
            "copy": self.copy.to_dict(),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [str(ceiling) for ceiling in (*self.products, self.copy)]
        return "\n".join(lines + [f"  Note: {note}" for note in self.notes])


@dataclass(frozen=True)
class Bound:
    """What bounds a piece of work, as one word and a sentence.

    Attributes
    ----------
    verdict : str
        "arithmetic" or "memory": it reaches at least half of what that ceiling allows. "neither":
        it reaches less, so something else than the chip bounds it, such as Python between steps.
        "above the ceiling": it is faster than can be, so the time or the count is wrong, or the
        data stayed in the chip's own memory.
    share : float
        Rate reached over the rate that is attainable at this intensity.
    rate, attainable : float
        In FLOP/s.
    intensity, ridge : float
        In FLOP per byte.
    reason : str
    """

    verdict: str
    share: float
    rate: float
    attainable: float
    intensity: float
    ridge: float
    reason: str

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}"


def bound_by(
    work,
    seconds: float | Measurement,
    ceilings: Ceilings,
    *,
    bytes_moved: float | None = None,
    dtype: str = "float32",
) -> Bound:
    """Say what bounds a piece of work: arithmetic, memory, or neither of them.

    Parameters
    ----------
    work : work.StepWork or float
        Something that knows its `flops` and `bytes`, or operations (FLOP), with `bytes_moved`.
    seconds : float or Measurement
        How long it takes; the median of a Measurement.
    ceilings : Ceilings
        Of the device on which it ran.
    bytes_moved : float, optional
        Bytes read and written, where `work` is a number.
    dtype : str, optional
        The number type of its matrix products.

    Returns
    -------
    Bound

    Raises
    ------
    ValueError, TypeError
        If a quantity is missing or not above zero.

    Examples
    --------
    >>> one = Measurement.from_samples([1.0])
    >>> product = Ceiling("matrix product", "float32", "cpu", 100e9, one)
    >>> ceilings = Ceilings("cpu", (product,), Ceiling("copy", "float32", "cpu", 10e9, one))
    >>> print(bound_by(2e9, 1.0, ceilings, bytes_moved=5e9))  # doctest: +NORMALIZE_WHITESPACE
    memory: 2 GFLOP/s is 50 % of the 4 GFLOP/s that memory allows at 0.4 FLOP per byte.
    """
    flops = getattr(work, "flops", work)
    moved = getattr(work, "bytes", None) if bytes_moved is None else bytes_moved
    seconds = seconds.median if isinstance(seconds, Measurement) else seconds
    for name, value in (("work", flops), ("bytes_moved", moved), ("seconds", seconds)):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(
                f"bound_by: {name} must be a number; got {value!r:.60}. Give work that knows its "
                "flops and bytes, or give operations and bytes_moved."
            )
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"bound_by: {name} must be finite and above zero; got {value!r}.")
    intensity, rate, ridge = flops / moved, flops / seconds, ceilings.ridge(dtype)
    attainable = ceilings.attainable(intensity, dtype)
    share, lower = rate / attainable, "arithmetic" if intensity >= ridge else "memory"
    reason = (
        f"{format_rate(rate, 'FLOP/s')} is {percent(share)} of the "
        f"{format_rate(attainable, 'FLOP/s')} that {lower} allows at {intensity:.3g} FLOP per byte."
    )
    if share > MARGIN:
        verdict = "above the ceiling"
        reason += (
            " Either the time or the count is wrong, or the data stayed in the chip's own memory "
            "and fewer bytes were moved than counted, or the ceiling was measured too low."
        )
    elif share >= SHARE:
        verdict = lower
    else:
        verdict = "neither"
        reason += " Something else takes most of the time, such as Python between two steps."
    return Bound(verdict, share, rate, attainable, intensity, ridge, reason)


def format_rate(value: float, unit: str) -> str:
    """A rate with three digits and the prefix that suits it.

    Examples
    --------
    >>> format_rate(123_456_000_000, "FLOP/s"), format_rate(2.5e7, "B/s")
    ('123 GFLOP/s', '25 MB/s')
    """
    power = 0
    while value >= 999.5 and power < 5:
        value, power = value / 1000, power + 1
    return f"{value:.3g} {' kMGTP'[power].strip()}{unit}"
