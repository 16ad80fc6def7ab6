"""The child process of `compiler`: compiles a training step for a TPU that is not there.

It runs as a script among the packages that `environment` keeps, and so imports nothing of ours. It
reads `job.json` and a model as `fit.saved_model` writes it, and writes `answer.json` beside them.
"""

import contextlib
import json
import os
import pickle
import re
import shutil
import sys
import threading
from collections import Counter
from copy import deepcopy
from pathlib import Path

# number of chips -> how they are wired, as libtpu names it
TOPOLOGIES = {1: "1x1", 4: "2x2", 8: "2x4"}
# libtpu takes one chip alone only if it is told that a host has no more.
BOUNDS = {1: {"chips_per_host_bounds": [1, 1, 1]}}
# The compiler's least effort to make the program fast: it ends 3 to 12 times earlier.
LEAST_EFFORT = {"exec_time_optimization_effort": -1.0}
LONGEST_MESSAGE = 300  # characters of an error that are quoted
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}  # bytes

# Of a line of a program in which chips exchange arrays, what kind of exchange it is:
#     "  %a = (f32[]{:T(128)}, f32[16]{0:T(128)S(1)}) all-reduce-start(%g, %f), channel_id=1"
_EXCHANGE = re.compile(
    r" (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\("
)
# In the error on a program that does not fit: what it needs, and its largest array.
#     "Ran out of memory in memory space hbm. Used 21.98G of 15.75G hbm. Exceeded hbm capacity by …"
#     "  1. Size: 1.53G"
#     "     Operator: op_name="jit(train_step)/jvp(conv1)/conv_general_dilated" stack_frame_id=99"
#     "     Shape: bf16[1024,56,56,256]{3,0,2,1:T(8,128)(2,1)}"
_NEEDED = re.compile(r"space hbm\. Used ([\d.]+)([KMGT]?) of")
_LARGEST = re.compile(r' 1\. Size: (\S+)\s+Operator: op_name="([^"]*).*\s+Shape: ([^\s{]+)')
_BOLD = re.compile(r"\x1b\[\d*m")  # switches a terminal to bold, and back


def main(folder: str) -> None:
    """Answer the job in a folder; when the parent process ends, the folder and this process go.

    A job has the "chip" with its "memory", the "chips", the "batch_size", the "batch" as [x, y] of
    texts such as "float32 28 28". The answer has fields of `CompiledStep`.
    """
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    place = Path(folder)
    job = json.loads((place / "job.json").read_text("utf-8"))
    answer = {}
    try:
        model = load(place, job)
        answer |= _compile(model, job)
        # It stands there if smaller batches take too long.
        (place / "answer.json").write_text(json.dumps(answer))
        if answer["verdict"] == "too large":
            answer |= smaller(model, job)
    # Whatever the model's own code, the frameworks and the compiler raise.
    except Exception as error:
        answer["why"] = f"the step cannot be compiled: {_reason(error)}"
    (place / "answer.json").write_text(json.dumps(answer))


def _end_with_parent(folder: str) -> None:
    """Wait until the parent process is gone; then delete the folder, and end this process.

    Nothing is ever written to the standard input, which ends when the parent does.
    """
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(3)


def _reason(error: Exception) -> str:
    """Return what an error says, in a line."""
    # Keras ends with the arguments of the call, which are long; what led to an error stands first.
    message, _, _ = _BOLD.sub("", str(error)).partition("Arguments received by ")
    return message.strip().rpartition("\n")[2][:LONGEST_MESSAGE]


def load(place: Path, job: dict):
    """Return the model in a folder, on JAX and for XLA; its variables take no memory."""
    import keras

    make = keras.saving.deserialize_keras_object
    description = json.loads((place / "model.json").read_text("utf-8"))
    own_code = pickle.loads((place / "own_code.pickle").read_bytes())
    compiled_with = make(description.pop("compile_config"), own_code)
    try:
        with _no_numbers():
            model = make(deepcopy(description), own_code)  # Keras changes what it reads
    # A layer makes a variable of a number, and not of a shape: then all of them get numbers.
    except Exception:
        model = make(description, own_code)
    model.compile(**compiled_with | {"jit_compile": True, "run_eagerly": False})
    with _no_numbers():
        model._symbolic_build(data_batch=batch_shapes(job))
    return model


