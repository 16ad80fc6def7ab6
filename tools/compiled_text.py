"""Writes down all that the TPU compiler says of a training step. A script for its environment.

    python compiled_text.py FOLDER

It is what `accel_helpers/tpu/child.py` is, for the stored answers: FOLDER has the same job, with
the folder of that file as "beside", and "thorough", which gives the compiler its full time.
"""

import json
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1])
JOB = json.loads((FOLDER / "job.json").read_text())
sys.path.append(JOB["beside"])
# How the compiler writes types, where that is not the letter and the bits.
SHORT = {"bool": "pred"}


def said() -> dict:
    """Fields of an answer, the compiled program or the error as "text", and the "arguments"."""
    import child
    import jax

    model = child.load(FOLDER, JOB)
    step, given = child.lowered(model, JOB)
    effort = {} if JOB["thorough"] else child.LEAST_EFFORT
    answer = {"arguments": arguments(model, child.batch_of(JOB))}
    try:
        program = step.compile(compiler_options=effort)
    except jax.errors.JaxRuntimeError as error:
        return answer | child.overflow(error) | {"text": str(error)}
    memory = program.memory_analysis()
    return answer | {
        "peak_memory": memory.peak_memory_in_bytes,
        "logical_bytes": given,
        "padded_bytes": memory.argument_size_in_bytes,
        "bytes_accessed": program.cost_analysis()["bytes accessed"],
        "text": program.as_text(),
    }


def arguments(model, batch) -> list[tuple[str, str]]:
    """What the step is given on one chip, as (kind, array as the compiler writes it)."""
    import keras

    x, y = (keras.tree.flatten(part) for part in batch)
    kinds = [
        ("weights", model.trainable_variables, 1),
        ("other state", model.non_trainable_variables, 1),
        ("optimizer", model.optimizer.variables, 1),
        ("other state", model.metrics_variables, 1),
        ("inputs", x, JOB["chips"]),
        ("targets", y, JOB["chips"]),
    ]
    return [(kind, written(array, parts)) for kind, arrays, parts in kinds for array in arrays]


def written(array, parts: int) -> str:
    """An array as the compiler writes it, of which each chip has one of so many parts."""
    dtype = SHORT.get(array.dtype, array.dtype)
    for word in ("float", "uint", "int"):
        dtype = dtype.replace(word, {"int": "s"}.get(word, word[0]))
    first, *sides = array.shape or [""]
    if sides or first:
        first //= parts
    return f"{dtype}[{','.join(map(str, [first, *sides]))}]"


if __name__ == "__main__":
    (FOLDER / "answer.json").write_text(json.dumps(said()))
