"""A session on a replica of one of Colab's runtimes, for the tests in this folder."""

import importlib.metadata
import json
import os
import shutil
import subprocess

import kernel  # of tools
import replica

CELL_SECONDS = 600
DROPPED = ("ACCEL_", "COLAB_", "JAX_", "JPY_", "KERAS_", "PIP_", "PYTEST_", "PYTHON", "TF_",
           "TPU_", "VERTEX_", "VIRTUAL_", "XLA_")  # fmt: skip


class Colab:
    """A session on a replica: its Python, an empty home, Colab's variables, no network."""

    def __init__(self, runtime, python, home, closed_port):
        self.runtime, self.python, self.home = runtime, python, home
        (self.site,) = python.parents[1].glob("lib/python3.*/site-packages")
        refusing = f"http://127.0.0.1:{closed_port}"
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.upper().startswith(DROPPED)},
            **runtime.variables,
            "HOME": str(home),
            "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
            "http_proxy": refusing,
            "https_proxy": refusing,
            "no_proxy": "127.0.0.1,localhost",
            "ACCEL_FAST": "1",
            "ACCEL_DATA": "bundled",
        }
        for left in self.site.glob("accel_helpers*"):  # the library, by the lesson before
            shutil.rmtree(left)

    def packages(self):
        found = importlib.metadata.distributions(path=[str(self.site)])
        return {each.metadata["Name"]: each.version for each in found}

    def run(self, notebook, folder):
        """Run all cells of a notebook in a fresh kernel; give what failed, or None."""
        return kernel.execute(notebook, folder, self.environment, CELL_SECONDS, python=self.python)

    def answer(self, *words):
        """Run a script with this working tree's library; give the JSON that it prints."""
        environment = {**self.environment, "PYTHONPATH": str(replica.ROOT)}
        done = subprocess.run(
            [self.python, *words], cwd=self.home, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert not done.stderr.strip(), "a notebook would show this in red"
        return json.loads(done.stdout)
