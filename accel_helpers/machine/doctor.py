"""From a machine, or from an error, to the cause and the one thing to do next."""

import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from accel_helpers._values.words import fragment, wrapped
from accel_helpers.machine import faults, pages, raised, symptoms
from accel_helpers.machine.faults import Finding
from accel_helpers.machine.raised import Seen

__all__ = ["diagnose", "tpu_recipe"]


@dataclass(frozen=True)
class Diagnosis:
    """What the doctor found, the first thing to mend first. It prints as a list."""

    findings: tuple[Finding, ...]
    examined: str
    otherwise: str  # what to do where nothing was found
    lines: tuple[Finding, ...] = ()  # of a page, those of yesterday
    seen: Seen | None = None  # of an error that is not known
    slow: tuple[Finding, ...] = ()  # of a text without an error, its warnings of slowness

    @property
    def next_step(self) -> str:
        return self.findings[0].fix if self.findings else self.otherwise

    @property
    def unknown(self) -> str:
        """What to do about a text in which no failure is known; no finding."""
        return "" if self.findings or self.examined == "this runtime" else self.otherwise

    def to_dict(self) -> dict:
        """Give it as plain JSON types."""
        lists = {name: getattr(self, name) for name in ("findings", "lines", "slow")}
        told = {name: [asdict(one) for one in found] for name, found in lists.items()}
        seen = asdict(self.seen) if self.seen else None
        return {**told, "seen": seen, "unknown": self.unknown}

    def _head(self) -> str:
        n = len(self.findings)
        none = "nothing wrong" if self.examined == "this runtime" else "no failure it knows"
        things = {0: none, 1: "one thing"}.get(n, f"{n} things, the first to mend first")
        if self.lines:
            things += f"; outdated lines: {len(self.lines)}"
        return f"The doctor looked at {self.examined} and found {things}."

    def _rows(self) -> list[list[tuple[str, str]]]:
        """Label and text of each finding; of an unknown error; of slowness; of old lines."""
        rows = []
        for one in self.findings:
            rows.append([("Cause", one.cause), ("Do next", one.fix)])
            rows[-1] += [("Seen", one.evidence)] * bool(one.evidence) + [("Source", one.source)]
        if self.seen:
            rows.append(_seen_rows(self.seen))
        for one in self.slow:
            rows.append([("Warning", one.evidence), ("It means", one.cause)])
            rows[-1] += [("To be faster", one.fix), ("Source", one.source)]
        for one in self.lines:
            rows.append([("Line", one.evidence), ("Today", one.cause), ("Instead", one.fix)])
        return rows

    def __str__(self) -> str:
        lines = [self._head()]
        for number, rows in enumerate(self._rows(), 1):
            lines.append("")
            for n, (label, text) in enumerate(rows):
                lines.append(wrapped(text, f"{'  ' if n else f'{number}.'} {label}: ", 3))
        if not self.findings:
            lines += [""] * (len(lines) > 1) + [*map(wrapped, self.otherwise.split("\n"))]
        return "\n".join(lines)

    def _repr_html_(self) -> str | None:
        otherwise = "" if self.findings else self.otherwise
        return fragment("data/templates/doctor/diagnosis", self._head(), self._rows(), otherwise)


def _seen_rows(seen: Seen) -> list[tuple[str, str]]:
    """Label and text of what is certain about an error; what the text does not tell is left out."""
    about = "the code or its data; the message does not speak of the machine"
    if seen.concerns:
        about = f"the machine ({seen.concerns})"
    rows = {
        "Last error": seen.error,
        "Your line": seen.your_line,
        "Raised in": seen.package,
        "About": about,
        "Search for": seen.search,
    }
    return [(label, text) for label, text in rows.items() if text]


