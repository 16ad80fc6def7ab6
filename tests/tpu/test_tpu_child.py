"""The child process that compiles: what it changes in a program, and what it leaves behind."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
import tpu_children
import tpu_models

from accel_helpers import probe
from accel_helpers.tpu import child as tpu_child
from accel_helpers.tpu import compiler as tpu_compiler
from accel_helpers.tpu import folder as tpu_folder
from accel_helpers.tpu.lowering import lower

# 32 texts of 256 tokens: the random numbers of the attention's dropout are the largest arrays.
LONG = {"length": 256, "width": 16}
LOWER = """
import tpu_models
from accel_helpers.tpu.lowering import lower
Path(words[0]).write_bytes(lower(tpu_models.transformer(length=256, width=16), 32).data)
say("done")
"""
ASK = """
if len(words) > 1:
    setattr(tpu_child, words[1], lambda module: 0)  # leaves this out
say(tpu_child.compile_program(Path(words[0]).read_bytes(), chip="v5e")[0])
"""
VERB = """
import os, tempfile
import tpu_children, tpu_models
from accel_helpers.tpu import compiler as tpu_compiler
model = getattr(tpu_models, words[0])()
found = {}
for place in words[1:]:
    tempfile.tempdir = os.environ["TMPDIR"] = place
    answer = tpu_compiler.compile_training_step(model, 32, thorough=words[0] == "residual")
    found[place] = [answer.verdict, answer.why, list(map(str, tpu_children.left_in(place)))]
say(found)
"""


def kept(environment):
    return {"ACCEL_TPU_COMPILER": str(environment.folder.parent)}


def left_outside():
    """What libtpu leaves in the machine's temporary folder if it is not told otherwise."""
    found = [path for name in ("libtpu_lockfile", "tpu_logs") for path in Path("/tmp").glob(name)]
    return sorted([*found, *Path("/tmp").glob("tpu_logs/*")])


def running(word):
    """Processes that have this word in their command."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def within(seconds, condition):
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


@pytest.fixture(scope="module")
def small(keras):
    return lower(tpu_models.quickstart(), 32)


def test_the_versions_that_the_child_asks_for_are_those_that_are_installed():
    assert tpu_child.VERSIONS.items() <= tpu_folder.PINS.items()
    assert set(tpu_child.TOPOLOGIES) == set(tpu_compiler.CHIPS)


@pytest.fixture(scope="module")
def programs(keras, tmp_path_factory):
    """A step of a transformer with dropout, as TensorFlow and as JAX write it down."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "tensorflow").write_bytes(lower(tpu_models.transformer(**LONG), 32).data)
    tpu_children.with_keras("jax", LOWER, folder / "jax")
    return folder


@pytest.mark.slow
def test_dropout_takes_the_memory_that_it_takes_on_a_tpu(tpu_environment, programs):
    """Left as TensorFlow on a CPU writes it, Philox would be padded 32 times: programs that fit
    would be said not to."""

    def ask(*words):
        return tpu_children.beside_libtpu(tpu_environment, ASK, *words)

    ours, theirs = ask(programs / "tensorflow"), ask(programs / "jax")
    left = ask(programs / "tensorflow", "_tpu_random_numbers")
    assert (ours["random_states"], theirs["random_states"], left["random_states"]) == (2, 0, 0)
    assert ours["peak_memory"] == pytest.approx(theirs["peak_memory"], rel=0.2)
    assert left["peak_memory"] > 2.5 * ours["peak_memory"]
    assert ours["product_flops"] == theirs["product_flops"] == left["product_flops"]


@pytest.mark.slow
def test_tensorflows_copies_are_no_part_of_the_compilers_language(tpu_environment, tmp_path, small):
    (tmp_path / "program.pb").write_bytes(small.data)
    found = tpu_children.beside_libtpu(
        tpu_environment, ASK, tmp_path / "program.pb", "_without_copies"
    )
    assert "failed to legalize operation 'mhlo.copy'" in found["error"]
    assert found["product_flops"] == 13_090_816, "what was counted before is kept"


@pytest.mark.slow
def test_another_version_of_the_compiler_is_refused(tpu_environment, tmp_path, small):
    (tmp_path / "program.pb").write_bytes(small.data)
    other = 'tpu_child.VERSIONS = {"jax": "0.8.3", "libtpu": "0.0.1"}\n' + ASK
    with pytest.raises(AssertionError, match=r"pinned to .*'0\.0\.1'.*; found .*'0\.0\.32\.1'"):
        tpu_children.beside_libtpu(tpu_environment, other, tmp_path / "program.pb")


