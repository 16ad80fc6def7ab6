"""The checks of lesson 06, on right answers and on plausible wrong ones."""

import math
from fractions import Fraction

import pytest

from accel_helpers.lessons import check, mistakes_06
from accel_helpers.lessons import lesson_06 as practice_06
from accel_helpers.lessons.lesson_06 import bits, cut_hidden, number, pad_hidden
from accel_helpers.tpu.systolic import MatrixUnit

np = pytest.importorskip("numpy")

EXERCISES = ("06/cycles", "06/bfloat16", "06/pad")


def cycles(m, k, n, size):
    return math.ceil(k / size) * math.ceil(n / size) * (size + m + 2 * size - 2)


def tile(m, size):
    return size + m + 2 * size - 2


def tiles(k, n, size):
    return math.ceil(k / size) * math.ceil(n / size)


def bfloat16(x):
    b = bits(x)
    rest, kept = b & 0xFFFF, b >> 16
    if rest > 0x8000 or (rest == 0x8000 and kept % 2):
        kept += 1
    return number(kept << 16)


def padding(first, bias, second, width):
    inputs, hidden = first.shape
    new = np.zeros((inputs, width)), np.zeros(width), np.zeros((width, second.shape[1]))
    new[0][:, :hidden], new[1][:hidden], new[2][:hidden] = first, bias, second
    return new


def empty(*arguments):
    raise NotImplementedError


RIGHT = [
    ("06/cycles", cycles),
    ("06/cycles", lambda m, k, n, s: MatrixUnit(s, s).cycles(m, k, n)),
    ("06/cycles", lambda *case: float(cycles(*case))),
    ("06/cycles", lambda *case: np.int32(cycles(*case))),
    ("06/cycles", lambda *case: np.array(cycles(*case))),
    ("06/cycles", lambda *case: Fraction(cycles(*case))),
    ("06/bfloat16", bfloat16),
    ("06/bfloat16", lambda x: np.float32(bfloat16(x))),
    ("06/pad", padding),
    ("06/pad", pad_hidden),
    ("06/pad", lambda *case: [layer.tolist() for layer in padding(*case)]),
    ("06/pad", lambda *case: [layer.astype("float32") for layer in padding(*case)]),
    ("06/pad", lambda a, b, c, w: pad_hidden(a, b, c, w) if w > len(b) else (a, b, c)),
]


@pytest.mark.parametrize(("exercise", "answer"), RIGHT)
def test_right_answers_pass(exercise, answer):
    result = check(exercise, answer)
    assert result.ok and not result.hint, str(result)


def all_tiles_wrong(count):
    return lambda m, k, n, s: count(m, k, n, s) * tile(m, s)


def one_tile_wrong(one):
    return lambda m, k, n, s: tiles(k, n, s) * one(m, k, n, s)


