"""Run one notebook in a fresh kernel of a Python."""

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


def runs(cell) -> bool:
    """Tell whether a cell's code will run."""
    skipped = SKIP in cell.metadata.get("tags", [])
    return cell.cell_type == "code" and not skipped and bool(cell.source.strip())


def manager(python=sys.executable, base=None):
    """Give a class of kernel managers that start one Python, whatever kernels are installed."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    # The switch keeps the debugger from warning in every lesson.
    argv = [str(python), "-Xfrozen_modules=off", "-m", "ipykernel_launcher"]
    spec = KernelSpec(
        argv=[*argv, "-f", "{connection_file}"], display_name="Python 3", language="python"
    )
    return type("ThisPython", (base or AsyncKernelManager,), {"kernel_spec": spec})


SECONDS = re.compile(r"(?<=\bseconds=)\d+(?:\.\d+)?\b")  # the box of a measurement, in a lesson
SMALLER = 30


def in_small_boxes(source: str) -> str:
    """Give a cell's code with its measurements in a thirtieth of the time, for tests."""
    return SECONDS.sub(lambda found: f"{float(found[0]) / SMALLER:.2g}", source)


@contextlib.contextmanager
def small_boxes(notebook, wanted: bool):
    """Let a notebook measure in small boxes, if that is wanted; its code stays as it was."""
    sources = [cell.source for cell in notebook.cells]
    for cell in notebook.cells if wanted else ():
        if cell.cell_type == "code":
            cell.source = in_small_boxes(cell.source)
    try:
        yield
    finally:
        for cell, source in zip(notebook.cells, sources, strict=True):
            cell.source = source


def clear(notebook) -> None:
    """Take away the outputs of every cell that will run: they came from another machine."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and SKIP not in cell.metadata.get("tags", []):
            cell.outputs, cell.execution_count = [], None


def execute(
    notebook,
    folder: Path,
    environ,
    cell_seconds,
    on_cell=lambda: None,
    interrupts=(),
    python=sys.executable,
    took=None,
    **options,
) -> str | None:
    """Run a notebook in place; give the code cell that failed, from 1, and why, or None.

    `interrupts` is what `interrupts_kept` gave: stopped, it leaves no kernel. `took` is filled with
    the seconds of every cell, by its id. `options` are nbclient's. With ACCEL_FAST=1 in `environ`
    measurements get small boxes.
    """
    import asyncio

    from nbclient import NotebookClient

    clear(notebook)
    at, began = 0, 0.0

    def started(cell, cell_index):
        nonlocal at, began
        at = 1 + sum(other.cell_type == "code" for other in notebook.cells[:cell_index])
        began = time.monotonic()

    def ended(cell, cell_index, execute_reply):
        if took is not None:
            took[cell.id] = round(time.monotonic() - began, 2)

    client = NotebookClient(
        notebook,
        timeout=cell_seconds,
        kernel_manager_class=manager(python),
        kernel_name="python3",
        skip_cells_with_tag=SKIP,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(Path(folder).resolve())}},
        on_cell_start=started,
        on_cell_complete=lambda cell, cell_index: on_cell(),
        on_cell_executed=ended,
        **options,
    )
    # What a kernel writes past Jupyter would mix with what this process prints.
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    outcome: list[BaseException] = []
    finished = threading.Event()  # Thread.join, when interrupted, takes the thread for ended

    def work():
        try:
            with small_boxes(notebook, environ.get("ACCEL_FAST") == "1"):
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
    """A list that grows with every Ctrl-C: Python drops one that comes while it tidies up."""
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
