"""Reads the error messages and the programs that the libtpu of `environment` writes."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from accel_helpers._values.words import format_bytes

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
COLLECTIVES = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
_ARRAY = re.compile(r"(pred|[a-z]+\d+[a-z0-9]*)\[([\d,]*)\](?:\{([^}]*)\})?")
_NO_ESTIMATE = 2**62  # the compiler writes about 2**63 where it has none


@dataclass(frozen=True)
class Allocation:
    """An array that takes memory."""

    bytes: int  # as it lies in the chip's memory
    array: str  # type and shape, such as "bf16[1024,56,56,256]"
    operation: str  # what makes it: the framework's path of layers; "" where the step is given it

    @classmethod
    def of(cls, text: str, operation: str):
        """From an array as the compiler writes it, with its layout."""
        return cls(array_bytes(text), text.split("{")[0], operation)

    def describe(self) -> str:
        bare = array_bytes(self.array)  # without the padding that the chip's layout adds
        padded = f" ({format_bytes(bare)} without padding)" if self.bytes > bare else ""
        return f"{format_bytes(self.bytes)}: {self.operation}, {self.array}{padded}"


@dataclass(frozen=True)
class Collective:
    """One exchange between chips that the compiler put in."""

    kind: str  # such as "all-reduce"
    arrays: int  # that go through it together
    bytes: int  # of these, for each chip

    def describe(self) -> str:
        arrays = "1 array" if self.arrays == 1 else f"{self.arrays} arrays together"
        return f"{self.kind} of {arrays}, {format_bytes(self.bytes)} on each chip"


def read_overflow(message: str) -> tuple[int, tuple[Allocation, ...]] | None:
    """The bytes that a program would have needed, and what takes the most; None where not said."""
    found = re.search(r"memory space hbm\. Used ([\d.]+)([KMGT]?) of [\d.]+[KMGT]? hbm", message)
    if not found:
        return None
    largest = []
    for entry in re.split(r"\n\s+\d+\. Size: ", message)[1:]:
        shape = re.search(r"Shape: (\S+)", entry)
        if shape and _ARRAY.match(shape[1]):
            largest.append(Allocation.of(shape[1], _operation(entry)))
    return round(float(found[1]) * UNITS[found[2]]), tuple(largest)


def array_bytes(text: str) -> int:
    """Bytes of an array as the compiler writes it; with its layout, the padding counts."""
    found = _ARRAY.match(text)
    kind, shape, layout = found[1], [int(n) for n in found[2].split(",") if n], found[3] or ""
    tile = re.search(r"T\(([\d,]+)\)", layout)
    if tile and shape:
        # The axis whose neighbours lie side by side stands first; the tile's last side is its.
        order = [int(axis) for axis in layout.split(":")[0].split(",")]
        for size, axis in zip(reversed(tile[1].split(",")), order, strict=False):
            shape[axis] = -(-shape[axis] // int(size)) * int(size)
    bits = 8 if kind == "pred" else int(re.search(r"\d+", kind)[0])
    return prod(shape) * bits // 8


def _operation(line: str) -> str:
    """The path of layers that a framework wrote beside an operation."""
    found = re.search(r'op_name="([^"]*)"', line)
    return found[1] if found else ""


def largest_arrays(text: str) -> tuple[Allocation, ...]:
    """Arrays in the chip's main memory, the largest first; not all are there at the same time."""
    found = {}
    for line in text[text.find("\nENTRY ") :].splitlines():
        match = re.match(r"\s+(?:ROOT )?%[\w.\-]+ = (\w+\[[\d,]*\]\{[^}]*\}) ([\w\-]+)\(", line)
        # "S(1)" lies in the fast memory on the chip; a bitcast is another name for the same bytes.
        if not match or "S(" in match[1] or match[2] in ("bitcast", "constant"):
            continue
        operation = "" if match[2] == "parameter" else _operation(line) or match[2]
        row = Allocation.of(match[1], operation)
        found.setdefault((row.array, row.operation), row)
    return tuple(sorted(found.values(), key=lambda row: -row.bytes))


def collectives(text: str) -> tuple[Collective, ...]:
    """The exchanges between chips in a compiled program, in its order."""
    found = []
    lines = re.finditer(rf"^\s+(?:ROOT )?%\S+ = (.*?) ({COLLECTIVES})(?:-start)?\(", text, re.M)
    for match in lines:
        sizes = [array_bytes(array[0].split("{")[0]) for array in _ARRAY.finditer(match[1])]
        found.append(Collective(match[2], len(sizes), sum(sizes)))
    return tuple(found)


def estimated_cycles(text: str, layers: Iterable[str] = ()) -> tuple[tuple[str, int], ...]:
    """The compiler's own estimate of clock cycles by layer, most first; the rest is "other"."""
    sums = Counter()
    for line in text.splitlines():
        cycles = re.search(r'"estimated_cycles":"(\d+)"', line)
        if cycles and int(cycles[1]) < _NO_ESTIMATE:
            sums[layer_of(_operation(line), layers) or "other"] += int(cycles[1])
    return tuple(sums.most_common())


def layer_of(path: str, layers: Iterable[str]) -> str:
    """Find the layer in the path that a framework gives an operation; "" where there is none."""
    names, by_jax = set(layers), path.startswith("jit(")
    # The outermost layer is the model's own; others may lie in it. The last part is an operation.
    for part in path.split("/")[:-1]:
        if part.startswith("jit("):  # a function of JAX's, such as relu
            continue
        inner = re.sub(r"^(?:\w+\()+|\)+$", "", part)
        # Under TensorFlow Keras numbers every name: "dense_1" is the layer "dense".
        bare = inner if by_jax else re.sub(r"_\d+$", "", inner)
        for name in (bare, inner):
            if name in names:
                return name
    return ""


def short_name(path: str, layers: Sequence[str]) -> str:
    """Name an operation for a learner: the "hidden", or "hidden, going back"."""
    layer = layer_of(path, layers)
    if not layer:
        return path.rsplit("/", 1)[-1]
    return f"{layer}, going back" if re.search(r"transpose\(|gradient_tape", path) else layer
