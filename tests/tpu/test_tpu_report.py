"""What is read out of the TPU compiler's own texts; those in recorded/tpu were written by it."""

from pathlib import Path

import pytest

from accel_helpers.tpu import report as tpu_report
from accel_helpers.tpu.report import Allocation, Collective

RECORDED = Path(__file__).with_name("recorded")
LAYERS = ["hidden", "drop", "output"]  # of the model whose step was compiled


def recorded(name):
    return (RECORDED / name).read_text("utf-8")


def program():
    """A step of 24 to 16 to 10 units with dropout, a batch of 64 on 8 chips, full time."""
    return recorded("compiled_dense_8_chips.txt")


def test_what_a_step_needs_and_what_takes_the_most_is_read_off_the_refusal():
    over = tpu_report.read_overflow(recorded("overflow_resnet50.txt"))
    assert over.needed == round(21.98 * 2**30)
    assert over.available == round(15.75 * 2**30)
    assert [row.array for row in over.largest] == ["bf16[1024,56,56,256]"] * 3 + [
        "bf16[1024,112,112,64]"
    ]
    first, *_, last = over.largest
    assert first.operation == "jit(step)/transpose(jvp(conv2_block2_1_conv))/conv_general_dilated"
    assert last.operation == "jit(step)/jvp(conv1_relu)/jit(relu)/max"
    # 1.53G, as the compiler says of each, with its padding and without
    for row in over.largest:
        assert row.bytes == row.logical_bytes == 1024 * 56 * 56 * 256 * 2
        assert f"{row.bytes / 2**30:.2f}" == "1.53"


@pytest.mark.parametrize(
    "message",
    [
        "",
        "INTERNAL: something else went wrong",
        "RESOURCE_EXHAUSTED: Allocation type: HLO temp",
        "Ran out of memory in memory space vmem. Used 193.82M of 128.00M vmem.",
    ],
)
def test_a_refusal_without_figures_of_the_main_memory_gives_none(message):
    assert tpu_report.read_overflow(message) is None


@pytest.mark.parametrize(
    ("word", "expected"), [("512", 512), ("3.5K", 3584), ("2M", 2**21), ("1.5G", 3 * 2**29)]
)
def test_sizes_are_in_powers_of_two(word, expected):
    message = f"Ran out of memory in memory space hbm. Used {word} of 2.00T hbm. Exceeded"
    over = tpu_report.read_overflow(message)
    assert (over.needed, over.available) == (expected, 2**41)


def test_an_allocation_without_a_name_or_a_shape_does_no_harm():
    message = recorded("overflow_resnet50.txt")
    operator = message.index("     Operator:")
    nameless = message[:operator] + message[message.index("\n", operator) + 1 :]
    assert [row.operation == "" for row in tpu_report.read_overflow(nameless).largest] == [
        True, False, False, False,
    ]  # fmt: skip
    tupled = message.replace("Shape: bf16[1024,112,112,64]", "Shape: (bf16[1024],")
    assert len(tpu_report.read_overflow(tupled).largest) == 3


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        ("f32[]", 4),
        ("f32[]{:T(128)}", 4),
        ("pred[3,5]", 15),
        ("bf16[7]", 14),
        ("s64[2,3]", 48),
        ("f32[1024,10]{1,0:T(8,128)}", 1024 * 128 * 4),  # the last axis lies innermost
        ("f32[1024,10]{0,1:T(8,128)}", 16 * 1024 * 4),  # the first one does
        ("f32[64,28,28,1]{0,2,3,1:T(8,128)}", 28 * 1 * 32 * 128 * 4),
        ("bf16[100,128]{1,0:T(8,128)(2,1)S(1)}", 104 * 128 * 2),
        ("f32[10]{0:T(128)}", 128 * 4),
        ("f8e4m3fn[16]", 16),
    ],
)
def test_an_array_takes_whole_tiles(array, expected):
    assert tpu_report.array_bytes(array) == expected


def test_what_is_no_array_is_named():
    with pytest.raises(ValueError, match=r"'tuple\(\)' is not an array such as"):
        tpu_report.array_bytes("tuple()")


def test_the_largest_arrays_come_first_with_what_makes_them():
    rows = tpu_report.largest_arrays(program(), count=100)
    assert [row.bytes for row in rows] == sorted((row.bytes for row in rows), reverse=True)
    assert len(tpu_report.largest_arrays(program(), count=3)) == 3
    assert tpu_report.largest_arrays(program()) == rows[:5]
    given = [row for row in rows if not row.operation]
    # 24 inputs and 16 units; in whole tiles of 8 by 128 that is 8 times 1 kB and more
    assert Allocation(8192, 24 * 16 * 4, "f32[24,16]", "") in given
    assert Allocation(8192, 16 * 10 * 4, "f32[16,10]", "") in given
    assert {row.array for row in given} >= {"f32[8,24]", "s32[8]"}, "each chip's part of 64"
    made = {row.operation for row in rows if row.operation}
    assert any("jvp(drop)" in name for name in made)


