"""Trying Python code in a process of its own, with a time limit.

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
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_CONNECT = """
import socket, sys
socket.create_connection((sys.argv[1], int(sys.argv[2])), 0.8).close()
"""
KEPT_CHARACTERS = 20_000  # of the output, from its end


@dataclass(frozen=True)
class Outcome:
    """How a child process ended.

    Attributes
    ----------
    kind : str
        "finished" (exit status 0), "crashed" (any other end) or "too slow" (it was stopped).
    seconds : float
        How long it ran.
    output : str
        The end of what it wrote, standard output and standard error together.
    signal : str
        The signal that ended it, such as "SIGABRT"; empty where none did.
    """

    kind: str
    seconds: float
    output: str = ""
    signal: str = ""

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
    if not seconds > 0:
        raise ValueError(f"seconds must be a time above 0; got {seconds!r}.")
    child = {**os.environ, **(environ or {}), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    began = time.monotonic()
    # A file, not a pipe: a grandchild that keeps a pipe open would keep us waiting.
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                [sys.executable, "-c", code, *arguments], stdin=subprocess.DEVNULL, stdout=said,
                stderr=subprocess.STDOUT, env=child, start_new_session=True,
            )  # fmt: skip
        except OSError as error:  # no memory for it, or no Python of its own
            return Outcome("crashed", time.monotonic() - began, str(error))
        try:
            code_of_exit = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            code_of_exit = None
        finally:  # also when the learner interrupts
            _kill_group(process)
        taken = time.monotonic() - began
        said.seek(max(0, said.seek(0, os.SEEK_END) - KEPT_CHARACTERS))
        output = said.read().decode(errors="replace")
    if code_of_exit is None:
        return Outcome("too slow", taken, output)
    if code_of_exit == 0:
        return Outcome("finished", taken, output)
    return Outcome("crashed", taken, output, _signal_name(code_of_exit))


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
