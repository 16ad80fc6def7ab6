"""Counts the matrix products in a program, before a compiler has touched it; runs in `child`.

The program (in StableHLO) is walked as a machine would run it, but only single whole numbers are
computed: they say how often a loop turns.
"""

import operator
import re
from math import prod

LONGEST_LOOP = 10_000  # turns that are followed one by one
PRODUCTS = ("stablehlo.dot", "stablehlo.dot_general", "stablehlo.convolution")


class Unknown(Exception):
    """How often a loop turns cannot be told; the message says which."""


def product_flops(text: str) -> int:
    """Count the operations of the products and convolutions that a compiler would leave in.

    A product of (m, k) and (k, n) takes 2mkn; a filter over padding none, as in `measure.work`.
    """
    from jaxlib.mlir import ir, passmanager

    module = ir.Module.parse(text)  # a copy: the passes change it
    tidy = passmanager.PassManager.parse("builtin.module(inline,canonicalize,cse)")
    tidy.run(module.operation)
    functions = {str(op.name).strip('"'): op.regions[0].blocks[0] for op in module.body.operations}
    main = functions["main"]
    return _run(main, [None] * len(main.arguments), {}, functions)[1]


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
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "minimum": min,
    "maximum": max, "and": operator.and_, "or": operator.or_, "not": operator.not_,
    "reshape": operator.pos, "convert": operator.pos,
}  # fmt: skip


def _number(name, op, inputs):
    """What an operation makes, where that is one whole number and its inputs are known."""
    if name == "stablehlo.constant":
        kind = op.results[0].type
        whole = not kind.rank and str(kind.element_type)[:1] in "isu"
        return int(next(iter(op.attributes["value"]))) if whole else None
    if name == "stablehlo.compare" and None not in inputs:
        direction = str(op.attributes["comparison_direction"])  # "... LT>", as in Python's lt
        return getattr(operator, direction.rstrip(">").split()[-1].lower())(*inputs)
    # False and anything is False, also where the other one is not known.
    if name == "stablehlo.and" and any(value is not None and not value for value in inputs):
        return 0
    rule = _RULES.get(name.removeprefix("stablehlo."))
    return rule(*inputs) if rule and inputs and None not in inputs else None


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
    sizes = [
        [left[axis] for axis in axes.input_spatial_dimensions],
        [right[axis] for axis in axes.kernel_spatial_dimensions],
        [out[axis] for axis in axes.output_spatial_dimensions],
    ]
    ways = len(sizes[0])
    windows = [
        _numbers(op, "window_strides", [1] * ways),
        _numbers(op, "padding", [0] * 2 * ways)[::2],  # row by row: before, after, before, after
        _numbers(op, "lhs_dilation", [1] * ways),
        _numbers(op, "rhs_dilation", [1] * ways),
    ]
    return flops * prod(_taps(*one) for one in zip(*sizes, *windows, strict=True))


def _numbers(op, name, default):
    return [int(value) for value in op.attributes[name]] if name in op.attributes else default


def _taps(inputs, kernel, outputs, stride, before, inner, outer) -> int:
    """Pairs of an output and a kernel place, along one axis, that meet a real input."""
    places = [at * stride - before + tap * outer for at in range(outputs) for tap in range(kernel)]
    return sum(0 <= place <= (inputs - 1) * inner and place % inner == 0 for place in places)


def tensor_bytes(kind) -> int:
    """Bytes of an array of this type, without any padding."""
    bits = int(re.search(r"\d+", str(kind.element_type))[0])  # such as "f32", "bf16", "ui8"
    return prod(kind.shape) * max(bits, 8) // 8
