"""The rules behind `strategy.pick`: from what a machine is to where a model trains on it.

Each rule is a plain function of a `Machine`. Nothing here imports a framework.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from accel_helpers.machine.recipe import fits, pairs
from accel_helpers.machine.runtime import Runtime
from accel_helpers.probe import answer_at

SPOKEN = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}
Decision = tuple[str, str, int, list[str]]  # kind, backend, replicas, sentences of the reason

# TensorFlow up to 2.20 is not built for NVIDIA's Blackwell GPUs (compute capability 12.0).
# Source: https://github.com/tensorflow/tensorflow/issues/97387 and .../issues/99592.
FIRST_FOR_BLACKWELL = (2, 21)
BLACKWELL = re.compile(r"Blackwell|\bRTX 50\d\d\b|\bB[1-3]00\b")

ACCELERATOR_AT = {
    "colab": "For a GPU: Runtime → Change runtime type → T4 GPU.",
    "kaggle": "For one: the notebook's settings panel, Accelerator.",
    "local": "The course runs here all the same; Google Colab can lend a GPU or a TPU.",
}
RESTART = {
    "colab": "Runtime → Restart session",
    "kaggle": "Run → Restart & clear cell outputs",
    "local": "Kernel → Restart",
}
_BLACKWELL = {
    "jax": "so Keras runs on JAX (we have not tried this GPU)",
    "tensorflow": "if it fails, use Keras on JAX or another GPU",
}


@dataclass(frozen=True)
class Machine:
    """What the rules look at; each is a fact, none a decision."""

    place: str
    accelerator: str  # "GPU", "TPU" or "none"
    name: str
    count: int
    system: str
    notes: tuple[str, ...]
    frameworks: Mapping[str, str]
    tensorflow_build: str  # the distribution: "tensorflow", "tensorflow-tpu", ... or ""
    jax_on_gpu: bool  # whether JAX has its CUDA plugin
    environ: Mapping[str, str]
    keras_on: str  # the framework under a loaded Keras, or ""
    tensorflow_loaded: bool

    @classmethod
    def of(
        cls,
        here: Runtime,
        environ: Mapping[str, str],
        versions: Callable[[str], str | None],
        loaded: Mapping,
    ) -> Machine:
        """Gather the facts: from the runtime, the variables, the metadata, what is loaded."""
        found = here.accelerator
        builds = (
            "tensorflow-tpu",
            "tensorflow",
            "tf-nightly",
            "tensorflow-macos",
            "tensorflow-cpu",
        )
        return cls(
            place=here.place,
            accelerator=found.kind if found else "none",
            name=found.name if found else "",
            count=found.count if found else 0,
            system=here.system,
            notes=here.notes,
            frameworks=here.frameworks,
            tensorflow_build=next((build for build in builds if versions(build)), ""),
            jax_on_gpu=any(versions(f"jax-cuda{n}-plugin") for n in (12, 13)),
            environ=environ,
            keras_on=keras_backend(loaded),
            tensorflow_loaded=loaded.get("tensorflow") is not None,
        )

    @property
    def usable(self) -> list[str]:
        """The frameworks that are installed and that a strategy here knows."""
        return [name for name in ("tensorflow", "jax") if name in self.frameworks]


def keras_backend(loaded: Mapping) -> str:
    """Give the framework under a loaded Keras, by looking only; empty where there is none."""
    try:
        return str(loaded["keras"].backend.backend())
    except Exception:  # not loaded, loaded by half, or a module of another kind by that name
        return ""


def decide(machine: Machine, asked: int | None, probe: Callable) -> Decision:
    """Decide where to train.

    Parameters
    ----------
    machine : Machine
    asked : int or None
        How many replicas were asked for.
    probe : callable
        As `probe.run`; it keeps to the time that is left.

    Returns
    -------
    tuple of str, str, int and list of str
        The kind, the backend, the number of replicas and the sentences of the reason.
    """
    settled, why = _settled(machine)
    if machine.accelerator == "TPU":
        return _on_tpu(machine, asked, probe, settled, why)
    if machine.accelerator == "GPU":
        return _on_gpu(machine, asked, probe, settled, why)
    return _on_cpu(machine, asked, probe, settled, why + _none_attached(machine, probe))


def _settled(machine: Machine) -> tuple[str, list[str]]:
    """Say which framework Keras is bound to, if it is, and why."""
    on, asked = machine.keras_on, machine.environ.get("KERAS_BACKEND", "")
    if on in SPOKEN and on != "torch":
        return on, [f"Keras is already loaded on {SPOKEN[on]}."]
    if on:
        return "", [
            f"Keras is already loaded on {SPOKEN.get(on, _short(on))}, which no strategy here "
            f"knows: restart first ({RESTART[machine.place]})."
        ]
    if asked in machine.usable:
        return asked, [f"KERAS_BACKEND asks for {SPOKEN[asked]}."]
    if asked:
        fault = "is not installed here" if asked in SPOKEN else "Keras does not know"
        fault = "no strategy here knows" if asked in machine.frameworks else fault
        accepted = " or ".join(machine.usable) or "tensorflow or jax"
        return "", [
            f"KERAS_BACKEND is set to {_short(asked)}, which {fault}; set it to {accepted}."
        ]
    return "", []


# TPU


def _on_tpu(machine, asked, probe, settled, why) -> Decision:
    jax_fault, tf_fault = jax_misfit(machine), tensorflow_misfit(machine)
    number, more = _number(asked, machine.count, "TPU chip")
    restart = RESTART[machine.place]
    # A build for TPUs that cannot drive this one could not train on the CPU either.
    no_way_back = machine.tensorflow_build == "tensorflow-tpu" and not machine.keras_on
    if not jax_fault and (settled != "tensorflow" or (tf_fault and no_way_back)):
        fault = [tf_fault] if settled == "tensorflow" else []
        them = "it" if machine.count == 1 else "them"
        why = [*why, *fault, f"{_attached(machine)}, and JAX drives {them}.", *more]
        return "tpu on jax", "jax", number, why
    if not tf_fault and settled != "jax":
        why.append(
            f"{_attached(machine)}, and the installed TensorFlow and libtpu fit "
            "together. The course has not seen this run on Colab's TPU: if it fails, Keras on "
            "JAX is the way that is known."
        )
        if machine.tensorflow_loaded:
            more.append(
                "TensorFlow is already loaded, and it takes its settings for a TPU only before: "
                f"if the scope refuses, restart ({restart}) and pick first."
            )
        return "tpu on tensorflow", "tensorflow", number, why + more
    why.append(f"{_attached(machine)}, and not used.")
    why += {"jax": [jax_fault], "tensorflow": [tf_fault]}.get(settled, [tf_fault, jax_fault])
    if not jax_fault:
        variable = "" if machine.keras_on else "take KERAS_BACKEND out of the environment, "
        why.append(
            f"Keras on JAX drives it, with nothing to install: {variable}restart ({restart}) and "
            "pick before anything else."
        )
    elif machine.place == "colab":
        why.append("Colab's TPU runtime comes with Keras on JAX, which drives it: take a fresh one "
                   "(Runtime → Disconnect and delete runtime).")  # fmt: skip
    elif "JAX_PLATFORMS" not in jax_fault:
        why.append('Keras on JAX drives it: pip install "jax[tpu]", and restart.')
    return _on_cpu(machine, asked, probe, settled, why)


def tensorflow_misfit(machine: Machine) -> str:
    """Say in a sentence why the installed TensorFlow cannot drive a TPU; "" where it may."""
    if "tensorflow" not in machine.frameworks:
        return "TensorFlow is not installed."
    version, libtpu = machine.frameworks["tensorflow"], machine.frameworks.get("libtpu", "")
    if machine.tensorflow_build != "tensorflow-tpu":
        return f"TensorFlow here ({machine.tensorflow_build} {version}) has no kernels for a TPU."
    if not fits(version, libtpu):
        fitting = " or ".join(f"{tf} with libtpu {lib}" for tf, lib in pairs())
        have = f"libtpu {libtpu}" if libtpu else "no libtpu"
        return (
            f"tensorflow-tpu {version} with {have} is not known to start a TPU (known: {fitting})."
        )
    return ""


def jax_misfit(machine: Machine) -> str:
    """Say in a sentence why JAX cannot drive an attached TPU; "" where it may."""
    if "jax" not in machine.frameworks:
        return "JAX is not installed."
    libtpu = machine.frameworks.get("libtpu", "")
    if not libtpu:
        return "JAX is installed without libtpu, which it needs for a TPU."
    if any(libtpu == pinned for _, pinned in pairs()):
        return f"libtpu {libtpu} belongs to tensorflow-tpu and is too old for JAX."
    return _kept_off(machine, "tpu")


# GPU


def _on_gpu(machine, asked, probe, settled, why) -> Decision:
    visible = visible_gpus(machine.environ.get("CUDA_VISIBLE_DEVICES"), machine.count)
    named = f"{_attached(machine)}"
    if visible == 0:
        value = _short(machine.environ["CUDA_VISIBLE_DEVICES"])
        why.append(
            f"{named}, and CUDA_VISIBLE_DEVICES={value} hides it: take the variable out of the "
            f"environment and restart ({RESTART[machine.place]})."
        )
        return _on_cpu(machine, asked, probe, settled, why)
    faults = {name: _gpu_fault(machine, name) for name in machine.usable}
    able = [name for name in machine.usable if not faults[name]]
    if settled:
        name = settled
    else:
        newer = len(able) == 2 and _not_for_blackwell(machine)
        name = "jax" if newer else (able or [""])[0]
    if faults.get(name) or not name:
        named_faults = [faults[name]] if name else list(faults.values())
        why = [*why, f"{named}, and not used.", *named_faults]
        if others := [each for each in able if each != name]:
            why.append(f"{SPOKEN[others[0]]} here can: set KERAS_BACKEND={others[0]} and restart.")
        return _on_cpu(machine, asked, probe, name, why)
    number, more = _number(asked, visible, "GPU")
    if _not_for_blackwell(machine):
        text = f"TensorFlow {machine.frameworks['tensorflow']} is not built for this generation"
        more.insert(0, f"{text} (Blackwell): {_BLACKWELL[name]}.")
    if visible < machine.count:
        more.append(f"CUDA_VISIBLE_DEVICES shows {visible} of {machine.count}.")
    kind = "several gpus" if number > 1 else "one gpu"
    return kind, name, number, [*why, f"{named}.", *more]


def visible_gpus(setting: str | None, count: int) -> int:
    """Count the GPUs that CUDA_VISIBLE_DEVICES leaves visible.

    Parameters
    ----------
    setting : str or None
        The variable; None where it is not set. CUDA reads it up to the first entry that names
        no GPU: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables
    count : int
        How many are attached.

    Returns
    -------
    int

    Examples
    --------
    >>> [visible_gpus(setting, 2) for setting in (None, "0", "1,0", "-1", "", "0,7,1")]
    [2, 1, 2, 0, 0, 1]
    """
    if setting is None:
        return count
    seen: set[str] = set()
    for entry in (each.strip() for each in setting.split(",")):
        by_number = entry.isascii() and entry.isdecimal() and int(entry) < count
        if entry in seen or not (by_number or entry.startswith(("GPU-", "MIG-"))):
            break
        seen.add(entry)
    return min(len(seen), count)


def _gpu_fault(machine: Machine, name: str) -> str:
    if name == "jax" and not machine.jax_on_gpu:
        return "JAX is installed without its CUDA plugin (jax-cuda12-plugin), so it sees no GPU."
    if name == "jax":
        return _kept_off(machine, "cuda", "gpu")
    if machine.tensorflow_build in ("tensorflow-cpu", "tensorflow-tpu"):
        return f"The installed TensorFlow ({machine.tensorflow_build}) is built without GPUs."
    return ""


def _not_for_blackwell(machine: Machine) -> bool:
    numbers = re.findall(r"\d+", machine.frameworks.get("tensorflow", ""))[:2]
    return bool(BLACKWELL.search(machine.name)) and tuple(map(int, numbers)) < FIRST_FOR_BLACKWELL


# CPU


def _on_cpu(machine, asked, probe, settled, why) -> Decision:
    name, why = settled, list(why)
    if machine.tensorflow_build == "tensorflow-tpu" and not machine.tensorflow_loaded:
        name, more = _past_tensorflow_tpu(machine, probe, settled)
        why += more
    if not name:
        name = (machine.usable or ["tensorflow"])[0]
    if not machine.usable:
        why.append("Neither TensorFlow nor JAX is installed: pip install tensorflow")
    if asked is None or asked == 1:
        return "cpu", name, 1, why or ["One copy of the model trains on the CPU."]
    why.insert(
        0,
        "They share the cores of this CPU: they show how it works, not how fast it is.",
    )
    return "virtual replicas", name, asked, why


def _past_tensorflow_tpu(machine: Machine, probe: Callable, settled: str) -> tuple[str, list[str]]:
    """Keep clear of a TensorFlow that is built for TPUs, on a CPU, where that can be done."""
    bad = "tensorflow-tpu is installed, which is no good without a TPU"
    cure = "Uninstall it: pip uninstall -y tensorflow-tpu"
    if settled == "jax":
        return "jax", []
    if not settled and "jax" in machine.usable:
        return "jax", [f"{bad}; JAX trains on the CPU. {cure}"]
    tried = probe("import tensorflow", seconds=60, environ={"TPU_SKIP_MDS_QUERY": "1"})
    how = f"its import, tried in a child process, {tried.ending}"
    if tried.kind == "finished":
        how = "outside of the scope, training needs compile(jit_compile=False)"
    if tried.kind == "crashed" and "jax" in machine.usable:
        return "jax", [f"{bad}: {how}; so JAX trains. {cure}"]
    return "tensorflow", [f"{bad}: {how}. {cure}; then pip install tensorflow"]


def _none_attached(machine: Machine, probe: Callable) -> list[str]:
    said = [note for note in machine.notes if re.match(r"The environment claims|An NVIDIA", note)]
    if not said:
        apple = " that the course can use" if machine.system.startswith("macOS") else ""
        said = [f"No accelerator{apple} is attached. {ACCELERATOR_AT[machine.place]}"]
    elif machine.place == "colab":
        said.append("If you asked for one, take a fresh runtime: Runtime → Disconnect and delete "
                    "runtime.")  # fmt: skip
    return said + _addresses(machine.environ, probe)


def _addresses(environ: Mapping[str, str], probe: Callable) -> list[str]:
    """Say what the variables of the old TPU node are worth; ask only in a child process."""
    node, name = environ.get("COLAB_TPU_ADDR", "").strip(), environ.get("TPU_NAME", "").strip()
    if not node and not name.startswith("grpc://"):
        unknown = name and name != "local"
        return ["TPU_NAME is set, and there is no such TPU here."] if unknown else []
    variable, address = ("COLAB_TPU_ADDR", node) if node else ("TPU_NAME", name)
    return [
        f"{variable} is set: it belongs to the old TPU node, which is gone "
        f"({answer_at(address, probe)}). Never let TensorFlow connect to it: that call may not "
        "come back."
    ]


def _kept_off(machine: Machine, *platforms: str) -> str:
    setting = machine.environ.get("JAX_PLATFORMS", "")
    if not setting or any(each.strip() in platforms for each in setting.split(",")):
        return ""
    return f"JAX_PLATFORMS={_short(setting)} keeps JAX off it: take the variable out and restart."


def _number(asked: int | None, count: int, what: str) -> tuple[int, list[str]]:
    if asked is not None and asked > count:
        there = f"there is one {what}" if count == 1 else f"there are {count} {what}s"
        return count, [f"{asked} replicas were asked for, and {there}."]
    return asked or count, []


def _attached(machine: Machine) -> str:
    name = machine.name
    if machine.count > 1:
        return f"{machine.count} x {name} are attached"
    return f"{'An' if name[:1] in 'AEIO' or name.startswith('NVIDIA') else 'A'} {name} is attached"


def _short(value: str) -> str:
    return repr(value if len(value) <= 40 else value[:37] + "...")
