"""The matrix products of small programs, written by hand and counted beside the compiler."""

import itertools
import json

import pytest
import tpu_children

pytestmark = pytest.mark.slow  # they need the TPU compiler's environment

COUNT = """
from jax._src.interpreters import mlir
from jaxlib.mlir import ir

found = {}
with mlir.make_ir_context(), ir.Location.unknown():
    for name, text in json.loads(Path(words[0]).read_text()).items():
        module = ir.Module.parse(text)
        try:
            number = count.product_flops(text)
        except count.Unknown as error:
            number = str(error)
        types = [op.type for op in module.body.operations[0].regions[0].blocks[0].arguments]
        sizes = [count.tensor_bytes(kind) for kind in types]
        found[name] = [number, count.has_loop(module), sizes]
say(found)
"""
DOT = "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
PRODUCT = f"{DOT} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>"
ONE = 2 * 4 * 4 * 4  # operations of that
WINDOWS = [  # input, kernel, stride, before, after, dilation of the input, of the kernel
    (9, 3, 1, 0, 0, 1, 1),
    (9, 3, 1, 1, 1, 1, 1),
    (8, 3, 2, 0, 1, 1, 1),
    (7, 4, 3, 2, 2, 1, 1),
    (9, 3, 1, 2, 2, 1, 2),
    (5, 3, 1, 2, 2, 2, 1),  # as in the gradient of a stride
    (5, 3, 1, 1, 2, 3, 2),
    (8, 3, 3, 0, 2, 1, 1),  # more behind than in front
    (6, 5, 1, -1, 0, 1, 1),  # cut off at the front
]


def main(body, arguments="", results="tensor<4x4xf32>"):
    given = ", ".join(
        ["%a: tensor<4x4xf32>", "%b: tensor<4x4xf32>"] + ([arguments] if arguments else [])
    )
    return f"func.func public @main({given}) -> {results} {{\n{body}\n}}"


def loop(end, step=1, more="stablehlo.return %go : tensor<i1>", body=PRODUCT):
    """A loop while a count from 0 is below `end`, with a product in it."""
    return f"""
%i = stablehlo.constant dense<0> : tensor<i32>
%r:2 = stablehlo.while(%n = %i, %x = %a) : tensor<i32>, tensor<4x4xf32>
cond {{
  %end = {end}
  %go = stablehlo.compare LT, %n, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  {more}
}} do {{
  %one = stablehlo.constant dense<{step}> : tensor<i32>
  %next = stablehlo.add %n, %one : tensor<i32>
  %y = {body.replace("%a", "%x")}
  stablehlo.return %next, %y : tensor<i32>, tensor<4x4xf32>
}}
return %r#1 : tensor<4x4xf32>"""


def constant(number):
    return f"stablehlo.constant dense<{number}> : tensor<i32>"


def convolution(*windows, batch=2, ins=3, outs=5):
    sizes = [window[0] for window in windows]
    kernel = [window[1] for window in windows]
    out = [size_of(window) for window in windows]
    axes = ", ".join(str(at) for at in range(len(windows)))
    stride, left, right = ([window[at] for window in windows] for at in (2, 5, 6))
    pads = [[window[3], window[4]] for window in windows]

    def shape(*numbers):
        return "x".join(map(str, numbers)) + "xf32"

    left_type, right_type = shape(batch, *sizes, ins), shape(*kernel, ins, outs)
    kinds = f"(tensor<{left_type}>, tensor<{right_type}>) -> tensor<{shape(batch, *out, outs)}>"
    return f"""func.func public @main(%x: tensor<{left_type}>, %k: tensor<{right_type}>)
    -> tensor<{shape(batch, *out, outs)}> {{
%r = stablehlo.convolution(%x, %k)
  dim_numbers = [b, {axes}, f]x[{axes}, i, o]->[b, {axes}, f],
  window = {{stride = {stride}, pad = {pads}, lhs_dilate = {left}, rhs_dilate = {right}}}
  {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : {kinds}
return %r : tensor<{shape(batch, *out, outs)}>
}}"""


def size_of(window):
    size, kernel, stride, before, after, left, right = window
    whole = (size - 1) * left + 1 + before + after
    return (whole - (kernel - 1) * right - 1) // stride + 1


def taps(window):
    """Brute force: lay out the line with its padding, and slide the kernel over it."""
    size, kernel, stride, before, after, left, right = window
    line = [0] * ((size - 1) * left + 1)
    line[::left] = [1] * size
    line = [0] * max(before, 0) + line[max(-before, 0) :] + [0] * after
    starts = range(0, stride * size_of(window), stride)
    return sum(line[at + tap * right] for at, tap in itertools.product(starts, range(kernel)))


