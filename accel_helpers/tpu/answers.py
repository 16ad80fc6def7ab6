"""What the TPU compiler says of a training step, as one value that reads well."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass, fields

from accel_helpers._words import format_bytes, format_count, html_card
from accel_helpers.tpu.report import Allocation, Collective

UNKNOWN = "not known"
NOT_WRITTEN = "the step could not be written down"
SPOKEN = {"tensorflow": "TensorFlow", "jax": "JAX"}


@dataclass(frozen=True)
class CompiledStep:
    """A training step, as the compiler for a TPU sees it. No TPU was used.

    Attributes
    ----------
    name : str
        The model's name.
    backend : str
        The framework that wrote the step down: "tensorflow" or "jax".
    batch_size : int
        Samples in the batch, over all chips.
    chip : str
        Such as "v5e".
    memory : int
        Bytes of the chip's memory that a program may have.
    chips : int
        On how many chips the step is laid out; each gets its part of the batch.
    available : bool
        Whether there is an answer. Where there is none, `why` says why, and nothing else holds.
    why : str
        Why there is no answer, or why an answer is missing.
    compiles : bool or None
        Whether the compiler takes every operation; None where it was not asked.
    fits : bool or None
        Whether the step fits into the memory.
    operation, layer : str
        What a TPU cannot run, and where it stands.
    flops : int or None
        Operations of the matrix products and convolutions of one step, over all chips, counted
        in the program before it is compiled. Of the ways of a branch, the dearest counts.
    compiler_flops : float or None
        The compiler's own count for one chip, with everything else in it. The body of a loop
        counts once.
    bytes_accessed : float or None
        Read and written in one step on one chip, by the compiler's count.
    loops : bool
        Whether there is a loop: then neither of the compiler's two counts is of a whole step.
    peak_memory : int or None
        The most bytes that one chip holds at one time.
    needed : int or None
        Where the step does not fit: the bytes that it needs, on one chip.
    at_least : bool
        Whether that is the size of what the step is given alone: then it was not compiled.
    logical_bytes, padded_bytes : int or None
        What one chip is given for a step (weights, optimizer state, its part of the batch), as
        the arrays are, and as they lie in its memory.
    largest : tuple of Allocation
        The largest arrays, by layer.
    largest_batch : int or None
        Where the step does not fit: the largest power of two that does; 0 where none does.
    tried : tuple of (int, bool)
        Which batches were compiled for that, and whether they fit.
    collectives : tuple of Collective
        The exchanges between chips.
    cycles : tuple of (str, int)
        The compiler's estimate of clock cycles by layer, if it was given its full time.
    thorough : bool
        Whether it was.
    seconds : float
        How long the compiler took.
    versions : str
        Of the compiler.
    """

    name: str
    backend: str
    batch_size: int
    chip: str
    memory: int
    chips: int = 1
    available: bool = True
    why: str = ""
    compiles: bool | None = None
    fits: bool | None = None
    operation: str = ""
    layer: str = ""
    flops: int | None = None
    compiler_flops: float | None = None
    bytes_accessed: float | None = None
    loops: bool = False
    peak_memory: int | None = None
    needed: int | None = None
    at_least: bool = False
    logical_bytes: int | None = None
    padded_bytes: int | None = None
    largest: tuple[Allocation, ...] = ()
    largest_batch: int | None = None
    tried: tuple[tuple[int, bool], ...] = ()
    collectives: tuple[Collective, ...] = ()
    cycles: tuple[tuple[str, int], ...] = ()
    thorough: bool = False
    seconds: float = 0.0
    versions: str = ""

    @property
    def overflow(self) -> int:
        """Bytes by which the step is too large; 0 where it fits, or where nobody knows."""
        return max(0, (self.needed or 0) - self.memory)

    @property
    def intensity(self) -> float | None:
        """Arithmetic intensity of one chip's part: operations for each byte read or written.

        None where the step has a loop: the bytes of its body are counted once only.
        """
        if self.loops or not self.flops or not self.bytes_accessed:
            return None
        return self.flops / self.chips / self.bytes_accessed

    @property
    def padding(self) -> float | None:
        """Bytes in the chip's memory for each byte of the step's arguments."""
        if not self.logical_bytes or not self.padded_bytes:
            return None
        return self.padded_bytes / self.logical_bytes

    @property
    def verdict(self) -> str:
        """One of "unavailable", "refused", "too large" and "fits"."""
        if not self.available:
            return "unavailable"
        if self.compiles is False:
            return "refused"
        return "fits" if self.fits else "too large"

    def rows(self) -> list[tuple[str, str]]:
        """The card: pairs of a question and its answer."""
        if self.verdict == "unavailable":
            # What Keras could not write down may well be the model's own fault.
            whose = (
                "" if self.why.startswith(NOT_WRITTEN) else " This says nothing about the model."
            )
            return [("unavailable here", f"{self.why}.{whose}")]
        if self.verdict == "refused":
            where = f" in layer {self.layer!r}" if self.layer else ""
            refused = f"no: a TPU cannot run the operation {self.operation!r}{where}"
            return [("compiles", refused if self.operation else f"no: {self.why}")]
        compiles = {True: "yes", None: f"{UNKNOWN}: it was not asked, the batch is too large"}
        rows = [("compiles", compiles[self.compiles]), ("fits", self._fits())]
        if self.largest_batch is not None:
            rows.append(("largest batch", self._batch()))
        elif not self.fits and self.why:
            rows.append(("largest batch", f"{UNKNOWN}: {self.why}"))
        if self.flops is not None:
            rows.append(
                ("operations", f"{format_count(self.flops)} in matrix products and convolutions")
            )
        elif self.fits:
            rows.append(("operations", f"{UNKNOWN}: {self.why}"))
        if self.bytes_accessed:
            once = " (the body of a loop counted once)" if self.loops else ""
            each = " by each chip" if self.chips > 1 else ""
            moved = f"{format_bytes(self.bytes_accessed)} read and written{each}{once}"
            rows.append(("bytes", f"{moved}, as the compiler counts"))
        if self.intensity:
            rows.append(("intensity", f"{self.intensity:.3g} operations for each byte"))
        if self.padding:
            rows.append(
                (
                    "padding",
                    f"{format_bytes(self.logical_bytes)} given to the step take "
                    f"{format_bytes(self.padded_bytes)} on the chip",
                )
            )
        if self.largest:
            rows.append(("largest array", self.largest[0].describe()))
        rows += [("between chips", _exchange(found)) for found in self.collectives]
        if self.cycles:
            total = sum(cycles for _, cycles in self.cycles)
            layer, most = self.cycles[0]
            share = f"{100 * most / total:.0f} % of them in {layer}"
            rows.append(("estimate", f"{format_count(total)} clock cycles, {share}"))
        return rows

    def _fits(self) -> str:
        there = f"of {format_bytes(self.memory)}"
        if self.fits:
            return f"yes: {format_bytes(self.peak_memory)} at the peak, {there}"
        if self.needed is None:
            return f"no: more than the {format_bytes(self.memory)} that there are"
        least = "at least " if self.at_least else ""
        return (
            f"no: it needs {least}{format_bytes(self.needed)}, and there are "
            f"{format_bytes(self.memory)}: {format_bytes(self.overflow)} too much"
        )

    def _batch(self) -> str:
        tried = ", ".join(f"{batch} {'fits' if fits else 'does not'}" for batch, fits in self.tried)
        best = f"{self.largest_batch}, of the powers of two" if self.largest_batch else "none fits"
        return f"{best} (compiled: {tried})" if tried else best

    @property
    def headline(self) -> str:
        """What was asked, in a line."""
        chips = f"one TPU {self.chip}" if self.chips == 1 else f"{self.chips} TPU {self.chip} chips"
        by = SPOKEN.get(self.backend, self.backend)
        what = f"{self.name}, batch of {self.batch_size:,}, written by {by}"
        return f"{what}, for {chips} (no TPU was used)"

    def __str__(self) -> str:
        rows = self.rows()
        width = 2 + max(len(question) for question, _ in rows) + 2
        lines = [
            textwrap.fill(answer, 96, initial_indent=f"  {ask}".ljust(width),
                          subsequent_indent=" " * width, break_on_hyphens=False)
            for ask, answer in rows
        ]  # fmt: skip
        return "\n".join([self.headline, *lines])

    def _repr_html_(self) -> str:
        return html_card(self.headline, self.rows())

    def to_dict(self) -> dict:
        """Everything, as plain JSON types; `from_dict` reads it back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict) -> CompiledStep:
        """Read back what `to_dict` wrote.

        Parameters
        ----------
        stored : dict

        Returns
        -------
        CompiledStep

        Raises
        ------
        ValueError
            If a name is missing or unknown.
        """
        known = {field.name for field in fields(cls)}
        if strange := sorted(set(stored) - known):
            raise ValueError(f"A compiled step has no {', '.join(strange)}.")
        whole = dict(stored)
        try:
            for name, kind in (("largest", Allocation), ("collectives", Collective)):
                whole[name] = tuple(kind(**row) for row in whole.get(name, ()))
            for name in ("tried", "cycles"):
                whole[name] = tuple(tuple(row) for row in whole.get(name, ()))
            return cls(**whole)
        except TypeError as error:
            raise ValueError(f"This is no compiled step: {error}.") from error


def _exchange(found: Collective) -> str:
    arrays = "1 array" if found.arrays == 1 else f"{found.arrays} arrays together"
    return f"{found.kind} of {arrays}, {format_bytes(found.bytes)} on each chip"
