"""The child process of `compiler`: compiles one program for a TPU that is not there.

It runs as a script among the packages that `environment` keeps, and so imports nothing of ours. It
reads `job.json` and `program.pb` from the folder that it is given, and writes `answer.json` there.
"""

import contextlib
import json
import os
import shutil
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

# number of chips -> how they are wired, as libtpu names it
TOPOLOGIES = {1: "1x1", 4: "2x2", 8: "2x4"}
# The compiler's least effort to make the program fast: it ends 3 to 12 times earlier.
LEAST_EFFORT = -1.0


def main(folder: str) -> None:
    """Compile the program in a folder, and write the answer there.

    `job.json` has the keyword arguments of `compile_program`, `program.pb` its data. When the
    parent process ends, the folder is deleted, and this process ends.
    """
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    place = Path(folder)
    job = json.loads((place / "job.json").read_text())
    program = (place / "program.pb").read_bytes()
    answer = compile_program(program, **job)
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


def compile_program(
    data: bytes, *, chip: str, chips: int = 1, shared: Sequence[int] = (), thorough: bool = False
) -> dict:
    """Compile a program for one chip or several.

    Parameters
    ----------
    data : bytes
        A serialized HLO module.
    chip : str
        Such as "v5e".
    chips : int
        One of `TOPOLOGIES`.
    shared : sequence of int
        Which arguments of the program are cut along the batch: their places, from 0, or counted
        from the end by negative numbers.
    thorough : bool
        Give the compiler its full time.

    Returns
    -------
    dict
        Fields of `CompiledStep`; "program", the text of the compiled program; and "error", which
        is the compiler's message, or "". With an error there is no text of a program, and of the
        fields there are `versions` and `loops` alone.
    """
    from importlib.metadata import version

    from jax._src.interpreters import mlir
    from jax._src.lib import _jax
    from jaxlib.mlir import ir

    with mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(_jax.mlir.hlo_to_stablehlo(data))
        _without_copies(module)
        _tpu_random_numbers(module)
        if chips > 1:
            _cut_batch(module, chips, shared)
        answer = {
            "versions": f"jax {version('jax')}, libtpu {version('libtpu')}",
            "loops": bool(_operations(module, "stablehlo.while")),
            "program": "",
            "error": "",
        }
        try:
            program = _compile(module, chip, chips, thorough)
        except _jax.JaxRuntimeError as error:
            return answer | {"error": str(error)}
    return answer | _figures(program)


def _compile(module, chip: str, chips: int, thorough: bool):
    """Compile an MLIR module for so many chips of a kind, such as "v5e"; return JAX's executable.

    Raises a JaxRuntimeError if it does not fit, or cannot be compiled. The interfaces are private
    ones of JAX, since libtpu has no public one.
    """
    from jax._src import compiler
    from jax._src.lib import _jax
    from jax.experimental import topologies

    # libtpu takes one chip alone only if it is told that a host has no more.
    bounds = {"chips_per_host_bounds": [1, 1, 1]} if chips == 1 else {}
    topology = topologies.get_topology_desc(
        platform="tpu", topology_name=f"{chip}:{TOPOLOGIES[chips]}", **bounds
    )
    devices = tuple(topology.devices)
    options = compiler.get_compile_options(
        num_replicas=1, num_partitions=chips, use_spmd_partitioning=chips > 1
    )
    build_options = options.executable_build_options
    # The shardings of `_cut_batch` are written in the older of the two ways that XLA reads.
    build_options.use_shardy_partitioner = False
    if not thorough:
        build_options.exec_time_optimization_effort = LEAST_EFFORT
    return devices[0].client.compile(
        module, executable_devices=_jax.DeviceList(devices), compile_options=options
    )


def _figures(program) -> dict:
    """Return the text and the figures of a program of JAX's, as `compile_program` returns them."""
    cost = program.cost_analysis()
    memory = program.get_compiled_memory_stats()
    return {
        "program": program.hlo_modules()[0].to_string(),
        "compiler_flops": _count_or_none(cost.get("flops", 0)),
        "bytes_accessed": _count_or_none(cost.get("bytes accessed", 0)),
        "peak_memory": memory.peak_memory_in_bytes,
        "padded_bytes": memory.argument_size_in_bytes,
    }


def _count_or_none(count: float) -> float | None:
    """Return a count of the compiler, or None if it is 0 or below: then it is not known."""
    return count if count > 0 else None


