"""Reads all that the TPU compiler says of a training step. A script for its environment.

    python tpu_report.py FOLDER

It is what `accel_helpers/tpu/child.py` is, for the stored answers: FOLDER has the same job, with
the folder of that file as "beside".
"""

import json
import re
import sys
from math import ceil, prod
from pathlib import Path

COLLECTIVES = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
MOST_ARRAYS = 5  # of the largest arrays are in an answer
# How JAX names what the step is given. The optimizer keeps arrays of the weights' shapes.
GIVEN = {
    "state[0]": "weights or optimizer",
    "state[2]": "weights or optimizer",
    "state[": "other state",
    "data[0]": "inputs",
    "data[1]": "targets",
}

# An array as the compiler writes it, with or without its layout in memory:
#     f32[1024,10]
#     bf16[100,128]{1,0:T(8,128)(2,1)S(1)}
# A layout has the axes, the innermost one first, and then the sides of the tile, the innermost one
# last. S(1) is the fast memory on the chip.
_ARRAY = re.compile(r"([a-z]+(\d*)[a-z0-9]*)\[([\d,]*)\](?:\{([\d,]*):?(?:T\(([\d,]+)\))?)?")
# A line of a program that makes one array, here in the chip's main memory:
#     "  %b.1 = f32[16,128]{1,0:T(8,128)} add(%a, %a), metadata={op_name="jit(step)/add"}"
# A bitcast is another name for the same bytes.
_INSTRUCTION = re.compile(
    r"^\s+(?:ROOT )?%[\w.\-]+ = (\w+\[[\d,]*\]\{[^}S]*\}) (?!bitcast\(|constant\()([\w\-]+)\("
    r'(?:.*op_name="([^"]*)")?',
    re.M,
)
# A line of a program in which chips exchange one array or several:
#     "  %a = f32[16]{0:T(128)} all-gather-start(%x), channel_id=1"
_COLLECTIVE = re.compile(rf"^\s+(?:ROOT )?%\S+ = (.*?) ({COLLECTIVES})(?:-start)?\(", re.M)
# An array in the error on a program that does not fit:
#     "  1. Size: 1.53G"
#     "     Operator: op_name="jit(step)/jvp(conv1)/conv_general_dilated" stack_frame_id=99"
#     "     Shape: bf16[1024,56,56,256]{3,0,2,1:T(8,128)(2,1)}"
_ENTRY = re.compile(r'\d\. Size: .*\s+(?:Operator: op_name="([^"]*)".*\s+)?Shape: (\w+\[\S+)')


def array_bytes(text):
    """Return the bytes of an array as the compiler writes it, with padding if it has a layout.

    "f32[1024,10]" -> 40960; "f32[1024,10]{1,0:T(8,128)}" -> 524288, since 10 is padded to 128.
    """
    _, bits, *numbers = _ARRAY.match(text).groups(default="")
    shape, axes, sides = (list(map(int, re.findall(r"\d+", part))) for part in numbers)
    # The innermost axis stands first in the layout, and last in the tile.
    sides.reverse()
    # Along its innermost axes an array takes whole tiles.
    for axis, side in zip(axes, sides, strict=False):
        shape[axis] = ceil(shape[axis] / side) * side
    # The type has its bits in its name, except for the truth values of "pred".
    return prod(shape) * int(bits or 8) // 8


def allocation(array, path, layers):
    """An array with the bytes that it takes, as `Allocation` of accel_helpers has it."""
    operation = name_of(path, layers)
    return {"bytes": array_bytes(array), "array": array.split("{")[0], "operation": operation}


def name_of(path, layers):
    """What a learner understands of the path that JAX gives an operation.

    "jit(step)/transpose(jvp(dense_1))/dot_general" -> "dense_1, going back"
    """
    for start, kind in GIVEN.items():
        if path.startswith(start):
            return kind
    layer = layer_of(path, layers)
    if layer and "transpose(" in path:
        layer += ", going back"
    return layer or path.split("/")[-1]


def layer_of(path, layers):
    """The name of the model's layer in the path that JAX gives an operation, or ""."""
    # The last part is the operation. Of layers within each other, the model's own is outermost.
    for part in path.split("/")[:-1]:
        name = re.sub(r"^(?:\w+\()+|\)+$", "", part)
        # "jit(relu)" is a function of JAX's.
        if name in layers and not part.startswith("jit("):
            return name
    return ""


def arrays_of_overflow(message, layers=()):
    """The largest arrays of a program that does not fit, by the compiler's error."""
    return [allocation(array, path, layers) for path, array in _ENTRY.findall(message)]


def largest_arrays(text, layers=()):
    """Return the arrays in the chip's main memory that a compiled program makes, the largest first.

    Not all arrays are there at the same time. Of arrays of one type and shape that the same
    operation makes, only the first is returned.
    """
    rows = []
    entry = text[text.find("\nENTRY ") :]
    for array, kind, path in _INSTRUCTION.findall(entry):
        row = allocation(array, path or kind, layers)
        if row not in rows:
            rows.append(row)
    return sorted(rows, key=lambda row: row["bytes"], reverse=True)


def collectives(text):
    """Return the exchanges between chips in a compiled program, with their bytes unpadded."""
    found = []
    for arrays, kind in _COLLECTIVE.findall(text):
        sizes = [array_bytes(array[0].split("{")[0]) for array in _ARRAY.finditer(arrays)]
        found.append({"kind": kind, "arrays": len(sizes), "bytes": sum(sizes)})
    return found


def said(folder):
    """Compile the job in a folder; return fields of an answer."""
    job = json.loads((folder / "job.json").read_text())
    sys.path.append(job["beside"])
    import child
    import jax

    model = child.load(folder, job)
    step, given = child.lowered(model, job)
    layers = [layer.name for layer in model.layers]
    try:
        program = step.compile(compiler_options=child.LEAST_EFFORT)
    except jax.errors.JaxRuntimeError as error:
        largest = arrays_of_overflow(str(error), layers)
        return {**child.overflow(error), "largest": largest[:MOST_ARRAYS]}
    text = program.as_text()
    memory = program.memory_analysis()
    answer = {
        "peak_memory": memory.peak_memory_in_bytes,
        "logical_bytes": given,
        "padded_bytes": memory.argument_size_in_bytes,
        "largest": largest_arrays(text, layers)[:MOST_ARRAYS],
        "collectives": collectives(text),
    }
    # The compiler counts the body of a loop once, and its bytes are not those of a whole step.
    if " while(" not in text:
        answer["moved"] = program.cost_analysis()["bytes accessed"]
    return answer


if __name__ == "__main__":
    FOLDER = Path(sys.argv[1])
    (FOLDER / "answer.json").write_text(json.dumps(said(FOLDER)))
