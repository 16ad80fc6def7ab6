"""A session on a replica of one of Colab's runtimes, for the tests in this folder."""

import json
import os
import subprocess

import pytest
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

OURS = "accel-helpers"
LIST = """
import importlib.metadata, json
print(json.dumps({d.metadata["Name"]: d.version for d in importlib.metadata.distributions()}))
"""


def required(reason):
    """Skip a test that cannot run here; fail it where everything must run."""
    (pytest.fail if os.environ.get("ACCEL_REQUIRE_ALL") == "1" else pytest.skip)(reason)


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
