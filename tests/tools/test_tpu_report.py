"""What is read out of the TPU compiler's own texts; those in `recorded` are its own."""

from pathlib import Path

import tpu_report as report

RECORDED = Path(__file__).with_name("recorded")
# A step of 24 to 16 to 10 units with dropout, a batch of 64 on 8 chips, full time.
PROGRAM = (RECORDED / "compiled_dense_8_chips.txt").read_text("utf-8")
FAST = "\n  %x.1 = f32[4096,4096]{1,0:T(8,128)S(1)} add(%a, %a)"  # on the chip, not in its memory


def test_what_takes_the_most_is_read_off_the_refusal():
    refusal = (RECORDED / "overflow_resnet50.txt").read_text("utf-8")
    largest = report.arrays_of_overflow(refusal)
    arrays = ["bf16[1024,56,56,256]"] * 3 + ["bf16[1024,112,112,64]"]
    assert [row["array"] for row in largest] == arrays
    assert "(jvp(conv2_block2_1_conv))/conv_general_dilated" in largest[0]["operation"]
    assert {row["bytes"] for row in largest} == {1024 * 56 * 56 * 512}


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


def test_the_largest_arrays_exchanges_and_cycles_of_a_step():
    rows = report.largest_arrays(PROGRAM + FAST)
    sizes = [row["bytes"] for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    # 24 inputs and 16 units; in whole tiles of 8 by 128 that is 8 times 1 kB and more
    assert {"bytes": 8192, "array": "f32[24,16]", "operation": ""} in rows
    assert {row["array"] for row in rows} >= {"f32[8,24]", "s32[8]"}, "each chip's part of 64"
    assert "f32[4096,4096]" not in [row["array"] for row in rows]
    gradients = 24 * 16 + 16 + 16 * 10 + 10
    reduced = {"kind": "all-reduce", "arrays": 5, "bytes": 4 * (gradients + 1)}  # and the loss
    assert report.collectives(PROGRAM) == [reduced]
    # 2**63 - 1 is the compiler's word for "not known".
    unknown = PROGRAM.replace('"estimated_cycles":"1829"', f'"estimated_cycles":"{2**63 - 1}"')
    cycles = report.estimated_cycles(unknown, ["hidden", "drop", "output"])
    assert sum(count for _, count in cycles) == 30_829 - 1829
    assert {layer for layer, _ in cycles} == {"hidden", "drop", "output", "other"}


def test_an_array_is_called_by_the_layer_of_the_model_that_makes_it():
    expected = {
        "jit(step)/jvp(dense_1)/dot_general": "dense_1",
        "jit(step)/add": "add",
        "jit(step)/adam/jit(relu)/mul": "mul",  # a function of JAX's
        "jit(step)/transpose(jvp(inner))/dense/dot_general": "inner, going back",
        "": "weights or optimizer",  # of what the step is given, all of one shape
    }
    layers, given = ["dense", "dense_1", "add", "relu", "inner"], ["weights", "optimizer"]
    for path, name in expected.items():
        row = {"array": "f32[8]", "operation": path}
        assert report.named(row, layers, [(kind, "f32[8]") for kind in given])["operation"] == name
