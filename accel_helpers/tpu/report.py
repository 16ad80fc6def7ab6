"""Reads the error messages and the programs that the libtpu of `environment` writes."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, prod
from typing import Self

from accel_helpers._values.words import format_bytes

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}  # bytes
COLLECTIVES = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
NO_ESTIMATE = 2**62  # the compiler writes about 2**63 cycles where it has no estimate

# An array as the compiler writes it, with or without its layout in memory:
#     f32[1024,10]
#     bf16[100,128]{1,0:T(8,128)(2,1)S(1)}
# A layout has the axes, the innermost one first, and then the sides of the tile, the innermost one
# last. S(1) is the fast memory on the chip.
_ARRAY = re.compile(
    r"(?P<dtype>pred|[a-z]+\d+[a-z0-9]*)\[(?P<shape>[\d,]*)\](?:\{(?P<layout>[^}]*)\})?"
)
# The tile in a layout: "T(8,128)" in "1,0:T(8,128)(2,1)S(1)".
_TILE = re.compile(r"T\((?P<sides>[\d,]+)\)")
# A line of a program that makes one array:
#     "  %b.1 = f32[16,128]{1,0:T(8,128)} add(%a, %a), metadata={op_name="jit(step)/add"}"
_INSTRUCTION = re.compile(
    r"\s+(?:ROOT )?%[\w.\-]+ = (?P<array>\w+\[[\d,]*\]\{[^}]*\}) (?P<operation>[\w\-]+)\("
)
# A line of a program in which chips exchange one array or several:
#     "  %a = f32[16]{0:T(128)} all-gather-start(%x), channel_id=1"
#     "  %all-reduce.5 = (f32[]{:T(128)}, f32[16]{0:T(128)S(1)}) all-reduce(%g, %f), channel_id=1"
_COLLECTIVE = re.compile(
    rf"^\s+(?:ROOT )?%\S+ = (?P<arrays>.*?) (?P<kind>{COLLECTIVES})(?:-start)?\(", re.M
)
# In the error on a program that does not fit:
#     "Ran out of memory in memory space hbm. Used 21.98G of 15.75G hbm. Exceeded hbm capacity by …"
_OVERFLOW = re.compile(
    r"memory space hbm\. Used (?P<number>[\d.]+)(?P<unit>[KMGT]?) of [\d.]+[KMGT]? hbm"
)
# Where the entry of an array begins in the rest of that error: "  1. Size: 1.53G", with the lines
#     "     Operator: op_name="jit(step)/jvp(conv1)/conv_general_dilated" stack_frame_id=99"
#     "     Shape: bf16[1024,56,56,256]{3,0,2,1:T(8,128)(2,1)}"
_ENTRY = re.compile(r"\n\s+\d+\. Size: ")
_SHAPE = re.compile(r"Shape: (?P<array>\S+)")
# The path of layers that a framework wrote beside an operation: op_name="jit(step)/jvp(drop)/mul".
_PATH = re.compile(r'op_name="(?P<path>[^"]*)"')
# In a program that was compiled with the compiler's full time: "estimated_cycles":"1825".
_CYCLES = re.compile(r'"estimated_cycles":"(?P<cycles>\d+)"')


@dataclass(frozen=True)
class Allocation:
    """An array that takes memory."""

    bytes: int  # as it lies in the chip's memory
    array: str  # type and shape, such as "bf16[1024,56,56,256]"
    # What makes the array, as the framework's path of layers, such as "jit(step)/jvp(conv1)/mul";
    # "" where it is an argument of the step.
    operation: str

    @classmethod
    def of(cls, text: str, operation: str) -> Self:
        """Make one from an array as the compiler writes it, with its layout, and its operation.

        "f32[8,10]{1,0:T(8,128)}" -> bytes=4096, array="f32[8,10]"
        """
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
    arrays: int  # how many go through it together
    bytes: int  # of all these arrays, on each chip

    def describe(self) -> str:
        """Say in a line what is exchanged."""
        arrays = f"{self.arrays} arrays together"
        if self.arrays == 1:
            arrays = "1 array"
        return f"{self.kind} of {arrays}, {format_bytes(self.bytes)} on each chip"


def read_overflow(message: str) -> tuple[int, tuple[Allocation, ...]] | None:
    """Return the bytes that a program would need, and its largest arrays, the largest first.

    `message` is an error of the compiler. Returns None if it does not say that the main memory of
    the chip is too small, and by how much.
    """
    overflow = _OVERFLOW.search(message)
    if not overflow:
        return None
    needed = float(overflow["number"]) * UNITS[overflow["unit"]]
    largest = []
    # Before the first entry stands a summary.
    _, *entries = _ENTRY.split(message)
    for entry in entries:
        shape = _SHAPE.search(entry)
        if shape and _ARRAY.match(shape["array"]):
            largest.append(Allocation.of(shape["array"], _path_of(entry)))
    return round(needed), tuple(largest)


def array_bytes(text: str) -> int:
    """Return the bytes of an array as the compiler writes it, with padding if it has a layout.

    "f32[1024,10]" -> 40960; "f32[1024,10]{1,0:T(8,128)}" -> 524288, since 10 is padded to 128.
    """
    dtype, shape_text, layout = _ARRAY.match(text).groups(default="")
    shape = [int(length) for length in shape_text.split(",") if length]
    tile = _TILE.search(layout)
    if tile and shape:
        shape = _in_whole_tiles(shape, layout, tile["sides"])
    # The type has its bits in its name, except for the truth values of "pred".
    bits = 8
    if dtype != "pred":
        bits = int(re.search(r"\d+", dtype)[0])
    return prod(shape) * bits // 8


def _in_whole_tiles(shape: list[int], layout: str, tile: str) -> list[int]:
    """Return a shape with its padding: along its innermost axes an array takes whole tiles.

    [1024, 10], "1,0:T(8,128)", "8,128" -> [1024, 128]
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
    """Return the type and shape of an array: "f32[8,10]{1,0:T(8,128)}" -> "f32[8,10]"."""
    return text.split("{")[0]


