"""Trying Python code, or a command, in a process of its own, with a time limit.

What can abort or hang the kernel (a broken libtpu, an address where nothing answers) is tried in
a child first: no ``try`` catches an abort.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from accel_helpers._words import format_bytes

_CONNECT = """
import socket, sys
socket.create_connection((sys.argv[1], int(sys.argv[2])), 0.8).close()
"""
KEPT_CHARACTERS = 20_000  # of the output, from its end
_LOOK_EVERY = 0.1  # seconds between two looks at the memory


@dataclass(frozen=True)
class Outcome:
    """How a child process ended.

    Attributes
    ----------
    kind : str
        "finished" (exit status 0), "crashed" (any other end), or it was stopped: "too slow", or
        "too large" for the memory that it was allowed. "killed" where `resumable.kill_when` did it.
    seconds : float
        How long it ran.
    output : str
        The end of what it wrote, standard output and standard error together.
    signal : str
        The signal that ended it, such as "SIGABRT"; empty where none did.
    peak_memory : int
        The most memory that it and all that it started were seen to hold, in bytes; 0 where
        nobody looked.
    memory : float
        The memory that it was allowed, in bytes; 0 where there was no limit.
    """

    kind: str
    seconds: float
    output: str = ""
    signal: str = ""
    peak_memory: int = 0
    memory: float = 0

    @property
    def ending(self) -> str:
        """How it ended, as the end of a sentence.

        Examples
        --------
        >>> Outcome("crashed", 0.1, "Traceback ...\\nImportError: no such thing").ending
        'ended with: ImportError: no such thing'
        """
        if self.kind == "too slow":
            return f"was not done after {self.seconds:.1f} s"
        if self.kind == "too large":
            return f"needed more than {format_bytes(self.memory)} of memory"
        if self.kind == "finished":
            return f"was done after {self.seconds:.1f} s"
        if self.signal:
            return f"ended with {self.signal}"
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        return f"ended with: {lines[-1][:200]}" if lines else "ended with an error"


def run(
    code: str,
    *arguments: str,
    seconds: float,
    environ: Mapping[str, str] | None = None,
) -> Outcome:
    """Run Python code in a child process, and stop it when its time is up.

    The child sees the same packages as this process. It gets a process group of its own, and the
    whole group is killed at the end: nothing that it started stays behind.

    Parameters
    ----------
    code : str
        Python code, as after ``python -c``.
    *arguments : str
        What the code finds in ``sys.argv[1:]``. Text from outside goes here, never into the code.
    seconds : float
        The time limit, above 0.
    environ : mapping of str to str, optional
        Variables set in the child beside those of this process.

    Returns
    -------
    Outcome

    Raises
    ------
    ValueError
        If the time limit is not above 0, or there is a null byte in what is handed over.

    Examples
    --------
    >>> run("print(6 * 7)", seconds=30).output.strip()
    '42'
    >>> run("import os; os.abort()", seconds=30).signal
    'SIGABRT'
    """
    child = {**os.environ, **(environ or {}), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    words = [sys.executable, "-c", code, *arguments]
    return _run(words, seconds, child, subprocess.DEVNULL)


def run_command(
    words: Sequence[str],
    *,
    seconds: float,
    environ: Mapping[str, str] | None = None,
    memory: float | None = None,
    folder: str | Path | None = None,
) -> Outcome:
    """Run a command in a child process; stop it when its time is up or its memory is too large.

    As with `run`, nothing that the command started stays behind. Its standard input is a pipe
    that stays open, and empty, as long as this process lives. A child that must not outlive us
    reads from it: the end of the pipe means that we are gone, even if we were killed.

    Parameters
    ----------
    words : sequence of str
        The command and its arguments, such as ``["git", "status"]``. No shell reads them.
    seconds : float
        The time limit, above 0.
    environ : mapping of str to str, optional
        All variables of the child; by default those of this process.
    memory : float, optional
        The memory that the command and all that it starts may hold, in bytes, above 0. It is
        looked at ten times a second in /proc (resident memory; what two processes share counts
        twice). Where there is no /proc, nobody looks.
    folder : str or Path, optional
        The working folder of the command; by default that of this process.

    Returns
    -------
    Outcome

    Raises
    ------
    TypeError
        If the words are one text.
    ValueError
        If a limit is not above 0, there are no words, or there is a null byte in them.

    Examples
    --------
    >>> run_command([sys.executable, "-c", "print(6 * 7)"], seconds=30).output.strip()
    '42'
    >>> run_command(["no-such-command"], seconds=30).kind
    'crashed'
    """
    if isinstance(words, str):
        raise TypeError(f"words must be a list such as ['git', 'status']; got the text {words!r}.")
    if not words:
        raise ValueError("words must hold a command and its arguments; got none.")
    if memory is not None and not memory > 0:
        raise ValueError(f"memory must be a number of bytes above 0, or None; got {memory!r}.")
    return _run(list(words), seconds, environ, subprocess.PIPE, memory, folder)


def answer_at(address: str, run: Callable = run) -> str:
    """Say whether anything answers at the address of an old TPU node; a child process asks.

    Parameters
    ----------
    address : str
        Such as "grpc://10.1.2.3:8470"; nonsense is safe.
    run : callable, optional
        As `run`, which it is by default.

    Returns
    -------
    str
        Half a sentence.
    """
    host, _, port = address.removeprefix("grpc://").rpartition(":")
    if not host or "\0" in host or not re.fullmatch(r"[0-9]{1,5}", port):
        return "and it holds no address"
    answers = run(_CONNECT, host, port, seconds=1.0).kind == "finished"
    return "what answers there is left alone" if answers else "nothing answers there"


def _run(words, seconds, environ, stdin, memory=None, folder=None) -> Outcome:
    if not seconds > 0:
        raise ValueError(f"seconds must be a time above 0; got {seconds!r}.")
    began = time.monotonic()
    # A file, not a pipe: a grandchild that keeps a pipe open would keep us waiting.
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                words, stdin=stdin, stdout=said, stderr=subprocess.STDOUT, env=environ,
                cwd=folder, start_new_session=True,
            )  # fmt: skip
        except OSError as error:  # no memory for it, or no such program
            return Outcome("crashed", time.monotonic() - began, str(error))
        try:
            kind, peak = _wait(process, began + seconds, memory)
        finally:  # also when the learner interrupts
            _kill_group(process)
            if process.stdin:
                process.stdin.close()
        taken = time.monotonic() - began
        said.seek(max(0, said.seek(0, os.SEEK_END) - KEPT_CHARACTERS))
        output = said.read().decode(errors="replace")
    signal_name = _signal_name(process.returncode) if kind == "crashed" else ""
    return Outcome(kind, taken, output, signal_name, peak, memory or 0)


def _wait(process: subprocess.Popen, end: float, memory: float | None) -> tuple[str, int]:
    """Wait until the child ends or breaks a limit; give the kind of end and the peak memory."""
    peak = 0
    while True:
        left = max(0.0, end - time.monotonic())
        try:
            code_of_exit = process.wait(left if memory is None else min(left, _LOOK_EVERY))
            return ("finished" if code_of_exit == 0 else "crashed"), peak
        except subprocess.TimeoutExpired:
            if time.monotonic() >= end:
                return "too slow", peak
        peak = max(peak, _memory_of_group(process.pid))
        if memory is not None and peak > memory:
            return "too large", peak


def _memory_of_group(group: int) -> int:
    """Resident memory of all processes of a group, in bytes; 0 where there is no /proc."""
    try:
        numbers = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return 0
    pages = 0
    for number in numbers:
        try:
            with open(f"/proc/{number}/stat", encoding="utf-8", errors="replace") as file:
                # After the name, which may hold blanks: state, parent, group, ..., 22nd: pages.
                fields = file.read().rpartition(")")[2].split()
            if int(fields[2]) == group:
                pages += int(fields[21])
        except (OSError, IndexError, ValueError):  # it has just ended
            continue
    return pages * os.sysconf("SC_PAGE_SIZE")


def _kill_group(process: subprocess.Popen) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)  # the session made its number that of the group
    except (AttributeError, OSError):  # Windows has no groups; or all of it has ended
        process.kill()
    try:
        process.wait(timeout=0.5)
    except subprocess.TimeoutExpired:
        # A child stuck inside a driver does not die at once: let a thread wait for it, not us.
        threading.Thread(target=process.wait, daemon=True).start()


def _signal_name(code_of_exit: int) -> str:
    if code_of_exit >= 0:
        return ""
    try:
        return signal.Signals(-code_of_exit).name
    except ValueError:
        return f"signal {-code_of_exit}"
