"""What this machine is: Colab or not, which accelerator is attached, which frameworks are there.

All of it comes from files, environment variables and package metadata. No framework is imported:
importing TensorFlow takes seconds, and Colab's TPU runtime does not have it.
"""

import importlib.metadata
import os
import platform
import re
import subprocess
import textwrap
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from accel_helpers._words import html_card

NVIDIA_SMI_SECONDS = 3.0  # a broken driver can make nvidia-smi hang
GIB = 2**30

# A framework, and the distributions that install it; all of a line share one module.
FRAMEWORKS = {
    "tensorflow": (
        "tensorflow", "tensorflow-cpu", "tensorflow-tpu", "tensorflow-macos", "tf-nightly",
    ),
    "keras": ("keras",), "jax": ("jax",), "jaxlib": ("jaxlib",), "libtpu": ("libtpu",),
    "torch": ("torch",), "numpy": ("numpy",), "matplotlib": ("matplotlib",),
    "ipywidgets": ("ipywidgets",), "IPython": ("ipython",),
}  # fmt: skip

# Source: jax/_src/hardware_utils.py in JAX 0.10.2. TPU v2 and v3 share an id.
_GOOGLE = "0x1ae0"
_TPU_DEVICES = {
    "0x0027": "TPU v2 or v3",
    "0x005e": "TPU v4",
    "0x0062": "TPU v5p",
    "0x0063": "TPU v5e",
    "0x006f": "TPU v6e",
    "0x0076": "TPU v7",
}
# Google's disks (class 01) and network cards (class 02) for virtual machines are no TPUs.
_NOT_TPU_CLASSES = ("0x01", "0x02")
_QUERY = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version",
          "--format=csv,noheader,nounits"]  # fmt: skip
_PLACES = {"colab": "Google Colab", "kaggle": "Kaggle", "local": "local (neither Colab nor Kaggle)"}
# how the notes begin that the doctor looks for
SILENT_GPU = "An NVIDIA driver is present, but nvidia-smi did not answer"
CLAIMED_TPU = "The environment claims a TPU"
_OLD_TPU_NODE = (
    "COLAB_TPU_ADDR is set: it belongs to Colab's old TPU node, which is gone; today a TPU is "
    "attached to the machine itself."
)
_NO_TENSORFLOW = (
    "A TPU is attached and TensorFlow is not installed; that is normal on Colab's TPU runtime: "
    "use Keras on JAX."
)

Run = Callable[[list[str], float], str]


@dataclass(frozen=True)
class Attached:
    """An accelerator that is attached to this machine, as one kind of device.

    ``count`` is the number of GPUs, or of TPU chips. ``memory_bytes`` is that of one of them and
    ``driver`` the driver's version, each ``None`` where unknown. ``evidence`` says how we know.
    """

    kind: str
    name: str
    count: int
    memory_bytes: int | None
    driver: str | None
    evidence: tuple[str, ...]

    def __str__(self) -> str:
        many = f"{self.count} x " if self.count > 1 else ""
        memory = f", {self.memory_bytes / GIB:.1f} GiB memory" if self.memory_bytes else ""
        kind = "" if self.name.startswith(self.kind) else f"{self.kind}, "
        return f"{kind}{many}{self.name}{memory}{' each' if many and memory else ''}"


@dataclass(frozen=True)
class Runtime:
    """What `describe` found. It prints as a card, and as a small table in a notebook.

    ``frameworks`` holds the version of each installed framework; ``cores`` are those that this
    process may use. ``cpu_name``, ``cores`` and ``memory_bytes`` are ``None`` where unknown.
    """

    place: str
    release: str | None
    accelerator: Attached | None
    frameworks: dict[str, str]
    python: str
    system: str
    cpu_name: str | None
    cores: int | None
    memory_bytes: int | None
    notes: tuple[str, ...]

    def to_dict(self) -> dict:
        """Give all of it as plain JSON types: no host name, no user name, no path."""
        plain = asdict(self) | {"notes": list(self.notes)}
        if self.accelerator:
            plain["accelerator"]["evidence"] = list(self.accelerator.evidence)
        return plain

    def _lines(self) -> Iterator[tuple[str, str]]:
        release = f" ({self.release})" if self.release else ""
        yield "Place", _PLACES.get(self.place, self.place) + release
        yield "Accelerator", self._accelerator_text()
        cores = f", {self.cores} usable core{'s' if self.cores > 1 else ''}" if self.cores else ""
        yield "CPU", (self.cpu_name or "name unknown") + cores
        yield "Memory", f"{self.memory_bytes / GIB:.1f} GiB" if self.memory_bytes else "unknown"
        yield "System", f"{self.system}, Python {self.python}"
        found = ", ".join(f"{name} {version}" for name, version in self.frameworks.items())
        yield "Frameworks", found or "none installed"
        for note in self.notes:
            yield "Note", note

    def _accelerator_text(self) -> str:
        if self.accelerator:
            return str(self.accelerator)
        if any(note.startswith(SILENT_GPU) for note in self.notes):
            return "none that answers (see the note)"
        if self.system.startswith("macOS"):
            return "none attached (no NVIDIA GPU and no TPU; Apple's own GPU is not looked for)"
        return "none attached (this machine has only its CPU)"

    def __str__(self) -> str:
        return "\n".join(
            textwrap.fill(value, 96, initial_indent=f"{label + ':':<14}",
                          subsequent_indent=" " * 14, break_on_hyphens=False)
            for label, value in self._lines()
        )  # fmt: skip

    def _repr_html_(self) -> str:
        return html_card("This runtime", self._lines())


