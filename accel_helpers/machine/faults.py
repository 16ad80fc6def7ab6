"""What is wrong with a machine, and the one thing to do next; the words: data/faults.toml.

A *fault* is an entry of that file, whose id names it: "gpu-silent". A *finding* is a fault that a
certain machine has, in words for this machine.
"""

import functools
from dataclasses import dataclass
from typing import Literal

from accel_helpers._values import records
from accel_helpers.machine.facts import (
    PLACES,
    RECIPE,
    SPOKEN,
    STRATEGIES_KNOW,
    Machine,
    installed,
    place,
    tables,
)
from accel_helpers.machine.rules import FRESH, STALE, rules

__all__ = [
    "FAULTS", "FRESH", "PLACES", "RECIPE", "SPOKEN", "STALE", "STRATEGIES_KNOW", "Facts", "Fault",
    "Finding", "able", "against", "find", "installed", "place", "rules", "said", "tables",
]  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: why, and the one thing to do next; what was seen of it."""

    id: str  # of the fault, the symptom, or the line of a notebook
    cause: str
    fix: str
    source: str
    evidence: str = ""


@dataclass(frozen=True)
class Fault:
    """An entry of ``data/faults.toml``.

    In its texts, {braces} stand for facts of the machine and for words of its place.
    """

    cause: str
    fix: str
    source: str
    seen: str = ""  # the evidence
    fix_local: str = ""  # the fix on a machine of one's own, where it is another
    keeps_off: tuple[Literal["tensorflow", "jax"], ...] = ()  # these cannot use the accelerator
    doubtful: bool = False  # the frameworks of `keeps_off` may fail on it, and may not
    only_on: Literal["tensorflow", "jax", ""] = ""  # the only framework to which it does harm
    unless: tuple[str, ...] = ()  # the ids of faults beside which it is not named
    note: bool = False  # `runtime.describe` names it, too


#: Every fault by its id, in the order in which to mend them.
FAULTS = records.read(dict[str, Fault], tables("faults.toml")["fault"], "faults.toml")


class Facts(Machine):
    """The facts of a machine, and the faults that follow from them."""

    @functools.cached_property
    def faults(self) -> dict[str, Finding]:
        """The findings about this machine by their ids, in the order in which to mend them."""
        rule_results = rules(self)
        return {
            name: _finding(name, fault, self)
            for name, fault in FAULTS.items()
            if rule_results[name]
        }


def _finding(name: str, fault: Fault, machine: Facts) -> Finding:
    """Return the finding for a fault that a machine has; `name` is the fault's id.

    The braces of its texts are filled in: "{it.tpu_name}" with a fact, "{restart}" with a word.
    """
    fix = fault.fix
    if machine.place == "local" and fault.fix_local:
        fix = fault.fix_local
    return Finding(
        id=name,
        cause=fault.cause.format(it=machine, **machine.place_words),
        fix=fix.format(it=machine, **machine.place_words),
        source=fault.source,
        evidence=fault.seen.format(it=machine, **machine.place_words),
    )


def find(machine: Facts) -> tuple[Finding, ...]:
    """Return the findings that matter to a machine's user, in the order in which to mend them.

    Left out are the faults of a framework that is not in use, and those that another explains.
    """
    frameworks = _frameworks_in_use(machine)
    findings = []
    for name, finding in machine.faults.items():
        fault = FAULTS[name]
        # A fault of a framework that is not in use does no harm.
        if fault.only_on and fault.only_on not in frameworks:
            continue
        # Another fault that the machine has explains this one.
        if not machine.faults.keys().isdisjoint(fault.unless):
            continue
        findings.append(finding)
    return tuple(findings)


def _frameworks_in_use(machine: Facts) -> set[str]:
    """Return the frameworks whose faults matter: that of Keras and, on a TPU, mostly JAX."""
    keras_framework = machine.keras_on or machine.asked
    # A plain `import keras` looks for TensorFlow.
    frameworks = {keras_framework or "tensorflow"}
    if not keras_framework and "tensorflow" not in machine.frameworks:
        frameworks.add("jax")
    if machine.kind == "TPU" and not machine.tensorflow_drives_tpu:
        frameworks.add("jax")
    return frameworks


def against(machine: Facts, *frameworks: str) -> tuple[Finding, ...]:
    """Return the findings for which at least one of some frameworks cannot use the accelerator.

    Where no accelerator is attached, it may be a build that is of no use without one.
    `frameworks` are "tensorflow" and "jax", or one of them.
    """
    findings = []
    for name, finding in machine.faults.items():
        if not set(FAULTS[name].keeps_off).isdisjoint(frameworks):
            findings.append(finding)
    return tuple(findings)


def able(machine: Facts) -> list[str]:
    """Return the installed frameworks that can use the device, the best first.

    First those without an obstacle, then those whose obstacles are all doubtful; TensorFlow is
    before JAX in both, and on a TPU only JAX is returned. [] where there is none.
    """
    # Of the two only JAX drives a TPU.
    candidates = ("jax",) if machine.kind == "TPU" else STRATEGIES_KNOW
    free_frameworks = []
    doubtful_frameworks = []
    for framework in candidates:
        if framework not in machine.frameworks:
            continue
        obstacles = against(machine, framework)
        if not obstacles:
            free_frameworks.append(framework)
        elif all(FAULTS[finding.id].doubtful for finding in obstacles):
            doubtful_frameworks.append(framework)
    return free_frameworks + doubtful_frameworks


def said(machine: Facts, *names: str) -> list[str]:
    """Return the sentences on those of some faults that a machine has; [] where it has none.

    `names` are ids of faults, such as "gpu-silent". Each that the machine has gives two sentences,
    its cause and its fix.
    """
    sentences = []
    for name in names:
        if name in machine.faults:
            finding = machine.faults[name]
            sentences += [finding.cause, finding.fix]
    return sentences
