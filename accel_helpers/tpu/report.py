"""Reads the error messages and the programs that the libtpu of `environment` writes."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, prod
from typing import Self

from accel_helpers._values.words import format_bytes

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
COLLECTIVES = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
NO_ESTIMATE = 2**62  # the compiler writes about 2**63 where it has none

# An array as the compiler writes it: type, shape, and maybe the layout in memory, such as
# "f32[1024,10]{1,0:T(8,128)}". In the layout the innermost axis stands first, then the tile.
_ARRAY = re.compile(r"(pred|[a-z]+\d+[a-z0-9]*)\[([\d,]*)\](?:\{([^}]*)\})?")
# A line of a program: "%name = array operation(".
_INSTRUCTION = re.compile(r"\s+(?:ROOT )?%[\w.\-]+ = (\w+\[[\d,]*\]\{[^}]*\}) ([\w\-]+)\(")
# "%all-reduce.1 = (f32[10]{0}, f32[128,10]{1,0}) all-reduce("; "-start(" where it is begun early.
_COLLECTIVE = re.compile(rf"^\s+(?:ROOT )?%\S+ = (.*?) ({COLLECTIVES})(?:-start)?\(", re.M)
# "... memory space hbm. Used 18.21G of 15.75G hbm"
_OVERFLOW = re.compile(r"memory space hbm\. Used ([\d.]+)([KMGT]?) of [\d.]+[KMGT]? hbm")


@dataclass(frozen=True)
class Allocation:
    """An array that takes memory."""

    bytes: int  # as it lies in the chip's memory
    array: str  # type and shape, such as "bf16[1024,56,56,256]"
    operation: str  # what makes it: the framework's path of layers; "" where the step is given it

    @classmethod
    def of(cls, text: str, operation: str) -> Self:
        """Make one of an array as the compiler writes it, with its layout."""
        return cls(array_bytes(text), _without_layout(text), operation)

    def describe(self) -> str:
        """Say in a line how large it is and what makes it."""
        text = f"{format_bytes(self.bytes)}: {self.operation}, {self.array}"
        unpadded = array_bytes(self.array)
        if self.bytes > unpadded:
            text += f" ({format_bytes(unpadded)} without padding)"
        return text


@dataclass(frozen=True)
class Collective:
    """One exchange between chips that the compiler put in."""

    kind: str  # such as "all-reduce"
    arrays: int  # that go through it together
    bytes: int  # of these, for each chip

    def describe(self) -> str:
        """Say in a line what is exchanged."""
        arrays = f"{self.arrays} arrays together"
        if self.arrays == 1:
            arrays = "1 array"
        return f"{self.kind} of {arrays}, {format_bytes(self.bytes)} on each chip"


def read_overflow(message: str) -> tuple[int, tuple[Allocation, ...]] | None:
    """Return the bytes that a program would need, and its largest arrays; None where not said."""
    overflow = _OVERFLOW.search(message)
    if not overflow:
        return None
    number, unit = overflow.groups()
    largest = []
    for entry in re.split(r"\n\s+\d+\. Size: ", message)[1:]:
        shape = re.search(r"Shape: (\S+)", entry)
        if shape and _ARRAY.match(shape[1]):
            largest.append(Allocation.of(shape[1], _operation(entry)))
    return round(float(number) * UNITS[unit]), tuple(largest)


def array_bytes(text: str) -> int:
    """Return the bytes of an array as the compiler writes it; with its layout, padding counts."""
    dtype, shape_text, layout = _ARRAY.match(text).groups(default="")
    shape = [int(length) for length in shape_text.split(",") if length]
    tile = re.search(r"T\(([\d,]+)\)", layout)
    if tile and shape:
        shape = _in_whole_tiles(shape, layout, tile[1])
    bits = 8
    if dtype != "pred":
        bits = int(re.search(r"\d+", dtype)[0])
    return prod(shape) * bits // 8


def _in_whole_tiles(shape: list[int], layout: str, tile: str) -> list[int]:
    """Return the shape with its padding: along its innermost axes an array takes whole tiles.

    [1024, 10] with the layout "1,0:T(8,128)" and the tile "8,128" -> [1024, 128].
    """
    padded = list(shape)
    axes = [int(axis) for axis in layout.split(":")[0].split(",")]
    sides = [int(side) for side in tile.split(",")]
    # The innermost axis stands first in the layout, and last in the tile.
    sides.reverse()
    for axis, side in zip(axes, sides, strict=False):
        padded[axis] = ceil(padded[axis] / side) * side
    return padded


def _without_layout(text: str) -> str:
    """Return the type and shape alone: "f32[10]{0}" -> "f32[10]"."""
    return text.split("{")[0]


def _operation(line: str) -> str:
    """Return the path of layers that a framework wrote into the line of an operation, or ""."""
    name = re.search(r'op_name="([^"]*)"', line)
    return name[1] if name else ""


def largest_arrays(text: str) -> tuple[Allocation, ...]:
    """Return the arrays in a program's main memory, the largest first.

    Not all of them are there at the same time.
    """
    rows = {}
    main_function = text[text.find("\nENTRY ") :]
    for line in main_function.splitlines():
        instruction = _INSTRUCTION.match(line)
        if not instruction:
            continue
        array, name = instruction.groups()
        # "S(1)" lies in the fast memory on the chip; a bitcast is another name for the same bytes.
        if "S(" in array or name in ("bitcast", "constant"):
            continue
        operation = ""
        if name != "parameter":
            operation = _operation(line) or name
        row = Allocation.of(array, operation)
        rows.setdefault((row.array, row.operation), row)
    return tuple(sorted(rows.values(), key=lambda row: row.bytes, reverse=True))


def collectives(text: str) -> tuple[Collective, ...]:
    """Return the exchanges between chips in a compiled program, in its order."""
    exchanges = []
    for match in _COLLECTIVE.finditer(text):
        arrays, kind = match.groups()
        sizes = [array_bytes(_without_layout(array[0])) for array in _ARRAY.finditer(arrays)]
        exchanges.append(Collective(kind, len(sizes), sum(sizes)))
    return tuple(exchanges)


def estimated_cycles(text: str, layers: Iterable[str] = ()) -> tuple[tuple[str, int], ...]:
    """Return the compiler's own estimate of clock cycles by layer, most first.

    What belongs to no layer is called "other".
    """
    sums = Counter()
    for line in text.splitlines():
        estimate = re.search(r'"estimated_cycles":"(\d+)"', line)
        if not estimate:
            continue
        cycles = int(estimate[1])
        if cycles < NO_ESTIMATE:
            layer = layer_of(_operation(line), layers) or "other"
            sums[layer] += cycles
    return tuple(sums.most_common())


def layer_of(path: str, layers: Iterable[str]) -> str:
    """Return the layer in the path that a framework gives an operation; "" where there is none.

    TensorFlow: "model_1/hidden_1/MatMul" -> "hidden". JAX: "jit(step)/jvp(hidden)/dot" -> "hidden".
    """
    layers = set(layers)
    by_jax = path.startswith("jit(")
    # The outermost layer is the model's own; others may lie in it. The last part is an operation.
    for part in path.split("/")[:-1]:
        # A function of JAX's, such as relu.
        if part.startswith("jit("):
            continue
        # "transpose(jvp(dense_1))" is "dense_1", going back.
        name = re.sub(r"^(?:\w+\()+|\)+$", "", part)
        # Under TensorFlow Keras numbers every name: "dense_1" is the layer "dense".
        if not by_jax:
            unnumbered = re.sub(r"_\d+$", "", name)
            if unnumbered in layers:
                return unnumbered
        if name in layers:
            return name
    return ""


def short_name(path: str, layers: Sequence[str]) -> str:
    """Name an operation for a learner: "hidden" for its layer, or "hidden, going back"."""
    layer = layer_of(path, layers)
    if not layer:
        return path.rsplit("/", 1)[-1]
    going_back = re.search(r"transpose\(|gradient_tape", path)
    return f"{layer}, going back" if going_back else layer
