"""Run one notebook in a fresh kernel of a Python."""

import asyncio
import re
import signal
import subprocess
import sys
import time

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

SKIP = "skip-execution"  # the tag of a cell that nbclient does not run
SECONDS = re.compile(r"(?<=\bseconds=)\d+(?:\.\d+)?\b")  # the box of a measurement, in a lesson
SMALLER = 30
WIDGET = "application/vnd.jupyter.widget-view+json"


def manager(python):
    """Give a class of kernel managers that start one Python, whatever kernels are installed."""
    # The switch keeps the debugger from warning in every lesson.
    argv = [str(python), "-Xfrozen_modules=off", "-m", "ipykernel_launcher"]
    argv += ["-f", "{connection_file}"]
    spec = KernelSpec(argv=argv, display_name="Python 3", language="python")
    return type("ThisPython", (AsyncKernelManager,), {"kernel_spec": spec})


def in_small_boxes(source):
    """Give a cell's code with its measurements in a thirtieth of the time, for tests."""
    return SECONDS.sub(lambda found: f"{float(found[0]) / SMALLER:.2g}", source)


class _Client(NotebookClient):
    """Ctrl-C stops the lesson and the program; nbclient alone would only stop the lesson."""

    async def async_start_new_kernel(self, **options):
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
        await super().async_start_new_kernel(**options)


def execute(notebook, folder, environ, cell_seconds, python=sys.executable, took=None, **options):
    """Run a notebook in place; give the code cell that failed, as In[ ] counts, and why, or None.

    `took` is filled with the seconds of every cell, by its id. `options` are nbclient's. With
    ACCEL_FAST=1 in `environ` measurements get small boxes.
    """
    took = {} if took is None else took
    for cell in notebook.cells:
        if cell.cell_type == "code":
            # What is stored came from another machine.
            cell.outputs, cell.execution_count = [], None
        if environ.get("ACCEL_FAST") == "1":
            cell.source = in_small_boxes(cell.source)

    def start(cell, cell_index):
        took[cell.id] = time.monotonic()

    def end(cell, cell_index, execute_reply):
        took[cell.id] = round(time.monotonic() - took[cell.id], 2)

    client = _Client(
        notebook,
        timeout=cell_seconds,
        kernel_manager_class=manager(python),
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
        on_cell_execute=start,
        on_cell_executed=end,
        **options,
    )
    # What a kernel writes past Jupyter would mix with what this process prints.
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    problem = None
    try:
        asyncio.run(client.async_execute(env=environ, **quiet))
    except Exception as error:
        problem = f"code cell {client.code_cells_executed}: {reason(error)}"
    # A widget is dead without its kernel.
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop(WIDGET, None)
    notebook.metadata.pop("widgets", None)
    return problem


def reason(error):
    """Give what went wrong in a line."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, CellExecutionError):
        text = f"{error.ename}: {error.evalue}"
    if isinstance(error, DeadKernelError):
        text = "Python ended without a word, often because memory ran out"
    return text.splitlines()[0]
