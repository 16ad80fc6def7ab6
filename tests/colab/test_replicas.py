"""Every lesson as Colab runs it: a lone file, with Colab's packages, in a real kernel."""

import copy
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import build  # of tests/notebooks: what is compared, and how, is settled there
import nbformat
import pytest
import replica
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

LESSONS = sorted((replica.ROOT / "notebooks").glob("*.ipynb"))
OURS = "accel-helpers"
LIST = """
import importlib.metadata, json
print(json.dumps({d.metadata["Name"]: d.version for d in importlib.metadata.distributions()}))
"""
# Runs behind the lesson, in its kernel.
LAST_CELL = """
import json as _json, sys as _sys
print(_json.dumps({
    "library": ah.__file__,
    "backend": ah.backend.choose().name,
    "devices": ah.backend.devices(),
    "tensorflow": "tensorflow" in _sys.modules,
}))
"""


def required(reason):
    """Skip a test that cannot run here; fail it where everything must run."""
    (pytest.fail if os.environ.get("ACCEL_REQUIRE_ALL") == "1" else pytest.skip)(reason)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """Build the course's wheel from this working tree, in a copy of it."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("setup.py", "pyproject.toml", "MANIFEST.in", "LICENSE"):
        shutil.copy(replica.ROOT / name, source / name)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(replica.ROOT / "accel_helpers", source / "accel_helpers", ignore=ignored)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(out), str(source)], check=True)
    (path,) = out.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def closed_port():
    """Keep a port on which nothing listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