@pytest.mark.slow
def test_two_compile_at_once(tpu_environment, tmp_path, small):
    before, done = left_outside(), {}

    def compile_in(name):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "program.pb").write_bytes(small.data)
        (folder / "job.json").write_text(json.dumps({"chip": name, "shared": [0, 1]}))
        words, environ = tpu_environment.command(tpu_compiler.CHILD, str(folder), scratch=folder)
        done[name] = probe.run_command(words, seconds=120, environ=environ, folder=folder)

    threads = [threading.Thread(target=compile_in, args=[name]) for name in ("v5e", "v6e")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in ("v5e", "v6e"):
        assert done[name].kind == "finished", done[name].output
        answer = json.loads((tmp_path / name / "answer.json").read_text())
        assert answer["product_flops"] == 13_090_816 and answer["peak_memory"] > 10**6
        names = {path.name for path in (tmp_path / name).iterdir()}
        assert names == {"program.pb", "job.json", "answer.json", "compiled.txt"}
    assert left_outside() == before


@pytest.mark.slow
def test_a_child_that_is_killed_gives_a_sentence_and_leaves_nothing(
    keras, tpu_environment, tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    killed = []

    def run(words, *, folder, **options):
        def kill():
            killed.extend(within(30, lambda: running(folder)))
            time.sleep(1.5)  # it loads the compiler
            os.kill(killed[0], signal.SIGKILL)

        threading.Thread(target=kill, daemon=True).start()
        return probe.run_command(words, folder=folder, **options)

    answer = tpu_compiler.compile_training_step(
        tpu_models.residual(), 32, thorough=True, environment=tpu_environment, run=run
    )
    assert answer.verdict == "unavailable"
    assert answer.why == "the compiler's process ended with SIGKILL"
    assert tpu_children.left_in(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("limits", [{"seconds": 1.0}, {"memory": 1e8}])
def test_a_limit_that_is_reached_gives_a_sentence_and_leaves_nothing(
    keras, tpu_environment, tmp_path, monkeypatch, limits
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    answer = tpu_compiler.compile_training_step(
        tpu_models.quickstart(), 32, environment=tpu_environment, **limits
    )
    why = "was not done after 1.0 s; give seconds= more"
    if "memory" in limits:
        why = "needed more than 100 MB of memory; give memory= more"
    assert answer.why == f"the compiler's process {why}"
    assert tpu_children.left_in(tmp_path) == [] and running(str(tmp_path)) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the processes are looked up in /proc")
def test_when_the_learners_process_is_killed_the_child_and_its_folder_go(tpu_environment, tmp_path):
    paths = [str(tpu_children.PACKAGE.parent), str(tpu_children.HERE), *filter(None, sys.path)]
    environ = {**os.environ, **kept(tpu_environment), "PYTHONPATH": os.pathsep.join(paths)}
    code = "import sys\nfrom pathlib import Path\nwords = sys.argv[1:]\nsay = print\n" + VERB
    command = [sys.executable, "-c", code, "residual", str(tmp_path)]
    parent = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL)
    try:
        folder = str(within(60, lambda: [*tmp_path.glob("accel-tpu-*")])[0])

        def child():
            return [number for number in running(folder) if number != parent.pid]

        assert within(30, child)
        time.sleep(2.5)  # the compiler is at work
        assert child() and parent.poll() is None
    finally:
        parent.kill()
        parent.wait()
    assert within(10, lambda: not child()), "the compiler's process has outlived its parent"
    assert not Path(folder).exists()
    assert tpu_children.left_in(tmp_path) == []


def _alone():
    """A command that runs another with no network, and with two small disks that it is given."""
    if not shutil.which("unshare"):
        return None
    words = ["unshare", "--map-root-user", "--mount", "--net", "sh", "-c"]
    mounts = 'mount -t tmpfs -o size=50k none "$1" && mount -t tmpfs -o size=300k none "$2"'
    words += [f'{mounts} && shift 2 && exec "$@"', "sh"]
    return words


@pytest.mark.slow
def test_no_network_and_a_disk_that_is_full(tpu_environment, tmp_path):
    """Of three temporary folders two are small disks: on the first the program has no room, on the
    second the compiled one has none."""
    places = [tmp_path / name for name in ("enough", "tiny", "small")]
    for place in places:
        place.mkdir()
    tiny, small = (str(place) for place in places[1:])
    alone = [*_alone(), tiny, small] if _alone() else []
    if not alone or subprocess.run([*alone, "true"], capture_output=True).returncode:
        pytest.skip("this system lets nobody have a network or a disk of one's own")
    found = tpu_children.with_keras(
        "tensorflow", VERB, "quickstart", *places, environ=kept(tpu_environment), before=alone
    )
    assert found[str(places[0])] == ["fits", "", []]
    verdict, why, left = found[tiny]
    assert (verdict, left) == ("unavailable", [])
    assert why == "its files could not be written (No space left on device)"
    verdict, why, left = found[small]
    assert (verdict, left) == ("unavailable", [])
    assert why == "its files could not be written (No space left on device)"
