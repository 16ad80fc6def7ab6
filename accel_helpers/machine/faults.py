"""What is wrong with a machine, and the one thing to do next; the words: data/faults.toml."""

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

    id: str
    cause: str
    fix: str
    source: str
    evidence: str = ""


@dataclass(frozen=True)
class Fault:
    """An entry of ``data/faults.toml``, which says what its fields mean."""

    cause: str
    fix: str
    source: str
    seen: str = ""
    fix_local: str = ""
    keeps_off: tuple[Literal["tensorflow", "jax"], ...] = ()
    doubtful: bool = False
    only_on: Literal["tensorflow", "jax", ""] = ""
    unless: tuple[str, ...] = ()
    note: bool = False


#: In the order in which to mend them.
FAULTS = records.read(dict[str, Fault], tables("faults.toml")["fault"], "faults.toml")


class Facts(Machine):
    """The facts of a machine, and the faults that follow from them."""

    @functools.cached_property
    def faults(self) -> dict[str, Finding]:
        """What is wrong with it, by id, in the order in which to mend it."""
        rule_results = rules(self)
        return {
            name: _finding(name, fault, self)
            for name, fault in FAULTS.items()
            if rule_results[name]
        }


def _finding(name: str, fault: Fault, machine: Facts) -> Finding:
    """Return a fault as it is said of a machine, with every brace filled in."""
    fix = fault.fix
    if machine.place == "local" and fault.fix_local:
        fix = fault.fix_local
    return Finding(
        id=name,
        cause=fault.cause.format(it=machine, **machine.here),
        fix=fix.format(it=machine, **machine.here),
        source=fault.source,
        evidence=fault.seen.format(it=machine, **machine.here),
    )


def find(machine: Facts) -> tuple[Finding, ...]:
    """Return what is wrong with a machine and matters to its user, the first to mend first."""
    frameworks = _frameworks_in_use(machine)
    findings = []
    for name, finding in machine.faults.items():
        fault = FAULTS[name]
        # A fault of a framework that is not in use does no harm.
        if fault.only_on and fault.only_on not in frameworks:
            continue
        # Another fault explains this one.
        if not machine.faults.keys().isdisjoint(fault.unless):
            continue
        findings.append(finding)
    return tuple(findings)


def _frameworks_in_use(machine: Facts) -> set[str]:
    """Return the frameworks whose faults matter on this machine."""
    chosen = machine.keras_on or machine.asked
    # A plain `import keras` looks for TensorFlow.
    frameworks = {chosen or "tensorflow"}
    if not chosen and "tensorflow" not in machine.frameworks:
        frameworks.add("jax")
    if machine.kind == "TPU" and not machine.tensorflow_drives_tpu:
        frameworks.add("jax")
    return frameworks


def against(machine: Facts, *frameworks: str) -> tuple[Finding, ...]:
    """Return the faults that keep frameworks off the accelerator, or make them no good without."""
    findings = []
    for name, finding in machine.faults.items():
        if not set(FAULTS[name].keeps_off).isdisjoint(frameworks):
            findings.append(finding)
    return tuple(findings)


def able(machine: Facts) -> list[str]:
    """Return the installed frameworks that may well use the device, the best first."""
    # Of the two only JAX drives a TPU.
    order = ("jax",) if machine.kind == "TPU" else STRATEGIES_KNOW
    free = []
    doubtful = []
    for framework in order:
        if framework not in machine.frameworks:
            continue
        obstacles = against(machine, framework)
        if not obstacles:
            free.append(framework)
        elif all(FAULTS[finding.id].doubtful for finding in obstacles):
            doubtful.append(framework)
    return free + doubtful


def said(machine: Facts, *names: str) -> list[str]:
    """Return cause and fix of those of the named faults that this machine has."""
    sentences = []
    for name in names:
        if name in machine.faults:
            finding = machine.faults[name]
            sentences += [finding.cause, finding.fix]
    return sentences
