"""Run one lesson in a kernel of this Python."""

import atexit
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

SKIP = "nbval-skip"


def read(path: Path):
    """Read a notebook: it and None, or None and what is wrong with it."""
    import nbformat

    try:
        return nbformat.read(path, as_version=4), None
    except Exception as error:  # nbformat raises a different class for each kind of damage
        return None, f"reading the notebook: {_first_line(error)}"


def _skipped(cell) -> bool:
    return SKIP in cell.metadata.get("tags", [])


def count(notebook) -> int:
    """How many cells of a notebook will run; none where it could not be read."""
    if notebook is None:
        return 0
    cells = [cell for cell in notebook.cells if cell.cell_type == "code" and not _skipped(cell)]
    return sum(bool(cell.source.strip()) for cell in cells)


def execute(notebook, path: Path, environ, cell_seconds, on_cell, interrupts=()) -> str | None:
    """Run a notebook in place, in a fresh kernel of this Python.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        Gets the outputs, up to the cell that failed.
    path : Path
        Where it lies; it runs in that folder.
    environ : mapping
        The kernel's whole environment.
    cell_seconds : float
        Time limit of one cell, in seconds.
    on_cell : callable
        Called after every cell that ran.
    interrupts : sequence
        What `interrupts_kept` gave.

    Returns
    -------
    str or None
        The code cell that failed (counted from 1) and why, or None.

    Raises
    ------
    KeyboardInterrupt
        When it was stopped; the kernel has ended by then.
    """
    import asyncio

    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    class ThisPython(AsyncKernelManager):
        # A kernelspec that the user has installed may start another Python.
        kernel_spec = KernelSpec(
            argv=[
                sys.executable,
                "-Xfrozen_modules=off",  # else the debugger warns in every lesson
                "-m",
                "ipykernel_launcher",
                "-f",
                "{connection_file}",
            ],
            display_name="Python 3",
            language="python",
        )

    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in code:
        if not _skipped(cell):  # what is stored came from another machine
            cell.outputs, cell.execution_count = [], None
    at = 0

    def started(cell, cell_index):
        nonlocal at
        at = 1 + sum(other.cell_type == "code" for other in notebook.cells[:cell_index])

    client = NotebookClient(
        notebook,
        timeout=cell_seconds,
        kernel_manager_class=ThisPython,
        kernel_name="python3",
        skip_cells_with_tag=SKIP,
        record_timing=False,
        resources={"metadata": {"path": str(path.resolve().parent)}},
        on_cell_start=started,
        on_cell_complete=lambda cell, cell_index: on_cell(),
    )
    # What a kernel writes past Jupyter would mix with what this process prints.
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    outcome: list[BaseException] = []
    finished = threading.Event()  # Thread.join, when interrupted, takes the thread for ended

    def work():
        try:
            asyncio.run(client.async_execute(env=environ, **quiet))
        except BaseException as error:
            outcome.append(error)
        finally:
            finished.set()

    # In a thread of its own, nbclient leaves Ctrl-C to this function.
    threading.Thread(target=work, daemon=True).start()
    try:
        while not finished.wait(0.2):
            if interrupts:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        _end(client, finished)
        raise
    finally:
        atexit.unregister(client._cleanup_kernel)  # left there when a kernel does not start
    notebook.metadata.pop("widgets", None)
    return f"code cell {at}: {_sentence(outcome[0], cell_seconds)}" if outcome else None


@contextlib.contextmanager
def interrupts_kept():
    """A list that grows with every Ctrl-C.

    Python drops a KeyboardInterrupt that comes while it tidies up an object; then the run would
    go on. Does nothing outside the main thread, or where somebody else handles Ctrl-C.
    """
    pressed: list[int] = []

    def keep(number, frame):
        pressed.append(number)
        raise KeyboardInterrupt

    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield pressed
        return
    signal.signal(signal.SIGINT, keep)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(client, finished: threading.Event) -> None:
    """Kill the kernel and what it started, then let nbclient notice and tidy up."""
    give_up = time.monotonic() + 30
    while not finished.is_set() and time.monotonic() < give_up:
        with contextlib.suppress(KeyboardInterrupt):  # an impatient second Ctrl-C
            with contextlib.suppress(AttributeError, ProcessLookupError, PermissionError):
                os.killpg(client.km.provisioner.process.pid, signal.SIGKILL)
            finished.wait(0.2)


def _sentence(error: BaseException, cell_seconds: float) -> str:
    name = type(error).__name__
    if name == "CellExecutionError":
        return f"{error.ename}: {_first_line(error.evalue)}"
    if name == "CellTimeoutError":
        return f"it took longer than {cell_seconds:g} s"
    if name == "DeadKernelError":
        return "Python ended without a word, often because memory ran out"
    return f"{name}: {_first_line(error)}"


def _first_line(text) -> str:
    lines = re.sub(r"\x1b\[[0-9;]*m", "", str(text)).strip().splitlines()
    return lines[0][:300] if lines else "no message"
