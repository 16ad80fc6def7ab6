"""What the TPU compiler says about a training step, as one value with a card for a notebook."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from accel_helpers._values.words import format_bytes, format_count, html_card, wrapped


@dataclass(frozen=True)
class Allocation:
    """An array that takes memory."""

    bytes: int  # as it lies in the chip's memory
    array: str  # type and shape, such as "bf16[1024,56,56,256]"
    operation: str  # what makes the array, such as "conv1, going back"


@dataclass(frozen=True)
class Collective:
    """One exchange between chips that the compiler put in."""

    kind: str  # such as "all-reduce"
    arrays: int  # how many go through it together
    bytes: int  # of all these arrays, on each chip


@dataclass(frozen=True)
class CompiledStep:
    """What the compiler for a TPU found out about a training step. No TPU was used.

    It prints as a card: a headline, and rows of a label and a text. Sizes are in bytes. A field is
    None where its figure is not known.
    """

    name: str  # of the model
    batch_size: int  # samples of a step, over all chips
    chip: str  # "v5e" or "v6e"
    memory: int  # bytes of one chip that a program may have
    # Keras's dtype policy of the layers: the format of their numbers.
    policy: str
    chips: int = 1  # each gets its part of the batch
    # "unavailable": there is no answer; "refused": a TPU cannot run it.
    verdict: Literal["unavailable", "refused", "too large", "fits"] = "unavailable"
    why: str = ""  # there is no answer, a TPU cannot run it, or the largest batch is not known

    # FLOP of the matrix products and convolutions of a step, over all chips; None where
    # `measure.products` has no rule for a layer.
    flops: int | None = None
    # The most bytes that one chip holds at one time, if the step fits.
    peak_memory: int | None = None
    # The bytes that one chip would have to hold, if the step does not fit. With `at_least` these
    # are only what the step is given, which alone is too large: then it was not compiled.
    needed: int | None = None
    at_least: bool = False
    # The largest power of two that fits as a batch, 0 where none does; and the last batches that
    # were tried to find it: "512 too large, 256 fits".
    largest_batch: int | None = None
    tried: str = ""
    more: tuple[tuple[str, str], ...] = ()  # rows of the card, as (label, text)

    # Of stored answers, which `tools/tpu_programs.py` makes of the compiled program, one chip's:
    # what the step is given, without padding and as it lies in memory; the largest arrays;
    # exchanges between chips; how it was made.
    logical_bytes: int | None = None
    padded_bytes: int | None = None
    largest: tuple[Allocation, ...] = ()
    collectives: tuple[Collective, ...] = ()
    versions: str = ""
    made_by: str = ""

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the rows of the card, each as (label, text)."""
        if self.verdict == "unavailable":
            yield "unavailable here", self.why
            return
        if self.verdict == "refused":
            yield "compiles", f"no: {self.why}"
            return
        if not self.at_least:
            yield "compiles", "yes"
        yield "fits", self._text_fits()
        if self.largest_batch:
            tried = f"(compiled: {self.tried})"
            yield "largest batch", f"{self.largest_batch}, of the powers of two {tried}"
        elif self.largest_batch == 0:
            yield "largest batch", "none fits"
        elif self.why:
            yield "largest batch", f"not known: {self.why}"
        if self.flops:
            yield "operations", f"{format_count(self.flops)} in matrix products and convolutions"
        yield from self.more

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

    @property
    def headline(self) -> str:
        """What was compiled and for which chips, in a line."""
        chips = f"{self.chips} TPU {self.chip} chips"
        if self.chips == 1:
            chips = f"one TPU {self.chip}"
        step = f"{self.name}, batch of {self.batch_size:,}, in {self.policy}"
        return f"{step}, written by JAX, for {chips} (no TPU was used)"

    def __str__(self) -> str:
        rows = list(self.rows())
        width = 4 + max(len(label) for label, _ in rows)
        lines = [wrapped(text, f"  {label}".ljust(width), width) for label, text in rows]
        return "\n".join([self.headline, *lines])

    def _repr_html_(self) -> str | None:
        """Return the card as HTML, for a notebook; None without Jinja2."""
        return html_card(self.headline, self.rows())
