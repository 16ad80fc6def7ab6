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

# How that many chips are wired, as libtpu names it.
TOPOLOGIES = {1: "1x1", 4: "2x2", 8: "2x4"}
# The compiler's least effort to make the program fast; it is done 3 to 12 times sooner.
LEAST_EFFORT = -1.0


def main(folder: str) -> None:
    """Compile what lies in a folder; end when the parent is gone."""
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    place = Path(folder)
    job = json.loads((place / "job.json").read_text())
    program = (place / "program.pb").read_bytes()
    answer = compile_program(program, **job)
    (place / "answer.json").write_text(json.dumps(answer))


def _end_with_parent(folder: str) -> None:
    """Wait for the end of our standard input, which says that the parent is gone; then end."""
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
        Which arguments of the program are cut along the batch.
    thorough : bool
        Give the compiler its full time.

    Returns
    -------
    dict
        Fields of `CompiledStep`, "program" with the text of the compiled program, and "error".
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
    """Return the compiled program, as JAX's object for it.

    JAX's private interfaces are used, since libtpu has no other. Raises JaxRuntimeError where the
    compiler refuses the program, or where it does not fit.
    """
    from jax._src import compiler
    from jax._src.lib import _jax
    from jax.experimental import topologies

    # One chip alone is no wiring that libtpu knows by itself.
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
    """Return what a compiled program says about itself, as fields of the answer."""
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
    """Return the count, or None where it is 0 or below: then the compiler does not know."""
    return count if count > 0 else None


def _without_copies(module) -> None:
    """Take out `mhlo.copy`, which TensorFlow writes and StableHLO has no word for."""
    for operation in _operations(module, "mhlo.copy"):
        operation.result.replace_all_uses_with(operation.operands[0])
        operation.erase()


def _tpu_random_numbers(module) -> None:
    """Let random numbers be made as a TPU makes them, by the default algorithm.

    Lowered on a CPU, TensorFlow's dropout asks for Philox, whose state is three numbers and not
    two: it takes 32 times the memory, and programs that fit would be said not to.
    """
    for operation in _operations(module, "stablehlo.rng_bit_generator"):
        state = operation.operands[0]
        if list(state.type.shape) == [3]:
            _use_default_algorithm(operation)


def _use_default_algorithm(operation) -> None:
    """Let one operation draw its numbers by the default algorithm, which has a state of two.

    What stands in the module is changed: `operation` has a state of three numbers, of which the
    first two are used, and it is taken out.
    """
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    def part(array, first: int, end: int):
        """Return array[first:end]."""
        index = ir.DenseI64ArrayAttr.get
        return stablehlo.slice(array, index([first]), index([end]), index([1]))

    state = operation.operands[0]
    state_after, numbers = operation.results
    with ir.InsertionPoint(operation), operation.location:
        state_type = ir.RankedTensorType.get([2], state.type.element_type)
        algorithm = stablehlo.RngAlgorithmAttr.get("DEFAULT")
        generator = stablehlo.RngBitGeneratorOp(
            state_type, numbers.type, algorithm, part(state, 0, 2)
        )
        new_state, new_numbers = generator.results
        # What comes after still expects three numbers: the third one is handed on.
        whole_state = stablehlo.concatenate([new_state, part(state, 2, 3)], 0)
        state_after.replace_all_uses_with(whole_state)
        numbers.replace_all_uses_with(new_numbers)
    operation.erase()


def _cut_batch(module, chips: int, shared: Sequence[int]) -> None:
    """Write into a module that every chip gets its part of the batch, and a copy of the rest.

    `shared` says which arguments of the program belong to the batch, by number; negative numbers
    count from the end.
    """
    from jaxlib.mlir import ir

    main_function = _main_function(module)
    arguments = list(main_function.regions[0].blocks[0].arguments)
    old_attributes = [{} for _ in arguments]
    if "arg_attrs" in main_function.attributes:
        written = [ir.DictAttr(attribute) for attribute in main_function.attributes["arg_attrs"]]
        old_attributes = written or old_attributes
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
    """Return the function that the program begins with."""
    functions = {str(function.name).strip('"'): function for function in module.body.operations}
    return functions["main"]


def _sharding_of_first_axis(axes: int, chips: int) -> str:
    """Return XLA's words for an array that is cut along its first axis, among so many `chips`.

    2 axes and 8 chips -> "{devices=[8,1]<=[8]}".
    """
    parts = [str(chips)] + ["1"] * (axes - 1)
    return f"{{devices=[{','.join(parts)}]<=[{chips}]}}"


def _operations(module, name: str) -> list:
    """Return all operations of this name in a module, such as "stablehlo.while", however deep."""
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
