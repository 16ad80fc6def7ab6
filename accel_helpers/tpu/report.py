"""Reads what the TPU compiler says: its error messages and the programs that it writes.

Pure functions of text. The formats are those of the libtpu that `tpu_environment` pins; the texts
in `tests/tpu/recorded` were written by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from accel_helpers._words import format_bytes

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
_ARRAY = re.compile(r"(pred|[a-z]+\d+[a-z0-9]*)\[([\d,]*)\](?:\{([^}]*)\})?")
_NO_ESTIMATE = 2**62  # the compiler writes about 2**63 where it has none


@dataclass(frozen=True)
class Allocation:
    """An array that takes memory.

    Attributes
    ----------
    bytes : int
        As it lies in the chip's memory.
    logical_bytes : int
        Without the padding that the chip's layout adds.
    array : str
        Type and shape, such as "bf16[1024,56,56,256]".
    operation : str
        What makes it: the path of layers, as the framework named it; "" where the step is given it.
    """

    bytes: int
    logical_bytes: int
    array: str
    operation: str

    def describe(self) -> str:
        """Its size, what it is and its shape, in a line.

        Examples
        --------
        >>> Allocation(65536, 40960, "f32[1024,10]", "output").describe()
        '65.5 kB: output, f32[1024,10] (41 kB without padding)'
        """
        padded = self.bytes > self.logical_bytes
        bare = f" ({format_bytes(self.logical_bytes)} without padding)" if padded else ""
        return f"{format_bytes(self.bytes)}: {self.operation}, {self.array}{bare}"


@dataclass(frozen=True)
class Overflow:
    """The compiler's word that a program does not fit.

    Attributes
    ----------
    needed, available : int
        Bytes of the chip's memory.
    largest : tuple of Allocation
        What takes the most, largest first.
    """

    needed: int
    available: int
    largest: tuple[Allocation, ...]


@dataclass(frozen=True)
class Collective:
    """One exchange between chips that the compiler put in.

    Attributes
    ----------
    kind : str
        Such as "all-reduce".
    arrays : int
        How many arrays go through it together.
    bytes : int
        Of these arrays, for each chip.
    """

    kind: str
    arrays: int
    bytes: int


def read_overflow(message: str) -> Overflow | None:
    """Read how much memory a program would have needed.

    Parameters
    ----------
    message : str
        The compiler's error.

    Returns
    -------
    Overflow or None
        None where the message is about something else, or holds no figures.

    Examples
    --------
    >>> over = read_overflow("Ran out of memory in memory space hbm. Used 21.98G of 15.75G hbm.")
    >>> round(over.needed / 2**30, 2), over.available == 15.75 * 2**30, over.largest
    (21.98, True, ())
    """
    found = re.search(r"memory space hbm\. Used ([\d.]+[KMGT]?) of ([\d.]+[KMGT]?) hbm", message)
    if not found:
        return None
    largest = []
    for entry in re.split(r"\n\s+\d+\. Size: ", message)[1:]:
        operator = re.search(r'Operator: op_name="([^"]*)"', entry)
        shape = re.search(r"Shape: (\S+)", entry)
        if shape and _ARRAY.match(shape[1]):
            array = shape[1].split("{")[0]
            row = (
                array_bytes(shape[1]),
                array_bytes(array),
                array,
                operator[1] if operator else "",
            )
            largest.append(Allocation(*row))
    return Overflow(_bytes(found[1]), _bytes(found[2]), tuple(largest))


def array_bytes(text: str) -> int:
    """Bytes of an array as the compiler writes it; with its layout, the padding counts.

    In ``{0,1:T(8,128)}`` the axes stand with the one first whose neighbours lie side by side, and
    the last two are filled up to whole tiles of 8 by 128.

    Parameters
    ----------
    text : str
        Such as "f32[1024,10]{0,1:T(8,128)}".

    Returns
    -------
    int

    Examples
    --------
    >>> array_bytes("f32[1024,10]")
    40960
    >>> array_bytes("f32[1024,10]{1,0:T(8,128)}"), array_bytes("f32[1024,10]{0,1:T(8,128)}")
    (524288, 65536)
    """
    found = _ARRAY.match(text)
    if not found:
        raise ValueError(f"{text!r} is not an array such as 'f32[1024,10]{{0,1:T(8,128)}}'.")
    kind, shape, layout = found[1], [int(n) for n in found[2].split(",") if n], found[3] or ""
    tile = re.search(r"T\(([\d,]+)\)", layout)
    if tile and shape:
        order = [int(axis) for axis in layout.split(":")[0].split(",")]
        for size, axis in zip(reversed(tile[1].split(",")), order, strict=False):
            shape[axis] = -(-shape[axis] // int(size)) * int(size)
    bits = 8 if kind == "pred" else int(re.search(r"\d+", kind)[0])
    return prod(shape) * bits // 8


def largest_arrays(text: str, count: int = 5) -> tuple[Allocation, ...]:
    """The largest arrays that a compiled program holds in the chip's main memory.

    They need not be there at the same time.

    Parameters
    ----------
    text : str
        The compiled program.
    count : int, optional
        How many.

    Returns
    -------
    tuple of Allocation
        Largest first.
    """
    entry = text[text.find("\nENTRY ") :]
    found = {}
    for line in entry.splitlines():
        match = re.match(r"\s+(?:ROOT )?%[\w.\-]+ = (\w+\[[\d,]*\]\{[^}]*\}) ([\w\-]+)\(", line)
        # "S(1)" lies in the fast memory on the chip; a bitcast is another name for the same bytes.
        if not match or "S(" in match[1] or match[2] in ("bitcast", "constant"):
            continue
        name = re.search(r'op_name="([^"]*)"', line)
        name = "" if match[2] == "parameter" else name[1] if name else match[2]
        array = match[1].split("{")[0]
        row = Allocation(array_bytes(match[1]), array_bytes(array), array, name)
        found.setdefault((row.array, row.operation), row)
    return tuple(sorted(found.values(), key=lambda row: -row.bytes)[:count])


def collectives(text: str) -> tuple[Collective, ...]:
    """The exchanges between chips in a compiled program.

    Parameters
    ----------
    text : str
        The compiled program.

    Returns
    -------
    tuple of Collective
        In the order of the program.
    """
    kinds = "|".join(COLLECTIVES)
    found = []
    for match in re.finditer(rf"^\s+(?:ROOT )?%\S+ = (.*?) ({kinds})(?:-start)?\(", text, re.M):
        arrays = [array[0] for array in _ARRAY.finditer(match[1])]
        bytes_each = [array_bytes(array.split("{")[0]) for array in arrays]
        found.append(Collective(match[2], len(arrays), sum(bytes_each)))
    return tuple(found)


def estimated_cycles(text: str, layers: Iterable[str] = ()) -> tuple[tuple[str, int], ...]:
    """The compiler's own estimate of clock cycles, by layer. It is an estimate, not a measurement.

    Parameters
    ----------
    text : str
        The compiled program, for which the compiler took its full time.
    layers : iterable of str, optional
        Names of the model's layers; the rest is "other".

    Returns
    -------
    tuple of (str, int)
        Layer and cycles, most first.
    """
    names, sums = set(layers), {}
    for line in text.splitlines():
        cycles = re.search(r'"estimated_cycles":"(\d+)"', line)
        if not cycles or int(cycles[1]) > _NO_ESTIMATE:
            continue
        name = re.search(r'op_name="([^"]*)"', line)
        layer = layer_of(name[1] if name else "", names) or "other"
        sums[layer] = sums.get(layer, 0) + int(cycles[1])
    return tuple(sorted(sums.items(), key=lambda row: -row[1]))


def layer_of(path: str, layers: Iterable[str]) -> str:
    """Find the layer in the path that a framework gives an operation.

    Parameters
    ----------
    path : str
        Such as "jit(step)/transpose(jvp(hidden))/dot_general" or "sequential_1/hidden_1/MatMul".
    layers : iterable of str

    Returns
    -------
    str
        Empty where no part of the path is a layer.

    Examples
    --------
    >>> layer_of("jit(step)/transpose(jvp(hidden))/dot_general", ["hidden", "output"])
    'hidden'
    >>> layer_of("gradient_tape/sequential_1/output_1/MatMul", ["hidden", "output"])
    'output'
    """
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
    """Name an operation for a learner: the layer, and which way the pass goes.

    Parameters
    ----------
    path, layers
        As for `layer_of`.

    Returns
    -------
    str

    Examples
    --------
    >>> short_name("jit(step)/transpose(jvp(hidden))/dot_general", ["hidden"])
    'hidden, going back'
    """
    layer = layer_of(path, layers)
    if not layer:
        return path.rsplit("/", 1)[-1]
    return f"{layer}, going back" if re.search(r"transpose\(|gradient_tape", path) else layer


def _bytes(text: str) -> int:
    number, unit = re.fullmatch(r"([\d.]+)([KMGT]?)", text).groups()
    return round(float(number) * UNITS[unit])
