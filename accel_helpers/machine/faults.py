"""What is wrong with a machine, and the one thing to do next; the words: data/faults.toml.

A *fault* is an entry of that file, whose id names it: "gpu-silent". A *finding* is a fault that a
certain machine has, in words for this machine.
"""

import re
from dataclasses import dataclass

from accel_helpers.machine.facts import RECIPE, Facts, tables

__all__ = ["FRESH", "STALE", "Finding", "able", "find", "ids", "in_words", "said"]

# NVIDIA's chips that XLA, in every release of TensorFlow up to 2.21, does not compile for.
_BLACKWELL = re.compile(r"Blackwell|\bRTX 50\d\d\b|\bB[1-3]00\b")
# On AMD's processors products of 10 million multiply-adds and more use donated weights of an
# earlier step. The flag is set everywhere: on other processors it changes nothing.
STALE = ("0.7.2", "0.8.0", "0.8.1")
FRESH = "--xla_cpu_use_xnnpack=false"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: why, and the one thing to do next; what was seen of it."""

    id: str  # of the fault, the symptom, or the line of a notebook
    cause: str
    fix: str
    source: str
    evidence: str = ""


def ids(it: Facts) -> list[str]:
    """Return the faults that a machine has, in the order in which to mend them.

    Those of "tensorflow-..." and "jax-..." keep that framework off the accelerator, or make it
    wrong or slow on a CPU; "gpu-hidden" keeps off both.
    """
    is_gpu = it.kind == "GPU"
    is_tpu = it.kind == "TPU"
    has_none = it.kind == "none"
    # Colab sets the second everywhere; it is empty where there is no TPU.
    claim = it.environ.get("TPU_ACCELERATOR_TYPE") or it.environ.get("COLAB_TPU_1VM")
    is_claimed = bool(claim) and not is_tpu
    is_another = it.ordered not in it.device_text
    is_explained = it.is_silent or is_claimed or is_another
    is_for_tpus = "tensorflow-tpu" in it.builds
    jax = it.frameworks.get("jax", "")
    libtpu = it.frameworks.get("libtpu", "")
    has_plugin = any(map(it.versions, ("jax-cuda13-plugin", "jax-cuda12-plugin")))
    is_stale = jax in STALE and FRESH not in it.environ.get("XLA_FLAGS", "")
    rules = {
        "gpu-silent": it.is_silent,
        "gpu-of-another-maker": has_none and it.other_gpu,
        "tpu-claimed": is_claimed,
        "another-chip": is_another,
        "no-accelerator": has_none and it.place != "local" and not is_explained,
        "kaggle-p100": it.place == "kaggle" and "P100" in it.device_text,
        "gpu-hidden": is_gpu and it.visible_gpus == 0,
        "gpu-too-new": _BLACKWELL.search(it.device_text)
        and "tensorflow" in it.backends
        and it.bound != "jax",
        "framework-missing": it.backends == [],
        "keras-backend-unknown": it.asked not in ("", *it.backends),
        "attached-and-idle": it.used == ("cpu",) and not has_none,
        "two-tensorflows": " " in it.builds,
        "tensorflow-for-tpus": is_for_tpus,
        "tensorflow-for-cpus": is_gpu and it.builds == "tensorflow-cpu",
        "tensorflow-on-tpu": is_tpu and not is_for_tpus,
        "jax-platforms": it.environ.get("JAX_PLATFORMS") == "cpu" and not has_none,
        "jax-without-libtpu": is_tpu and jax and libtpu in ("", RECIPE["libtpu"]),
        "jax-without-cuda": is_gpu and jax and not has_plugin,
        "jax-trains-wrongly": is_stale and has_none and "AMD" in it.cpu_name,
        "jax-computes-wrongly": jax == "0.10.2" and has_none,
        "jax-writes-slowly": jax == "0.11.1" and has_none,
    }
    return [fault for fault, is_there in rules.items() if is_there]


def in_words(machine: Facts, fault: str) -> Finding:
    """Return the finding of a fault: the sentences about it, for this machine."""
    texts = tables("faults.toml")
    entry = texts["fault"][fault]
    fix = entry.get(f"fix_{machine.place}") or entry.get("fix", texts["back"])
    words = {"it": machine, **machine.place_words}
    return Finding(fault, entry["cause"].format(**words), fix.format(**words), entry["source"])


def find(machine: Facts) -> tuple[Finding, ...]:
    """Return the findings that matter to a machine's user: of the frameworks that are in use."""
    unused = "none"
    # A plain `import keras` looks for TensorFlow.
    if machine.kind != "TPU" and "tensorflow" in machine.backends:
        unused = "jax-"
    # Keras on JAX imports TensorFlow, too, and one for TPUs can end the program.
    if machine.bound == "jax" and "tensorflow-tpu" not in machine.builds:
        unused = "tensorflow-"
    found = [fault for fault in ids(machine) if not fault.startswith(unused)]
    return tuple(in_words(machine, fault) for fault in found)


def able(machine: Facts) -> list[str]:
    """Return the installed frameworks that can use the device, the best first."""
    faults = ids(machine)
    if "gpu-hidden" in faults:
        return []
    # A fault's id begins with the framework that it keeps off.
    kept_off = {fault.partition("-")[0] for fault in faults}
    names = [name for name in ("tensorflow", "jax") if name in machine.backends]
    if "gpu-too-new" in faults:
        names.reverse()
    return [name for name in names if name not in kept_off]


def said(machine: Facts, *names: str) -> str:
    """Return what is wrong and what to do, of a machine's first fault with one of some names.

    The beginning of an id is a name, too.
    """
    for fault in ids(machine):
        if fault.startswith(names):
            finding = in_words(machine, fault)
            return f"{finding.cause} {finding.fix}"
    return ""
