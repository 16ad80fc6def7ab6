"""Reads all that the TPU compiler says of a training step. A script for its environment.

    python tpu_report.py FOLDER

It is what `accel_helpers/tpu/child.py` is, for the stored answers: FOLDER has the same job, with
the folder of that file as "beside", and "thorough", which gives the compiler its full time.
"""

import json
import re
import sys
from collections import Counter
from math import ceil, prod
from pathlib import Path

COLLECTIVES = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
NO_ESTIMATE = 2**62  # the compiler writes about 2**63 cycles where it has no estimate
MOST_ARRAYS = 5  # of the largest arrays are in an answer

# An array as the compiler writes it, with or without its layout in memory:
#     f32[1024,10]
#     bf16[100,128]{1,0:T(8,128)(2,1)S(1)}
# A layout has the axes, the innermost one first, and then the sides of the tile, the innermost one
# last. S(1) is the fast memory on the chip.
_ARRAY = re.compile(r"([a-z]+(\d*)[a-z0-9]*)\[([\d,]*)\](?:\{([\d,]*):?(?:T\(([\d,]+)\))?)?")
# A line of a program that makes one array, here in the chip's main memory:
#     "  %b.1 = f32[16,128]{1,0:T(8,128)} add(%a, %a), metadata={op_name="jit(step)/add"}"
_INSTRUCTION = re.compile(r"\s+(?:ROOT )?%[\w.\-]+ = (\w+\[[\d,]*\]\{[^}S]*\}) ([\w\-]+)\(")
# A line of a program in which chips exchange one array or several:
#     "  %a = f32[16]{0:T(128)} all-gather-start(%x), channel_id=1"
_COLLECTIVE = re.compile(rf"^\s+(?:ROOT )?%\S+ = (.*?) ({COLLECTIVES})(?:-start)?\(", re.M)
# An array in the error on a program that does not fit:
#     "  1. Size: 1.53G"
#     "     Operator: op_name="jit(step)/jvp(conv1)/conv_general_dilated" stack_frame_id=99"
#     "     Shape: bf16[1024,56,56,256]{3,0,2,1:T(8,128)(2,1)}"
_ENTRY = re.compile(r'\d\. Size: .*\s+(?:Operator: op_name="([^"]*)".*\s+)?Shape: (\w+\[\S+)')
# The path of layers that a framework wrote beside an operation: op_name="jit(step)/jvp(drop)/mul".
_PATH = re.compile(r'op_name="([^"]*)"')
# In a program that was compiled with the compiler's full time: "estimated_cycles":"1825".
_CYCLES = re.compile(r'"estimated_cycles":"(\d+)"')


def array_bytes(text):
    """Return the bytes of an array as the compiler writes it, with padding if it has a layout.

    "f32[1024,10]" -> 40960; "f32[1024,10]{1,0:T(8,128)}" -> 524288, since 10 is padded to 128.
    """
    _, bits, shape, axes, tile = _ARRAY.match(text).groups(default="")
    sides = _numbers(shape)
    if tile and sides:
        sides = _in_whole_tiles(sides, _numbers(axes), _numbers(tile))
    # The type has its bits in its name, except for the truth values of "pred".
    return prod(sides) * int(bits or 8) // 8


def _numbers(text):
    return [int(number) for number in text.split(",") if number]


def _in_whole_tiles(shape, axes, sides):
    """Return a shape with its padding: along its innermost axes an array takes whole tiles.

    [1024, 10], [1, 0], [8, 128] -> [1024, 128]
    """
    # The innermost axis stands first in the layout, and last in the tile.
    sides.reverse()
    for axis, side in zip(axes, sides, strict=False):
        shape[axis] = ceil(shape[axis] / side) * side
    return shape


def allocation(array, operation):
    """An array with the bytes that it takes, as `Allocation` of accel_helpers has it."""
    return {"bytes": array_bytes(array), "array": array.split("{")[0], "operation": operation}


def arrays_of_overflow(message):
    """The largest arrays of a program that does not fit, by the compiler's error."""
    return [allocation(array, operation) for operation, array in _ENTRY.findall(message)]


def largest_arrays(text):
    """Return the arrays in the chip's main memory that a compiled program makes, the largest first.

    Not all arrays are there at the same time. Of arrays of one type and shape that the same
    operation makes, only the first is returned. What the step is given has no operation.
    """
    rows = []
    for line in text[text.find("\nENTRY ") :].splitlines():
        found = _INSTRUCTION.match(line)
        # A bitcast is another name for the same bytes.
        if found and found[2] not in ("bitcast", "constant"):
            operation = "" if found[2] == "parameter" else _path_of(line) or found[2]
            row = allocation(found[1], operation)
            if row not in rows:
                rows.append(row)
    return sorted(rows, key=lambda row: row["bytes"], reverse=True)


