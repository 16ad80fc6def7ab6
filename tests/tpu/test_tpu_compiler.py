"""Asking for a compiled step: what is handed over, and what becomes of every kind of answer.

Here the child process is one that is made up. test_tpu_programs.py asks the real compiler.
"""

import errno
import itertools
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
import tpu_models

from accel_helpers.probe import Outcome
from accel_helpers.tpu import compiler as tpu_compiler
from accel_helpers.tpu.environment import Environment
from accel_helpers.tpu.report import Allocation

READY = Environment(Path("there"), ready=True)
DONE = Outcome("finished", 1.0)
ANSWER = {
    "versions": "jax 0, libtpu 0", "loops": False, "logical_bytes": 1000, "product_flops": 5000,
    "seconds": 2.5, "compiler_flops": 6000.0, "bytes_accessed": 300.0, "peak_memory": 4000,
    "argument_bytes": 1600,
}  # fmt: skip
BEGINNING = {
    name: ANSWER[name]
    for name in ("versions", "loops", "logical_bytes", "product_flops", "seconds")
}
GIGA = 2**30


class Child:
    """Stands for the child process: notes what it is told, and answers what it was given."""

    def __init__(self, answer=ANSWER, text="", ended=DONE):
        self.answer, self.text, self.ended = answer, text, ended
        self.told, self.jobs = [], []

    def __call__(self, words, *, seconds, memory, environ, folder):
        self.told.append({"words": words, "seconds": seconds, "memory": memory})
        self.told[-1] |= {"environ": environ, "folder": folder}
        self.jobs.append(json.loads(Path(folder, "job.json").read_text()))
        assert Path(folder, "program.pb").stat().st_size > 1000
        answer = self.answer() if callable(self.answer) else self.answer
        if answer is not None:
            Path(folder, "answer.json").write_text(json.dumps(answer))
            Path(folder, "compiled.txt").write_text(self.text)
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
    child = Child()
    ask(model, child, chip="v6e", chips=8, thorough=True, seconds=7, memory=8e9)
    (told,), (job,) = child.told, child.jobs
    first = -2 if keras.config.backend() == "jax" else 0
    assert job == {"chip": "v6e", "chips": 8, "thorough": True, "shared": [first, first + 1]}
    assert (told["seconds"], told["memory"]) == (7, 8e9)
    assert told["words"][-2:] == [str(tpu_compiler.CHILD), told["folder"]]
    assert told["environ"]["TMPDIR"] == told["folder"], "what libtpu leaves there goes with it"
    assert not Path(told["folder"]).exists()


def test_an_answer_is_read(model):
    answer = ask(model, Child(), batch=32)
    assert (answer.verdict, answer.compiles, answer.fits) == ("fits", True, True)
    assert (answer.flops, answer.compiler_flops, answer.bytes_accessed) == (5000, 6000.0, 300.0)
    assert (answer.peak_memory, answer.logical_bytes, answer.padded_bytes) == (4000, 1000, 1600)
    assert (answer.batch_size, answer.chip, answer.chips, answer.why) == (32, "v5e", 1, "")
    assert answer.memory == 15.75 * GIGA and answer.seconds == 2.5
    assert answer.versions == "jax 0, libtpu 0" and answer.name == model.name


def test_what_the_compiler_does_not_know_is_not_known(model):
    """It writes a number below 0 where it does not know."""
    unknown = {**ANSWER, "compiler_flops": -1.0, "bytes_accessed": -2.0, "product_flops": None}
    answer = ask(model, Child({**unknown, "not_counted": "a loop", "loops": True}))
    assert answer.compiler_flops is answer.bytes_accessed is answer.flops is None
    assert answer.loops and ("operations", "not known: a loop") in answer.rows()


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
    found = {row.array: row.operation for row in ask(model, Child(text=text)).largest}
    assert found == {
        "f32[784,128]": "weights or optimizer",
        "f32[64,28,28]": "inputs",
        "s32[64]": "targets",
        "f32[64,128]": "hidden, going back",
        "f32[77]": "an argument",
    }


