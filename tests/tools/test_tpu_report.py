"""What is read out of the TPU compiler's own texts; those in `recorded` are its own."""

from pathlib import Path

import tpu_report as report

from accel_helpers.tpu.answers import Allocation, Collective

RECORDED = Path(__file__).with_name("recorded")
# A step of 24 to 16 to 10 units with dropout, a batch of 64 on 8 chips, full time.
PROGRAM = (RECORDED / "compiled_dense_8_chips.txt").read_text("utf-8")


def test_what_a_step_needs_and_what_takes_the_most_is_read_off_the_refusal():
    refusal = (RECORDED / "overflow_resnet50.txt").read_text("utf-8")
    largest = report.arrays_of_overflow(refusal)
    arrays = ["bf16[1024,56,56,256]"] * 3 + ["bf16[1024,112,112,64]"]
    assert [row.array for row in largest] == arrays
    assert "(jvp(conv2_block2_1_conv))/conv_general_dilated" in largest[0].operation
    # 1.53G, as the compiler says of each, with its padding and without
    without = {report.array_bytes(row.array) for row in largest}
    assert {row.bytes for row in largest} == without == {1024 * 56 * 56 * 512}


def test_an_array_takes_whole_tiles():
    expected = {
        "f32[]{:T(128)}": 4,
        "pred[3,5]": 15,
        "f32[1024,10]": 1024 * 10 * 4,
        "f32[1024,10]{0,1:T(8,128)}": 1024 * 16 * 4,
        "f32[1024,10]{1,0:T(8,128)}": 1024 * 128 * 4,  # the last axis lies innermost
        "f32[64,28,28,1]{0,2,3,1:T(8,128)}": 28 * 1 * 32 * 128 * 4,
        "bf16[100,128]{1,0:T(8,128)(2,1)S(1)}": 104 * 128 * 2,
    }
    assert {array: report.array_bytes(array) for array in expected} == expected


def test_the_largest_arrays_come_first_with_what_makes_them():
    rows = report.largest_arrays(PROGRAM)
    assert [row.bytes for row in rows] == sorted((row.bytes for row in rows), reverse=True)
    given = [row for row in rows if not row.operation]
    # 24 inputs and 16 units; in whole tiles of 8 by 128 that is 8 times 1 kB and more
    assert Allocation(8192, "f32[24,16]", "") in given
    assert {row.array for row in given} >= {"f32[8,24]", "s32[8]"}, "each chip's part of 64"
    assert any("jvp(drop)" in row.operation for row in rows)


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
    expected = [Allocation(4096, "f32[8,128]", name) for name in ("", "step/d/mul")]
    assert report.largest_arrays(text) == tuple(expected)


def test_every_kind_of_exchange_is_found_once_with_its_bytes():
    gradients = 24 * 16 + 16 + 16 * 10 + 10
    expected = Collective("all-reduce", arrays=5, bytes=4 * (gradients + 1))  # and the loss
    assert report.collectives(PROGRAM) == (expected,)
    text = """
  %a = f32[16]{0:T(128)} all-gather-start(%x), channel_id=1
  %b = f32[16]{0:T(128)} all-gather-done(%a), metadata={op_name="all-reduce(not one)"}
"""
    assert report.collectives(text) == (Collective("all-gather", 1, 64),)


def test_cycles_are_summed_by_layer_and_what_the_compiler_does_not_know_is_left_out():
    cycles = report.estimated_cycles(PROGRAM, ["hidden", "drop", "output"])
    assert sum(count for _, count in cycles) == 30_829  # the sum of its "estimated_cycles"
    found = dict(cycles)
    assert set(found) == {"hidden", "drop", "output", "other"}
    assert [count for _, count in cycles] == sorted(found.values(), reverse=True)
    # 2**63 - 1 is the compiler's word for "not known"
    unknown = PROGRAM.replace('"estimated_cycles":"1829"', f'"estimated_cycles":"{2**63 - 1}"')
    assert report.estimated_cycles(unknown) == (("other", 30_829 - 1829),)


def test_an_operation_belongs_to_the_layer_of_the_model_that_holds_it():
    expected = {
        "jit(step)/jvp(dense_1)/dot_general": "dense_1",
        "jit(step)/add": "",  # "add" is the operation, not the layer of its name
        "jit(step)/adam/jit(relu)/mul": "",  # a function of JAX's
        "jit(step)/transpose(jvp(inner))/dense/dot_general": "inner",  # a model in the model
    }
    layers = ["dense", "dense_1", "add", "relu", "inner", "mul"]
    assert {path: report.layer_of(path, layers) for path in expected} == expected
