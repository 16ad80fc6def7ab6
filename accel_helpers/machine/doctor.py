"""From a machine, or from an error, to the cause and the one thing to do next."""

import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass

from accel_helpers._words import fragment, wrapped
from accel_helpers.machine import faults, symptoms
from accel_helpers.machine.faults import Finding

__all__ = ["diagnose", "tpu_recipe"]

_NOT_KNOWN = (
    "(Lines that every healthy run prints are passed over.) If it stops you, report it to whoever "
    "gave you this notebook, with three things: the last thirty lines of the message, what you ran "
    "before, and the output of `python -m accel_helpers describe`."
)


@dataclass(frozen=True)
class Diagnosis:
    """What the doctor found, the first thing to mend first. It prints as a list."""

    findings: tuple[Finding, ...]
    examined: str
    otherwise: str  # what to do where nothing was found

    @property
    def next_step(self) -> str:
        return self.findings[0].fix if self.findings else self.otherwise

    def to_dict(self) -> dict:
        return {"findings": [asdict(finding) for finding in self.findings]}

    def _head(self) -> str:
        things = f"{len(self.findings)} things, the first to mend first"
        if len(self.findings) == 1:
            things = "one thing"
        elif not self.findings:
            things = "no failure that it knows" if self.examined == "the text" else "nothing wrong"
        return f"The doctor looked at {self.examined} and found {things}."

    def __str__(self) -> str:
        lines = [self._head()]
        for number, finding in enumerate(self.findings, 1):
            lines.append("")
            for label, value in _rows(finding):
                lead = f"{number}. {label}: " if label == "Cause" else f"   {label}: "
                lines.append(wrapped(value, lead, 3))
        if not self.findings:
            lines.append(wrapped(self.otherwise))
        return "\n".join(lines)

    def _repr_html_(self) -> str | None:
        findings = [list(_rows(finding)) for finding in self.findings]
        return fragment("doctor/diagnosis", self._head(), findings, self.otherwise)


def diagnose(problem: BaseException | str | None = None, **machine) -> Diagnosis:
    """Say what is wrong, why, and the one thing to do next. No framework is imported.

    Parameters
    ----------
    problem : exception or str, optional
        An error that you caught, or the text of a traceback or a log: then only that is looked
        at. Without it, this runtime is examined.
    **machine : optional
        A recorded machine, as for `strategy.pick`.

    Returns
    -------
    Diagnosis
        ``findings``, the first to mend first, each with ``id``, ``cause``, ``fix`` and ``source``,
        and the ``next_step``. It prints as a list.

    Examples
    --------
    >>> print(diagnose("KeyError: 'COLAB_TPU_ADDR'").findings[0].id)
    tpu-node-address
    """
    if problem is None:
        it = faults.Facts(**machine)
        return Diagnosis(faults.find(it), "this runtime", _calm(it))
    if isinstance(problem, BaseException):
        problem = "".join(traceback.format_exception(problem))
    quiet = _NOT_KNOWN if problem.strip() else "The text is empty."
    return Diagnosis(symptoms.find(problem), "the text", quiet)


def _calm(it: faults.Facts) -> str:
    calm = (
        "It has no accelerator, only a CPU, and all that can run on one runs here. A GPU or a TPU "
        "can be borrowed in Google Colab: Runtime → Change runtime type."
    )
    if it.device:
        calm = (
            f"Attached is: {it.device}. Whether the framework sees it is the next question: call "
            "ah.backend.choose(), then ah.backend.devices()."
        )
    return f"{calm} If something fails all the same, give the error to ah.doctor.diagnose(error)."


def _rows(finding: Finding):
    yield "Cause", finding.cause
    yield "Do next", finding.fix
    if finding.evidence:
        yield "Seen", finding.evidence
    yield "Source", finding.source


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
    None of us has seen it run on a v5e-1. Keras on JAX needs none of this.
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
