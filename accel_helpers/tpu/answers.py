"""What the TPU compiler says of a training step, as one value that reads well; fresh or stored."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from accel_helpers._values.words import format_bytes, format_count, html_card, wrapped
from accel_helpers.machine.faults import SPOKEN
from accel_helpers.tpu.report import Allocation, Collective

NOT_WRITTEN = "the step could not be written down"


@dataclass(frozen=True)
class CompiledStep:
    """A training step, as the compiler for a TPU sees it. No TPU was used. Sizes are in bytes."""

    name: str  # of the model
    backend: str  # that wrote the step down: "tensorflow" or "jax"
    batch_size: int  # over all chips
    chip: str
    memory: int  # of one chip, that a program may have
    policy: str = "float32"  # Keras's dtype policy of the layers: the format of their numbers
    chips: int = 1  # each gets its part of the batch
    verdict: Literal["unavailable", "refused", "too large", "fits"] = "unavailable"
    why: str = ""  # it is unavailable, or the largest batch is not known
    operation: str = ""  # that a TPU cannot run, where it is refused,
    layer: str = ""  # and where that stands
    # Of the matrix products and convolutions of a step, over all chips; None where
    # `measure.work` has no rule for a layer.
    flops: int | None = None
    compiler_flops: float | None = None  # the compiler's count, for one chip, of everything
    bytes_accessed: float | None = None  # read and written by one chip, by the compiler's count
    loops: bool = False  # then the compiler's two counts have the loop's body once only
    peak_memory: int | None = None  # the most that one chip holds at one time
    needed: int | None = None  # on one chip, where the step does not fit
    at_least: bool = False  # that is the size of what the step is given alone: nobody compiled it
    logical_bytes: int | None = None  # of what one chip is given for a step, as the arrays are,
    padded_bytes: int | None = None  # and as they lie in its memory
    largest: tuple[Allocation, ...] = ()  # arrays
    largest_batch: int | None = None  # the largest power of two that fits; 0 where none does
    tried: tuple[tuple[int, bool], ...] = ()  # batches that were compiled for that; which fit
    collectives: tuple[Collective, ...] = ()  # exchanges between chips
    cycles: tuple[tuple[str, int], ...] = ()  # estimated by layer, if the compiler had full time
    thorough: bool = False  # whether it had
    versions: str = ""  # of the compiler

    @property
    def intensity(self) -> float | None:
        """FLOP for each byte, on one chip; None with a loop, whose bytes count once."""
        flops = self.flops / self.chips if self.flops else self.compiler_flops
        known = flops and self.bytes_accessed and not self.loops
        return flops / self.bytes_accessed if known else None

    def rows(self) -> Iterator[tuple[str, str]]:
        """The card: a question and its answer, one by one."""
        if self.verdict == "unavailable":
            # What Keras could not write down may well be the model's own fault.
            innocent = not self.why.startswith(NOT_WRITTEN)
            whose = " This says nothing about the model." if innocent else ""
            yield "unavailable here", f"{self.why.rstrip('. ')}.{whose}"
            return
        if self.verdict == "refused":
            where = f" in layer {self.layer!r}" if self.layer else ""
            yield "compiles", f"no: a TPU cannot run the operation {self.operation!r}{where}"
            return
        asked = self.largest_batch or not self.at_least
        yield "compiles", "yes" if asked else "not known: it was not asked, the batch is too large"
        yield "fits", self._fits()
        if self.largest_batch is not None:
            pairs = (f"{batch} {'fits' if fits else 'does not'}" for batch, fits in self.tried)
            tried = f" (compiled: {', '.join(pairs)})" if self.tried else ""
            best = f"{self.largest_batch}, of the powers of two"
            yield "largest batch", (best if self.largest_batch else "none fits") + tried
        elif self.why:
            yield "largest batch", f"not known: {self.why}"
        each = " by each chip" if self.chips > 1 else ""
        once = " (the body of a loop counted once)" if self.loops else ""
        by_compiler = f"{each}{once}, as the compiler counts"
        if self.flops:
            yield "operations", f"{format_count(self.flops)} in matrix products and convolutions"
        elif self.compiler_flops:
            yield "operations", format_count(self.compiler_flops) + by_compiler
        if self.bytes_accessed:
            yield "bytes", f"{format_bytes(self.bytes_accessed)} read and written{by_compiler}"
        if self.intensity:
            yield "intensity", f"{self.intensity:.3g} operations for each byte"
        if self.logical_bytes and self.padded_bytes:
            given, taken = map(format_bytes, (self.logical_bytes, self.padded_bytes))
            yield "padding", f"{given} given to the step take {taken} on the chip"
        if self.largest:
            yield "largest array", self.largest[0].describe()
        for found in self.collectives:
            yield "between chips", found.describe()
        if self.cycles:
            total = sum(cycles for _, cycles in self.cycles)
            layer, most = self.cycles[0]
            share = f"{100 * most / total:.0f} % of them in {layer}"
            yield "estimate", f"{format_count(total)} clock cycles, {share}"

    def _fits(self) -> str:
        there = format_bytes(self.memory)
        if self.verdict == "fits":
            return f"yes: {format_bytes(self.peak_memory)} at the peak, of {there}"
        if self.needed is None:
            return f"no: more than the {there} that there are"
        needed, over = map(format_bytes, (self.needed, self.needed - self.memory))
        least = "at least " if self.at_least else ""
        return f"no: it needs {least}{needed}, and there are {there}: {over} too much"

    @property
    def headline(self) -> str:
        """What was asked, in a line."""
        chips = f"one TPU {self.chip}" if self.chips == 1 else f"{self.chips} TPU {self.chip} chips"
        what = f"{self.name}, batch of {self.batch_size:,}, in {self.policy}"
        return f"{what}, written by {SPOKEN[self.backend]}, for {chips} (no TPU was used)"

    def __str__(self) -> str:
        rows = list(self.rows())
        width = 4 + max(len(ask) for ask, _ in rows)
        lines = [wrapped(answer, f"  {ask}".ljust(width), width) for ask, answer in rows]
        return "\n".join([self.headline, *lines])

    def _repr_html_(self) -> str:
        return html_card(self.headline, self.rows())


@dataclass(frozen=True)
class Product:
    """A matrix product (m, k) times (k, n) in bfloat16, as the compiler lays it out for a TPU."""

    chip: str
    m: int
    k: int
    n: int
    instructions: int  # how often the program feeds the matrix unit
    estimated_cycles: int  # for all of it, moving its numbers included; no measurement
    arrays: tuple[str, ...]  # inputs and output in memory: "bf16[128,10]{0,1:T(8,128)(2,1)}"
