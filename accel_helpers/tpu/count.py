"""Counts the matrix products in a program, before a compiler has touched it.

This file runs in the child process of `tpu_compiler`, beside the TPU compiler, where nothing else
of this package is loaded. It walks the program (StableHLO, the language that TensorFlow's and
JAX's programs are both written in) as a machine would run it, but computes no arrays: it follows
single whole numbers only, because they say how often a loop turns.
"""

from math import prod

LONGEST_LOOP = 10_000  # turns that are followed one by one
PRODUCTS = ("stablehlo.dot", "stablehlo.dot_general", "stablehlo.convolution")


class Unknown(Exception):
    """How often a loop turns cannot be told; the message says which."""


def product_flops(text: str) -> int:
    """Count the operations of all matrix products and convolutions.

    A product of (m, k) and (k, n) takes 2mkn operations. Where a filter lies over padding nothing
    is counted, as in `measure.work` and in the compiler's own count. What nobody uses (the
    gradient of the pictures, which TensorFlow writes down) is taken out first, as every compiler
    does.

    Parameters
    ----------
    text : str
        The program in StableHLO. To be called within a context that knows StableHLO.

    Returns
    -------
    int

    Raises
    ------
    Unknown
        If there is a loop whose number of turns the program does not fix.
    """
    from jaxlib.mlir import ir, passmanager

    module = ir.Module.parse(text)  # a copy: the passes change it
    tidy = passmanager.PassManager.parse("builtin.module(inline,canonicalize,cse)")
    tidy.run(module.operation)
    functions = {str(op.name).strip('"'): op.regions[0].blocks[0] for op in module.body.operations}
    main = functions["main"]
    return _run(main, [None] * len(main.arguments), {}, functions)[1]


def has_loop(module) -> bool:
    """Say whether the program has a loop: the compiler's own count takes its body once only.

    Parameters
    ----------
    module : jaxlib.mlir.ir.Module
        In StableHLO.

    Returns
    -------
    bool
    """
    pending = [module.operation]
    while pending:
        operation = pending.pop()
        if operation.name == "stablehlo.while":
            return True
        for region in operation.regions:
            pending += [op.operation for block in region.blocks for op in block.operations]
    return False


def _run(block, arguments, outside, functions):
    """Go through a block once: what it returns (whole numbers, else None), and its operations."""
    known = dict(outside)
    known.update(zip(block.arguments, arguments, strict=True))
    flops = 0
    for op in block.operations:
        name, inputs = op.operation.name, [known.get(value) for value in op.operation.operands]
        if name in ("func.return", "stablehlo.return"):
            return inputs, flops
        if name == "func.call":  # what the passes do not put in place: calls within a loop
            called = functions[str(op.attributes["callee"]).lstrip("@").strip('"')]
            results, more = _run(called, inputs, {}, functions)
        elif name == "stablehlo.while":
            results, more = _loop(op, inputs, known, functions)
        elif name in ("stablehlo.case", "stablehlo.if"):
            ways = [_run(region.blocks[0], [], known, functions) for region in op.regions]
            results, more = [None] * len(op.results), max(flops for _, flops in ways)
        else:
            results, more = [_number(name, op, inputs)], _product(name, op)
        flops += more
        known.update(zip(op.results, results, strict=False))  # an operation may make nothing
    raise Unknown("a block without an end")


def _loop(op, state, known, functions):
    condition, body = (region.blocks[0] for region in op.regions)
    flops = 0
    for _ in range(LONGEST_LOOP):
        (goes_on,), more = _run(condition, state, known, functions)
        flops += more
        if goes_on is None:
            break
        if not goes_on:
            return state, flops
        state, more = _run(body, state, known, functions)
        flops += more
    else:
        raise Unknown(f"a loop of more than {LONGEST_LOOP:,} turns, which are not followed")
    # A loop without products may turn as often as it likes.
    if _run(body, state, known, functions)[1] == 0:
        return [None] * len(state), flops
    raise Unknown("a loop whose number of turns is not written in the program")


_RULES = {
    "stablehlo.add": lambda a, b: a + b,
    "stablehlo.subtract": lambda a, b: a - b,
    "stablehlo.multiply": lambda a, b: a * b,
    "stablehlo.minimum": min,
    "stablehlo.maximum": max,
    "stablehlo.and": lambda a, b: a & b,
    "stablehlo.or": lambda a, b: a | b,
    "stablehlo.reshape": lambda a: a,
    "stablehlo.convert": lambda a: a,
    "stablehlo.not": lambda a: not a,
}
_COMPARE = {
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
}


def _number(name, op, inputs):
    """What an operation makes, where that is one whole number and its inputs are known."""
    if name == "stablehlo.constant":
        return _constant(op)
    if name == "stablehlo.compare" and None not in inputs:
        direction = str(op.attributes["comparison_direction"])
        return next(rule for word, rule in _COMPARE.items() if f" {word}>" in direction)(*inputs)
    # False and anything is False, also where the other one is not known.
    if name == "stablehlo.and" and any(value is not None and not value for value in inputs):
        return 0
    if name in _RULES and inputs and None not in inputs:
        return _RULES[name](*inputs)
    return None


def _constant(op):
    shape, value = op.results[0].type, op.attributes["value"]
    if shape.rank or str(shape.element_type)[:1] not in "isu":
        return None
    return int(next(iter(value)))


def _product(name, op) -> int:
    """Operations of one matrix product or convolution; 0 for anything else."""
    if name not in PRODUCTS:
        return 0
    from jaxlib.mlir.dialects import stablehlo

    left, right = (operand.type.shape for operand in op.operation.operands)
    out = op.results[0].type.shape
    if name == "stablehlo.dot":
        return 2 * prod(out) * left[-1]
    if name == "stablehlo.dot_general":
        axes = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
        return 2 * prod(out) * prod(left[axis] for axis in axes.lhs_contracting_dimensions)
    axes = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    flops = 2 * out[axes.output_batch_dimension] * out[axes.output_feature_dimension]
    flops *= right[axes.kernel_input_feature_dimension]
    ways = len(axes.input_spatial_dimensions)
    strides, before, inner, outer = (
        _numbers(op, "window_strides", [1] * ways),
        _numbers(op, "padding", [0] * 2 * ways)[::2],
        _numbers(op, "lhs_dilation", [1] * ways),
        _numbers(op, "rhs_dilation", [1] * ways),
    )
    for way in range(ways):
        flops *= _taps(
            left[axes.input_spatial_dimensions[way]],
            right[axes.kernel_spatial_dimensions[way]],
            out[axes.output_spatial_dimensions[way]],
            (strides[way], before[way], inner[way], outer[way]),
        )
    return flops


def _numbers(op, name, default):
    if name not in op.attributes:
        return default
    # A table such as the padding's is read row by row: before, after, before, after.
    return [int(value) for value in op.attributes[name]]


def _taps(inputs, kernel, outputs, window) -> int:
    """Pairs of an output and a kernel place, along one axis, that meet a real input."""
    stride, before, inner, outer = window
    places = (
        out * stride - before + tap * outer for out in range(outputs) for tap in range(kernel)
    )
    return sum(
        1 for place in places if 0 <= place < (inputs - 1) * inner + 1 and place % inner == 0
    )


def tensor_bytes(kind) -> int:
    """Bytes of an array of this type, without any padding.

    Parameters
    ----------
    kind : jaxlib.mlir.ir.RankedTensorType

    Returns
    -------
    int
    """
    name = str(kind.element_type)
    bits = 16 if name == "bf16" else int(name.lstrip("uifs").split("E")[0] or 1)
    return prod(kind.shape) * max(bits, 8) // 8
