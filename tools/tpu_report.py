"""Reads the error messages and the programs that the libtpu of the compiler writes."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import ceil, prod

from accel_helpers.tpu.answers import Allocation, Collective

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
# Where the entry of an array begins in the error on a program that does not fit:
#     "  1. Size: 1.53G"
#     "     Operator: op_name="jit(step)/jvp(conv1)/conv_general_dilated" stack_frame_id=99"
#     "     Shape: bf16[1024,56,56,256]{3,0,2,1:T(8,128)(2,1)}"
_ENTRY = re.compile(r"\n\s+\d+\. Size: ")
_SHAPE = re.compile(r"Shape: (?P<array>\S+)")
# The path of layers that a framework wrote beside an operation: op_name="jit(step)/jvp(drop)/mul".
_PATH = re.compile(r'op_name="(?P<path>[^"]*)"')
# In a program that was compiled with the compiler's full time: "estimated_cycles":"1825".
_CYCLES = re.compile(r'"estimated_cycles":"(?P<cycles>\d+)"')


def allocation(text: str, operation: str) -> Allocation:
    """An array as the compiler writes it, with its layout, and the operation that makes it.

    "f32[8,10]{1,0:T(8,128)}" -> bytes=4096, array="f32[8,10]"
    """
    return Allocation(array_bytes(text), _without_layout(text), operation)


def arrays_of_overflow(message: str) -> tuple[Allocation, ...]:
    """The largest arrays of a program that does not fit, by the compiler's error."""
    largest = []
    # Before the first entry stands a summary.
    _, *entries = _ENTRY.split(message)
    for entry in entries:
        shape = _SHAPE.search(entry)
        if shape and _ARRAY.match(shape["array"]):
            largest.append(allocation(shape["array"], _path_of(entry)))
    return tuple(largest)


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
        row = allocation(array, path)
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
    """The name of the layer in the path that JAX gives an operation, or "".

    `layers` are the names of the model's own layers. "" is returned if none of them is in the path.
    "jit(step)/transpose(jvp(dense_1))/dot_general" -> "dense_1"
    """
    # The last part is the operation. Of layers within each other, the model's own is outermost.
    *places, _ = path.split("/")
    for part in places:
        # "transpose(jvp(dense_1))" is "dense_1", going back; "jit(relu)", of JAX's, is no layer.
        name = re.sub(r"^(?:\w+\()+|\)+$", "", part)
        if name in layers and not part.startswith("jit("):
            return name
    return ""


def short_name(path: str, layers: Sequence[str]) -> str:
    """Return a name for an operation that a learner understands.

    `path` is JAX's, `layers` are the names of the model's layers:
    "jit(step)/jvp(hidden)/mul" -> "hidden"
    "jit(step)/transpose(jvp(hidden))/mul" -> "hidden, going back"
    "jit(step)/add" -> "add", if it belongs to no layer
    """
    layer = layer_of(path, layers)
    if not layer:
        return path.rsplit("/", 1)[-1]
    return f"{layer}, going back" if "transpose(" in path else layer
