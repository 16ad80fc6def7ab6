"""Child processes: run code or a command, talk to it line by line, end it for certain.

The *parent* is this process. A child's *group* is the child and all processes that it starts.
"""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from accel_helpers._values.words import format_bytes

__all__ = ["run"]

KEPT_CHARACTERS = 20_000  # of the output, from its end


@dataclass(frozen=True)
class Outcome:
    """How a child process ended, or why it was ended."""

    kind: str  # "finished" (exit status 0), "crashed", "too slow" or "too large"
    seconds: float  # from its start to its end; 0 where it did not start
    output: str = ""  # the end of what it wrote, at most `KEPT_CHARACTERS`
    signal: str = ""  # that ended it, such as "SIGABRT"; empty: none did
    memory: float | None = None  # the bytes that it was allowed; None: there was no limit

    @property
    def ending(self) -> str:
        """How it ended, as the end of a sentence: "was not done after 5.0 s"."""
        if self.kind == "too large":
            return f"needed more than {format_bytes(self.memory)} of memory"
        if self.kind == "too slow":
            return f"was not done after {self.seconds:.1f} s"
        if self.kind == "finished":
            return f"was done after {self.seconds:.1f} s"
        if self.signal:
            return f"ended with {self.signal}"
        # The last line of a traceback names the exception.
        message = last_line(self.output)
        if not message:
            return "ended with an error"
        return f"ended with: {message[:200]}"


def run(
    code: str, *arguments: str, seconds: float, environ: Mapping[str, str] | None = None
) -> Outcome:
    """Run Python code in a child process, and stop it when its time is up.

    No ``try`` catches an abort, such as that of a broken libtpu; the abort of a child is only a
    result. The child finds the same packages as this process, and nothing that it started stays
    behind. Nothing is raised where the child fails or cannot be started.

    Parameters
    ----------
    code, *arguments : str
        As after ``python -c``. Text from outside is an argument (``sys.argv[1:]``), never code.
    seconds : float
        The time limit.
    environ : mapping of str to str, optional
        Variables that are set in the child in addition to those of this process.

    Returns
    -------
    Outcome
        `kind`, `seconds`, `output`, `signal`, and `ending`, which is half a sentence.

    Examples
    --------
    >>> run("import os; os.abort()", seconds=30).signal
    'SIGABRT'
    """
    return run_command(python(code, *arguments), seconds=seconds, environ=variables(environ))


def run_command(
    command: Sequence[str],
    *,
    seconds: float,
    environ: Mapping[str, str] | None = None,
    memory: float | None = None,
    folder: str | Path | None = None,
) -> Outcome:
    """Run a command in a child process, and stop it when it breaks a limit.

    Its standard input stays open, and empty, as long as the parent lives: the end of the input says
    that the parent is gone. Nothing is raised where the command fails; where it cannot be started,
    the outcome is "crashed" with the reason as its output.

    Parameters
    ----------
    command : sequence of str
        The program, and its arguments.
    seconds : float
        The time limit.
    environ : mapping of str to str, optional
        All variables of the child; by default those of this process.
    memory : float, optional
        The limit in bytes, of the child and all that it starts.
    folder : str or Path, optional
        The child's current folder; by default that of this process.
    """
    try:
        child = Child(command, environ, folder=folder)
    except OSError as error:  # no memory for it, or no such program
        return Outcome("crashed", 0.0, str(error))
    # The block also ends the child when the learner interrupts.
    with child:
        kind = child.wait(seconds, memory)
    elapsed = time.monotonic() - child.began
    status = child.process.returncode
    signal_name = ""
    # The exit status after a signal is the signal's number, negative.
    if kind == "crashed" and status < 0:
        signal_name = _signal_name(-status)
    return Outcome(kind, elapsed, child.output, signal_name, memory)


def _signal_name(number: int) -> str:
    """Return the name of a signal, such as "SIGKILL"; "signal 40" for one that has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def python(code: str, *arguments: object) -> list[str]:
    """Return the command that runs Python code in a process of its own.

    The code finds `arguments`, as texts, in ``sys.argv[1:]``.
    """
    return [sys.executable, "-c", code, *map(str, arguments)]


def variables(additions: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables for a child in which Python finds the same packages as here.

    They are those of this process, PYTHONPATH, and `additions`, which may replace them.
    """
    environ = dict(os.environ)
    # An empty entry is the current folder, which may be another one in the child.
    environ["PYTHONPATH"] = os.pathsep.join(folder for folder in sys.path if folder)
    if additions is not None:
        environ.update(additions)
    return environ


def last_line(text: str) -> str:
    """Return the last line of a text that is not blank; empty where there is none."""
    return text.strip().rpartition("\n")[2].strip()


