"""Child processes: run code or a command, talk to it line by line, end it for certain."""

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

    kind: str  # "finished" (exit status 0), "crashed", "too slow", "too large" or "killed"
    seconds: float
    output: str = ""  # the end of what it wrote
    signal: str = ""  # such as "SIGABRT"
    memory: float | None = None  # the bytes that it was allowed

    @property
    def ending(self) -> str:
        """How it ended, as the end of a sentence."""
        if self.kind == "too large":
            return f"needed more than {format_bytes(self.memory)} of memory"
        if self.kind == "too slow":
            return f"was not done after {self.seconds:.1f} s"
        if self.kind == "finished":
            return f"was done after {self.seconds:.1f} s"
        if self.signal:
            return f"ended with {self.signal}"
        message = last_line(self.output)
        if not message:
            return "ended with an error"
        return f"ended with: {message[:200]}"


def run(
    code: str, *arguments: str, seconds: float, environ: Mapping[str, str] | None = None
) -> Outcome:
    """Run Python code in a child process, and stop it when its time is up.

    No ``try`` catches an abort, such as that of a broken libtpu; a child's end is only told. It
    sees the same packages as this process, and nothing that it started stays behind.

    Parameters
    ----------
    code, *arguments : str
        As after ``python -c``. Text from outside is an argument (``sys.argv[1:]``), never code.
    seconds : float
        The time limit.
    environ : mapping of str to str, optional
        Variables set in the child beside those of this process.

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
    """Run a command, with `environ` as all its variables; `memory` is of all that it starts, too.

    Its standard input is open, and empty, as long as we live: its end says that we are gone.
    """
    try:
        child = Child(command, environ, folder=folder)
    except OSError as error:  # no memory for it, or no such program
        return Outcome("crashed", 0.0, str(error))
    with child:  # which also ends it when the learner interrupts
        kind = child.wait(seconds, memory)
    elapsed = time.monotonic() - child.began
    status = child.process.returncode
    signal_name = ""
    # A signal that ended it is told as its number, negative.
    if kind == "crashed" and status < 0:
        signal_name = signal.Signals(-status).name
    return Outcome(kind, elapsed, child.output, signal_name, memory)


def python(code: str, *arguments) -> list[str]:
    """Return the command that runs Python code in a process of its own."""
    return [sys.executable, "-c", code, *map(str, arguments)]


def variables(additions: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables of a child in which Python finds the same packages as here."""
    environ = dict(os.environ)
    # An empty entry is the current folder, which may be another one in the child.
    environ["PYTHONPATH"] = os.pathsep.join(folder for folder in sys.path if folder)
    if additions is not None:
        environ.update(additions)
    return environ


def last_line(text: str) -> str:
    """Return the last line that is not blank, or an empty text."""
    return text.strip().rpartition("\n")[2].strip()


class Child(contextlib.AbstractContextManager):
    """A process that is told and heard line by line; use it in a ``with`` block, or `stop` it.

    It has a group of its own: Ctrl-C is not meant for it, and all that it starts ends with it. The
    end of its standard input says that we are gone. With `heard` its standard output is heard as
    lines; of what is not heard `output` keeps the end. OSError: it did not start.
    """

    def __init__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str] | None = None,
        heard: bool = False,
        folder: str | Path | None = None,
    ):
        self.began = time.monotonic()
        self.output = ""
        # A file, not a pipe: a grandchild that keeps a pipe open would keep us waiting.
        self._output_file = tempfile.TemporaryFile()  # noqa: SIM115  (`stop` closes it)
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
        """Put its lines into the queue, and an empty text after the last one."""
        with self.process.stdout as lines:
            for line in lines:
                self._lines.put(line.decode(errors="replace"))
        self._lines.put("")

    def tell(self, line: str) -> None:
        """Write a line to its standard input; where that is closed, nobody hears it."""
        with contextlib.suppress(OSError, ValueError):
            self.process.stdin.write(f"{line}\n".encode())
            self.process.stdin.flush()

    def hear(self, seconds: float) -> str | None:
        """Return its next line: empty after the last one, None where none came in time."""
        try:
            line = self._lines.get(timeout=max(0.0, seconds))
        except queue.Empty:
            return None
        if not line:
            self._lines.put(line)  # whoever asks again hears the same
        return line

    def wait(self, seconds: float, memory: float | None = None) -> str:
        """Wait until it ends or breaks a limit; return the kind of end."""
        deadline = time.monotonic() + seconds
        while True:
            remaining = deadline - time.monotonic()
            # Ten times a second its memory is looked at.
            pause = max(0.0, min(remaining, 0.1))
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = self.process.wait(pause)
                return "finished" if status == 0 else "crashed"
            if remaining <= 0:
                return "too slow"
            if memory is not None and _memory_of_group(self.process.pid) > memory:
                return "too large"

    def stop(self, patience: float = 0.0) -> int | None:
        """End it and all that it started, after a time to end by itself; return its exit status."""
        if self._output_file.closed:  # it was stopped before
            return self.process.returncode
        try:
            with contextlib.suppress(OSError):  # the pipe is broken
                self.process.stdin.close()
            self.wait(patience)
        finally:
            with contextlib.suppress(AttributeError, OSError):  # on Windows; all of it has ended
                os.killpg(self.process.pid, signal.SIGKILL)  # the session made it that of a group
            self.process.kill()
        self.wait(0.5)  # no longer: a child stuck inside a driver does not die at once
        with self._output_file as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - KEPT_CHARACTERS))
            self.output = file.read().decode(errors="replace")
        return self.process.returncode

    def __exit__(self, *error) -> None:
        self.stop()


def _memory_of_group(group: int) -> int:
    """Return the resident memory of a group's processes, in bytes; 0 where there is no /proc."""
    pages = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError, ValueError):  # it has just ended
            text = file.read_text("utf-8", "replace")
            # After the name, which may hold blanks: state, parent, group, ..., 22nd: pages.
            fields = text.rpartition(")")[2].split()
            if int(fields[2]) == group:
                pages += int(fields[21])
    # Windows has no sysconf, and no /proc either.
    if pages == 0:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
