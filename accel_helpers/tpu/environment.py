"""The TPU compiler, kept apart from the learner's packages: installed, found and removed."""

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from accel_helpers._values import probe
from accel_helpers._values.words import format_bytes

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
INSTALL_SECONDS, CHECK_SECONDS = 900.0, 120.0
NAME, UNFINISHED = "tpu-compiler-jax{}-libtpu{}-py{}", ".tpu-compiler-"  # of our folders
HOW = "`python -m accel_helpers tpu install`"

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
    "PYTHONDONTWRITEBYTECODE": "1",  # the folder stays as it is
}
_PASSED_ON = ("PATH", "HOME", "LD_LIBRARY_PATH")  # some Pythons need the last to start
# What the learner set for other installs would send this one elsewhere, or stop it.
_DROPPED = ("PYTHON", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_CONSTRAINT",
            "PIP_REQUIRE", "PIP_NO_COMPILE")  # fmt: skip
_PIP = (
    *("-m", "pip", "install", "--no-input", "--no-cache-dir", "--disable-pip-version-check"),
    *("--retries", "3", "--no-deps", "--only-binary", ":all:", "--target"),
)


class InstallFailed(RuntimeError):
    """The TPU compiler could not be installed; the message says why, and what to do."""


@dataclass(frozen=True)
class Environment:
    """The folder of the TPU compiler, as it was found; `why` says why it is not ready."""

    folder: Path
    why: str = ""

    @property
    def ready(self) -> bool:
        return not self.why

    def command(self, *words, scratch, environ: Mapping[str, str] = os.environ):
        """The words and all variables with which Python sees this folder and no other packages."""
        child = {name: environ[name] for name in _PASSED_ON if name in environ}
        child |= VARIABLES | {"PYTHONPATH": str(self.folder), "TMPDIR": str(scratch)}
        return [sys.executable, "-SP", *map(str, words)], child

    def to_dict(self) -> dict:
        said = {"folder": str(self.folder), "ready": self.ready, "why": self.why}
        versions, size = (PINS, _size(self.folder)) if self.ready else ({}, 0)
        return {**said, "bytes": size, "versions": versions}

    def __str__(self) -> str:
        return self.why or (
            f"The TPU compiler is ready: libtpu {PINS['libtpu']} with jax {PINS['jax']}, "
            f"{format_bytes(_size(self.folder))} in {self.folder}."
        )


def kept_in(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder that the TPU compiler is kept in: ACCEL_TPU_COMPILER, or in the user's cache."""
    cache = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or Path.home(), ".cache")
    named = environ.get("ACCEL_TPU_COMPILER") or Path(cache, "accel_helpers")
    return Path(os.path.abspath(os.path.expanduser(named)))


def status(environ: Mapping[str, str] = os.environ, *, machine=None) -> Environment:
    """Say whether the TPU compiler is installed. A quick look: nothing of it is imported."""
    here = platform.system(), platform.machine(), sys.version_info[:2]
    system, processor, (major, minor) = machine or here
    folder = kept_in(environ) / NAME.format(PINS["jax"], PINS["libtpu"], f"{major}{minor}")
    why = ""
    if (system, processor) != ("Linux", "x86_64") or (major, minor) not in PYTHONS:
        why = (
            "The TPU compiler can be had on Linux on x86-64 with CPython 3.11, 3.12 or 3.13, as in "
            f"Colab; this is Python {major}.{minor} on {system} on {processor}."
        )
    elif not folder.is_dir():  # it gets its name when it is whole
        why = f"The TPU compiler is not installed. {HOW} does it."
    return Environment(folder, why)


def install(
    environ: Mapping[str, str] = os.environ, *, run: Callable = probe.run_command,
    say: Callable[[str], object] = print, machine=None,
) -> Environment:  # fmt: skip
    """Install the TPU compiler, unless it is there; InstallFailed says why it cannot be."""
    found = status(environ, machine=machine)
    if found.ready:
        return found
    if HOW not in found.why:
        raise InstallFailed(found.why)
    try:
        _make(found.folder, environ, run, say)
    except OSError as error:
        if not status(environ, machine=machine).ready:  # another install was not sooner done
            raise InstallFailed(
                f"The TPU compiler cannot be kept in {found.folder}: {error.strerror or error}. "
                "Set ACCEL_TPU_COMPILER to a folder that can be written, and try again."
            ) from error
    return status(environ, machine=machine)


def remove(environ: Mapping[str, str] = os.environ) -> Environment:
    """Delete the TPU compiler, of all versions, and what killed installs left; nothing else."""
    kept = kept_in(environ)
    found = sorted([*kept.glob(NAME.replace("{}", "*")), *kept.glob(f"{UNFINISHED}*")])
    folders = [folder for folder in found if folder.is_dir() and not folder.is_symlink()]
    if not folders:
        return Environment(kept, "There is no TPU compiler to remove.")
    size = format_bytes(sum(map(_size, folders)))
    for folder in folders:
        shutil.rmtree(folder)
    where = ", ".join(map(str, folders))
    return Environment(kept, f"The TPU compiler is removed: {size} in {where}.")


def _make(folder: Path, environ, run, say) -> None:
    """Install into an unfinished folder beside the final one; rename it when it is whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    say(  # the figures: measured on 2026-11-21 with Python 3.11 and pip 23.2
        f"Installing the TPU compiler (libtpu {PINS['libtpu']} with jax {PINS['jax']}) into "
        f"{folder}: 330 MB to fetch, 1.25 GB on disk, a minute or two. "
        "`python -m accel_helpers tpu remove` deletes it."
    )
    with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=folder.parent) as unfinished:
        packages = Path(unfinished, "packages")
        pins = [f"{name}=={version}" for name, version in PINS.items()]
        child = {name: environ[name] for name in environ if not name.startswith(_DROPPED)}
        child |= {"PIP_USER": "0", "LC_ALL": "C.UTF-8", "TMPDIR": unfinished}
        words = [sys.executable, *_PIP, str(packages), *pins]
        done = run(words, seconds=INSTALL_SECONDS, environ=child, folder=unfinished)
        if done.kind != "finished":
            last = "\n".join(done.output.strip().splitlines()[-5:])
            raise InstallFailed(
                f"The packages could not be installed: pip {done.ending}\nIs there a network, and "
                f"2 GB of disk? Its last lines:\n{last}"
            )
        made, code = Environment(packages), f"import {', '.join(PINS)}"
        words, child = made.command("-c", code, scratch=unfinished, environ=environ)
        done = run(words, seconds=CHECK_SECONDS, environ=child, folder=unfinished)
        if done.kind != "finished":
            raise InstallFailed(
                f"What was installed cannot be used: its check {done.ending} Try again; if it "
                f"stays so, this system cannot run libtpu {PINS['libtpu']}."
            )
        os.replace(packages, folder)


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