KINDS = "(tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>"
CALL = f"func.call @turn(%a, %b) : {KINDS}"
CALLED = """
func.func private @turn(%x: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = stablehlo.dot %x, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}"""
CASE = f"""
%r = "stablehlo.case"(%which) ({{
  stablehlo.return %a : tensor<4x4xf32>
}}, {{
  %p = {PRODUCT}
  %q = {PRODUCT.replace("%a", "%p")}
  stablehlo.return %q : tensor<4x4xf32>
}}) : (tensor<i32>) -> tensor<4x4xf32>
return %r : tensor<4x4xf32>"""
GIVEN = "stablehlo.reshape %limit : (tensor<i32>) -> tensor<i32>"
UNKNOWN_TOO = """%flag = stablehlo.compare LT, %limit, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %both = stablehlo.and %flag, %go : tensor<i1>
  stablehlo.return %both : tensor<i1>"""
BATCHED = """func.func public @main(%a: tensor<7x3x5xbf16>, %b: tensor<7x11x5xbf16>, %n: tensor<i1>)
    -> tensor<7x3x11xf32> {
%r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [2]
  : (tensor<7x3x5xbf16>, tensor<7x11x5xbf16>) -> tensor<7x3x11xf32>
return %r : tensor<7x3x11xf32>
}"""
ONE_DOT = main(f"%r = {PRODUCT}\nreturn %r : tensor<4x4xf32>")
TWICE = f"%p = {PRODUCT}\n%q = {PRODUCT}\n%r = stablehlo.add %p, %q : tensor<4x4xf32>\n"
LIMIT = "%limit: tensor<i32>"
# name -> (program, operations or a part of the reason why not, whether there is a loop)
PROGRAMS = {
    "one": (ONE_DOT, ONE, False),
    "batched": (BATCHED, 2 * 7 * 3 * 11 * 5, False),
    "unused": (ONE_DOT.replace("return %r", "return %a"), 0, False),
    "twice the same": (main(f"{TWICE}return %r : tensor<4x4xf32>"), ONE, False),
    "called": (main(f"%r = {CALL}\nreturn %r : tensor<4x4xf32>") + CALLED, ONE, False),
    "seven turns": (main(loop(constant(7))), 7 * ONE, True),
    "seven turns with a call": (main(loop(constant(7), body=CALL)) + CALLED, 7 * ONE, True),
    "four turns of two": (main(loop(constant(7), step=2)), 4 * ONE, True),
    "no turn": (main(loop(constant(0))), 0, True),
    "a false and something unknown": (main(loop(constant(0), more=UNKNOWN_TOO), LIMIT), 0, True),
    "as many as it is given": (main(loop(GIVEN), LIMIT), "number of turns", True),
    "for ever": (main(loop(constant(7), step=0)), "more than 10,000 turns", True),
    "unknown turns without a product": (
        main(loop(GIVEN, body="stablehlo.add %a, %b : tensor<4x4xf32>"), LIMIT), 0, True,
    ),
    "the longer way": (main(CASE, "%which: tensor<i32>"), 2 * ONE, False),
    **{
        f"window {at}": (convolution(window), 2 * 2 * 3 * 5 * taps(window), False)
        for at, window in enumerate(WINDOWS)
    },
    "picture": (
        convolution(WINDOWS[2], WINDOWS[5]),
        2 * 2 * 3 * 5 * taps(WINDOWS[2]) * taps(WINDOWS[5]),
        False,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def counted(tpu_environment, tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    file = folder / "programs.json"
    file.write_text(json.dumps({name: text for name, (text, *_) in PROGRAMS.items()}))
    return tpu_children.beside_libtpu(tpu_environment, folder, COUNT, file)


@pytest.mark.parametrize("name", PROGRAMS)
def test_products_are_counted(counted, name):
    _, expected, loops = PROGRAMS[name]
    found, has_loop, _ = counted[name]
    assert has_loop is loops
    assert found == expected if isinstance(expected, int) else expected in found


def test_a_window_over_padding_is_less_work_and_arrays_have_their_bytes(counted):
    """The same sizes, so that the test above cannot be right by chance only."""
    inside, padded = counted["window 0"][0], counted["window 1"][0]
    assert inside == 2 * 2 * 3 * 5 * 7 * 3 and padded == 2 * 2 * 3 * 5 * (9 * 3 - 2)
    assert counted["batched"][2] == [7 * 3 * 5 * 2, 7 * 11 * 5 * 2, 1]
    assert counted["the longer way"][2] == [64, 64, 4]
