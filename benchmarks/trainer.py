"""The child process of one contender: it loads everything once, then trains when it is told to.

Orders, one JSON object to a line: ``{"do": "hello"}``; ``{"do": "train", "batch_size": 32}``, which
starts a new model and answers after its first epoch, compilation and all; ``{"do": "epoch",
"times": 1}``, which answers with the seconds of each; ``{"do": "finish"}``, which answers with the
accuracy on the test images.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator


class Session:
    """One training as its parent leads it: an epoch starts when a line comes in.

    Parameters
    ----------
    lines : iterator of str
        The orders.
    say : callable
        Takes an answer.
    clock : callable, optional
        Returns the time in seconds.
    """

    def __init__(
        self,
        lines: Iterator[str],
        say: Callable[[dict], None],
        clock: Callable[[], float] = time.perf_counter,
    ):
        self._lines, self._say, self._clock = lines, say, clock
        self._left, self._seconds = 1, []
        self._notes: dict = {}

    def begin(self) -> bool:
        """Wait for the order to train an epoch; False if the training is to end."""
        if self._left == 0:
            order = json.loads(next(self._lines, '{"do": "finish"}'))
            if order["do"] != "epoch":
                return False
            self._left, self._seconds = order.get("times", 1), []
        self._started = self._clock()
        return True

    def end(self, loss: float, accuracy: float) -> None:
        """Say that an epoch is done, its work on the device included."""
        self._seconds.append(self._clock() - self._started)
        self._left -= 1
        if self._left == 0:
            answer = {"seconds": self._seconds, "loss": float(loss), "accuracy": float(accuracy)}
            self._say(answer | self._notes)
            self._notes = {}

    def note(self, **facts) -> None:
        """Add facts to the next answer."""
        self._notes.update(facts)


def serve(train, lines: Iterator[str], say: Callable[[dict], None], hello=dict) -> None:
    """Do what the lines say, until there are none.

    Parameters
    ----------
    train : callable
        Takes a `Session` and the order's other fields; gives the accuracy on the test images.
    lines : iterator of str
        The orders.
    say : callable
        Takes an answer.
    hello : callable, optional
        Gives the answer to the first order: what was loaded.

    Examples
    --------
    >>> def train(session):
    ...     while session.begin():
    ...         session.end(loss=0.5, accuracy=0.8)
    ...     return 0.75
    >>> orders = ['{"do": "train"}', '{"do": "epoch"}', '{"do": "finish"}']
    >>> said = []
    >>> serve(train, iter(orders), said.append)
    >>> [sorted(answer) for answer in said]
    [['accuracy', 'loss', 'seconds'], ['accuracy', 'loss', 'seconds'], ['test_accuracy']]
    """
    for line in lines:
        order = json.loads(line)
        try:
            if order.pop("do") == "hello":
                say(hello())
            else:
                say({"test_accuracy": train(Session(lines, say), **order)})
        except Exception as error:  # the parent writes it down, and the others go on
            say({"error": f"{type(error).__name__}: {error}"[:300]})
            raise


def connect() -> tuple[Iterator[str], Callable[[dict], None]]:
    """The orders, and how to answer; what a framework prints goes to stderr from here on."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(answer: dict) -> None:
        out.write(json.dumps(answer) + "\n")
        out.flush()

    return iter(sys.stdin.readline, ""), say


def main() -> None:
    """Serve the contender named first, on the data in the folder named second."""
    from benchmarks import contenders

    lines, say = connect()
    name, folder = sys.argv[1:3]
    contender = contenders.CONTENDERS[name]
    data, versions = contender.load(folder)
    serve(lambda session, **sizes: contender.train(session, data, **sizes), lines, say, versions)


if __name__ == "__main__":
    main()
