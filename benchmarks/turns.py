"""Child processes that take turns, so that a machine that drifts favours none of them.

A worker is a process that answers a line of JSON on its input with a line of JSON on its output.
It loads everything once; between its turns it waits for a line, which costs nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GRACE = 10.0  # seconds that a worker gets to end by itself


class Lost(RuntimeError):
    """A worker that died, failed or did not answer in time; the message says which."""


class Worker:
    """One child process with its name.

    Parameters
    ----------
    name : str
        What it is called in a result.
    command : sequence of str
        What starts it, in the repository's root.
    environ : dict of str to str, optional
        Variables that are added to its environment.
    """

    def __init__(self, name: str, command: Sequence[str], *, environ: dict | None = None):
        self.name = name
        self._said = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - until close()
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._process = subprocess.Popen(
            list(command),
            cwd=ROOT,
            env={**os.environ, **(environ or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            encoding="utf-8",
        )
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, order: dict, *, seconds: float) -> dict:
        """Send an order and come back with the answer.

        Parameters
        ----------
        order : dict
            Plain JSON types.
        seconds : float
            How long the answer may take.

        Returns
        -------
        dict

        Raises
        ------
        Lost
            If the worker has ended, answers with an error, or does not answer in time; it is
            ended then.
        """
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            self.close(grace=0)
            raise Lost(f"{self.name}: no answer within {seconds:g} s.") from None
        except (OSError, ValueError):
            line = None
        if line is None:
            code = self._ended()
            raise Lost(f"{self.name}: ended (exit status {code}). {self._last_words()}".strip())
        try:
            answer = json.loads(line)
        except ValueError:
            self.close(grace=0)
            raise Lost(f"{self.name}: answered no JSON: {line!r:.60}") from None
        if "error" in answer:
            self.close(grace=0)
            raise Lost(f"{self.name}: {answer['error']}")
        return answer

    def close(self, *, grace: float = GRACE) -> None:
        """End the process: it gets `grace` seconds to do so by itself."""
        if self._process.poll() is None and grace == 0:
            self._process.kill()
        # It may have ended, and then nobody reads what was still to be sent.
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(grace or GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _ended(self) -> int | None:
        try:
            return self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.close(grace=0)
            return self._process.returncode

    def _last_words(self) -> str:
        self._said.seek(0)
        lines = [line.strip() for line in self._said if line.strip()]
        return lines[-1][:200] if lines else ""


def each(names: Iterable[str], ask: Callable[[str], dict], lost: dict[str, str]) -> dict[str, dict]:
    """Ask one after the other; who is lost is written down, and the others go on.

    Parameters
    ----------
    names : iterable of str
    ask : callable
        Takes a name and gives an answer, or raises `Lost`.
    lost : dict of str to str
        Names that are passed over, with the reason; new ones are added.

    Returns
    -------
    dict of str to dict
        The answers.

    Examples
    --------
    >>> each(["a", "b"], lambda name: {"seconds": 1}, {"b": "ended"})
    {'a': {'seconds': 1}}
    """
    answers = {}
    for name in names:
        if name in lost:
            continue
        try:
            answers[name] = ask(name)
        except Lost as error:
            lost[name] = str(error)
    return answers


def rounds(
    names: Sequence[str],
    ask: Callable[[str], dict],
    lost: dict[str, str],
    *,
    enough: Callable[[int], bool],
) -> dict[str, list[dict]]:
    """Let everyone take a turn in every round, each round in the reverse order of the last.

    Parameters
    ----------
    names, ask, lost
        As in `each`.
    enough : callable
        Takes the number of rounds done and says whether they are enough.

    Returns
    -------
    dict of str to list of dict
        The answers of those who took part in every round; round i stands at place i.

    Examples
    --------
    >>> order = []
    >>> def ask(name):
    ...     order.append(name)
    ...     return {}
    >>> _ = rounds("abc", ask, {}, enough=lambda done: done == 2)
    >>> "".join(order)
    'abccba'
    """
    taken: dict[str, list[dict]] = {name: [] for name in names if name not in lost}
    done = 0
    while not enough(done):
        turn = list(names) if done % 2 == 0 else list(names)[::-1]
        for name, answer in each(turn, ask, lost).items():
            taken[name].append(answer)
        done += 1
    return {name: answers for name, answers in taken.items() if name not in lost}
