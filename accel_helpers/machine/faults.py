"""What is wrong with a machine, and the one thing to do next; the words: data/faults.toml.

A *fault* is an entry of that file, whose id names it: "gpu-silent". A *finding* is a fault that a
certain machine has, in words for this machine.
"""

import re
from dataclasses import dataclass

from accel_helpers.machine.facts import PLACES, RECIPE, SPOKEN, Facts, installed, place, tables

__all__ = [
    "FRESH", "PLACES", "RECIPE", "SPOKEN", "STALE", "Facts", "Finding", "able", "examine",
    "find", "installed", "place", "said", "tables",
]  # fmt: skip

# NVIDIA's chips that XLA, in every release of TensorFlow up to 2.21, does not compile for.
_BLACKWELL = re.compile(r"Blackwell|\bRTX 50\d\d\b|\bB[1-3]00\b")
_CUDA_PLUGINS = ("jax-cuda13-plugin", "jax-cuda12-plugin")
# On AMD's processors products of 10 million multiply-adds and more use donated weights of an
# earlier step. The flag is set everywhere: on other processors it changes nothing.
STALE = ("0.7.2", "0.8.0", "0.8.1")
FRESH = "--xla_cpu_use_xnnpack=false"
# With this setting 0.10.2 computes rightly.
_COUNTS = "--xla_cpu_experimental_ynn_fusion_type="


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: why, and the one thing to do next; what was seen of it."""

    id: str  # of the fault, the symptom, or the line of a notebook
    cause: str
    fix: str
    source: str
    evidence: str = ""


def _rules(it: Facts) -> dict[str, bool]:
    """Return which faults a machine has, in the order in which to mend them.

    Those of "tensorflow-..." and "jax-..." keep that framework off the accelerator, or make it
    wrong or slow on a CPU; "gpu-hidden" keeps off both.
    """
    is_gpu = it.kind == "GPU"
    is_too_new = _BLACKWELL.search(it.device_text) is not None
    is_tpu = it.kind == "TPU"
    has_none = it.kind == "none"
    # Colab sets the second everywhere; it is empty where there is no TPU.
    claims = [it.environ.get(name) for name in ("TPU_ACCELERATOR_TYPE", "COLAB_TPU_1VM")]
    is_claimed = any(claims) and not is_tpu
    is_another = it.ordered not in f"{it.kind} {it.device_text}"
    is_explained = it.is_silent or is_claimed or is_another or it.place == "local"
    addresses = [it.environ.get(name, "") for name in ("COLAB_TPU_ADDR", "TPU_NAME")]
    jax = it.frameworks.get("jax", "")
    libtpu = it.frameworks.get("libtpu", "")
    flags = it.environ.get("XLA_FLAGS", "")
    return {
        "gpu-silent": it.is_silent,
        "gpu-of-another-maker": has_none and it.other_gpu != "",
        "tpu-claimed": is_claimed,
        "another-chip": is_another,
        "no-accelerator": has_none and not is_explained,
        "kaggle-p100": it.place == "kaggle" and "P100" in it.device_text,
        "gpu-hidden": is_gpu and it.visible_gpus == 0,
        "gpu-too-new": is_too_new and "tensorflow" in it.backends and it.bound != "jax",
        "framework-missing": it.backends == [],
        "keras-backend-unknown": it.asked not in ("", *it.backends),
        "attached-and-idle": it.used == ("cpu",) and not has_none,
        "old-tpu-node": ":" in "".join(addresses),
        "tpu-in-use": is_tpu and it.holder != "",
        "two-tensorflows": " " in it.builds,
        "tensorflow-for-tpus": it.for_tpus,
        "tensorflow-for-cpus": is_gpu and it.builds == "tensorflow-cpu",
        "tensorflow-on-tpu": is_tpu and not it.for_tpus,
        "jax-platforms": it.environ.get("JAX_PLATFORMS") == "cpu" and not has_none,
        "jax-without-libtpu": is_tpu and jax != "" and libtpu in ("", RECIPE["libtpu"]),
        "jax-without-cuda": is_gpu and jax != "" and not any(map(it.versions, _CUDA_PLUGINS)),
        "jax-trains-wrongly": jax in STALE
        and has_none
        and FRESH not in flags
        and "AMD" in it.cpu_name,
        "jax-computes-wrongly": jax == "0.10.2" and has_none and _COUNTS not in flags,
        "jax-writes-slowly": jax == "0.11.1" and has_none,
    }


def examine(machine: Facts) -> list[Finding]:
    """Return all that is wrong with a machine, in the order in which to mend it."""
    texts = tables("faults.toml")
    words = {"it": machine, **machine.place_words}
    findings = []
    for name, is_there in _rules(machine).items():
        if is_there:
            fault = texts["fault"][name]
            fix = fault.get(f"fix_{machine.place}") or fault.get("fix", texts["back"])
            cause = fault["cause"].format(**words)
            findings.append(Finding(name, cause, fix.format(**words), fault["source"]))
    return findings


def find(machine: Facts) -> tuple[Finding, ...]:
    """Return the findings that matter to a machine's user: of the frameworks that are in use."""
    unused = "none"
    # A plain `import keras` looks for TensorFlow.
    if machine.kind != "TPU" and "tensorflow" in machine.backends:
        unused = "jax-"
    # Keras on JAX imports TensorFlow, too, and one for TPUs can end the program.
    if machine.bound == "jax" and not machine.for_tpus:
        unused = "tensorflow-"
    return tuple(one for one in examine(machine) if not one.id.startswith(unused))


def able(machine: Facts) -> list[str]:
    """Return the installed frameworks that can use the device, the best first."""
    ids = [finding.id for finding in examine(machine)]
    names = ["tensorflow", "jax"]
    if "gpu-too-new" in ids:
        names.reverse()
    if "gpu-hidden" in ids:
        names = []
    # A fault's id begins with the framework that it keeps off.
    kept_off = {fault.partition("-")[0] for fault in ids}
    return [name for name in names if name in machine.backends and name not in kept_off]


def said(machine: Facts, *names: str) -> str:
    """Return what is wrong and what to do, of a machine's first fault with one of some names.

    The beginning of an id is a name, too.
    """
    for one in examine(machine):
        if one.id.startswith(names):
            return f"{one.cause} {one.fix}"
    return ""