@pytest.mark.parametrize("operator", ["XLA_Args", "x", "x['left']", "state[0][1]"])
def test_a_copy_of_what_the_step_is_given_is_named_too(model, operator):
    child = Child(overflow(20 * GIGA, operator, "f32[64,28,28]{2,1,0}"))
    (row,) = ask(model, child, find_batch=False).largest
    assert row == Allocation(64 * 28 * 28 * 4, 64 * 28 * 28 * 4, "f32[64,28,28]", "inputs")


def test_a_step_that_is_too_large_has_figures(model):
    answer = ask(model, Child(overflow(20 * GIGA)), find_batch=False)
    assert (answer.verdict, answer.compiles, answer.fits) == ("too large", True, False)
    assert answer.needed == 20 * GIGA and answer.overflow == 4.25 * GIGA
    assert answer.largest[0].operation == "hidden" and answer.flops == 5000
    assert answer.largest_batch is None and answer.tried == ()


def test_the_batch_that_fits_is_found_by_compiling(model):
    """Each sample needs 1/40 GB: 630 samples fit; what is needed says where to look first."""
    answers = iter([overflow(102.4 * GIGA), ANSWER, overflow(25.6 * GIGA)])
    child = Child(lambda: next(answers))
    answer = ask(model, child, batch=4096)
    assert answer.largest_batch == 512 and answer.tried == ((512, True), (1024, False))
    assert answer.batch_size == 4096 and answer.verdict == "too large"
    assert answer.needed == round(102.4 * GIGA), "of what was asked, not of what was tried"


@pytest.mark.parametrize("asked", [1, 8, 104, 512, 4096])
@pytest.mark.parametrize("figures", [True, False])
def test_the_search_finds_the_largest_power_of_two(asked, figures):
    limits = [0, 1, 3, 8, 9, 31, 32, 100, 511, 1000, 4095]
    for most, chips in itertools.product([most for most in limits if most < asked], [1, 4, 8]):
        compiled = []
        one = Search(most, figures, chips, compiled)
        answer = tpu_compiler._with_batch_that_fits(one(asked), one)
        powers = [2**n for n in range(13) if chips <= 2**n < asked and 2**n <= most]
        given_up = len(compiled) == 1 + tpu_compiler.MOST_TRIES
        assert answer.largest_batch == max(powers, default=0) or given_up
        assert answer.tried == tuple(sorted((batch, batch <= most) for batch in compiled[1:]))
        assert len(set(compiled)) == len(compiled) <= 1 + tpu_compiler.MOST_TRIES
        # without figures it can only halve
        assert not given_up or most <= asked / 64 and not (figures and most)


class Search:
    """Answers for any batch; half of the memory is needed whatever the batch is."""

    def __init__(self, most, figures, chips, compiled):
        self.most, self.figures, self.compiled = most, figures, compiled
        self.blank = tpu_compiler.CompiledStep("m", "jax", 1, "v5e", 10**6, chips=chips)

    def __call__(self, batch):
        self.compiled.append(batch)
        needed = 10**6 // 2 + 10**6 * batch // (2 * self.most) if self.most else 10**6 + batch
        fits = batch <= self.most
        found = replace(self.blank, batch_size=batch, fits=fits, compiles=True)
        return found if fits or not self.figures else replace(found, needed=max(needed, 10**6))


def test_a_search_that_breaks_off_says_why_and_keeps_the_answer(model):
    answers = iter([overflow(102.4 * GIGA), None])
    answer = ask(model, Child(lambda: next(answers), ended=DONE), batch=4096)
    assert answer.verdict == "too large" and answer.largest_batch is None
    assert answer.why.startswith("a batch of 512 could not be asked: the compiler's process")


def test_for_programs_far_too_large_the_compiler_gives_no_figures(model):
    error = {**BEGINNING, "error": "RESOURCE_EXHAUSTED: Allocation type: HLO temp"}
    answer = ask(model, Child(error), find_batch=False)
    assert answer.verdict == "too large" and answer.needed is None


