"""From a machine, or from an error, to the cause and the one thing to do next."""

import os
import platform
import re
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path

from accel_helpers._values.words import fragment, wrapped
from accel_helpers.machine import facts, faults, pages, raised, symptoms
from accel_helpers.machine.facts import Facts
from accel_helpers.machine.faults import Finding
from accel_helpers.machine.raised import Seen

__all__ = ["diagnose", "tpu_recipe"]

# What a list calls the parts of a finding, and those of an error that is not known.
_LABELS = {
    "evidence": "Seen",
    "cause": "Cause",
    "fix": "Do next",
    "source": "Source",
    "error": "Last error",
    "your_line": "Your line",
    "package": "Raised in",
    "search": "Search for",
}
# The words by which a text names the place that it comes from. Kaggle is last, because its image is
# built on Colab's.
_PLACES = {
    "colab": r"/content/|/usr/local/lib/python3\.\d+/dist-packages|\bColab\b",
    "kaggle": r"/kaggle/(?:working|input|lib)|\bKaggle\b",
}


@dataclass(frozen=True)
class Diagnosis:
    """What the doctor found, the first to fix first. It prints as a list."""

    findings: tuple[Finding, ...]
    next_step: str
    seen: Seen  # of the last error
    slow: tuple[Finding, ...]  # warnings
    lines: tuple[Finding, ...]  # of a notebook, those of yesterday

    def to_dict(self) -> dict:
        """Give it as plain JSON types."""
        return asdict(self)

    def _items(self) -> list[list[tuple[str, str]]]:
        """Return label and text of all that is told of each thing."""
        # An error's words are told where no failure is known, and a warning where nothing failed.
        unknown = (self.seen,) if self.seen.error else self.slow
        items = []
        for thing in (*(self.findings or unknown), *self.lines):
            texts = asdict(thing)
            items.append([(_LABELS[part], texts[part]) for part in _LABELS if texts.get(part)])
        return items

    def __str__(self) -> str:
        paragraphs = []
        for number, rows in enumerate(self._items(), 1):
            lines = [wrapped(f"{label}: {text}", "   ", indent=3) for label, text in rows]
            paragraphs.append(f"{number}. " + "\n".join(lines).lstrip())
        if not self.findings:
            paragraphs.append(wrapped(self.next_step))
        return "\n\n".join(paragraphs)

    def _repr_html_(self) -> str | None:
        return fragment("data/templates/doctor/diagnosis", self, self._items())


def diagnose(problem: BaseException | str | Path | None = None, **machine) -> Diagnosis:
    """Say what is wrong, why, and the one thing to do next. No framework is imported.

    It knows failures of GPUs and TPUs, of memory, of what is installed, of Colab and Kaggle. Of an
    error that it doesn't know it says what is certain: which line of yours, which package, what to
    search for.

    Parameters
    ----------
    problem : exception, str or Path, optional
        An error that you caught; the text of a traceback, a log or a whole notebook; or a Path to
        the file with that text. (A str is always read as the text itself.) Then only that is looked
        at. Without a problem, this runtime is examined.
    **machine : optional
        A recorded machine, as for `strategy.pick`; beside a problem only its ``environ`` counts.

    Returns
    -------
    Diagnosis
        ``findings``, the first to fix first, each with ``id``, ``cause``, ``fix``, ``evidence``
        and ``source``; the ``next_step``; what is ``seen`` of the last error (empty where there is
        none): ``error``, ``your_line``, ``package``, ``search``, ``message``; warnings, mostly that
        something is ``slow``; of a notebook those of its ``lines`` that no longer work today. It
        prints as a list, and ``to_dict()`` gives it as plain JSON types.

    Raises
    ------
    OSError
        If the file cannot be read.
    TypeError
        If the problem is of another type.

    Examples
    --------
    >>> diagnose("KeyError: 'COLAB_TPU_ADDR'").findings[0].id
    'tpu-node-address'
    >>> diagnose("ValueError: 3 labels for 4 pictures").seen.error
    'ValueError: 3 labels for 4 pictures'
    """
    if problem is None:
        return _examine(Facts(**machine))
    if isinstance(problem, Path):
        problem = problem.read_text("utf-8", errors="replace")
    elif isinstance(problem, BaseException):
        problem = "".join(traceback.format_exception(problem))
    text, lines = pages.read(problem)
    place = facts.place(machine.get("environ", os.environ))
    # A text may name the place that it comes from.
    for named, pattern in _PLACES.items():
        if re.search(pattern, text):
            place = named
    findings = symptoms.find(text, place)
    seen = raised.look(symptoms.clean(text))
    slow = symptoms.find(text, place, symptoms.SLOW)
    say = "calm"
    if slow:
        say = "slow"
    if seen.error:
        say = "unknown"
    next_step = symptoms.SAY[say].format(known=len(symptoms.KNOWN))
    if findings:
        next_step = findings[0].fix
    return Diagnosis(findings, next_step, seen, slow, lines)


def _examine(machine: Facts) -> Diagnosis:
    """Return what is wrong with this runtime, or with a recorded machine."""
    findings = faults.find(machine)
    say = "attached" if machine.device else "nothing_attached"
    next_step = symptoms.SAY[say].format(it=machine)
    if findings:
        next_step = findings[0].fix
    return Diagnosis(findings, next_step, Seen(), (), ())


def tpu_recipe() -> str:
    """Give the recipe for `TPUStrategy`, beside the versions at hand.

    Examples
    --------
    >>> print(tpu_recipe().splitlines()[1])
    We have not seen it run on a v5e-1. Keras on JAX needs none of this.
    """
    names = ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "libtpu")
    versions = {name: facts.installed(name) or "not installed" for name in names}
    python = platform.python_version()
    return facts.RECIPE["text"].format(**facts.RECIPE, python=python, found=versions).strip()
