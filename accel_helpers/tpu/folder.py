"""Where the TPU compiler is kept, whether it is whole, and how a script runs in it."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from accel_helpers._words import format_bytes

# Wheels of all of them exist for Python 3.11, 3.12 and 3.13 on Linux x86-64 (tried 2026-11-21).
PINS = {
    "jax": "0.8.3",
    "jaxlib": "0.8.3",
    # The last under Apache 2.0, by "License:" in the wheel's METADATA; from 0.0.35 on, that says
    # "Google Cloud Platform Terms of Service".
    "libtpu": "0.0.32.1",
    "numpy": "2.4.6",
    "scipy": "1.17.1",
    "ml_dtypes": "0.6.0",
    "opt_einsum": "3.4.0",
}
PYTHONS = ((3, 11), (3, 12), (3, 13))
NAME = "tpu-compiler-"  # how the names of our folders begin
MARKER = "accel_helpers.json"  # in each of them: what it holds
HOW = "`python -m accel_helpers tpu-compiler install`"
_LARGEST = 10  # files whose sizes are noted in the marker

# No TPU is here and none is looked for; two may compile at once; no logs are written.
VARIABLES = {
    "TPU_SKIP_MDS_QUERY": "1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "JAX_PLATFORMS": "cpu",
    "TPU_LOG_DIR": "disabled",
    "TPU_MIN_LOG_LEVEL": "4",  # below 4 it leaves files tpu_driver.* in the temporary folder
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_WORKER_ID": "0",
    "LANG": "C.UTF-8",
}
_PASSED_ON = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")  # some Pythons need the last to start

_SCRIPT = """
import runpy, sys
sys.path.append(sys.argv[1])
del sys.argv[:2]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@dataclass(frozen=True)
class Environment:
    """The folder of the TPU compiler, as it was found.

    Attributes
    ----------
    folder : Path
        Where it is, or would be.
    ready : bool
        Whether it is there and whole.
    why : str
        Why it is not ready, and what to do, in a sentence or two; empty where it is.
    bytes : int
        What it takes on disk; 0 where it is not ready.
    versions : tuple of (str, str)
        Name and version of each package in it.
    """

    folder: Path
    ready: bool
    why: str = ""
    bytes: int = 0
    versions: tuple[tuple[str, str], ...] = ()

    def command(
        self,
        script: str | Path,
        *words: str,
        scratch: str | Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> tuple[list[str], dict[str, str]]:
        """Give the command that runs a script in this environment, for `probe.run_command`.

        The script sees the standard library and this folder: nothing of the learner's packages
        or variables. Its standard input is what `probe.run_command` says.

        Parameters
        ----------
        script : str or Path
            A Python file.
        *words : str
            What it finds in ``sys.argv[1:]``.
        scratch : str or Path, optional
            A folder for its temporary files; by default the usual one.
        environ : mapping of str to str, optional
            Variables to pick from; by default those of this process.

        Returns
        -------
        tuple of (list of str, dict)
            The words of the command, and all variables for it.

        Raises
        ------
        RuntimeError
            If the environment is not ready.

        Examples
        --------
        >>> words, environ = Environment(Path("there"), ready=True).command("job.py", "v5e:1x1")
        >>> words[-3:], environ["JAX_PLATFORMS"]
        (['there', 'job.py', 'v5e:1x1'], 'cpu')
        """
        if not self.ready:
            raise RuntimeError(self.why)
        child = variables(os.environ if environ is None else environ, scratch)
        # Isolated, without site-packages, and without bytecode: the folder stays as it is.
        start = [sys.executable, "-I", "-S", "-B", "-c", _SCRIPT]
        return [*start, str(self.folder), str(script), *words], child

    def to_dict(self) -> dict:
        """The environment as plain JSON types."""
        return {
            "folder": str(self.folder),
            "ready": self.ready,
            "why": self.why,
            "bytes": self.bytes,
            "versions": dict(self.versions),
        }

    def __str__(self) -> str:
        if not self.ready:
            return self.why
        versions = dict(self.versions)
        return (
            f"The TPU compiler is ready: libtpu {versions.get('libtpu')} with jax "
            f"{versions.get('jax')}, {format_bytes(self.bytes)} in {self.folder}."
        )


def variables(environ: Mapping[str, str], scratch: str | Path | None = None) -> dict[str, str]:
    """All variables of a child that works with the TPU compiler; few are those of `environ`.

    Examples
    --------
    >>> variables({"PATH": "/usr/bin", "PYTHONPATH": "mine"}, "there")["TMPDIR"]
    'there'
    """
    child = {name: environ[name] for name in _PASSED_ON if name in environ} | VARIABLES
    return child if scratch is None else child | {"TMPDIR": str(scratch)}


def this_machine() -> tuple[str, str, tuple[int, int]]:
    """System, processor and Python version, as ("Linux", "x86_64", (3, 12))."""
    system = platform.system() if sys.implementation.name == "cpython" else sys.implementation.name
    return system, platform.machine(), sys.version_info[:2]


def unfit(machine: tuple[str, str, tuple[int, int]]) -> str:
    """Say why a machine cannot have the TPU compiler; nothing where it can.

    Examples
    --------
    >>> unfit(("Linux", "x86_64", (3, 12)))
    ''
    >>> unfit(("Darwin", "arm64", (3, 12)))[-48:]
    'this is Darwin on arm64. In Colab it can be had.'
    """
    system, processor, python = machine
    if (system, processor) != ("Linux", "x86_64"):
        return (
            "The TPU compiler was tried on Linux on x86-64 with CPython only, and is refused "
            f"elsewhere; this is {system} on {processor}. In Colab it can be had."
        )
    if python not in PYTHONS:
        return (
            "The TPU compiler needs Python 3.11, 3.12 or 3.13; this is {}.{}. Start Python in "
            "one of them.".format(*python)
        )
    return ""


def kept_in(environ: Mapping[str, str] | None = None) -> Path:
    """The folder that the TPU compiler is kept in, with its lock.

    Examples
    --------
    >>> kept_in({"ACCEL_TPU_COMPILER": "/data/compiler"}).as_posix()
    '/data/compiler'
    >>> kept_in({"XDG_CACHE_HOME": "/data/cache"}).as_posix()
    '/data/cache/accel_helpers'
    """
    environ = os.environ if environ is None else environ
    if named := environ.get("ACCEL_TPU_COMPILER"):
        try:
            return Path(named).expanduser().absolute()
        except RuntimeError:  # "~somebody" whom this machine does not know
            return Path(named).absolute()
    cache = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or Path.home(), ".cache")
    return Path(cache).expanduser().absolute() / "accel_helpers"