def diagnose(problem: BaseException | str | Path | None = None, **machine) -> Diagnosis:
    """Say what is wrong, why, and the one thing to do next. No framework is imported.

    It knows failures of the machine, the installation, versions, Colab and Kaggle. Of an error that
    it doesn't know it says what is certain: which line of yours, which package, what to search for.

    Parameters
    ----------
    problem : exception, str or Path, optional
        An error that you caught, the text of a traceback or a log, or that of a whole notebook; or
        the file that it is in. Then only that is looked at. Without it, this runtime is examined.
    **machine : optional
        A recorded machine, as for `strategy.pick`.

    Returns
    -------
    Diagnosis
        ``findings``, the first to mend first, each with ``id``, ``cause``, ``fix`` and ``source``;
        where there is none, what is ``seen`` of the error, or what is ``slow``; of a notebook the
        ``lines`` of yesterday; and the ``next_step``. It prints as a list.

    Examples
    --------
    >>> print(diagnose("KeyError: 'COLAB_TPU_ADDR'").findings[0].id)
    tpu-node-address
    >>> diagnose("ValueError: 3 labels for 4 pictures").seen.error
    'ValueError: 3 labels for 4 pictures'
    """
    if problem is None:
        it = faults.Facts(**machine)
        calm = symptoms.SAY["attached" if it.device else "nothing_attached"].format(it=it)
        return Diagnosis(faults.find(it), "this runtime", calm)
    text, old = _text(problem)
    named = [name for name, path in symptoms.PLACE.items() if path.search(text)]
    place = (named or faults.place(machine.get("environ", os.environ)))[0]
    examined = "the text" if old is None else "the page"
    findings = symptoms.find(text, place)
    if findings:
        return Diagnosis(findings, examined, "", old or ())
    seen = raised.look(symptoms.clean(text))
    slow = symptoms.find(text, place, symptoms.SLOW) if seen is None else ()
    said = _otherwise(text, old is not None, seen, bool(slow))
    words = {**faults.PLACES[place], "known": len(symptoms.KNOWN)}
    return Diagnosis((), examined, said.format(**words), old or (), seen, slow)


def _text(problem: BaseException | str | Path) -> tuple[str, tuple[Finding, ...] | None]:
    """The text to be looked at, and where it is a notebook's, its lines of yesterday."""
    if isinstance(problem, BaseException):
        text = "".join(traceback.format_exception(problem))
        return (text if raised.TRACEBACK in text else f"{raised.TRACEBACK}:\n{text}"), None
    if isinstance(problem, Path):
        problem = problem.read_text("utf-8", errors="replace")
    return pages.read(problem) or (problem, None)


def _otherwise(text: str, is_page: bool, seen: Seen | None, slow: bool) -> str:
    """What is said where no failure is known; with {words} of the place."""
    say = symptoms.SAY
    if seen:
        return "\n".join([say["knows"], seen.next_step or say["program"], say["send"]])
    if not text.strip():
        return say["no_error" if is_page else "empty"]
    return say["slow" if slow else "calm"]


def tpu_recipe(
    *,
    python: tuple[int, int] | None = None,
    versions: Callable[[str], str | None] = faults.installed,
) -> str:
    """Give the recipe for `TPUStrategy`, for the versions at hand.

    Parameters
    ----------
    python : tuple of two ints, optional
        Such as (3, 12); by default this Python.
    versions : callable of str -> str or None, optional
        Gives the installed version of a distribution; by default of this environment.

    Examples
    --------
    >>> print(tpu_recipe(python=(3, 13), versions={}.get).splitlines()[1])
    We have not seen it run on a v5e-1. Keras on JAX needs none of this.
    """
    it, python = faults.RECIPE, tuple(python or sys.version_info[:2])
    plain, for_cpus = versions("tensorflow"), versions("tensorflow-cpu")
    stock = "tensorflow-cpu" if for_cpus and not plain else "tensorflow"
    here = {name: versions(name) for name in (stock, "tensorflow-tpu", "libtpu")}
    there = (here["tensorflow-tpu"], here["libtpu"]) == (it["tensorflow_tpu"], it["libtpu"])
    newest = tuple(it["python_at_most"])
    words = {
        **it,
        **it["settings"],
        "flags": it["settings"]["TF_XLA_FLAGS"].replace(" ", '"\n       " '),
        "stock": stock,
        "newest": ".".join(map(str, newest)),
        "python": ".".join(map(str, python)),
        "found": ", ".join(f"{name} {here[name] or 'not installed'}" for name in here),
        "sources": "\n".join(f"  {source}" for source in it["sources"]),
    }
    wanted = (python > newest, there, here[stock] and not there, *[not there] * 2, True)
    steps = [step.format(**words) for step, when in zip(it["step"], wanted, strict=True) if when]
    filled = [wrapped(step, f"{number}. ", 3, width=92) for number, step in enumerate(steps, 1)]
    return it["text"].format(steps="\n".join(filled), **words).rstrip("\n")
