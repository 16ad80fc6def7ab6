"""Asking for a compiled step, of a child process that is made up; test_programs.py asks libtpu."""

import json
import re
from pathlib import Path

import pytest
import tpu_models

from accel_helpers._values.probe import Outcome
from accel_helpers.tpu import compiler as tpu_compiler
from accel_helpers.tpu.answers import CompiledStep
from accel_helpers.tpu.environment import Environment
from accel_helpers.tpu.lowering import lower

READY = Environment(Path("there"))
BEGINNING = {"versions": "jax 0, libtpu 0", "loops": False, "program": "", "error": ""}
ANSWER = BEGINNING | {
    "compiler_flops": 6000.0, "bytes_accessed": 300.0, "peak_memory": 4000, "padded_bytes": 1600,
}  # fmt: skip
GIGA = 2**30


class Child:
    """Stands for the child process: notes what it is told, and gives its answers one by one."""

    def __init__(self, *answers, ended=None):
        self.answers = list(answers)
        self.ended = ended or Outcome("finished", 1.0)
        self.told, self.jobs = [], []

    def __call__(self, words, *, folder, **options):
        self.told.append({"words": words, "folder": folder, **options})
        self.jobs.append(json.loads(Path(folder, "job.json").read_text()))
        assert Path(folder, "program.pb").stat().st_size > 1000
        if answer := self.answers.pop(0) if self.answers else None:
            Path(folder, "answer.json").write_text(json.dumps(answer))
        if isinstance(self.ended, BaseException):
            raise self.ended
        return self.ended


def overflow(needed, operator="sequential_1/hidden_1/MatMul", shape="f32[64,128]{1,0:T(8,128)}"):
    message = f"""RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory \
space hbm. Used {needed / GIGA:.2f}G of 15.75G hbm. Exceeded

  1. Size: 1.00G
     Operator: op_name="{operator}" stack_frame_id=1
     Shape: {shape}
"""
    return {**BEGINNING, "error": message}


@pytest.fixture(scope="module")
def model(keras):
    return tpu_models.quickstart()


def ask(model, child, batch=64, **options):
    options = {"environment": READY, "run": child} | options
    return tpu_compiler.compile_training_step(model, batch, **options)


def test_the_child_is_told_what_to_compile_within_which_limits(model, keras):
    child = Child(ANSWER)
    ask(model, child, chip="v6e", chips=8, thorough=True, seconds=7, memory=8e9)
    (told,), (job,) = child.told, child.jobs
    first = -2 if keras.config.backend() == "jax" else 0
    assert job == {"chip": "v6e", "chips": 8, "thorough": True, "shared": [first, first + 1]}
    assert (told["seconds"], told["memory"]) == (7, 8e9)
    assert told["words"][-2:] == [tpu_compiler.child.__file__, told["folder"]]
    assert told["environ"]["TMPDIR"] == told["folder"], "what libtpu leaves there goes with it"
    assert not Path(told["folder"]).exists()


def test_an_answer_is_read(model, keras):
    assert ask(model, Child(ANSWER), batch=32) == CompiledStep(
        name=model.name, backend=keras.config.backend(), batch_size=32, chip="v5e",
        memory=int(15.75 * GIGA), verdict="fits", flops=13_090_816, compiler_flops=6000.0,
        bytes_accessed=300.0, peak_memory=4000, logical_bytes=lower(model, 32).argument_bytes,
        padded_bytes=1600, versions="jax 0, libtpu 0",
    )  # fmt: skip


def test_where_a_layer_has_no_rule_the_compilers_count_stands(keras):
    class Twice(keras.layers.Layer):
        def call(self, x):
            return 2 * x

    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1), Twice()])
    model.compile("sgd", "mse")
    answer = ask(model, Child(ANSWER))
    assert answer.flops is None
    assert dict(answer.rows())["operations"] == "6,000, as the compiler counts"


def test_arrays_are_named_for_a_learner(model):
    text = """
ENTRY %main (a: f32[784,128]) -> f32[] {
  %a = f32[784,128]{1,0:T(8,128)} parameter(0)
  %b = f32[64,28,28]{2,1,0:T(8,128)} parameter(1)
  %c = s32[64]{0:T(256)} parameter(2)
  %d = f32[64,128]{1,0:T(8,128)} add(%a), metadata={op_name="jit(step)/transpose(jvp(hidden))/add"}
  %e = f32[77]{0:T(128)} parameter(3)
}
"""
    found = {
        row.array: row.operation for row in ask(model, Child(ANSWER | {"program": text})).largest
    }
    assert found == {
        "f32[784,128]": "weights or optimizer",
        "f32[64,28,28]": "inputs",
        "s32[64]": "targets",
        "f32[64,128]": "hidden, going back",
        "f32[77]": "an argument",
    }


@pytest.mark.parametrize("operator", ["XLA_Args", "x['left']", "state[0][1]"])
def test_a_copy_of_what_the_step_is_given_is_named_too(model, operator):
    child = Child(overflow(20 * GIGA, operator, "f32[64,28,28]{2,1,0}"))
    assert ask(model, child).largest[0].operation == "inputs"