def test_what_is_given_alone_may_be_too_large_and_then_nobody_is_asked(model):
    child = Child()
    answer = ask(model, child, batch=1_000_000_000, find_batch=False)
    assert child.told == [] and answer.verdict == "too large" and answer.at_least
    assert answer.needed >= 1_000_000_000 * 28 * 28 * 4 and answer.compiles is None
    # of 8 chips each is given an eighth
    eighth = ask(model, child, batch=1_000_000_000, chips=8, find_batch=False)
    assert eighth.needed == pytest.approx(answer.needed / 8, rel=1e-3)
    fits = ask(model, child, batch=8 * 5_000_000, chips=8, find_batch=False)
    assert fits.verdict == "fits" and len(child.told) == 1


NO_JUDGEMENT = {
    "crashed": (
        Child(None, ended=Outcome("crashed", 1.0, signal="SIGKILL")),
        "the compiler's process ended with SIGKILL",
    ),
    "half an answer": (
        Child(ended=Outcome("crashed", 1.0, "Traceback\nImportError: no jax")),
        "the compiler's process ended with: ImportError: no jax",
    ),
    "too slow": (
        Child(None, ended=Outcome("too slow", 300.0)),
        "the compiler's process was not done after 300.0 s; give seconds= more",
    ),
    "too large": (
        Child(None, ended=Outcome("too large", 9.0, memory=12e9)),
        "the compiler's process needed more than 12 GB of memory; give memory= more",
    ),
    "no answer": (Child(None), "the compiler's process was done after 1.0 s"),
    "failed": (
        Child({**BEGINNING, "error": "INTERNAL: a bug of ours\nmore"}),
        "the compiler failed: INTERNAL: a bug of ours",
    ),
    "failed without a word": (
        Child({**BEGINNING, "error": " "}), "the compiler failed: no message",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NO_JUDGEMENT)
def test_a_failure_of_the_compiler_is_no_judgement_of_the_model(model, case):
    child, why = NO_JUDGEMENT[case]
    answer = ask(model, child)
    assert (answer.verdict, answer.why, answer.fits, answer.compiles) == (
        "unavailable", why, None, None,
    )  # fmt: skip
    assert answer.rows() == [("unavailable here", f"{why}. This says nothing about the model.")]
    assert not Path(child.told[-1]["folder"]).exists(), "nothing is left behind"


def test_a_disk_that_is_full_is_named(model):
    def run(words, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    answer = ask(model, run)
    assert answer.why == "its files could not be written (No space left on device)"


def test_a_compiler_that_is_not_installed_says_how(model):
    why = "The TPU compiler is not installed. `python -m accel_helpers` does it."
    answer = ask(model, Child(), environment=Environment(Path("there"), False, why))
    assert answer.verdict == "unavailable"
    assert answer.rows()[0][1] == f"{why} This says nothing about the model."


def test_the_learner_who_interrupts_leaves_nothing(model):
    seen = []

    def run(words, *, folder, **options):
        seen.append(folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(model, run)
    assert not Path(seen[0]).exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"chip": "v4"}, "chip must be 'v5e' or 'v6e'; got 'v4'"),
        ({"chips": 2}, "chips must be 1, 4 or 8, as TPUs are wired; got 2"),
        ({"chips": True}, "got True"),
        ({"batch": 0}, "batch_size must be a whole number, 1 or more; got 0"),
        ({"batch": 32.0}, "got 32.0"),
        ({"batch": True}, "got True"),
        ({"batch": 30, "chips": 4}, "A batch of 30 cannot be shared evenly by 4 chips"),
    ],
)
def test_what_was_given_wrongly_is_named(model, options, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        ask(model, Child(), **options)


def test_a_model_that_is_not_compiled_is_the_callers_mistake(keras):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    with pytest.raises(ValueError, match="not compiled"):
        ask(model, Child())
