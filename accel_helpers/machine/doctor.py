"""From a machine, or from an error, to the cause and the one thing to do next."""

import os
import sys
import traceback
from collections.abc import Callable, Mapping
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
    slow: tuple[Finding, ...] = ()  # of a text without an error, the warnings that it has

    @property
    def next_step(self) -> str:
        if self.findings:
            return self.findings[0].fix
        return self.otherwise

    @property
    def unknown(self) -> str:
        """What to do about a text in which no failure is known; no finding."""
        if self.findings or self.examined == "this runtime":
            return ""
        return self.otherwise

    def to_dict(self) -> dict:
        """Give it as plain JSON types."""
        tables = asdict(self)
        return {
            "findings": list(tables["findings"]),
            "lines": list(tables["lines"]),
            "slow": list(tables["slow"]),
            "seen": tables["seen"],
            "unknown": self.unknown,
        }

    def _head(self) -> str:
        """Return the sentence above the list."""
        count = len(self.findings)
        if count > 1:
            result = f"{count} things, the first to mend first"
        elif count == 1:
            result = "one thing"
        elif self.examined == "this runtime":
            result = "nothing wrong"
        else:
            result = "no failure it knows"
        if self.lines:
            result += f"; outdated lines: {len(self.lines)}"
        return f"The doctor looked at {self.examined} and found {result}."

    def _items(self) -> list[list[tuple[str, str]]]:
        """Return label and text of each finding, of an unknown error, of warnings, of old lines."""
        items = []
        for finding in self.findings:
            rows = [("Cause", finding.cause), ("Do next", finding.fix)]
            if finding.evidence:
                rows.append(("Seen", finding.evidence))
            rows.append(("Source", finding.source))
            items.append(rows)
        if self.seen:
            items.append(_seen_rows(self.seen))
        for warning in self.slow:
            rows = [
                ("Warning", warning.evidence),
                ("It means", warning.cause),
                ("Do next", warning.fix),
                ("Source", warning.source),
            ]
            items.append(rows)
        for line in self.lines:
            rows = [("Line", line.evidence), ("Today", line.cause), ("Instead", line.fix)]
            items.append(rows)
        return items

    def __str__(self) -> str:
        items = self._items()
        lines = [self._head()]
        for number, rows in enumerate(items, 1):
            lines.append("")
            # The first row has the number of its item, and the others are indented.
            margin = f"{number}."
            for label, text in rows:
                lead = f"{margin} {label}: "
                lines.append(wrapped(text, lead, indent=3))
                margin = "  "
        if not self.findings:
            if items:
                lines.append("")
            for paragraph in self.otherwise.split("\n"):
                lines.append(wrapped(paragraph))
        return "\n".join(lines)

    def _repr_html_(self) -> str | None:
        head = self._head()
        items = self._items()
        otherwise = self.otherwise
        if self.findings:
            otherwise = ""
        return fragment("data/templates/doctor/diagnosis", head, items, otherwise)


def _seen_rows(seen: Seen) -> list[tuple[str, str]]:
    """Return label and text of what is certain about an error; what is not told is left out."""
    about = "the code or its data; the message does not speak of the machine"
    if seen.concerns:
        about = f"the machine ({seen.concerns})"
    rows = [
        ("Last error", seen.error),
        ("Your line", seen.your_line),
        ("Raised in", seen.package),
        ("About", about),
        ("Search for", seen.search),
    ]
    return [(label, text) for label, text in rows if text]


def diagnose(problem: BaseException | str | Path | None = None, **machine) -> Diagnosis:
    """Say what is wrong, why, and the one thing to do next. No framework is imported.

    It knows failures of the machine, the installation, versions, Colab and Kaggle. Of an error that
    it doesn't know it says what is certain: which line of yours, which package, what to search for.

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
        ``findings``, the first to mend first, each with ``id``, ``cause``, ``fix`` and ``source``;
        where there is none, what is ``seen`` of the error, or what is ``slow``; of a notebook those
        of its ``lines`` that no longer work today; and the ``next_step``. It prints as a list.

    Raises
    ------
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> print(diagnose("KeyError: 'COLAB_TPU_ADDR'").findings[0].id)
    tpu-node-address
    >>> diagnose("ValueError: 3 labels for 4 pictures").seen.error
    'ValueError: 3 labels for 4 pictures'
    """
    if problem is None:
        return _examine_runtime(**machine)
    text, old_lines = _read_problem(problem)
    is_page = old_lines is not None
    examined = "the text"
    if is_page:
        examined = "the page"
    environ = machine.get("environ", os.environ)
    place = _place_of(text, environ)
    findings = symptoms.find(text, place)
    if findings:
        return Diagnosis(findings, examined, otherwise="", lines=old_lines or ())
    seen = raised.look(symptoms.clean(text))
    slow: tuple[Finding, ...] = ()
    # Behind an error a warning is no matter.
    if seen is None:
        slow = symptoms.find(text, place, symptoms.SLOW)
    sentences = _otherwise(text, is_page, seen, bool(slow))
    count = len(symptoms.KNOWN)
    otherwise = sentences.format(**faults.PLACES[place], known=count)
    return Diagnosis((), examined, otherwise, old_lines or (), seen, slow)