class Child(contextlib.AbstractContextManager):
    """A process to which one can write, and from which one can read, line by line.

    Use it in a ``with`` block, or `stop` it. It has a process group of its own: Ctrl-C does not
    reach it, and all that it starts ends with it. The end of its standard input says that the
    parent is gone. `output` is empty until `stop`; then it has the end of what the child wrote to
    standard error and, without `heard`, to standard output.

    Parameters
    ----------
    command : sequence of str
        The program, and its arguments.
    environ : mapping of str to str, optional
        All variables of the child; by default those of this process.
    heard : bool
        Whether `hear` returns the lines of its standard output; they are then not in `output`.
    folder : str or Path, optional
        The child's current folder; by default that of this process.

    Raises
    ------
    OSError
        If it could not be started: there is no such program, or no memory for it.
    """

    def __init__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str] | None = None,
        heard: bool = False,
        folder: str | Path | None = None,
    ):
        self.began = time.monotonic()  # in seconds
        self.output = ""
        # A file, not a pipe: a grandchild that keeps a pipe open would keep the parent waiting.
        self._output_file = tempfile.TemporaryFile()  # noqa: SIM115  (`stop` closes it)
        # The lines that were not read by `hear` yet; an empty text stands for the end.
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if heard else self._output_file,
            stderr=self._output_file,
            env=environ,
            cwd=folder,
            start_new_session=True,
        )
        if heard:
            threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        """Put the child's lines into the queue, and an empty text after the last one.

        This runs in a thread until the child's standard output ends.
        """
        with self.process.stdout as lines:
            for line in lines:
                self._lines.put(line.decode(errors="replace"))
        self._lines.put("")

    def tell(self, line: str) -> None:
        """Write a line to the child's standard input; where that is closed, the line is lost.

        `line` has no line end yet.
        """
        with contextlib.suppress(OSError, ValueError):
            self.process.stdin.write(f"{line}\n".encode())
            self.process.stdin.flush()

    def hear(self, seconds: float) -> str | None:
        """Return the next line of the child's standard output, with its line end.

        An empty text after the last line; None if no line came within `seconds`, as is always so
        for a child that was started without `heard`.
        """
        try:
            line = self._lines.get(timeout=max(0.0, seconds))
        except queue.Empty:
            return None
        # The end stays in the queue, for the next call.
        if not line:
            self._lines.put(line)
        return line

    def wait(self, seconds: float, memory: float | None = None) -> str:
        """Wait until the child ends or breaks a limit, and return the kind of its `Outcome`.

        That is "finished", "crashed", "too slow" after `seconds`, or "too large" when its group
        has more than `memory` bytes. After the last two the child still runs.
        """
        deadline = time.monotonic() + seconds
        while True:
            remaining = deadline - time.monotonic()
            # The memory is measured ten times a second.
            pause = max(0.0, min(remaining, 0.1))
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = self.process.wait(pause)
                return "finished" if status == 0 else "crashed"
            if remaining <= 0:
                return "too slow"
            if memory is not None and _memory_of_group(self.process.pid) > memory:
                return "too large"

    def stop(self, patience: float = 0.0) -> int | None:
        """End the child and all that it started, set `output`, and return the exit status.

        The child first has `patience` seconds to end by itself. The status is None if the child
        could not be ended, being stuck inside a driver. A second call only returns the status.
        """
        if self._output_file.closed:
            return self.process.returncode
        try:
            with contextlib.suppress(OSError):  # the pipe is broken
                self.process.stdin.close()
            self.wait(patience)
        finally:
            # An AttributeError on Windows, an OSError where all of the group has ended.
            with contextlib.suppress(AttributeError, OSError):
                # Its session made the child the first of a group, which has its id.
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()
        # No longer than this: a child stuck inside a driver does not die at once.
        self.wait(0.5)
        with self._output_file as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - KEPT_CHARACTERS))
            self.output = file.read().decode(errors="replace")
        return self.process.returncode

    def __exit__(self, *error: object) -> None:
        self.stop()


def _memory_of_group(group: int) -> int:
    """Return the resident memory of all processes of a group, in bytes.

    `group` is the group's id. 0 is returned where there is no such group, or no /proc.
    """
    pages = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        # A process may have ended since the folder was listed.
        with contextlib.suppress(OSError, IndexError, ValueError):
            text = file.read_text("utf-8", "replace")
            # "812 (python) S 1 812 ...": after the name, which may have blanks in it, come the
            # state, the parent, the group, and as the 22nd the number of pages.
            fields = text.rpartition(")")[2].split()
            if int(fields[2]) == group:
                pages += int(fields[21])
    # Windows has no os.sysconf, and no /proc either.
    if pages == 0:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