def _path_of(line):
    found = _PATH.search(line)
    return found[1] if found else ""


def collectives(text):
    """Return the exchanges between chips in a compiled program, with their bytes unpadded."""
    found = []
    for arrays, kind in _COLLECTIVE.findall(text):
        sizes = [array_bytes(array[0].split("{")[0]) for array in _ARRAY.finditer(arrays)]
        found.append({"kind": kind, "arrays": len(sizes), "bytes": sum(sizes)})
    return found


def estimated_cycles(text, layers=()):
    """Return the clock cycles of each layer that the compiler estimates, most cycles first."""
    sums = Counter()
    for line in text.splitlines():
        estimate = _CYCLES.search(line)
        if estimate and int(estimate[1]) < NO_ESTIMATE:
            sums[layer_of(_path_of(line), layers) or "other"] += int(estimate[1])
    return sums.most_common()


def layer_of(path, layers):
    """The name of the model's layer in the path that JAX gives an operation, or "".

    "jit(step)/transpose(jvp(dense_1))/dot_general" -> "dense_1"
    """
    # The last part is the operation. Of layers within each other, the model's own is outermost.
    *places, _ = path.split("/")
    for part in places:
        name = re.sub(r"^(?:\w+\()+|\)+$", "", part)
        # "jit(relu)" is a function of JAX's.
        if name in layers and not part.startswith("jit("):
            return name
    return ""


def named(row, layers, arguments):
    """An array with an operation that a learner understands, such as "hidden, going back".

    Of what the step is given, and of copies of it, it is the kind: "weights or optimizer", since
    the optimizer keeps arrays of the weights' shapes.
    """
    path = row["operation"]
    name = layer_of(path, layers)
    if re.fullmatch(r"|data\[.*|state\[.*", path):
        kinds = [kind for kind, array in arguments if array == row["array"]]
        name = " or ".join(dict.fromkeys(kinds)) or "an argument"
    elif not name:
        name = path.rsplit("/", 1)[-1]
    elif "transpose(" in path:
        name += ", going back"
    return {**row, "operation": name}


def said(folder):
    """Compile the job in a folder; return fields of an answer."""
    job = json.loads((folder / "job.json").read_text())
    sys.path.append(job["beside"])
    import child
    import jax

    model = child.load(folder, job)
    step, given = child.lowered(model, job)
    layers = [layer.name for layer in model.layers]
    effort = {} if job["thorough"] else child.LEAST_EFFORT
    try:
        program = step.compile(compiler_options=effort)
    except jax.errors.JaxRuntimeError as error:
        answer, arrays = child.overflow(error), arrays_of_overflow(str(error))
    else:
        text, memory = program.as_text(), program.memory_analysis()
        arrays = largest_arrays(text)
        answer = {
            "peak_memory": memory.peak_memory_in_bytes,
            "logical_bytes": given,
            "padded_bytes": memory.argument_size_in_bytes,
            "collectives": collectives(text),
            "cycles": estimated_cycles(text, layers) if job["thorough"] else [],
        }
        # The compiler counts the body of a loop once, and its bytes are not those of a whole step.
        if " while(" not in text:
            answer["moved"] = program.cost_analysis()["bytes accessed"]
    given = arguments(model, child.batch_shapes(job), job["chips"])
    answer["largest"] = [named(row, layers, given) for row in arrays[:MOST_ARRAYS]]
    return answer


def arguments(model, batch, chips):
    """What the step is given on one chip, as (kind, array as the compiler writes it)."""
    import keras

    x, y = (keras.tree.flatten(part) for part in batch)
    kinds = [
        ("weights", model.trainable_variables, 1),
        ("other state", model.non_trainable_variables, 1),
        ("optimizer", model.optimizer.variables, 1),
        ("other state", model.metrics_variables, 1),
        ("inputs", x, chips),
        ("targets", y, chips),
    ]
    return [(kind, _written(array, parts)) for kind, arrays, parts in kinds for array in arrays]


def _written(array, parts):
    """An array as the compiler writes it, of which each chip has one of so many parts."""
    # "float32" is "f32", and "int32" is "s32".
    dtype = array.dtype.replace("bool", "pred").replace("uint", "u").replace("int", "s")
    sides = list(array.shape)
    if parts > 1:
        sides[0] //= parts
    return f"{dtype.replace('float', 'f')}[{','.join(map(str, sides))}]"


if __name__ == "__main__":
    FOLDER = Path(sys.argv[1])
    (FOLDER / "answer.json").write_text(json.dumps(said(FOLDER)))