class Colab:
    """A session on a replica: its Python, an empty home, Colab's variables, no network."""

    def __init__(self, runtime, python, home, closed_port):
        self.runtime, self.python = runtime, python
        dropped = ("ACCEL_", "COLAB_", "JAX_", "JPY_", "KERAS_", "PIP_", "PYTEST_", "PYTHON",
                   "TF_", "TPU_", "VERTEX_", "VIRTUAL_", "XLA_")  # fmt: skip
        refusing = f"http://127.0.0.1:{closed_port}"
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.upper().startswith(dropped)},
            **runtime.variables,
            "HOME": str(home),
            "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
            "http_proxy": refusing,
            "https_proxy": refusing,
            "no_proxy": "127.0.0.1,localhost",
            "ACCEL_FAST": "1",
            "ACCEL_DATA": "bundled",
        }

    def packages(self):
        """List what is installed, and the version of each."""
        said = subprocess.run(
            [str(self.python), "-c", LIST],
            cwd=self.environment["HOME"],
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(said.stdout)

    def forget_the_library(self):
        """Uninstall the course's library; the other packages are kept for the next lesson."""
        pip = [str(self.python), "-m", "pip", "--disable-pip-version-check", "uninstall", "--yes"]
        subprocess.run([*pip, OURS], env=self.environment, capture_output=True, check=True)

    def run(self, notebook, folder):
        """Run all cells of a notebook in a fresh kernel."""
        # The switch keeps the debugger from warning.
        argv = [str(self.python), "-Xfrozen_modules=off", "-m", "ipykernel_launcher"]
        argv += ["-f", "{connection_file}"]

        class Only(KernelSpecManager):
            def get_kernel_spec(self, kernel_name):
                return KernelSpec(argv=argv, display_name="Python 3", language="python")

        class Manager(AsyncKernelManager):
            def _kernel_spec_manager_default(self):
                return Only()

        NotebookClient(
            notebook,
            timeout=200,
            kernel_name="python3",
            kernel_manager_class=Manager,
            record_timing=False,
            coalesce_streams=True,
            skip_cells_with_tag="nbval-skip",
            resources={"metadata": {"path": str(folder)}},
        ).execute(env=self.environment)


@pytest.fixture(params=replica.RUNTIMES, ids=lambda runtime: runtime.name)
def colab(request, tmp_path, closed_port):
    """Start a session on a replica of one of Colab's runtimes, without the course's library."""
    began = time.monotonic()
    try:
        python = replica.make(request.param)
    except replica.NoReplica as reason:
        required(str(reason))
    home = tmp_path / "home"
    home.mkdir()
    session = Colab(request.param, python, home, closed_port)
    session.forget_the_library()
    print(f"the replica was ready after {time.monotonic() - began:.1f} s")
    return session


def differences(stored, ran):
    """Tell what nbval would: the compared cells whose outputs are not those that are stored."""
    replacements = build.patterns(build.lesson.read(build.lesson.SANITIZE))
    found = []
    for place, (was, now) in enumerate(zip(stored.cells, ran.cells, strict=True)):
        tags = build.lesson.tags(was)
        if not build.lesson.is_code(was) or tags & {"nbval-ignore-output", "nbval-skip"}:
            continue
        if was.execution_count is None:
            found.append(f"cell {place + 1}: nothing is stored; run `make notebooks`")
            continue
        before, after = (
            build.words(was.outputs, replacements),
            build.words(now.outputs, replacements),
        )
        if before != after:
            found.append(f"cell {place + 1}:\n  stored {before}\n  here   {after}")
    return found


def shown(notebook):
    """Give all the text that the cells of a notebook printed or showed."""
    texts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            kept = {k: v for k, v in output.get("data", {}).items() if k.startswith("text/")}
            texts += [output.get("text", ""), *kept.values()]
    return "\n".join(texts)


def alarms(notebook):
    """Give what the cells wrote to the error stream, which notebooks show in red."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output.text for output in outputs if output.get("name") == "stderr"]


@pytest.mark.slow
@pytest.mark.timeout(1200)  # the first one makes the replica
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_runs_as_a_lone_file(colab, path, wheel, tmp_path):
    folder = tmp_path / "content"
    folder.mkdir()
    shutil.copy(path, folder)
    shutil.copy(wheel, folder)
    stored = nbformat.read(path, as_version=4)
    ran = copy.deepcopy(stored)
    ran.cells.append(nbformat.v4.new_code_cell(LAST_CELL))
    before, began = colab.packages(), time.monotonic()
    assert OURS not in before and len(before) > 40
    try:
        colab.run(ran, folder)
    except CellExecutionError as error:
        pytest.fail(f"a cell failed: {error}", pytrace=False)
    print(f"{path.stem} took {time.monotonic() - began:.1f} s")
    last = json.loads(ran.cells.pop().outputs[0].text)

    after = colab.packages()
    installed = after.pop(OURS, None)
    if after != before:
        replica.spoil(colab.runtime)
    assert installed, "the setup cell installed the wheel"
    assert after == before, "nothing else was changed"
    assert Path(last["library"]).is_relative_to(colab.python.parents[1])
    assert last["backend"] == colab.runtime.backend
    assert last["devices"] == ["cpu"]
    if "Place:" in shown(ran):
        assert "Google Colab" in shown(ran)
    words = " ".join(shown(ran).split())  # a long sentence may be broken into lines
    claimed = "The environment claims a TPU (v5e-1), but none is attached" in words
    assert claimed == (colab.runtime is replica.TPU), "a TPU that is not there is told"
    if colab.runtime is replica.TPU:
        assert not last["tensorflow"]
    assert not alarms(ran)
    different = differences(stored, ran)
    assert not different, "\n".join(["not as stored:", *different])


# How the replicas are kept.


@pytest.fixture
def maker(tmp_path):
    """Make replicas that hold nothing, and count them."""
    made = []

    def fake(folder, runtime, python):
        made.append(runtime.packages)
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").touch()

    def make(runtime=replica.CPU, build=fake):
        return replica.make(runtime, tmp_path, sys.executable, build)

    make.made, make.folder = made, tmp_path / "colab-cpu"
    try:
        make()
    except replica.NoReplica as reason:
        required(str(reason))
    return make


def test_a_replica_is_made_once(maker):
    assert maker() == maker.folder / "bin" / "python"
    assert len(maker.made) == 1


def test_a_replica_is_made_again_when_its_list_changes(maker):
    more = replace(replica.CPU, packages=(*replica.CPU.packages, "pandas"))
    maker(more)
    maker(more)
    assert maker.made == [replica.CPU.packages, more.packages]


def test_a_spoiled_replica_is_made_again(maker):
    replica.spoil(replica.CPU, maker.folder.parent)
    maker()
    assert len(maker.made) == 2


def test_a_half_made_replica_is_made_again(maker):
    def breaks_off(folder, runtime, python):
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").touch()
        raise KeyboardInterrupt

    other = replace(replica.CPU, packages=("pip",))
    with pytest.raises(KeyboardInterrupt):
        maker(other, breaks_off)
    assert maker(other).exists()
    assert maker.made == [replica.CPU.packages, other.packages]