def describe(
    *,
    environ: Mapping[str, str] | None = None,
    root: str | Path = "/",
    run: Run | None = None,
    versions: Callable[[str], str | None] | None = None,
) -> Runtime:
    """Describe this machine, in well under a second and without importing a framework.

    The arguments are there so that a test can hand in a recorded machine.

    Parameters
    ----------
    environ : mapping of str to str, optional
        The environment variables; by default those of this process.
    root : path
        The folder under which ``proc``, ``sys`` and ``dev`` are.
    run : callable of (list of str, seconds) -> str, optional
        Runs a command and gives its output; raises OSError or a subprocess error.
    versions : callable of str -> str or None, optional
        Gives the installed version of a distribution.

    Returns
    -------
    Runtime

    Examples
    --------
    >>> describe(environ={"KAGGLE_KERNEL_RUN_TYPE": "Interactive"}).place
    'kaggle'
    """
    environ = os.environ if environ is None else environ
    root, run, versions = Path(root), run or _run, versions or installed
    frameworks, notes = _frameworks(versions)
    tpu, tpu_notes = _tpu(root, environ)
    gpu, gpu_notes = (None, []) if tpu else _gpu(root, run)
    if tpu and "tensorflow" not in frameworks:
        tpu_notes.append(_NO_TENSORFLOW)
    place, release = _place(environ)
    cpu_name, memory = _cpu_name_and_memory(root, run)
    return Runtime(
        place=place,
        release=release,
        accelerator=tpu or gpu,
        frameworks=frameworks,
        python=platform.python_version(),
        system=f"{platform.system().replace('Darwin', 'macOS')} {platform.machine()}".strip(),
        cpu_name=cpu_name,
        cores=_cores(root),
        memory_bytes=memory,
        notes=tuple(tpu_notes + gpu_notes + notes),
    )


def _place(environ: Mapping[str, str]) -> tuple[str, str | None]:
    # Kaggle first: its image may be built on Colab's and carry Colab's variables.
    if environ.get("KAGGLE_KERNEL_RUN_TYPE"):
        return "kaggle", None
    if release := environ.get("COLAB_RELEASE_TAG"):
        return "colab", release
    if environ.get("VERTEX_PRODUCT") == "COLAB_ENTERPRISE":
        return "colab", "Colab Enterprise"
    return "local", None


def _frameworks(versions) -> tuple[dict[str, str], list[str]]:
    found, notes = {}, []
    for name, distributions in FRAMEWORKS.items():
        there = {each: version for each in distributions if (version := versions(each))}
        if there:
            found[name] = next(iter(there.values()))
        # On a Mac, the package tensorflow itself installs tensorflow-macos.
        clash = [each for each in there if each != "tensorflow-macos"]
        if len(clash) > 1:
            notes.append(
                f"Several packages install the module {name} ({', '.join(clash)}), and the last "
                "one installed wins: keep one of them."
            )
    return found, notes


def _tpu(root: Path, environ: Mapping[str, str]) -> tuple[Attached | None, list[str]]:
    ids = []
    for device in _glob(root / "sys/bus/pci/devices", "*"):
        if _read(device / "vendor").strip() == _GOOGLE:
            known = (name := _read(device / "device").strip()) in _TPU_DEVICES
            if known or not _read(device / "class").startswith(_NOT_TPU_CLASSES):
                ids.append(name)
    notes = [_OLD_TPU_NODE] if environ.get("COLAB_TPU_ADDR") else []
    if ids:
        device, count = Counter(ids).most_common(1)[0]
        evidence = [f"PCI bus: vendor {_GOOGLE}, device {device or 'unknown'}"]
        # Up to TPU v4 the driver's files are accel0, ...; later chips use vfio.
        if _glob(root / "dev", "accel*") or _glob(root / "dev/vfio", "[0-9]*"):
            evidence.append("device files")
        name = _TPU_DEVICES.get(device, "TPU of unknown type")
        return Attached("TPU", name, count, None, None, tuple(evidence)), notes
    # The variable exists on every Colab runtime and is empty where there is no TPU.
    claim = environ.get("TPU_ACCELERATOR_TYPE") or environ.get("COLAB_TPU_1VM")
    if claim:
        kind = f" ({claim})" if re.fullmatch(r"v\d\w{0,9}-\d{1,4}", claim) else ""
        notes.append(f"{CLAIMED_TPU}{kind}, but none is attached: the PCI bus shows no chip.")
    return None, notes