def _no_numbers():
    """Return a block in which Keras makes variables of a shape, and no numbers in them."""
    import keras

    return keras.StatelessScope(initialize_variables=False)


def batch_shapes(job: dict) -> list:
    """Return the shapes of a batch as [x, y]."""
    import keras

    def shape_of(text: str):
        dtype, *sides = text.split()
        return keras.KerasTensor((job["batch_size"], *map(int, sides)), dtype)

    return keras.tree.map_structure(shape_of, job["batch"])


def lowered(model, job: dict) -> tuple:
    """Return the step of a job as a program of JAX's, and the bytes that it is given on a chip."""
    import jax
    import numpy as np
    from jax.experimental import topologies
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    chips = job["chips"]
    name = f"{job['chip']}:{TOPOLOGIES[chips]}"
    topology = topologies.get_topology_desc(name, "tpu", **BOUNDS.get(chips, {}))
    mesh = Mesh(np.array(topology.devices), ["chips"])

    # Every chip has the state of the training whole, and its part of the batch.
    layout = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("chips"))
    variables = (
        model.trainable_variables,
        model.non_trainable_variables,
        model.optimizer.variables,
        model.metrics_variables,
    )
    state, batch = jax.tree.map(
        lambda it: jax.ShapeDtypeStruct(it.shape, it.dtype), (variables, batch_shapes(job))
    )
    step = jax.jit(model.train_step, in_shardings=layout, donate_argnums=0, keep_unused=True)
    with _no_numbers():
        return step.lower(state, batch), _bytes_of(state) + _bytes_of(batch) // chips


def _bytes_of(shapes) -> int:
    """Return the bytes of all arrays of these shapes, without padding."""
    import jax

    return sum(shape.size * shape.dtype.itemsize for shape in jax.tree.leaves(shapes))


def _compile(model, job: dict) -> dict:
    """Return what the compiler says of a job, as fields of an answer."""
    import jax

    step, given = lowered(model, job)
    # The compiler would work on it for minutes.
    if given > job["memory"]:
        return {"verdict": "too large", "needed": given, "at_least": True}
    try:
        program = step.compile(compiler_options=LEAST_EFFORT)
    except jax.errors.JaxRuntimeError as error:
        return overflow(error)
    exchanges = Counter(_EXCHANGE.findall(program.as_text())).items()
    return {
        "verdict": "fits",
        "peak_memory": program.memory_analysis().peak_memory_in_bytes,
        "more": [["between chips", f"{kind}, {count} times"] for kind, count in exchanges],
    }


def overflow(error: Exception) -> dict:
    """Return the fields of an answer that the compiler's error on a lack of memory gives.

    Another error is raised again.
    """
    message = str(error)
    if not message.startswith("RESOURCE_EXHAUSTED"):
        raise error
    answer = {"verdict": "too large"}
    # Of a program that is far too large, it gives no figures.
    for number, unit in _NEEDED.findall(message):
        answer["needed"] = round(float(number) * UNITS[unit])
    for size, operation, array in _LARGEST.findall(message):
        answer["more"] = [["largest array", f"{size}: {array}, {operation}"]]
    return answer


def smaller(model, job: dict) -> dict:
    """Return the largest power of two that fits as a batch, where the job's own does not."""
    tried = []
    # the largest one below the job's
    batch = 2 ** (job["batch_size"] - 1).bit_length() // 2
    while batch >= job["chips"]:
        verdict = _compile(model, job | {"batch_size": batch})["verdict"]
        tried.append(f"{batch} {verdict}")
        if verdict == "fits":
            return {"largest_batch": batch, "tried": ", ".join(tried[-2:])}
        batch //= 2
    return {"largest_batch": 0}


if __name__ == "__main__":
    main(sys.argv[1])