def test_a_step_that_is_too_large_has_figures(model):
    answer = ask(model, Child(overflow(20 * GIGA)))
    assert (answer.verdict, answer.needed) == ("too large", 20 * GIGA)
    assert answer.largest[0].operation == "hidden"
    assert answer.flops == 2 * 13_090_816
    assert answer.largest_batch is answer.logical_bytes is None
    assert answer.tried == ()


# for programs far too large the compiler gives no figures
FAR_TOO_LARGE = {**BEGINNING, "error": "RESOURCE_EXHAUSTED: Allocation type: HLO temp"}
SEARCHES = {  # name -> (chips, batch, answers of the child, largest batch, what was tried)
    # each sample needs 1/40 GB, so 630 fit: what is needed says where to look first
    "with figures": (
        1, 4096, [overflow(102.4 * GIGA), ANSWER, overflow(25.6 * GIGA)], 512,
        ((512, True), (1024, False)),
    ),
    "by halves": (
        1, 4096, [FAR_TOO_LARGE, FAR_TOO_LARGE, ANSWER], 1024, ((1024, True), (2048, False))
    ),
    "none fits": (4, 16, [FAR_TOO_LARGE] * 3, 0, ((4, False), (8, False))),
    "it breaks off": (1, 4096, [overflow(102.4 * GIGA)], None, ()),
}  # fmt: skip


@pytest.mark.parametrize("name", SEARCHES)
def test_the_largest_power_of_two_that_fits_is_found_by_compiling(model, name):
    chips, batch, answers, largest, tried = SEARCHES[name]
    child = Child(*answers)
    answer = ask(model, child, batch=batch, chips=chips)
    assert (answer.verdict, answer.batch_size) == ("too large", batch)
    assert (answer.largest_batch, answer.tried) == (largest, tried)
    assert child.answers == []
    needed = None if answers[0] is FAR_TOO_LARGE else round(102.4 * GIGA)
    assert answer.needed == needed, "of what was asked, not of what was tried"
    assert largest is not None or "512" in answer.why


def test_what_is_given_alone_may_be_too_large_and_then_nobody_is_asked(model):
    child = Child(ANSWER, ANSWER)
    answer = ask(model, child, batch=1_000_000_000)
    assert answer.verdict == "too large"
    assert answer.at_least
    assert answer.needed >= 1_000_000_000 * 28 * 28 * 4  # 3 TB
    assert answer.tried == ((2**22, True), (2**23, False))
    assert len(child.told) == 1
    fits = ask(model, child, batch=8 * 5_000_000, chips=8)
    assert fits.verdict == "fits"
    assert len(child.told) == 2, "of 8 chips each is given an eighth"


NO_JUDGEMENT = {
    "half an answer": (Child(ANSWER, ended=Outcome("crashed", 1.0, "ImportError: x")), "Error: x"),
    "no answer": (Child(), "the compiler's process was done"),
    "failed": (Child({**BEGINNING, "error": "INTERNAL: a bug\nmore"}), "failed: INTERNAL: a bug$"),
    "a full disk": (Child(ended=OSError(28, "No space left")), "No space left"),
}


@pytest.mark.parametrize("case", NO_JUDGEMENT)
def test_a_failure_of_the_compiler_is_no_judgement_of_the_model(model, case):
    child, why = NO_JUDGEMENT[case]
    answer = ask(model, child)
    assert answer.verdict == "unavailable"
    assert re.search(why, answer.why)
    assert not Path(child.told[-1]["folder"]).exists(), "nothing is left behind"


def test_what_keras_cannot_write_down_or_a_tpu_cannot_run_is_said_of_the_model(keras):
    class Boom(keras.layers.Layer):
        def call(self, x, training=False):
            raise RuntimeError("my own error")

    boom = keras.Sequential([keras.layers.Dense(1), Boom()])
    boom.compile("sgd", "mse")
    x = keras.ops.zeros((1, 4))
    answer = ask(boom, Child(), sample=(x, x))
    assert answer.verdict == "unavailable"
    assert "my own error" in answer.why
    words = keras.Input((1,), dtype="string")
    found = keras.Sequential([keras.layers.Hashing(4, name="words")])(words)  # however deep
    hashed = keras.Model(words, keras.layers.Embedding(4, 1)(found))
    hashed.compile("sgd", "mse")
    answer = ask(hashed, Child())
    assert (answer.verdict, answer.operation, answer.layer) == ("refused", "Hashing", "words")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"chips": 2}, "1 or 4 or 8; got 2"),
        ({"batch": 32.0}, "batch_size .*; got 32.0"),
        ({"batch": 30, "chips": 4}, "multiple of 4.* 30"),
    ],
)
def test_what_was_given_wrongly_is_named(model, options, words):
    with pytest.raises(ValueError, match=words):
        ask(model, Child(), **options)