def _gpu(root: Path, run: Run) -> tuple[Attached | None, list[str]]:
    version = _read(root / "proc/driver/nvidia/version")
    nodes = {node.name for node in _glob(root / "dev", "nvidia*")}
    evidence = ["NVIDIA driver"] if version or nodes else []
    # Under Windows' WSL the driver has no file but the one that all GPUs share.
    if not evidence and not (root / "dev/dxg").exists():
        return None, []
    try:
        rows = [line.rsplit(",", 2) for line in run(_QUERY, NVIDIA_SMI_SECONDS).splitlines()]
    except (OSError, subprocess.SubprocessError):
        rows = []
    rows = [[cell.strip() for cell in row] for row in rows if len(row) == 3]
    # An error message can come with commas; a size is a number, or "[N/A]" where memory is shared.
    rows = [row for row in rows if row[1].isdecimal() or row[1].startswith("[")]
    if rows:
        name, memory, driver = rows[0]
        others = sorted({row[0] for row in rows} - {name})
        notes = [f"There are GPUs of another type, too: {', '.join(others)}."] if others else []
        size = int(memory) * 2**20 if memory.isdecimal() else None
        count = sum(row[0] == name for row in rows)
        return Attached("GPU", name, count, size, driver, (*evidence, "nvidia-smi")), notes
    if not evidence:
        return None, []
    # The driver lists every GPU of the host; a container has only those with a device file.
    models, missing = [], []
    for folder in _glob(root / "proc/driver/nvidia/gpus", "*"):
        text = _read(folder / "information")
        model = _field(text, "Model") or "NVIDIA GPU of unknown type"
        minor = _field(text, "Device Minor")
        here = f"nvidia{minor}" in nodes if minor else "nvidiactl" in nodes
        (models if here else missing).append(model)
    if models:
        name, count = Counter(models).most_common(1)[0]
        number = re.search(r"Kernel Module\s+(?:for \S+\s+)?([\d.]+)", version)
        note = f"{SILENT_GPU}; the name comes from the driver's own list."
        found = (*evidence, "the driver's list of GPUs")
        return Attached("GPU", name, count, None, number and number[1], found), [note]
    note = f"{SILENT_GPU}: the GPU may be busy, broken or not handed to this machine."
    if missing:
        note = (
            f"{SILENT_GPU}, and the {missing[0]} that the driver lists has no device file here: "
            "a container must be given the GPU."
        )
    return None, [note]


def _cpu_name_and_memory(root: Path, run: Run) -> tuple[str | None, int | None]:
    cpuinfo = _read(root / "proc/cpuinfo")
    name = _field(cpuinfo, "model name") or _field(cpuinfo, "Model")
    total = _field(_read(root / "proc/meminfo"), "MemTotal") or ""
    memory = (_whole(total.removesuffix("kB")) or 0) * 1024
    if not cpuinfo and not memory:  # a Mac has no such files
        name = _sysctl(run, "machdep.cpu.brand_string")
        memory = _whole(_sysctl(run, "hw.memsize") or "") or 0
    for folder in _cgroups(root, "memory"):
        limits = (_whole(_read(folder / f)) for f in ("memory.max", "memory.limit_in_bytes"))
        memory = min([memory, *filter(None, limits)])
    return name, memory or None


def _cores(root: Path) -> int | None:
    try:
        cores = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # not on macOS and Windows
        cores = os.cpu_count()
    for folder in _cgroups(root, "cpu"):
        files = (folder / "cpu.cfs_quota_us", folder / "cpu.cfs_period_us")
        pair = _read(folder / "cpu.max").split() or [_read(file) for file in files]
        quota, period = _whole(pair[0]), _whole(pair[-1])
        if cores and quota and period:
            cores = min(cores, -(-quota // period))
    return cores


def _cgroups(root: Path, controller: str) -> set[Path]:
    """Give the control groups whose limits bind this process: its own and all above it."""
    top = root / "sys/fs/cgroup"
    folders = {top, top / controller}
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, names, path = (line.split(":", 2) + ["", ""])[:3]
        if not names or controller in names.split(","):
            own = PurePosixPath(path.lstrip("/"))
            home = top / controller if names else top
            folders.update(home / each for each in (own, *own.parents))
    return folders


def _sysctl(run: Run, key: str) -> str | None:
    try:
        return run(["sysctl", "-n", key], 1.0).strip() or None
    except (OSError, subprocess.SubprocessError):
        return None


def _run(command: list[str], timeout: float) -> str:
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, errors="replace",
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        # A child stuck inside the driver does not die at once: let a thread wait for it, not us.
        threading.Thread(target=process.communicate, daemon=True).start()
        raise
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return output


def installed(distribution: str) -> str | None:
    """Give the installed version of a distribution, or None; nothing is imported."""
    try:
        return importlib.metadata.version(distribution)
    except (ImportError, KeyError, OSError, ValueError):  # not there, or its metadata is broken
        return None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _glob(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def _field(text: str, label: str) -> str | None:
    """Give the value of the first line ``label : value``."""
    found = re.search(rf"^{label}[ \t]*:[ \t]*(\S.*?)[ \t]*$", text, re.MULTILINE)
    return found[1] if found else None


def _whole(text: str) -> int | None:
    """Read a whole number above zero; "max" and -1 mean no limit."""
    text = text.strip()
    return int(text) or None if text.isdecimal() else None
