"""The TPU compiler, kept apart from the learner's packages: installed, found and removed."""

import importlib.util
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from accel_helpers._values import probe
from accel_helpers._values.words import format_bytes

# package -> version that is installed. Wheels of all of them exist for Python 3.11, 3.12 and 3.13
# on Linux x86-64 (tried 2026-11-21).
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
INSTALL_SECONDS = 900.0  # that the installer may take
CHECK_SECONDS = 120.0  # that the import of what was installed may take
# The name of the compiler's folder: "tpu-compiler-jax0.8.3-libtpu0.0.32.1-py311".
FOLDER = "tpu-compiler-jax{}-libtpu{}-py{}"
# How the name of a folder begins that is still being filled.
UNFINISHED = ".tpu-compiler-"
INSTALL_COMMAND = "`python -m accel_helpers tpu install`"

# Variables for the compiler's process: it looks for no TPU, two may compile at once, and no logs
# are written.
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
    "PYTHONDONTWRITEBYTECODE": "1",  # the folder stays as it is
}
# Variables of the learner that the compiler sees. Some Pythons need the last one to start.
_PASSED_ON = ("PATH", "HOME", "LD_LIBRARY_PATH")
# How those variables begin that the learner may have set for other installs. The installer does
# not see them, since they would send the packages elsewhere, or stop it.
_DROPPED = ("PYTHON", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_CONSTRAINT",
            "PIP_REQUIRE", "PIP_NO_COMPILE", "UV_CONSTRAINT", "UV_OVERRIDE")  # fmt: skip
_PIP_INSTALL = (
    sys.executable, "-m", "pip", "install",
    "--no-input", "--no-cache-dir", "--disable-pip-version-check",
    "--retries", "3",
)  # fmt: skip
_UV_INSTALL = (
    "uv", "pip", "install",
    "--no-cache", "--compile-bytecode",
    "--python", sys.executable,
)  # fmt: skip


class InstallFailed(RuntimeError):
    """The TPU compiler could not be installed; the message says why, and what to do."""


@dataclass(frozen=True)
class Environment:
    """The folder with the packages of the TPU compiler, and whether they are there."""

    folder: Path
    why: str = ""  # a sentence on why the compiler cannot be used, and what to do; "" if it can

    @property
    def ready(self) -> bool:
        """Whether the compiler can be used."""
        return not self.why

    def command(
        self, *arguments: str | Path, scratch: str | Path, environ: Mapping[str, str] = os.environ
    ) -> tuple[list[str], dict[str, str]]:
        """Return the command that runs Python with these arguments, and all variables for it.

        Its process sees the packages in this folder and no others, and of the variables in
        `environ` only a few. Its temporary files go into the folder `scratch`.
        """
        variables = {name: environ[name] for name in _PASSED_ON if name in environ}
        variables |= VARIABLES
        variables["PYTHONPATH"] = str(self.folder)
        variables["TMPDIR"] = str(scratch)
        command = [sys.executable, "-SP", *(str(argument) for argument in arguments)]
        return command, variables

    def to_dict(self) -> dict:
        """Return the folder, its versions and its size in bytes, as plain values.

        If the compiler is not ready, there are no versions, and the size is 0.
        """
        size = 0
        versions = {}
        if self.ready:
            size = _bytes_in(self.folder)
            versions = PINS
        return {
            "folder": str(self.folder),
            "ready": self.ready,
            "why": self.why,
            "bytes": size,
            "versions": versions,
        }

    def __str__(self) -> str:
        if not self.ready:
            return self.why
        size = format_bytes(_bytes_in(self.folder))
        return (
            f"The TPU compiler is ready: libtpu {PINS['libtpu']} with jax {PINS['jax']}, "
            f"{size} in {self.folder}."
        )


@dataclass(frozen=True)
class Machine:
    """A kind of computer and of Python, for which there are packages of the compiler or not."""

    system: str  # as `platform.system` says, such as "Linux"
    processor: str  # as `platform.machine` says, such as "x86_64"
    python: tuple[int, int]  # major and minor version

    @classmethod
    def of_this_process(cls) -> Self:
        """Return the computer and the Python that run this process."""
        return cls(platform.system(), platform.machine(), sys.version_info[:2])

    @property
    def supported(self) -> bool:
        """Whether there are wheels of all packages for this machine."""
        on_linux = (self.system, self.processor) == ("Linux", "x86_64")
        return on_linux and self.python in PYTHONS


