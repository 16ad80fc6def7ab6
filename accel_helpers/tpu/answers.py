"""What the TPU compiler says about a training step, as one value with a card for a notebook."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from accel_helpers._values.words import format_bytes, format_count, html_card, wrapped
from accel_helpers.machine.facts import SPOKEN
from accel_helpers.tpu.report import Allocation, Collective

# How `why` begins where Keras or its backend could not write the step down as a program.
NOT_WRITTEN = "the step could not be written down"


@dataclass(frozen=True)
class CompiledStep:
    """What the compiler for a TPU found out about a training step. No TPU was used.

    Keras's backend writes the step down as a program, and the compiler of the TPU compiles that. It
    prints as a card: a headline, and rows of a label and a text. Sizes are in bytes. A field is
    None where its figure is not known.
    """

    name: str  # of the model
    backend: str  # that wrote the step down: "tensorflow" or "jax"
    batch_size: int  # samples of a step, over all chips
    chip: str  # "v5e" or "v6e"
    memory: int  # bytes of one chip that a program may have
    # Keras's dtype policy of the layers: the format of their numbers.
    policy: str = "float32"
    chips: int = 1  # each gets its part of the batch
    # "unavailable": there is no answer, for the reason in `why`; "refused": a TPU cannot run it.
    verdict: Literal["unavailable", "refused", "too large", "fits"] = "unavailable"
    # The reason for which there is no answer, or for which the largest batch is not known.
    why: str = ""

    # Of a step that is refused: the operation that a TPU cannot run, and the layer that holds it.
    operation: str = ""
    layer: str = ""

    # FLOP of the matrix products and convolutions of a step, over all chips; None where
    # `measure.work` has no rule for a layer.
    flops: int | None = None
    # What the compiler counts for one chip: the FLOP of everything that it computes, and the bytes
    # that it reads and writes. If there are loops, the body of each is counted only once.
    compiler_flops: float | None = None
    bytes_accessed: float | None = None
    loops: bool = False

    # The most bytes that one chip holds at one time, if the step fits.
    peak_memory: int | None = None
    # The bytes that one chip would have to hold, if the step does not fit. With `at_least` these
    # are only the arguments of the step, which alone are too large: then it was not compiled.
    needed: int | None = None
    at_least: bool = False
    # The bytes of a step's arguments on one chip: without padding, and as they lie in its memory.
    logical_bytes: int | None = None
    padded_bytes: int | None = None
    largest: tuple[Allocation, ...] = ()  # the largest arrays, the largest one first

    # The largest power of two that fits as a batch, 0 where none does; and the batches that were
    # compiled to find it, as (batch, whether it fits).
    largest_batch: int | None = None
    tried: tuple[tuple[int, bool], ...] = ()

    collectives: tuple[Collective, ...] = ()  # exchanges between chips
    # (layer, clock cycles that the compiler estimates), most cycles first; only with `thorough`.
    cycles: tuple[tuple[str, int], ...] = ()
    thorough: bool = False  # whether the compiler was given its full time
    versions: str = ""  # of the compiler, such as "jax 0.8.3, libtpu 0.0.32.1"

    @property
    def intensity(self) -> float | None:
        """FLOP for each byte that one chip reads or writes; None where either is not known.

        It is not known for a step with a loop, since the bytes of the loop's body are counted once.
        """
        flops = self.compiler_flops
        if self.flops:
            flops = self.flops / self.chips
        if not flops or not self.bytes_accessed or self.loops:
            return None
        return flops / self.bytes_accessed

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the rows of the card, each as (label, text)."""
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
        """Return the text of a card without an answer: the reason, as one or two sentences."""
        reason = self.why.rstrip(". ")
        # If Keras could not write the step down, that may well be the model's own fault.
        if self.why.startswith(NOT_WRITTEN):
            return f"{reason}."
        return f"{reason}. This says nothing about the model."

    def _rows_of_memory(self) -> Iterator[tuple[str, str]]:
        """Yield the rows on whether the step compiles and fits, and on the largest batch."""
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
        """Return the text on whether the step fits into the memory of a chip, and by how much."""
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
        """Return the text on the largest batch that fits, with the batches that were compiled."""
        text = "none fits"
        if self.largest_batch:
            text = f"{self.largest_batch}, of the powers of two"
        if not self.tried:
            return text
        results = [f"{batch} {'fits' if fits else 'does not'}" for batch, fits in self.tried]
        return f"{text} (compiled: {', '.join(results)})"

    def _rows_of_work(self) -> Iterator[tuple[str, str]]:
        """Yield the rows on what the step computes, and on the bytes that it moves."""
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
        """Yield the rows on padding, on the largest array, and on exchanges between chips."""
        if self.logical_bytes and self.padded_bytes:
            logical = format_bytes(self.logical_bytes)
            padded = format_bytes(self.padded_bytes)
            yield "padding", f"{logical} given to the step take {padded} on the chip"
        if self.largest:
            yield "largest array", self.largest[0].describe()
        for collective in self.collectives:
            yield "between chips", collective.describe()

    def _rows_of_estimate(self) -> Iterator[tuple[str, str]]:
        """Yield a row with the clock cycles that the compiler estimates; none without estimate."""
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
        """What was compiled and for which chips, in a line."""
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

    def _repr_html_(self) -> str | None:
        """Return the card as HTML, for a notebook; None without Jinja2."""
        return html_card(self.headline, self.rows())
