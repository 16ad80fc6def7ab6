"""Whole models through the real compiler for TPUs, from both backends. No TPU is used."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tpu_children
import tpu_models

from accel_helpers._values import probe, records
from accel_helpers.tpu import compiler as tpu_compiler
from accel_helpers.tpu.answers import CompiledStep

BACKENDS = ("tensorflow", "jax")
GRADIENTS = 4 * 101_770  # bytes, of the quickstart model
COMPILE = """
import tpu_models
from dataclasses import asdict
from accel_helpers.tpu import compiler
from accel_helpers.tpu.lowering import lower
found = {}
for name, (make, batch) in tpu_models.MODELS.items():
    model = make()
    jobs = {"v5e": {}}
    if name == "quickstart":
        jobs |= {"v6e": {"chip": "v6e"}, "eight": {"chips": 8}, "thorough": {"thorough": True}}
    if name == "transformer":
        Path(words[0]).write_bytes(lower(model, batch).data)
    for job, options in jobs.items():
        answer = compiler.compile_training_step(model, batch, **options)
        found[f"{name} {job}"] = asdict(answer)
say(found)
"""
# Each program as it is; then with one of the two rewritings of `child` left out.
REWRITE = """
def ask(name):
    return child.compile_program(Path(words[0], name).read_bytes(), chip="v5e")

found = {name: ask(name) for name in ("tensorflow", "jax")}
for rewriting in ("_tpu_random_numbers", "_without_copies"):
    own = getattr(child, rewriting)
    setattr(child, rewriting, lambda module: 0)
    found[rewriting] = ask("tensorflow")
    setattr(child, rewriting, own)
say(found)
"""
ASK = """
import sys, tempfile
import tpu_models
from accel_helpers.tpu import compiler
tempfile.tempdir = sys.argv[1]
compiler.compile_training_step(tpu_models.quickstart(), 32, thorough=True)
"""
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="module")
def compiled(tpu_environment, programs):
    found = {}
    for backend in BACKENDS:
        said = tpu_children.with_keras(tpu_environment, backend, COMPILE, programs / backend)
        for name, answer in said.items():
            answer = records.read(CompiledStep, answer, name)
            assert answer.backend == backend, answer.why
            found[(backend, *name.split())] = answer
    return found


@pytest.mark.parametrize("name", tpu_models.MODELS)
def test_a_model_compiles_and_both_backends_need_the_same_work(compiled, name):
    ours, theirs = (compiled[backend, name, "v5e"] for backend in BACKENDS)
    for answer in (ours, theirs):
        assert answer.verdict == "fits"
        assert answer.loops is (name == "characters")
        assert answer.logical_bytes <= answer.padded_bytes <= answer.peak_memory < answer.memory
        assert answer.largest
        assert answer.bytes_accessed > answer.logical_bytes
        assert answer.versions == "jax 0.8.3, libtpu 0.0.32.1"
        if not answer.loops:  # whose body the compiler counts once
            # ours counts the zeros of a padding, too
            assert answer.flops < 1.05 * answer.compiler_flops
    assert ours.flops == theirs.flops
    # TensorFlow keeps the loss and the random state in other types: a few bytes
    assert ours.logical_bytes == pytest.approx(theirs.logical_bytes, rel=0.02)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_quickstart_on_either_chip_and_on_eight(compiled, backend):
    answers = {job: compiled[backend, "quickstart", job] for job in ("v5e", "v6e", "eight")}
    whole, eight = answers["v5e"], answers["eight"]
    for answer in answers.values():  # over all chips, to the operation
        assert answer.flops == 13_090_816
        assert answer.memory == tpu_compiler.MEMORY[answer.chip]
    assert whole.collectives == ()
    assert whole.cycles == ()
    reduced = [found for found in eight.collectives if found.kind == "all-reduce"]
    assert GRADIENTS <= sum(found.bytes for found in reduced) < GRADIENTS * 1.01
    # each is given all weights, and an eighth of the batch: of 32 pictures and 32 labels
    batch = 32 * (28 * 28 + 1) * 4
    assert eight.logical_bytes == whole.logical_bytes - batch * 7 // 8
    assert eight.padded_bytes < whole.padded_bytes


@pytest.mark.parametrize("backend", BACKENDS)
def test_cycles_and_arrays_have_the_names_of_layers(compiled, backend):
    cycles = dict(compiled[backend, "quickstart", "thorough"].cycles)
    assert {"hidden", "output", "dropout"} <= set(cycles)
    assert min(cycles.values()) > 0
    assert set(cycles) <= {"flatten", "hidden", "dropout", "output", "other"}
    names = {row.operation for row in compiled[backend, "residual", "v5e"].largest}
    layers = ("stem", "norm", "relu", "conv", "past", "add")
    assert any(name.startswith(layers) for name in names)
    assert "mean" not in names, "an operation of the same name"


@pytest.mark.night
def test_dropout_takes_the_memory_that_it_takes_on_a_tpu(tpu_environment, compiled, programs):
    """Left as TensorFlow on a CPU writes it, Philox would be padded 32 times: programs that fit
    would be said not to. And its copies are no part of the compiler's language."""
    found = tpu_children.beside_libtpu(tpu_environment, programs, REWRITE, programs)
    ours, theirs, left = (found[name] for name in (*BACKENDS, "_tpu_random_numbers"))
    assert ours["peak_memory"] == pytest.approx(theirs["peak_memory"], rel=0.25)
    assert left["peak_memory"] > 2.5 * ours["peak_memory"]
    assert "failed to legalize operation 'mhlo.copy'" in found["_without_copies"]["error"]


