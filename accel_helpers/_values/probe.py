"""Child processes: run a command, or talk to it line by line; nothing that it started stays behind.

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

# How a child's bytes become text.
TEXT = {"encoding": "utf-8", "errors": "replace"}


@dataclass(frozen=True)
class Outcome:
    """How a child process ended, or why it was ended."""

    kind: str  # "finished" (exit status 0), "crashed", "too slow" or "too large"
    ending: str = ""  # how it failed, to end a sentence with: "was not done after 5.0 s"
    output: str = ""  # what it wrote


def run_command(
    command: Sequence[str],
    *,
    seconds: float,
    environ: Mapping[str, str] | None = None,
    memory: float | None = None,
) -> Outcome:
    """Run a command in a child process, and stop it when it breaks a limit.

    Nothing is raised where it fails; where it cannot be started, it is "crashed", too. `seconds`
    and `memory`, in bytes, are the limits, `environ` all of its variables.
    """
    try:
        child = Child(command, environ)
    except OSError as error:  # no memory for it, or no such program
        return Outcome("crashed", f"did not start: {error}")
    # The block also ends the child when the learner interrupts.
    with child:
        kind, ending = child.wait(seconds, memory)
    if not ending:
        # The last line of a traceback names the exception.
        message = last_line(child.output) or "an error"
        ending = f"ended with: {message[:200]}"
    return Outcome(kind, ending, child.output)


def variables(additions: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for a child in which Python finds the same packages as here."""
    packages = os.pathsep.join(sys.path)
    return {**os.environ, "PYTHONPATH": packages, **additions}


def last_line(text: str) -> str:
    """Return the last line of a text that is not blank; empty where there is none."""
    return text.strip().rpartition("\n")[2].strip()


class Child(contextlib.AbstractContextManager):
    """A process to which one can write, and from which one can read, line by line.

    It ends with its ``with`` block, and all that it started with it. Its standard input stays open
    until then: its end says that the parent is gone. Ctrl-C does not reach it. `output` is what it
    wrote to standard error and, unless it is `heard`, to standard output.
    """

    def __init__(
        self, command: Sequence[str], environ: Mapping[str, str] | None = None, heard: bool = False
    ):
        """Start it; raises OSError where it cannot be started."""
        self.output = ""
        # A file, not a pipe: a grandchild that keeps a pipe open would keep the parent waiting.
        self._output_file = tempfile.TemporaryFile("w+", **TEXT)  # noqa: SIM115  (`stop` closes it)
        # The lines that were not read by `hear` yet; an empty text stands for the end.
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        # A session makes it the first of a group, which has its id.
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if heard else self._output_file,
            stderr=self._output_file,
            env=environ,
            start_new_session=True,
            **TEXT,
        )
        if heard:
            threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        """Put the child's lines into the queue, and an empty text after the last one."""
        with self.process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put("")

    def tell(self, line: str) -> None:
        """Write a line to the child; where it has ended, the line is lost."""
        with contextlib.suppress(OSError):
            print(line, file=self.process.stdin, flush=True)

    def hear(self, seconds: float) -> str | None:
        """Return its next line, an empty text after the last one; None if none came in time."""
        with contextlib.suppress(queue.Empty):
            return self._lines.get(timeout=seconds)
        return None

    def wait(self, seconds: float, memory: float | None = None) -> tuple[str, str]:
        """Wait until it ends or breaks a limit; return kind and ending of its `Outcome`.

        The ending is empty where only the output can tell it.
        """
        deadline = time.monotonic() + seconds
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                # The memory is measured ten times a second.
                status = self.process.wait(0.1)
                if status == 0:
                    return "finished", "ended well"
                if status < 0:
                    return "crashed", f"ended with {signal.Signals(-status).name}"
                return "crashed", ""
            if time.monotonic() > deadline:
                return "too slow", f"was not done after {seconds:.1f} s"
            if memory is not None and _memory_of(self.process.pid) > memory:
                return "too large", f"needed more than {format_bytes(memory)} of memory"

    def stop(self, *error: object) -> None:
        """End the child and all that it started, and set `output`."""
        if self._output_file.closed:
            return
        # An AttributeError on Windows, an OSError where all of the group has ended.
        with contextlib.suppress(AttributeError, OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        # No longer than this: a child stuck inside a driver does not die at once.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(0.5)
        with contextlib.suppress(OSError):  # the pipe is broken
            self.process.stdin.close()
        with self._output_file as file:
            file.seek(0)
            self.output = file.read()

    __exit__ = stop


def _memory_of(process: int) -> int:
    """Return the resident bytes of a process; 0 where there is no /proc."""
    with contextlib.suppress(OSError):
        # The second number is the one of its pages.
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0