def _examine_runtime(**machine) -> Diagnosis:
    """Return what is wrong with this runtime, or with a recorded machine."""
    facts = faults.Facts(**machine)
    # What is said where nothing is wrong.
    calm = symptoms.SAY["nothing_attached"]
    if facts.device:
        calm = symptoms.SAY["attached"]
    findings = faults.find(facts)
    otherwise = calm.format(it=facts)
    return Diagnosis(findings, "this runtime", otherwise)


def _read_problem(problem: BaseException | str | Path) -> tuple[str, tuple[Finding, ...] | None]:
    """Return the text to be looked at, and of a notebook its old lines; None for another text."""
    if isinstance(problem, BaseException):
        text = "".join(traceback.format_exception(problem))
        # An exception that was never raised has no traceback, and is read as one that has.
        if raised.TRACEBACK not in text:
            text = f"{raised.TRACEBACK}:\n{text}"
        return text, None
    if isinstance(problem, Path):
        problem = problem.read_text("utf-8", errors="replace")
    page = pages.read(problem)
    if page is None:
        return problem, None
    return page


def _place_of(text: str, environ: Mapping[str, str]) -> str:
    """Return the place that a text names; where it names none, this machine's."""
    for place, pattern in symptoms.PLACE.items():
        if pattern.search(text):
            return place
    place, _ = faults.place(environ)
    return place


def _otherwise(text: str, is_page: bool, seen: Seen | None, slow: bool) -> str:
    """Return what is said where no failure is known, with {words} of the place."""
    say = symptoms.SAY
    if seen:
        next_step = seen.next_step or say["program"]
        return "\n".join([say["knows"], next_step, say["send"]])
    if not text.strip():
        # A page whose cells all ran has no error's text.
        if is_page:
            return say["no_error"]
        return say["empty"]
    if slow:
        return say["slow"]
    return say["calm"]


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
    recipe = faults.RECIPE
    if python is None:
        python = sys.version_info[:2]
    newest_python = tuple(recipe["python_at_most"])
    stock = _stock_tensorflow(versions)
    found_versions = {}
    for name in (stock, "tensorflow-tpu", "libtpu"):
        found_versions[name] = versions(name)
    ready = (
        found_versions["tensorflow-tpu"] == recipe["tensorflow_tpu"]
        and found_versions["libtpu"] == recipe["libtpu"]
    )
    # A line of code for each flag, below one another.
    flags = recipe["settings"]["TF_XLA_FLAGS"].replace(" ", '"\n       " ')
    sources = [f"  {source}" for source in recipe["sources"]]
    values = {
        **recipe,
        **recipe["settings"],
        "flags": flags,
        "stock": stock,
        "newest": _dotted(newest_python),
        "python": _dotted(python),
        "found": _listed(found_versions),
        "sources": "\n".join(sources),
    }
    # Whether each step is needed, in the order of the recipe's file.
    needed = (
        python > newest_python,  # another Python
        ready,  # nothing to install
        not ready and found_versions[stock] is not None,  # the usual TensorFlow must go first
        not ready,  # install
        not ready,  # restart
        True,  # set the variables, and import
    )
    steps: list[str] = []
    for step, is_needed in zip(recipe["step"], needed, strict=True):
        if is_needed:
            number = len(steps) + 1
            sentence = step.format(**values)
            steps.append(wrapped(sentence, f"{number}. ", indent=3, width=92))
    text = recipe["text"].format(steps="\n".join(steps), **values)
    return text.rstrip("\n")


def _stock_tensorflow(versions: Callable[[str], str | None]) -> str:
    """Return the name of the installed TensorFlow that is not for TPUs."""
    if versions("tensorflow-cpu") and not versions("tensorflow"):
        return "tensorflow-cpu"
    return "tensorflow"


def _dotted(version: tuple[int, ...]) -> str:
    """Return a version's numbers as it is written."""
    return ".".join(map(str, version))


def _listed(found_versions: dict[str, str | None]) -> str:
    """Return distributions with their versions, as one line."""
    entries = []
    for name, version in found_versions.items():
        if version is None:
            version = "not installed"
        entries.append(f"{name} {version}")
    return ", ".join(entries)