def status(
    environ: Mapping[str, str] | None = None,
    *,
    machine: tuple[str, str, tuple[int, int]] | None = None,
) -> Environment:
    """Say whether the TPU compiler is installed. A quick look: nothing of it is imported.

    Parameters
    ----------
    environ : mapping of str to str, optional
        Variables that say where; by default those of this process. ``ACCEL_TPU_COMPILER`` names
        the folder to keep it in; without it, that is ``accel_helpers`` in the user's cache.
    machine : tuple, optional
        As from `this_machine`, which it is by default.

    Returns
    -------
    Environment

    Examples
    --------
    >>> here = ("Linux", "x86_64", (3, 12))
    >>> print(status({"ACCEL_TPU_COMPILER": "/no/such"}, machine=here))
    The TPU compiler is not installed. `python -m accel_helpers tpu-compiler install` does it.
    """
    machine = machine or this_machine()
    tag = "{}jax{}-libtpu{}-py{}{}".format(NAME, PINS["jax"], PINS["libtpu"], *machine[2])
    folder = kept_in(environ) / tag
    if why := unfit(machine):
        return Environment(folder, False, why)
    if folder.parent.exists() and not folder.parent.is_dir():
        why = f"{folder.parent} is no folder: set ACCEL_TPU_COMPILER to one."
        return Environment(folder, False, why)
    if not os.path.lexists(folder):
        return Environment(folder, False, f"The TPU compiler is not installed. {HOW} does it.")
    noted = marker(folder)
    if noted is None:
        return Environment(folder, False, in_the_way(folder))
    if wrong := _missing(folder, noted):
        why = f"The TPU compiler in {folder} is not whole: {wrong}. {HOW} makes it again."
        return Environment(folder, False, why)
    return Environment(folder, True, "", noted["bytes"], tuple(PINS.items()))


def in_the_way(folder: Path) -> str:
    """Say that a folder is not known to be ours, so that nobody but its owner deletes it."""
    return (
        f"{folder} is in the way: it has no valid {MARKER}, so it is not, or no longer, a TPU "
        f"compiler. Delete it or rename it; then {HOW}."
    )


def marker(folder: Path) -> dict | None:
    """What the marker of a folder says; None where there is none, so the folder is not ours."""
    try:
        noted = json.loads((folder / MARKER).read_text("utf-8"))
        whole = {"pins", "bytes", "files"} <= set(noted) and not folder.is_symlink()
    except (OSError, ValueError, TypeError):
        return None
    return noted if whole else None


def mark(folder: Path) -> None:
    """Write the marker: the pins, the bytes, and the sizes of the largest files."""
    sizes = {
        path.relative_to(folder).as_posix(): path.lstat().st_size
        for path in folder.rglob("*")
        if path.is_file()
    }
    largest = sorted(sizes, key=sizes.get, reverse=True)[:_LARGEST]
    noted = {
        "made_by": "accel_helpers",
        "pins": PINS,
        "bytes": sum(sizes.values()),
        "files": {name: sizes[name] for name in largest},
    }
    (folder / MARKER).write_text(json.dumps(noted, indent=1), "utf-8")


def _missing(folder: Path, noted: dict) -> str:
    if noted["pins"] != PINS:
        return "it holds other versions than this course needs"
    for name, size in noted["files"].items():
        try:
            found = (folder / name).stat().st_size
        except OSError:
            return f"{name} is missing"
        if found != size:
            return f"{name} has {found} bytes instead of {size}"
    return ""
