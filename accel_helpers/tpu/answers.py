"""What the TPU compiler says about a training step, as one value with a card for a notebook."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from accel_helpers._values.words import format_bytes, format_count, html_card, wrapped
from accel_helpers.machine.faults import SPOKEN
from accel_helpers.tpu.report import Allocation, Collective

# How `why` begins where Keras or its backend could not make a program of the step.
NOT_WRITTEN = "the step could not be written down"


@dataclass(frozen=True)
class CompiledStep:
    """A training step, as the compiler for a TPU sees it. No TPU was used. Sizes are in bytes."""

    name: str  # of the model
    backend: str  # that wrote the step down: "tensorflow" or "jax"
    batch_size: int  # over all chips
    chip: str
    memory: int  # of one chip, that a program may have
    # Keras's dtype policy of the layers: the format of their numbers.
    policy: str = "float32"
    chips: int = 1  # each gets its part of the batch
    verdict: Literal["unavailable", "refused", "too large", "fits"] = "unavailable"
    # Why it is unavailable, or why the largest batch is not known.
    why: str = ""

    # Where it is refused: what a TPU cannot run, and the layer that this stands in.
    operation: str = ""
    layer: str = ""

    # Of the matrix products and convolutions of a step, over all chips; None where
    # `measure.work` has no rule for a layer.
    flops: int | None = None
    # What the compiler counts for one chip: everything that it computes, and what it reads and
    # writes. With loops, the body of each is in these two counts only once.
    compiler_flops: float | None = None
    bytes_accessed: float | None = None
    loops: bool = False

    # The most that one chip holds at one time, where the step fits.
    peak_memory: int | None = None
    # What one chip would have to hold, where the step does not fit. With `at_least` it is only the
    # size of what the step is given: that alone is too large, so the compiler was not asked.
    needed: int | None = None
    at_least: bool = False
    # What one chip is given for a step: as the arrays are, and as they lie in its memory.
    logical_bytes: int | None = None
    padded_bytes: int | None = None
    largest: tuple[Allocation, ...] = ()  # arrays, the largest first

    # The largest power of two that fits, 0 where none does; and the batches that were compiled to
    # find it, each with whether it fits.
    largest_batch: int | None = None
    tried: tuple[tuple[int, bool], ...] = ()

    collectives: tuple[Collective, ...] = ()  # exchanges between chips
    # Clock cycles that the compiler estimates for each layer, if it was given its full time.
    cycles: tuple[tuple[str, int], ...] = ()
    thorough: bool = False  # whether it was
    versions: str = ""  # of the compiler

    @property
    def intensity(self) -> float | None:
        """FLOP for each byte, on one chip; None with a loop, whose bytes count once."""
        flops = self.compiler_flops
        if self.flops:
            flops = self.flops / self.chips
        if not flops or not self.bytes_accessed or self.loops:
            return None
        return flops / self.bytes_accessed

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the rows of the card: a label and a text."""
        if self.verdict == "unavailable":
            yield "unavailable here", self._text_unavailable()
        elif self.verdict == "refused":
            layer = f" in layer {self.layer!r}" if self.layer else ""
            yield "compiles", f"no: a TPU cannot run the operation {self.operation!r}{layer}"
        else:
            yield from self._rows_of_memory()
            yield from self._rows_of_work()
            yield from self._rows_of_arrays()
            yield from self._rows_of_estimate()

    def _text_unavailable(self) -> str:
        """Return why nothing is known, as sentences."""
        reason = self.why.rstrip(". ")
        # What Keras could not write down may well be the model's own fault.
        if self.why.startswith(NOT_WRITTEN):
            return f"{reason}."
        return f"{reason}. This says nothing about the model."

    def _rows_of_memory(self) -> Iterator[tuple[str, str]]:
        """Yield whether the step compiles and fits, and which batch does."""
        never_compiled = self.at_least and not self.largest_batch
        if never_compiled:
            yield "compiles", "not known: it was not asked, the batch is too large"
        else:
            yield "compiles", "yes"
        yield "fits", self._text_fits()
        if self.largest_batch is not None:
            yield "largest batch", self._text_largest_batch()
        elif self.why:
            yield "largest batch", f"not known: {self.why}"

    def _text_fits(self) -> str:
        """Return whether the step fits, and what is missing where it does not."""
        memory = format_bytes(self.memory)
        if self.verdict == "fits":
            return f"yes: {format_bytes(self.peak_memory)} at the peak, of {memory}"
        if self.needed is None:
            return f"no: more than the {memory} that there are"
        needed = format_bytes(self.needed)
        if self.at_least:
            needed = f"at least {needed}"
        too_much = format_bytes(self.needed - self.memory)
        return f"no: it needs {needed}, and there are {memory}: {too_much} too much"

    def _text_largest_batch(self) -> str:
        """Return the largest batch that fits, with those that were compiled to find it."""
        text = "none fits"
        if self.largest_batch:
            text = f"{self.largest_batch}, of the powers of two"
        if not self.tried:
            return text
        results = [f"{batch} {'fits' if fits else 'does not'}" for batch, fits in self.tried]
        return f"{text} (compiled: {', '.join(results)})"

    def _rows_of_work(self) -> Iterator[tuple[str, str]]:
        """Yield what the step computes and moves."""
        per_chip = " by each chip" if self.chips > 1 else ""
        loops = " (the body of a loop counted once)" if self.loops else ""
        by_compiler = f"{per_chip}{loops}, as the compiler counts"
        if self.flops:
            yield "operations", f"{format_count(self.flops)} in matrix products and convolutions"
        elif self.compiler_flops:
            yield "operations", format_count(self.compiler_flops) + by_compiler
        if self.bytes_accessed:
            yield "bytes", f"{format_bytes(self.bytes_accessed)} read and written{by_compiler}"
        if self.intensity:
            yield "intensity", f"{self.intensity:.3g} operations for each byte"

    def _rows_of_arrays(self) -> Iterator[tuple[str, str]]:
        """Yield what lies in the memory, and what goes from chip to chip."""
        if self.logical_bytes and self.padded_bytes:
            logical = format_bytes(self.logical_bytes)
            padded = format_bytes(self.padded_bytes)
            yield "padding", f"{logical} given to the step take {padded} on the chip"
        if self.largest:
            yield "largest array", self.largest[0].describe()
        for collective in self.collectives:
            yield "between chips", collective.describe()

    def _rows_of_estimate(self) -> Iterator[tuple[str, str]]:
        """Yield how long the compiler thinks that the step takes."""
        if not self.cycles:
            return
        total = sum(cycles for _, cycles in self.cycles)
        layer, most_cycles = self.cycles[0]
        percentage = 100 * most_cycles / total
        yield (
            "estimate",
            f"{format_count(total)} clock cycles, {percentage:.0f} % of them in {layer}",
        )

    @property
    def headline(self) -> str:
        """What was compiled, in a line."""
        step = f"{self.name}, batch of {self.batch_size:,}, in {self.policy}"
        framework = SPOKEN[self.backend]
        chips = f"{self.chips} TPU {self.chip} chips"
        if self.chips == 1:
            chips = f"one TPU {self.chip}"
        return f"{step}, written by {framework}, for {chips} (no TPU was used)"

    def __str__(self) -> str:
        rows = list(self.rows())
        width = 4 + max(len(label) for label, _ in rows)
        lines = [self.headline]
        for label, text in rows:
            lines.append(wrapped(text, f"  {label}".ljust(width), width))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html_card(self.headline, self.rows())
