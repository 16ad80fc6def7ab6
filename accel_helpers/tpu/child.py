"""The child process of `compiler`: compiles one program for a TPU that is not there.

It is started as a script in the environment that `environment` keeps, and reads `job.json` and
`program.pb` from the folder that it is given. The private interfaces of JAX are used in
`compile_program` alone.
"""

import contextlib
import json
import os
import shutil
import sys
import threading
from pathlib import Path

TOPOLOGIES = {1: "1x1", 4: "2x2", 8: "2x4"}  # how that many chips are wired, as libtpu names it
FAST = -1.0  # the compiler's least effort to make the program fast: some 3 to 12 times sooner done


def main(folder: str) -> None:
    """Compile what lies in a folder; when the parent is gone (our standard input ends), stop."""
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    place = Path(folder)
    job = json.loads((place / "job.json").read_text())
    answer = compile_program((place / "program.pb").read_bytes(), **job)
    (place / "answer.json").write_text(json.dumps(answer))


def _end_with_parent(folder: str) -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(3)


def compile_program(data: bytes, *, chip: str, chips=1, shared=(), thorough=False) -> dict:
    """Compile a serialized HLO module: fields of `CompiledStep`, "program", and "error" or ""."""
    from importlib.metadata import version

    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib import _jax
    from jax.experimental import topologies
    from jaxlib.mlir import ir

    # One chip alone is no wiring that libtpu knows by itself.
    alone = {"chips_per_host_bounds": [1, 1, 1]} if chips == 1 else {}
    topology = topologies.get_topology_desc(
        platform="tpu", topology_name=f"{chip}:{TOPOLOGIES[chips]}", **alone
    )
    devices = tuple(topology.devices)
    with mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(_jax.mlir.hlo_to_stablehlo(data))
        _without_copies(module)
        _tpu_random_numbers(module)
        loops = bool(_operations(module, "stablehlo.while"))
        versions = f"jax {version('jax')}, libtpu {version('libtpu')}"
        answer = {"versions": versions, "loops": loops, "program": "", "error": ""}
        if chips > 1:
            _cut_batch(module, chips, shared)
        options = compiler.get_compile_options(
            num_replicas=1, num_partitions=chips, use_spmd_partitioning=chips > 1
        )
        # The shardings below are written in the older of the two ways that XLA reads.
        options.executable_build_options.use_shardy_partitioner = False
        if not thorough:
            options.executable_build_options.exec_time_optimization_effort = FAST
        try:
            program = devices[0].client.compile(
                module, executable_devices=_jax.DeviceList(devices), compile_options=options
            )
        except _jax.JaxRuntimeError as error:
            return answer | {"error": str(error)}
    cost, memory = program.cost_analysis(), program.get_compiled_memory_stats()
    return answer | {
        "program": program.hlo_modules()[0].to_string(),
        # below 0 the compiler does not know
        "compiler_flops": max(cost.get("flops", 0), 0) or None,
        "bytes_accessed": max(cost.get("bytes accessed", 0), 0) or None,
        "peak_memory": memory.peak_memory_in_bytes,
        "padded_bytes": memory.argument_size_in_bytes,
    }


def _without_copies(module) -> None:
    """Take out `mhlo.copy`, which TensorFlow writes and StableHLO has no word for."""
    for operation in _operations(module, "mhlo.copy"):
        operation.result.replace_all_uses_with(operation.operands[0])
        operation.erase()


def _tpu_random_numbers(module) -> None:
    """Let random numbers be made as a TPU makes them, by the default algorithm."""
    # Lowered on a CPU, TensorFlow's dropout asks for Philox, whose state is three numbers and not
    # two: it takes 32 times the memory, and programs that fit would be said not to.
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    def part(state, first, end):
        array = ir.DenseI64ArrayAttr.get
        return stablehlo.slice(state, array([first]), array([end]), array([1]))

    for operation in _operations(module, "stablehlo.rng_bit_generator"):
        if list(operation.operands[0].type.shape) != [3]:
            continue
        state, (after, numbers) = operation.operands[0], operation.results
        with ir.InsertionPoint(operation), operation.location:
            two = ir.RankedTensorType.get([2], state.type.element_type)
            default = stablehlo.RngAlgorithmAttr.get("DEFAULT")
            made = stablehlo.RngBitGeneratorOp(two, numbers.type, default, part(state, 0, 2))
            new_state, new_numbers = made.results
            after.replace_all_uses_with(stablehlo.concatenate([new_state, part(state, 2, 3)], 0))
            numbers.replace_all_uses_with(new_numbers)
        operation.erase()


def _cut_batch(module, chips: int, shared: tuple) -> None:
    """Give every chip its part of the batch, and a copy of everything else."""
    from jaxlib.mlir import ir

    main = next(op for op in module.body.operations if str(op.name).strip('"') == "main")
    arguments = list(main.regions[0].blocks[0].arguments)
    held = list(main.attributes["arg_attrs"]) if "arg_attrs" in main.attributes else []
    held = [ir.DictAttr(one) for one in held] or [{}] * len(arguments)
    cuts, attributes = {index % len(arguments) for index in shared}, []
    for index, (argument, own) in enumerate(zip(arguments, held, strict=True)):
        ways = ",".join([str(chips)] + ["1"] * (len(argument.type.shape) - 1))
        sharding = f"{{devices=[{ways}]<=[{chips}]}}" if index in cuts else "{replicated}"
        own = {name: own[name] for name in own} | {"mhlo.sharding": ir.StringAttr.get(sharding)}
        attributes.append(ir.DictAttr.get(own))
    number = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), chips)
    module.operation.attributes["mhlo.num_partitions"] = number
    main.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)


def _operations(module, name: str) -> list:
    from jaxlib.mlir import ir

    found = []

    def look(operation):
        if operation.name == name:
            found.append(operation.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    return found


if __name__ == "__main__":
    main(sys.argv[1])
