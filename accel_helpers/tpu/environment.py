"""The TPU compiler, kept apart from the learner's packages: installed, found and removed."""

import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from accel_helpers._values import probe
from accel_helpers.machine import facts

# What is installed beside the learner's own Keras; the installer finds what all these need.
PINS = {
    "jax": "0.8.3",
    # The last under Apache 2.0, by "License:" in the wheel's METADATA; from 0.0.35 on, that says
    # "Google Cloud Platform Terms of Service".
    "libtpu": "0.0.32.1",
    "cloudpickle": "3.1.3",  # for the classes of a notebook
}
INSTALL_SECONDS = 900.0  # that the installer may take
# How the names begin of the compiler's folder, and of one that is still being filled.
FOLDER = "tpu-compiler-"
UNFINISHED = ".tpu-compiler-"

# Variables for the compiler's process: it looks for no TPU, two may compile at once, and no logs
# are written.
VARIABLES = {
    "KERAS_BACKEND": "jax",
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
# Wishes for other installs, which would send the packages elsewhere, or stop the installer.
NO_WISHES = {"PIP_USER": "0", "PIP_CONSTRAINT": "", "UV_CONSTRAINT": "", "PYTHONPATH": ""}
PIP_INSTALL = (sys.executable, "-m", "pip", "install", "--no-input", "--no-cache-dir")
UV_INSTALL = ("uv", "pip", "install", "--no-cache", "--compile-bytecode", "--python",
              sys.executable)  # fmt: skip


class InstallFailed(RuntimeError):
    """The TPU compiler could not be installed; the message says why, and what to do."""


@dataclass(frozen=True)
class Environment:
    """The folder with the packages of the TPU compiler, and whether they are there."""

    folder: Path
    why: str = ""  # a sentence on why the compiler cannot be used, and what to do; "" if it can

    def command(self, *arguments: str, scratch: str) -> tuple[list[str], dict[str, str]]:
        """Return the command that runs Python with these arguments, and all variables for it.

        Its process sees the packages in this folder and no others. What it writes besides, it
        writes into the folder `scratch`.
        """
        # Some Pythons need LD_LIBRARY_PATH to start.
        shared = {name: os.environ.get(name, "") for name in ("PATH", "LD_LIBRARY_PATH")}
        own = {"PYTHONPATH": str(self.folder), "TMPDIR": scratch, "KERAS_HOME": scratch}
        return [sys.executable, "-SP", *arguments], shared | VARIABLES | own

    def to_dict(self) -> dict:
        """Return it as plain values."""
        return {"folder": str(self.folder), "ready": not self.why, "why": self.why}

    def __str__(self) -> str:
        return self.why or f"The TPU compiler is ready, in {self.folder}."


def _parent() -> Path:
    """Return the folder of the compiler's folder, which may not exist."""
    return Path(os.environ.get("ACCEL_TPU_COMPILER", "~/.cache/accel_helpers")).expanduser()


def _pins() -> dict[str, str]:
    """Return the packages to install and their versions: the learner's Keras is one of them."""
    return {"keras": facts.installed("keras") or "", **PINS}


def status() -> Environment:
    """Return where the TPU compiler is, and whether it can be used: then its `why` is empty.

    It is a quick look: nothing of the compiler is imported. The variable ACCEL_TPU_COMPILER names
    the folder. Each version of Keras has a compiler of its own, which reads its models.
    """
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    names = [f"{name}{version}" for name, version in _pins().items()]
    folder = _parent().absolute() / f"{FOLDER}{'-'.join([*names, python])}"
    # `install` gives a folder this name only when all is in it.
    if folder.is_dir():
        return Environment(folder)
    how = "`python -m accel_helpers tpu install` does it"
    return Environment(folder, f"The TPU compiler is not installed. {how}.")


def install(*, say: Callable = print) -> Environment:
    """Install the TPU compiler, unless it is there, and return where it is.

    Parameters
    ----------
    say : callable, optional
        Is called with a sentence before the download, which takes a minute or two.

    Raises
    ------
    InstallFailed
        If the packages cannot be fetched. The message says what to do.
    OSError
        If they cannot be kept in the folder, which the variable ACCEL_TPU_COMPILER names.
    """
    found = status()
    if not found.why:
        return found
    # The figures were measured on 2026-11-30 with Python 3.11 and pip 23.2.
    say(
        f"Installing the TPU compiler into {found.folder}: 340 MB to fetch, 1.3 GB on disk, a "
        "minute or two. `python -m accel_helpers tpu remove` deletes it."
    )
    parent = found.folder.parent
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=parent) as unfinished:
        packages = Path(unfinished, "packages")
        _fetch(packages)
        packages.replace(found.folder)
    return status()


def _fetch(packages: Path) -> None:
    """Let pip, or uv, put the pinned packages and what they need into the folder `packages`.

    Raises InstallFailed if the installer fails.
    """
    # An environment that uv made has no pip.
    installer = PIP_INSTALL
    if importlib.util.find_spec("pip") is None:
        installer = UV_INSTALL
    pins = [f"{name}=={version}" for name, version in _pins().items()]
    command = [*installer, "--only-binary", ":all:", "--target", str(packages), *pins]
    variables = os.environ | NO_WISHES | {"TMPDIR": str(packages.parent)}
    outcome = probe.run_command(command, seconds=INSTALL_SECONDS, environ=variables)
    if outcome.kind != "finished":
        raise InstallFailed(
            f"The packages could not be installed: the installer {outcome.ending}\n"
            "It takes Linux on x86-64 with Python 3.11 to 3.13, as in Colab, a network, and 2 GB "
            "of disk."
        )


def remove() -> Environment:
    """Delete the TPU compiler, of all versions, and what killed installs left; nothing else.

    The answer's `why` says what was deleted, or that there was nothing. Raises OSError if it cannot
    be deleted.
    """
    parent = _parent()
    folders = [*parent.glob(f"{FOLDER}*libtpu*"), *parent.glob(f"{UNFINISHED}*")]
    for folder in folders:
        shutil.rmtree(folder)
    deleted = ", ".join(map(str, folders)) or "there was no TPU compiler"
    return Environment(parent, f"Removed: {deleted}.")