def test_the_fast_memory_and_second_names_are_no_arrays_of_the_main_memory():
    text = """HloModule m
%inner (p: f32[4096,4096]) -> f32[4096,4096] {
  %p = f32[4096,4096]{1,0:T(8,128)} parameter(0)
}

ENTRY %main (a: f32[8,128]) -> f32[8,128] {
  %a = f32[8,128]{1,0:T(8,128)} parameter(0), metadata={op_name="x"}
  %b = f32[16,128]{1,0:T(8,128)S(1)} add(%a, %a), metadata={op_name="fast"}
  %c = f32[1024]{0:T(128)} bitcast(%a), metadata={op_name="again"}
  %k = f32[2048]{0:T(128)} constant({...})
  ROOT %d = f32[8,128]{1,0:T(8,128)} multiply(%a, %a), metadata={op_name="step/d/mul"}
}
"""
    assert tpu_report.largest_arrays(text) == (
        Allocation(4096, 4096, "f32[8,128]", ""),
        Allocation(4096, 4096, "f32[8,128]", "step/d/mul"),
    )


def test_the_exchange_of_the_gradients_is_found_with_its_bytes():
    gradients = 24 * 16 + 16 + 16 * 10 + 10
    expected = Collective("all-reduce", arrays=5, bytes=4 * (gradients + 1))  # and the loss
    assert tpu_report.collectives(program()) == (expected,)


def test_every_kind_of_exchange_is_found_once():
    text = """
  %a = f32[16]{0:T(128)} all-gather-start(%x), channel_id=1
  %b = f32[16]{0:T(128)} all-gather-done(%a)
  ROOT %c.1 = (bf16[8,2]{1,0}, f32[4]{0}) all-to-all(%x, %y), channel_id=2
  %d = f32[16]{0} fusion(%c), metadata={op_name="all-reduce(not one)"}
"""
    assert tpu_report.collectives(text) == (
        Collective("all-gather", 1, 64),
        Collective("all-to-all", 2, 48),
    )
    assert tpu_report.collectives("") == ()


def test_cycles_are_summed_by_layer_and_what_the_compiler_does_not_know_is_left_out():
    cycles = tpu_report.estimated_cycles(program(), LAYERS)
    assert sum(count for _, count in cycles) == 30_829  # the sum of its "estimated_cycles"
    found = dict(cycles)
    assert set(found) == {"hidden", "drop", "output", "other"}
    assert found["hidden"] == 530 and found["drop"] == 11_039
    assert [count for _, count in cycles] == sorted(found.values(), reverse=True)
    # 2**63 - 1 is the compiler's word for "not known"
    unknown = program().replace('"estimated_cycles":"1829"', f'"estimated_cycles":"{2**63 - 1}"')
    assert sum(count for _, count in tpu_report.estimated_cycles(unknown)) == 30_829 - 1829
    assert [name for name, _ in tpu_report.estimated_cycles(program())] == ["other"]


@pytest.mark.parametrize(
    ("path", "layer"),
    [
        ("jit(step)/jvp(dense_1)/dot_general", "dense_1"),
        ("jit(step)/jvp(dense)/dot_general", "dense"),
        ("jit(step)/jvp(dense)/add", "dense"),  # "add" is the operation, not the layer of its name
        ("jit(step)/jvp(add)/add", "add"),
        ("jit(step)/add", ""),
        ("jit(step)/jvp(dense)/jit(relu)/max", "dense"),
        ("jit(step)/adam/jit(relu)/mul", ""),
        ("jit(step)/transpose(jvp(inner))/dense/dot_general", "inner"),  # a model in the model
        # TensorFlow has a number at the end of every name.
        ("sequential_1_1/dense_1/MatMul", "dense"),
        ("gradient_tape/sequential_1_1/dense_1_2/MatMul/MatMul_1", "dense_1"),
        ("sequential_1_1/dense_1_2/BiasAdd", "dense_1"),
        ("model_1/inner_1/dense_1/MatMul", "inner"),
        ("model_1/norm_1/moments/mean", "norm"),
        ("compile_loss/mse/Mean", ""),
        ("", ""),
    ],
)
def test_an_operation_belongs_to_the_layer_of_the_model_that_holds_it(path, layer):
    layers = ["dense", "dense_1", "add", "relu", "inner", "norm", "mean", "mul", "mse_1"]
    assert tpu_report.layer_of(path, layers) == layer


def test_an_operation_is_named_for_a_learner():
    name = tpu_report.short_name
    assert name("gradient_tape/sequential_1/hidden_1/MatMul", ["hidden"]) == "hidden, going back"
    assert name("sequential_1/hidden_1/MatMul", ["hidden"]) == "hidden"
    assert name("compile_loss/mse/Mean", ["hidden"]) == "Mean"
    assert name("copy", ["hidden"]) == "copy"


def test_an_allocation_says_its_padding_only_where_there_is_some():
    assert Allocation(4096, 4096, "f32[8,128]", "x").describe() == "4.1 kB: x, f32[8,128]"
