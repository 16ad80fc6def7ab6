"""The machines of machines.toml, as the library takes recorded ones; processes of their own."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parents[2]


def read_machines():
    """Return the entries of machines.toml, each with what it has of the one that it is like."""
    machines = {None: {"environ": {}, "packages": {}}}
    for name, entry in tomllib.loads(Path(__file__).with_suffix(".toml").read_text()).items():
        base = machines[entry.get("like")]
        merged = {part: base[part] | entry.get(part, {}) for part in ("environ", "packages")}
        machines[name] = base | entry | merged
    del machines[None]
    return machines


MACHINES = read_machines()


def tpu_files(count, device="0x0063", vendor="0x1ae0", kind="0x120000"):
    """The PCI devices of TPU chips, by default v5e. Source: jax/_src/hardware_utils.py."""
    files = {}
    for chip in range(count):
        folder = f"sys/bus/pci/devices/0000:00:{chip:02x}.0"
        files[f"{folder}/vendor"] = vendor
        files[f"{folder}/device"] = device
        files[f"{folder}/class"] = kind
    return files


def write(root, files):
    for path, text in files.items():
        (Path(root) / path).parent.mkdir(parents=True, exist_ok=True)
        (Path(root) / path).write_text(text)


def build(machine, root):
    """Make a machine's files under a folder; return what `Facts` takes."""
    cpu = {"proc/cpuinfo": "model name\t: Intel(R) Xeon(R) CPU @ 2.20GHz\n"}
    write(root, cpu | tpu_files(machine.get("tpus", 0)) | machine.get("files", {}))
    answers = {"nvidia-smi": machine.get("smi", ""), "sysctl": machine.get("sysctl", "")}
    loaded = {"keras": keras_on(machine["keras_on"])} if "keras_on" in machine else {}
    return {
        "environ": dict(machine["environ"]),
        "root": root,
        "run": lambda command: answers[command[0]],
        "versions": machine["packages"].get,
        "loaded": loaded,
        "page": machine.get("page", {}),
        "used": tuple(machine.get("used", ())),
    }


def keras_on(name, version=""):
    """Keras as the library looks at it."""
    return SimpleNamespace(backend=SimpleNamespace(backend=lambda: name), __version__=version)


def python(code, *arguments, path=(), **environ):
    """Run code where no accelerator is and nothing is settled yet; return what it prints."""
    dropped = ("KERAS_", "TF_", "JAX_", "TPU_", "COLAB_", "PYTEST_")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
    roots = os.pathsep.join(map(str, [*path, ROOT]))
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**clean, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": roots, **environ},
        capture_output=True,
        text=True,
        timeout=280,
    )