def _path_of(line: str) -> str:
    """Return the path of layers that a framework wrote beside an operation, or ""."""
    match = _PATH.search(line)
    return match["path"] if match else ""


def largest_arrays(text: str) -> tuple[Allocation, ...]:
    """Return the arrays in the chip's main memory that a compiled program makes, the largest first.

    `text` is the program as the compiler writes it. Not all arrays are there at the same time. Of
    arrays of one type and shape that the same operation makes, only the first is returned.
    """
    rows: dict[tuple[str, str], Allocation] = {}
    main_function = text[text.find("\nENTRY ") :]
    for line in main_function.splitlines():
        instruction = _INSTRUCTION.match(line)
        if not instruction:
            continue
        array = instruction["array"]
        name = instruction["operation"]
        # "S(1)" lies in the fast memory on the chip; a bitcast is another name for the same bytes.
        if "S(" in array or name in ("bitcast", "constant"):
            continue
        path = ""
        if name != "parameter":
            path = _path_of(line) or name
        row = Allocation.of(array, path)
        rows.setdefault((row.array, row.operation), row)
    return tuple(sorted(rows.values(), key=lambda row: row.bytes, reverse=True))


def collectives(text: str) -> tuple[Collective, ...]:
    """Return the exchanges between chips in a compiled program, in the order of its text."""
    exchanges = []
    for match in _COLLECTIVE.finditer(text):
        sizes = []
        for array in _ARRAY.finditer(match["arrays"]):
            # Only the numbers themselves are counted, without padding.
            unpadded = _without_layout(array[0])
            sizes.append(array_bytes(unpadded))
        exchanges.append(Collective(match["kind"], len(sizes), sum(sizes)))
    return tuple(exchanges)


def estimated_cycles(text: str, layers: Iterable[str] = ()) -> tuple[tuple[str, int], ...]:
    """Return the clock cycles of each layer that the compiler estimates, most cycles first.

    `text` is a compiled program, `layers` are the names of the model's layers. Operations that
    belong to none of these are summed under the name "other": (("hidden", 9000), ("other", 1200)).
    """
    sums: Counter[str] = Counter()
    for line in text.splitlines():
        estimate = _CYCLES.search(line)
        if not estimate:
            continue
        cycles = int(estimate["cycles"])
        if cycles < NO_ESTIMATE:
            layer = layer_of(_path_of(line), layers) or "other"
            sums[layer] += cycles
    return tuple(sums.most_common())


def layer_of(path: str, layers: Iterable[str]) -> str:
    """Return the name of the layer in the path that a framework gives an operation, or "".

    `layers` are the names of the model's own layers. "" is returned if none of them is in the path.
    By JAX:        "jit(step)/transpose(jvp(dense_1))/dot_general" -> "dense_1"
    By TensorFlow: "sequential_1_1/dense_1/MatMul" -> "dense"
    """
    layers = set(layers)
    by_jax = path.startswith("jit(")
    # The last part is the operation. Of layers within each other, the model's own is outermost.
    *places, _ = path.split("/")
    for part in places:
        # A function of JAX's, such as "jit(relu)", is no layer.
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
    """Return a name for an operation that a learner understands.

    `path` is that of a framework, `layers` are the names of the model's layers:
    "jit(step)/jvp(hidden)/mul" -> "hidden"
    "jit(step)/transpose(jvp(hidden))/mul" -> "hidden, going back"
    "jit(step)/add" -> "add", if it belongs to no layer
    """
    layer = layer_of(path, layers)
    if not layer:
        return path.rsplit("/", 1)[-1]
    going_back = re.search(r"transpose\(|gradient_tape", path)
    return f"{layer}, going back" if going_back else layer