CYCLES = [
    (all_tiles_wrong(lambda m, k, n, s: (k // s) * (n // s)), "leave out weights"),
    (all_tiles_wrong(lambda m, k, n, s: max(1, k // s) * max(1, n // s)), "leave out weights"),
    (all_tiles_wrong(lambda m, k, n, s: round(k / s) * round(n / s)), "leave out weights"),
    (all_tiles_wrong(lambda m, k, n, s: k * n // s**2), "leave out weights"),
    (all_tiles_wrong(lambda m, k, n, s: (k / s) * (n / s)), "parts of tiles"),
    (all_tiles_wrong(lambda m, k, n, s: (k // s + 1) * (n // s + 1)), "always add a tile"),
    (all_tiles_wrong(lambda m, k, n, s: math.ceil(k * n / s**2)), "could be bent"),
    (all_tiles_wrong(lambda m, k, n, s: 1), "count one tile"),
    (all_tiles_wrong(lambda m, k, n, s: math.ceil(k / s) + math.ceil(n / s)), "You added"),
    (all_tiles_wrong(lambda m, k, n, s: tiles(m, n, s)), "depend on m"),
    (all_tiles_wrong(lambda m, k, n, s: tiles(m, k, s)), "depend on m"),
    (all_tiles_wrong(lambda m, k, n, s: tiles(m, k, s) * math.ceil(n / s)), "depend on m"),
    (all_tiles_wrong(lambda m, k, n, s: math.ceil(m / s)), "depend on m"),
    (lambda m, k, n, s: cycles(k, m, n, s), "changed places"),
    (lambda m, k, n, s: cycles(n, k, m, s), "changed places"),
    (one_tile_wrong(lambda m, k, n, s: tile(k, s)), "wrong matrix walks"),
    (one_tile_wrong(lambda m, k, n, s: tile(n, s)), "wrong matrix walks"),
    (one_tile_wrong(lambda m, k, n, s: m + 2 * s - 2), "Loading is forgotten"),
    (one_tile_wrong(lambda m, k, n, s: s + m), "way through is forgotten"),
    (one_tile_wrong(lambda m, k, n, s: m), "only the cycles in which a row enters"),
    (one_tile_wrong(lambda m, k, n, s: s + m + s - 1), "one direction"),
    (one_tile_wrong(lambda m, k, n, s: s + m + s), "one direction"),
    (lambda m, k, n, s: s + tiles(k, n, s) * (m + 2 * s - 2), "You load once"),
    (lambda m, k, n, s: tiles(k, n, s) * s + m + 2 * s - 2, "walk through only once"),
    (one_tile_wrong(lambda m, k, n, s: s + m + 2 * s), "2 cycles too many"),
    (one_tile_wrong(lambda m, k, n, s: s + m + 2 * s - 1), "1 cycle too many"),
    (one_tile_wrong(lambda m, k, n, s: s + m + 2 * s - 3), "1 cycle too few"),
    (one_tile_wrong(lambda m, k, n, s: s + m + 2 * s - 4), "2 cycles too few"),
    (lambda m, k, n, s: m * k * n / s**2, "you have 67.5 cycles. Cycles are whole"),
    (lambda m, k, n, s: math.inf, "inf cycles"),
    (lambda m, k, n, s: m * k * n, "For (20, 6) times (6, 9) on 4 x 4 cells you have 1,080"),
    (lambda m, k, n, s: 10**100, "you have 1e+100"),
]


def from_bits(change):
    return lambda x: number(change(bits(x)))


def half_away_if_negative(x):
    return bfloat16(x) if x >= 0 else number((bits(x) + 0x8000) & 0xFFFF0000)


def ties_up(x):
    return number((bits(x) + (0x8000 if x >= 0 else 0x7FFF)) & 0xFFFF0000)


def in_float16(x):
    with np.errstate(all="ignore"):
        return np.float16(x)


UPPER = 0xFFFF0000
BFLOAT16 = [
    (from_bits(lambda b: b & UPPER), "You cut off"),
    (from_bits(lambda b: (b + 0xFFFF) & UPPER), "away from zero wherever"),
    (from_bits(lambda b: (b + 0x8000) & UPPER), "always goes away from zero"),
    (from_bits(lambda b: (b + 0x7FFF) & UPPER), "always goes towards zero"),
    (ties_up, "goes up with you"),
    (from_bits(lambda b: (b + 0x8000 - (b >> 16 & 1)) & UPPER), "the odd one"),
    (half_away_if_negative, "What is not negative comes out right. For -257.0 you have -258.0"),
    (lambda x: abs(bfloat16(x)), "What is not negative comes out right. For -2.5 you have 2.5"),
    (lambda x: bits(bfloat16(x)), "You return bits"),
    (lambda x: bits(bfloat16(x)) >> 16, "You return bits"),
    (lambda x: bits(x) & UPPER, "You return bits"),
    (lambda x: number(bits(x) >> 16), "in the lower half"),
    (lambda x: number(bits(bfloat16(x)) >> 16), "in the lower half"),
    (lambda x: x, "as it came"),
    (lambda x: np.float32(x), "as it came"),
    (in_float16, "That is float16"),
    (lambda x: round(x, 2), "You round decimals"),
    (lambda x: float(f"{x:.3g}"), "You round decimals"),
    (lambda x: round(x), "You round decimals"),
    (from_bits(lambda b: (b + 0x4000) & 0xFFFF8000), "For 257.0 you have 257.0"),
    (lambda x: math.inf, "For 1.0 you have inf"),
]


def with_layer(place, change):
    """The right answer with one array of three changed; change takes old, new and more."""

    def answer(*case):
        new = list(padding(*case))
        new[place] = change(case[place], new[place], case[3] - len(case[1]))
        return new

    return answer


def filled(*places):
    """The right answer with ones where the zeros go in these arrays."""

    def answer(first, bias, second, width):
        new, hidden = padding(first, bias, second, width), len(bias)
        parts = new[0][:, hidden:], new[1][hidden:], new[2][hidden:]
        for place in places:
            parts[place][...] = 1
        return new

    return answer


def in_place(first, bias, second, width):
    new = padding(first, bias, second, width)
    bias[:] = 0
    return new


def resized(first, bias, second, width):
    new = padding(first, bias, second, width)
    second.resize((width, second.shape[1]), refcheck=False)
    return new[0], new[1], second


def zeros_first(first, bias, second, width):
    more = width - len(bias)
    pairs = ((0, 0), (more, 0)), (more, 0), ((more, 0), (0, 0))
    return [np.pad(a, pair) for a, pair in zip((first, bias, second), pairs, strict=True)]


PAD = [
    (
        lambda a, b, c, w: (a, b, c),
        "All three are as wide as before. The hidden layer is to have 8",
    ),
    (with_layer(0, lambda old, new, more: old), "first is not padded"),
    (with_layer(1, lambda old, new, more: old), "bias is not padded"),
    (with_layer(2, lambda old, new, more: old), "second is not padded"),
    (with_layer(0, lambda old, new, more: np.pad(old, ((0, more), (0, 0)))), "wrong axis: (2, 3)"),
    (with_layer(2, lambda old, new, more: np.pad(old, ((0, 0), (0, more)))), "wrong axis: (3, 4)"),
    (with_layer(0, lambda old, new, more: np.pad(old, (0, more))), "both axes: (2, 3)"),
    (with_layer(2, lambda old, new, more: np.pad(old, more)), "both axes: (3, 4)"),
    (with_layer(1, lambda old, new, more: new[None]), "bias has 2 dimensions now, and had 1"),
    (with_layer(2, lambda old, new, more: new[:-1]), "second has the shape (7, 4) now"),
    (lambda a, b, c, w: pad_hidden(a, b, c, w + len(b)), "You append 8 cells to the 3"),
    (lambda *case: pad_hidden(*case)[::-1], "in another order"),
    (with_layer(0, lambda old, new, more: new * np.nan), "first holds something"),
    (with_layer(2, lambda old, new, more: new + np.inf), "second holds something"),
    (with_layer(0, lambda old, new, more: np.resize(old, new.shape)), "look at first"),
    (with_layer(1, lambda old, new, more: new * 0), "look at bias"),
    (with_layer(2, lambda old, new, more: new[::-1]), "look at second"),
    (zeros_first, "your zeros stand before"),
    (filled(0, 1, 2), "The outputs change: for the input [1.0, 2.0]"),
    (filled(0, 2), "The outputs change: for the input [1.0, 2.0]"),
    (filled(1, 2), "The outputs change: for the input [1.0, 2.0]"),
    (filled(0), "The outputs are the same. But zeros were asked for, and first got"),
    (filled(1), "asked for, and bias got"),
    (filled(2), "asked for, and second got"),
    (filled(0, 1), "and first and bias got"),
    (in_place, "changes the arrays"),
    (resized, "changes the arrays"),
    (lambda *case: padding(*case)[:2], "Three arrays are needed; got 2"),
    (lambda *case: padding(*case)[0][0, 0], "Three arrays are needed; got 1"),
    (with_layer(1, lambda old, new, more: ["1"] * len(new)), "needed for bias"),
    (with_layer(1, lambda old, new, more: [10**400] * len(new)), "needed for bias"),
    (with_layer(2, lambda old, new, more: [[1.0], [1.0, 2.0]]), "needed for second"),
]
WRONG = [
    (exercise, *case)
    for exercise, cases in zip(EXERCISES, (CYCLES, BFLOAT16, PAD), strict=True)
    for case in cases
]


@pytest.mark.parametrize(("exercise", "answer", "words"), WRONG)
def test_wrong_answers_get_their_own_message(exercise, answer, words):
    result = check(exercise, answer)
    assert not result.ok and words in result.message and result.hint, str(result)


@pytest.mark.parametrize("cases", [CYCLES, BFLOAT16, PAD])
def test_no_words_fit_two_messages(cases):
    exercise = EXERCISES[[CYCLES, BFLOAT16, PAD].index(cases)]
    found = [(words, check(exercise, answer).message) for answer, words in cases]
    for words in {words for words, _ in found}:
        assert {own for own, message in found if words in message} == {words}


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no")

    def __float__(self):
        raise RuntimeError("no")


HOSTILE = [
    (empty, "still empty"),
    (7, "A function is needed; got 7"),
    (Unprintable(), "A function is needed; got something of type Unprintable"),
    (lambda *arguments: None, "needed"),
    (lambda *arguments: "abc", "needed"),
    (lambda *arguments: "1", "needed"),
    (lambda *arguments: True, "needed"),
    (lambda *arguments: [], "needed"),
    (lambda *arguments: np.ones((1, 1)), "needed"),
    (lambda *arguments: float("nan"), "needed"),
    (lambda *arguments: 1j, "needed"),
    (lambda *arguments: 10**400, "needed"),
    (lambda *arguments: 10**5000, "needed; got"),
    (lambda *arguments: Unprintable(), "something of type"),
    (lambda *arguments: [Unprintable()] * 3, "something of type"),
    (lambda *arguments: {1: 2, 3: 4, 5: 6}, "needed"),
    (lambda: 1, "stopped with TypeError"),
    (lambda *arguments: 1 / 0, "stopped with ZeroDivisionError"),
    (lambda *arguments: exit(), "stopped with SystemExit"),
]


@pytest.mark.parametrize("exercise", EXERCISES)
@pytest.mark.parametrize(("answer", "words"), HOSTILE)
def test_what_is_no_answer_is_told_so(exercise, answer, words):
    result = check(exercise, answer)
    assert not result.ok and result.hint and len(result.message) < 400
    assert words in result.message


def test_a_tool_hidden_by_an_argument_of_its_name_is_told():
    def shadowed(number):
        return number(bits(number) & UPPER)

    result = check("06/bfloat16", shadowed)
    assert "'float' object is not callable" in result.message and "its argument" in result.hint


def test_the_cases_tell_the_rules_of_a_product_apart():
    rules = [rule for rules, _, _ in mistakes_06.CYCLES for rule in rules]
    found = {tuple(rule(*case) for case in practice_06.PRODUCTS) for rule in [*rules, cycles]}
    assert len(found) == len(rules) + 1


# --- the tools and the truth -------------------------------------------------------------------


def many_floats():
    """20,000 float32 numbers of every size that bfloat16 has, and all kinds of ties."""
    patterns = np.random.default_rng(6).integers(0, 2**32, 20_000, dtype=np.uint32)
    patterns[:5_000] = patterns[:5_000] & UPPER | 0x8000  # in the middle
    found = patterns.view(np.float32)
    return found[np.abs(found) < 3e38]  # no NaN, and nothing that becomes infinite


def test_nearest_is_what_ml_dtypes_does():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    found = many_floats()
    right = found.astype(ml_dtypes.bfloat16).astype(np.float32).tolist()
    assert [number(mistakes_06.nearest(bits(x))) for x in found.tolist()] == right
    assert check("06/bfloat16", lambda x: ml_dtypes.bfloat16(x)).ok


def test_bits_and_number_lead_to_one_another():
    for x in many_floats().tolist():
        assert number(bits(x)) == x
    assert bits(1.0) == np.float32(1).view(np.uint32) and bits(0.1) == bits(np.float32(0.1))


@pytest.mark.parametrize(
    ("pattern", "kind", "words"),
    [
        (-1, ValueError, "got -1"),
        (2**32, ValueError, "from 0 to"),
        (1.5, TypeError, "whole number; got 1.5"),
    ],
)
def test_bits_that_are_none_are_refused(pattern, kind, words):
    with pytest.raises(kind, match=words):
        number(pattern)


def outputs(first, bias, second, x):
    return np.maximum(x @ first + bias, 0) @ second


def test_padding_keeps_the_outputs_and_cutting_leads_back():
    random = np.random.default_rng(6)
    for inputs, hidden, out, width in ((3, 5, 2, 8), (1, 1, 1, 1), (4, 127, 3, 128)):
        shapes = ((inputs, hidden), (hidden,), (hidden, out))
        old = [random.normal(size=shape).astype("float32") for shape in shapes]
        new = pad_hidden(*old, width)
        assert [a.shape for a in new] == [(inputs, width), (width,), (width, out)]
        assert {a.dtype.name for a in new} == {"float32"}
        assert not any(map(np.shares_memory, old, new))
        x = random.normal(size=(10, inputs))
        assert np.allclose(outputs(*old, x), outputs(*new, x))
        back = cut_hidden(*new, hidden)
        assert all(map(np.array_equal, back, old))
        assert not any(map(np.shares_memory, back, new))


@pytest.mark.parametrize(
    ("function", "width", "kind", "words"),
    [
        (pad_hidden, 1, ValueError, "width is 1, and the hidden layer has 2.*cut_hidden"),
        (cut_hidden, 3, ValueError, "width is 3; of a hidden layer of 2.*pad_hidden"),
        (cut_hidden, 0, ValueError, "1 to 2 can stay"),
        (pad_hidden, 2.5, TypeError, "whole number; got 2.5"),
        (cut_hidden, "2", TypeError, "whole number; got '2'"),
    ],
)
def test_a_width_that_does_not_fit_is_refused(function, width, kind, words):
    with pytest.raises(kind, match=words):
        function([[1, 2]], [3, 4], [[5], [6]], width)


@pytest.mark.parametrize("function", [pad_hidden, cut_hidden])
@pytest.mark.parametrize(
    "layers",
    [
        ([[1, 2]], [3], [[5]]),
        ([[1, 2]], [3, 4], [[5]]),
        ([1, 2], [3, 4], [[5], [6]]),
        ([[1, 2]], [[3, 4]], [[5], [6]]),
    ],
)
def test_shapes_that_do_not_fit_are_refused(function, layers):
    with pytest.raises(ValueError, match=r"shapes \(inputs, hidden\)"):
        function(*layers, 2)