def _without_copies(module) -> None:
    """Remove each `mhlo.copy` from an MLIR module, in place: users of the copy get the original.

    TensorFlow writes them, and StableHLO, which the compiler reads, has no such operation.
    """
    for operation in _operations(module, "mhlo.copy"):
        operation.result.replace_all_uses_with(operation.operands[0])
        operation.erase()


def _tpu_random_numbers(module) -> None:
    """Let an MLIR module make its random numbers as on a TPU, by the default algorithm; in place.

    A program that TensorFlow writes on a CPU asks for the algorithm Philox, whose state is three
    numbers and not two. On a TPU that takes 32 times the memory, and a program that fits in truth
    would not fit.
    """
    for operation in _operations(module, "stablehlo.rng_bit_generator"):
        state = operation.operands[0]
        if list(state.type.shape) == [3]:
            _use_default_algorithm(operation)


def _use_default_algorithm(operation) -> None:
    """Replace an `rng_bit_generator` on a state of three numbers by one on the first two of them.

    `operation` is an MLIR operation. The new one, which uses the default algorithm, takes its place
    in the module.
    """
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    def part(array, first: int, end: int):
        """Return array[first:end] as an operation of the module."""
        make = ir.DenseI64ArrayAttr.get
        return stablehlo.slice(array, make([first]), make([end]), make([1]))

    state = operation.operands[0]
    old_state, old_numbers = operation.results
    with ir.InsertionPoint(operation), operation.location:
        state_type = ir.RankedTensorType.get([2], state.type.element_type)
        algorithm = stablehlo.RngAlgorithmAttr.get("DEFAULT")
        generator = stablehlo.RngBitGeneratorOp(
            state_type, old_numbers.type, algorithm, part(state, 0, 2)
        )
        new_state, new_numbers = generator.results
        # What comes after still expects three numbers: the third one is handed on.
        whole_state = stablehlo.concatenate([new_state, part(state, 2, 3)], 0)
        old_state.replace_all_uses_with(whole_state)
        old_numbers.replace_all_uses_with(new_numbers)
    operation.erase()


def _cut_batch(module, chips: int, shared: Sequence[int]) -> None:
    """Change an MLIR module so that every chip gets its part of the batch, and all else whole.

    `shared` are the places of the arguments that hold the batch, negative ones from the end. Each
    argument of the module's main function gets a sharding, which says how it lies on the chips.
    """
    from jaxlib.mlir import ir

    main_function = _main_function(module)
    arguments = list(main_function.regions[0].blocks[0].arguments)
    old_attributes = [{} for _ in arguments]
    # The list of attributes is missing, or empty, where no argument has any.
    if "arg_attrs" in main_function.attributes:
        entries = [ir.DictAttr(entry) for entry in main_function.attributes["arg_attrs"]]
        old_attributes = entries or old_attributes
    # Negative places become those from 0 on.
    cut_arguments = {index % len(arguments) for index in shared}
    new_attributes = []
    for index, (argument, old) in enumerate(zip(arguments, old_attributes, strict=True)):
        sharding = "{replicated}"
        if index in cut_arguments:
            sharding = _sharding_of_first_axis(len(argument.type.shape), chips)
        attributes = {name: old[name] for name in old}
        attributes["mhlo.sharding"] = ir.StringAttr.get(sharding)
        new_attributes.append(ir.DictAttr.get(attributes))
    main_function.attributes["arg_attrs"] = ir.ArrayAttr.get(new_attributes)
    int32 = ir.IntegerType.get_signless(32)
    module.operation.attributes["mhlo.num_partitions"] = ir.IntegerAttr.get(int32, chips)


def _main_function(module):
    """Return the function of an MLIR module that the program begins with: the one called "main"."""
    functions = {str(function.name).strip('"'): function for function in module.body.operations}
    return functions["main"]


def _sharding_of_first_axis(axes: int, chips: int) -> str:
    """Return how XLA writes that an array is cut along the first of its axes, one part a chip.

    axes=2, chips=8 -> "{devices=[8,1]<=[8]}"
    """
    parts = [str(chips)] + ["1"] * (axes - 1)
    return f"{{devices=[{','.join(parts)}]<=[{chips}]}}"


def _operations(module, name: str) -> list:
    """Return all operations of a name, such as "mhlo.copy", in an MLIR module, at any depth."""
    from jaxlib.mlir import ir

    operations = []

    def visit(operation):
        if operation.name == name:
            operations.append(operation.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return operations


if __name__ == "__main__":
    main(sys.argv[1])