@pytest.mark.parametrize("chip", ["v5e", "v6e"])
def test_the_memory_of_a_chip_is_what_the_compiler_says_itself(keras, tpu_environment, chip):
    words = []

    def run(command, *, folder, **options):
        done = probe.run_command(command, folder=folder, **options)
        words.append(json.loads(Path(folder, "answer.json").read_text())["error"])
        return done

    make = keras.layers
    wide = [make.Dense(4096, activation="relu", name=name) for name in ("wide", "wider")]
    model = keras.Sequential([keras.Input((8,)), *wide, make.Dense(1, name="output")])
    model.compile("sgd", "mse")
    answer = tpu_compiler.compile_training_step(
        model, 2**20, chip, environment=tpu_environment, run=run
    )
    said = f"of {tpu_compiler.MEMORY[chip] / 2**30:.2f}G hbm. Exceeded hbm capacity by "
    exceeded = float(words[0].split(said)[1].split("G")[0]) * 2**30
    assert answer.verdict == "too large"
    assert answer.largest[0].bytes == 16 * 2**30
    assert answer.needed - answer.memory == pytest.approx(exceeded, abs=0.02 * 2**30)
    assert answer.largest[0].operation.removesuffix(", going back") in ("wide", "wider")


def left_outside():
    names = ("libtpu_lockfile", "tpu_logs", "tpu_logs/*", "tpu_driver*")
    return sorted(path for name in names for path in Path("/tmp").glob(name))


def running(word, library=""):
    """Processes that have this word in their command, and have loaded such a library."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            loaded = library in (folder / "maps").read_text()
            if loaded and word.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def left_in(folder):
    """What lies in a folder; what TensorFlow makes of functions and keeps there does not count."""
    own = ("autograph", "__pycache__")
    return [path for path in folder.rglob("*") if not any(name in path.name for name in own)]


def wait_until(condition, seconds=120):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def test_two_compile_at_once_and_leave_nothing(keras, tpu_environment, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    before, done = (left_outside(), sorted(tpu_environment.folder.rglob("*"))), []

    def run(words, **options):
        with ThreadPoolExecutor(2) as pool:
            done.extend(pool.map(lambda _: probe.run_command(words, **options), range(2)))
        return done[0]

    answer = tpu_compiler.compile_training_step(
        tpu_models.quickstart(), 32, environment=tpu_environment, run=run
    )
    assert [each.kind for each in done] == ["finished"] * 2, done[0].output
    assert answer.verdict == "fits"
    assert left_in(tmp_path) == []
    assert (left_outside(), sorted(tpu_environment.folder.rglob("*"))) == before, "no bytecode"


def kill_soon(words, *, folder, **options):
    def kill():
        os.kill(wait_until(lambda: running(folder, "libtpu.so"))[0], signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
    return probe.run_command(words, folder=folder, **options)


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        # A busy machine looks a little later.
        ({"seconds": 0.5}, r"was not done after \d\S* s; give seconds= more"),
        ({"memory": 5e7}, "needed more than 50 MB of memory; give memory= more"),
        ({"run": kill_soon}, "ended with SIGKILL"),
    ],
)
def test_a_child_that_is_stopped_gives_a_sentence_and_leaves_nothing(
    keras, tpu_environment, tmp_path, monkeypatch, limits, why
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    answer = tpu_compiler.compile_training_step(
        tpu_models.quickstart(), 32, thorough=True, environment=tpu_environment, **limits
    )
    assert answer.verdict == "unavailable"
    assert re.fullmatch(f"the compiler's process {why}", answer.why)
    assert left_in(tmp_path) == []
    assert running(str(tmp_path)) == []


def test_when_the_learners_process_is_killed_the_child_and_its_folder_go(tpu_environment, tmp_path):
    command = [sys.executable, "-c", ASK, str(tmp_path)]
    parent = subprocess.Popen(
        command, env=tpu_children.variables(tpu_environment), stdout=subprocess.DEVNULL
    )
    try:
        folder = str(wait_until(lambda: [*tmp_path.glob("accel-tpu-*")])[0])
        wait_until(lambda: running(folder, "libtpu.so"))
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: not running(folder))
    assert left_in(tmp_path) == []
