"""What is read out of the TPU compiler's own texts; those in `recorded` are its own."""

from pathlib import Path

import tpu_report as report

RECORDED = Path(__file__).with_name("recorded")
# A step of 24 to 16 to 10 units with dropout, a batch of 64 on 8 chips, full time.
PROGRAM = (RECORDED / "compiled_dense_8_chips.txt").read_text("utf-8")
LAYERS = ["hidden", "drop", "output"]


def test_what_takes_the_most_is_read_off_the_refusal():
    refusal = (RECORDED / "overflow_resnet50.txt").read_text("utf-8")
    largest, *_, last = report.arrays_of_overflow(refusal, ["conv2_block2_1_conv"])
    assert largest["operation"] == "conv2_block2_1_conv, going back"
    assert largest["array"] == "bf16[1024,56,56,256]"
    assert largest["bytes"] == 1024 * 56 * 56 * 512
    assert last["array"] == "bf16[1024,112,112,64]"


def test_an_array_takes_whole_tiles():
    expected = {
        "f32[]{:T(128)}": 4,
        "f32[1024,10]": 1024 * 10 * 4,
        "f32[1024,10]{0,1:T(8,128)}": 1024 * 16 * 4,
        "f32[1024,10]{1,0:T(8,128)}": 1024 * 128 * 4,  # the last axis lies innermost
        "bf16[100,128]{1,0:T(8,128)(2,1)S(1)}": 104 * 128 * 2,
    }
    assert {array: report.array_bytes(array) for array in expected} == expected


def test_the_largest_arrays_and_exchanges_of_a_step():
    on_chip = "\n  %x.1 = f32[4096,4096]{1,0:T(8,128)S(1)} add(%a, %a)"
    largest, *rows = report.largest_arrays(PROGRAM + on_chip, LAYERS)
    # In whole tiles of 8 by 128: 16 units and 10 outputs are 16 by 128.
    assert (largest["array"], largest["bytes"]) == ("f32[16,10]", 8192)
    assert {"f32[8,24]", "s32[8]"} <= {row["array"] for row in rows}, "each chip's part of 64"
    gradients = 24 * 16 + 16 + 16 * 10 + 10
    reduced = {"kind": "all-reduce", "arrays": 5, "bytes": 4 * (gradients + 1)}  # and the loss
    assert report.collectives(PROGRAM) == [reduced]


def test_an_array_is_called_by_the_layer_of_the_model_that_makes_it():
    expected = {
        "jit(step)/jvp(dense_1)/dot_general": "dense_1",
        "jit(step)/add": "add",
        "jit(step)/adam/jit(relu)/mul": "mul",  # a function of JAX's
        "jit(step)/transpose(jvp(inner))/dense/dot_general": "inner, going back",
        "state[0][1]": "weights or optimizer",
        "data[0]": "inputs",
    }
    layers = ["dense", "dense_1", "add", "relu", "inner"]
    assert {path: report.name_of(path, layers) for path in expected} == expected
