"""The matrix products of small programs, written down by JAX and counted beside the compiler."""

import json
from math import prod

import pytest
import tpu_children

pytestmark = pytest.mark.slow  # they need the TPU compiler's environment

COUNT = """
import jax, numpy
from jax import lax
from jax._src.interpreters import mlir
from jaxlib.mlir import ir

def turns(first, below, step=1, more=lambda n: True, body=lambda x, b: x @ b):
    return lambda a, b, n: lax.while_loop(
        lambda state: (state[0] < below(n)) & more(n),
        lambda state: (state[0] + step, body(state[1], b)),
        (numpy.int32(first), a),
    )[1]

called = jax.jit(lambda x, b: x @ b, inline=False)
programs = {
    "seven turns with a call": turns(0, lambda n: 7, body=called),
    "four turns of two": turns(1, lambda n: 8, step=2),
    "within a loop": turns(0, lambda n: 3, body=lambda x, b: lax.fori_loop(
        0, 5, lambda at, x: x @ b, x)),
    "a false and something unknown": turns(7, lambda n: 7, more=lambda n: n > 5),
    "as many as it is given": turns(0, lambda n: n),
    "for ever": turns(0, lambda n: 7, step=0),
    "unknown turns without a product": turns(0, lambda n: n, body=lambda x, b: x + b),
    "the longer way": lambda a, b, n: lax.switch(n, [lambda: a, lambda: a @ b @ b, lambda: a @ b]),
}
square, whole = jax.ShapeDtypeStruct((4, 4), "float32"), jax.ShapeDtypeStruct((), "int32")
lowered = {name: jax.jit(f).lower(square, square, whole) for name, f in programs.items()}
left, right = ((7, 3, 5), (7, 11, 5))
lowered["batched"] = jax.jit(lambda a, b: jax.numpy.einsum("bmk,bnk->bmn", a, b)).lower(
    *(jax.ShapeDtypeStruct(shape, "bfloat16") for shape in (left, right)))
for at, ways in enumerate(json.loads(words[0])):
    sizes, kernels, *windows = zip(*ways)
    shapes = (2, *sizes, 3), (*kernels, 3, 5)
    lowered[f"picture {at}"] = jax.jit(lambda x, kernel: lax.conv_general_dilated(
        x, kernel, *windows, ("NHWC", "HWIO", "NHWC")
    )).lower(*(jax.ShapeDtypeStruct(shape, "float32") for shape in shapes))

found = {}
with mlir.make_ir_context(), ir.Location.unknown():
    for name, program in lowered.items():
        module = ir.Module.parse(program.as_text())
        try:
            number = count.product_flops(program.as_text())
        except count.Unknown as error:
            number = str(error)
        found[name] = number, bool(child._operations(module, "stablehlo.while"))
say(found)
"""
# Of each axis: input, kernel, stride, padding before and after, dilation of the input, of the
# kernel; and how often a place of the kernel slides over a real input, counted on paper.
PICTURES = [
    {(9, 3, 1, (1, 1), 1, 1): 25, (8, 3, 2, (0, 1), 1, 1): 11},
    {(5, 3, 1, (2, 2), 2, 1): 15, (5, 3, 1, (1, 2), 3, 2): 12},  # as in the gradient of a stride
    {(8, 3, 3, (0, 2), 1, 1): 8, (6, 5, 1, (-1, 0), 1, 1): 5},  # more behind; cut off at the front
]
ONE = 2 * 4 * 4 * 4  # operations of a product
# operations, or a part of the reason why not; with "loop" where there is one
EXPECTED = {
    "batched": (2 * 7 * 3 * 11 * 5,),
    "seven turns with a call": (7 * ONE, "loop"),
    "four turns of two": (4 * ONE, "loop"),
    "within a loop": (15 * ONE, "loop"),
    "a false and something unknown": (0, "loop"),
    "as many as it is given": ("number of turns", "loop"),
    "for ever": ("more than 10,000 turns", "loop"),
    "unknown turns without a product": (0, "loop"),
    "the longer way": (2 * ONE,),
    **{
        f"picture {at}": (2 * 2 * 3 * 5 * prod(picture.values()),)
        for at, picture in enumerate(PICTURES)
    },
}


@pytest.fixture(scope="module")
def counted(tpu_environment, tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    pictures = json.dumps([list(picture) for picture in PICTURES])
    return tpu_children.beside_libtpu(tpu_environment, folder, COUNT, pictures)


@pytest.mark.parametrize("name", EXPECTED)
def test_products_are_counted(counted, name):
    expected, *loop = EXPECTED[name]
    found, has_loop = counted[name]
    assert has_loop is bool(loop)
    assert found == expected if isinstance(expected, int) else expected in str(found)