def kept_in(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder for the TPU compiler, which may not exist.

    `environ` are the variables of a process. The folder is the one that ACCEL_TPU_COMPILER names,
    or else `accel_helpers` in the user's cache: in XDG_CACHE_HOME, or in `.cache` at home.
    """
    folder = environ.get("ACCEL_TPU_COMPILER")
    if not folder:
        home = environ.get("HOME") or Path.home()
        cache = environ.get("XDG_CACHE_HOME") or Path(home, ".cache")
        folder = Path(cache, "accel_helpers")
    return Path(os.path.abspath(os.path.expanduser(folder)))


def status(
    environ: Mapping[str, str] = os.environ, *, machine: Machine | None = None
) -> Environment:
    """Return where the TPU compiler is, and whether it can be used, in its `ready` and `why`.

    It is a quick look: nothing of the compiler is imported.

    Parameters
    ----------
    environ : mapping of str to str, optional
        Variables: ACCEL_TPU_COMPILER names the folder.
    machine : Machine, optional
        What it is for: by default this computer and this Python.
    """
    if machine is None:
        machine = Machine.of_this_process()
    major, minor = machine.python
    name = FOLDER.format(PINS["jax"], PINS["libtpu"], f"{major}{minor}")
    folder = kept_in(environ) / name
    if not machine.supported:
        return Environment(
            folder,
            "The TPU compiler can be had on Linux on x86-64 with CPython 3.11, 3.12 or 3.13, as in "
            f"Colab; this is Python {major}.{minor} on {machine.system} on {machine.processor}.",
        )
    # `install` gives a folder this name only when all is in it.
    if not folder.is_dir():
        return Environment(folder, f"The TPU compiler is not installed. {INSTALL_COMMAND} does it.")
    return Environment(folder)


def install(
    environ: Mapping[str, str] = os.environ,
    *,
    run: Callable = probe.run_command,
    say: Callable[[str], object] = print,
    machine: Machine | None = None,
) -> Environment:
    """Install the TPU compiler, unless it is there, and return where it is.

    Parameters
    ----------
    environ : mapping of str to str, optional
        Variables: ACCEL_TPU_COMPILER names the folder.
    run : callable, optional
        What runs pip or uv, as `probe.run_command`.
    say : callable, optional
        Is called with a sentence before the download, which takes a minute or two.
    machine : Machine, optional
        What it is installed for: by default this computer and this Python.

    Raises
    ------
    InstallFailed
        If there are no packages for this machine, if they cannot be fetched, kept or used. The
        message says what to do.
    """
    if machine is None:
        machine = Machine.of_this_process()
    environment = status(environ, machine=machine)
    if environment.ready:
        return environment
    if not machine.supported:
        raise InstallFailed(environment.why)
    try:
        _make(environment.folder, environ, run, say)
    except OSError as error:
        # Another install at the same time may have ended first, and left a whole folder.
        if not status(environ, machine=machine).ready:
            raise InstallFailed(
                f"The TPU compiler cannot be kept in {environment.folder}: "
                f"{error.strerror or error}. "
                "Set ACCEL_TPU_COMPILER to a folder that can be written, and try again."
            ) from error
    return status(environ, machine=machine)


def remove(environ: Mapping[str, str] = os.environ) -> Environment:
    """Delete the TPU compiler, of all versions, and what killed installs left; nothing else.

    The answer is never ready; its `why` says what was deleted, or that there was nothing. `environ`
    are variables: ACCEL_TPU_COMPILER names the folder. Raises OSError if it cannot be deleted.
    """
    parent = kept_in(environ)
    paths = [*parent.glob(FOLDER.replace("{}", "*")), *parent.glob(f"{UNFINISHED}*")]
    folders = [path for path in sorted(paths) if path.is_dir() and not path.is_symlink()]
    if not folders:
        return Environment(parent, "There is no TPU compiler to remove.")
    size = format_bytes(sum(_bytes_in(folder) for folder in folders))
    for folder in folders:
        shutil.rmtree(folder)
    names = ", ".join(str(folder) for folder in folders)
    return Environment(parent, f"The TPU compiler is removed: {size} in {names}.")


def _make(
    folder: Path, environ: Mapping[str, str], run: Callable, say: Callable[[str], object]
) -> None:
    """Install into an unfinished folder beside the final one, and rename that when it is whole.

    The parameters are those of `install`. Raises InstallFailed if the packages cannot be fetched or
    used, and OSError if the folder cannot be written.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    # The figures were measured on 2026-11-21 with Python 3.11 and pip 23.2.
    say(
        f"Installing the TPU compiler (libtpu {PINS['libtpu']} with jax {PINS['jax']}) into "
        f"{folder}: 330 MB to fetch, 1.25 GB on disk, a minute or two. "
        "`python -m accel_helpers tpu remove` deletes it."
    )
    with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=folder.parent) as unfinished:
        packages = Path(unfinished, "packages")
        _fetch(packages, unfinished, environ, run)
        _check(packages, unfinished, environ, run)
        os.replace(packages, folder)


def _fetch(packages: Path, scratch: str, environ: Mapping[str, str], run: Callable) -> None:
    """Let pip, or uv, put the pinned packages into the folder `packages`.

    Temporary files go into the folder `scratch`. Raises InstallFailed if the installer fails.
    """
    # An environment that uv made has no pip.
    installer = _PIP_INSTALL
    if importlib.util.find_spec("pip") is None and shutil.which("uv"):
        installer = _UV_INSTALL
    pins = [f"{name}=={version}" for name, version in PINS.items()]
    options = ["--no-deps", "--only-binary", ":all:", "--target", str(packages)]
    command = [*installer, *options, *pins]
    variables = {name: environ[name] for name in environ if not name.startswith(_DROPPED)}
    variables |= {"PIP_USER": "0", "LC_ALL": "C.UTF-8", "TMPDIR": scratch}
    outcome = run(command, seconds=INSTALL_SECONDS, environ=variables, folder=scratch)
    if outcome.kind != "finished":
        last_lines = "\n".join(outcome.output.strip().splitlines()[-5:])
        raise InstallFailed(
            f"The packages could not be installed: the installer {outcome.ending}\n"
            f"Is there a network, and 2 GB of disk? Its last lines:\n{last_lines}"
        )


def _check(packages: Path, scratch: str, environ: Mapping[str, str], run: Callable) -> None:
    """Import the packages of a folder once, in a process of their own.

    Raises InstallFailed if they cannot be imported.
    """
    code = f"import {', '.join(PINS)}"
    command, variables = Environment(packages).command("-c", code, scratch=scratch, environ=environ)
    outcome = run(command, seconds=CHECK_SECONDS, environ=variables, folder=scratch)
    if outcome.kind != "finished":
        raise InstallFailed(
            f"What was installed cannot be used: its check {outcome.ending} Try again; if it "
            f"stays so, this system cannot run libtpu {PINS['libtpu']}."
        )


def _bytes_in(folder: Path) -> int:
    """Return the size of all files in a folder and its subfolders, in bytes."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
