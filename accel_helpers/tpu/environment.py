"""The TPU compiler in an environment of its own: installed, found and removed.

libtpu and the jax that drives it are never installed beside the learner's packages. They go into
one folder of the user's cache, and only a child process looks into it.
"""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from accel_helpers import probe
from accel_helpers._words import format_bytes
from accel_helpers.tpu.folder import (
    NAME,
    PINS,
    Environment,
    in_the_way,
    kept_in,
    mark,
    marker,
    status,
    this_machine,
    unfit,
    variables,
)

__all__ = ["PINS", "Environment", "InstallFailed", "Removed", "install", "remove", "status"]

# Bytes, measured on 2026-11-21 with Python 3.11 and pip 23.2: what is fetched, what it takes in
# the end, and what must be free (1.5 GB while it is installed, and some to spare).
FETCHED, TAKEN, NEEDED = 330e6, 1.25e9, 2e9
INSTALL_SECONDS, CHECK_SECONDS = 900.0, 120.0
LOCK = "tpu-compiler.lock"
UNFINISHED = ".tpu-compiler-"  # how the names of unfinished folders begin
_MADE = "accel_helpers made this folder\n"  # in the lock file

# What the learner set for other installs would send this one elsewhere, or stop it.
_DROPPED = ("PYTHON", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_CONSTRAINT", "PIP_REQUIRE",
            "PIP_NO_COMPILE", "UV_CONSTRAINT", "UV_OVERRIDE", "UV_TARGET")  # fmt: skip

# Runs the installer, and ends it when standard input ends: then the process that wants it is gone.
_INSTALLER = """
import os, subprocess, sys, threading
installer = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
def watch():
    while os.read(0, 1):
        pass
    installer.kill()
threading.Thread(target=watch, daemon=True).start()
code = installer.wait()
sys.exit(f"It was ended by signal {-code}." if code < 0 else code)
"""
_CHECK = """
import importlib, importlib.metadata, json, sys
sys.path.append(sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
print(json.dumps({name: importlib.metadata.version(name) for name in sys.argv[2:]}))
"""
_NO_NETWORK = (
    "Connection refused", "Failed to establish a new connection", "Network is unreachable",
    "name resolution", "dns error", "tcp connect error", "error sending request", "timed out",
    "Could not fetch", "Tunnel connection failed", "Max retries exceeded",
)  # fmt: skip
_NO_SPACE = ("No space left on device", "Disk quota exceeded", "File too large")


class InstallFailed(RuntimeError):
    """The TPU compiler could not be installed; the message says why, and what to do."""


@dataclass(frozen=True)
class Removed:
    """What `remove` deleted: the folders, and the bytes that their files held."""

    folders: tuple[Path, ...] = ()
    bytes: int = 0

    def to_dict(self) -> dict:
        """What was deleted, as plain JSON types."""
        return {"removed": [str(folder) for folder in self.folders], "bytes": self.bytes}

    def __str__(self) -> str:
        if not self.folders:
            return "There is no TPU compiler to remove."
        where = ", ".join(map(str, self.folders))
        return f"The TPU compiler is removed: {format_bytes(self.bytes)} in {where}."


def install(
    environ: Mapping[str, str] | None = None,
    *,
    run: Callable = probe.run_command,
    say: Callable[[str], object] = print,
    disk_usage: Callable = shutil.disk_usage,
    machine: tuple[str, str, tuple[int, int]] | None = None,
    seconds: float = INSTALL_SECONDS,
) -> Environment:
    """Install the TPU compiler, unless it is there.

    uv does it where there is one, else pip. The folder appears under its name only when it is
    whole and a child process has imported everything in it. If this process is killed, the
    installer ends too, and the next install sweeps up what it left.

    Parameters
    ----------
    environ : mapping of str to str, optional
        Variables that say where, as for `status`, and that the installer gets (proxies, indexes);
        by default those of this process.
    run : callable, optional
        As `probe.run_command`, which it is by default.
    say : callable, optional
        Gets a sentence before each thing that takes long.
    disk_usage : callable, optional
        As `shutil.disk_usage`, which it is by default.
    machine : tuple, optional
        As from `tpu_folder.this_machine`, which it is by default.
    seconds : float, optional
        The time limit of the installer, and of the wait for another install.

    Returns
    -------
    Environment
        It is ready.

    Raises
    ------
    InstallFailed
        If it cannot be installed. Nothing half-made stays behind.

    Examples
    --------
    >>> install(machine=("Linux", "aarch64", (3, 12)))
    Traceback (most recent call last):
    accel_helpers.tpu.environment.InstallFailed: The TPU compiler was tried on Linux on x86-64 ...
    """
    environ = dict(os.environ if environ is None else environ)
    machine = machine or this_machine()
    if why := unfit(machine):
        raise InstallFailed(why)
    found = status(environ, machine=machine)
    if found.ready:
        return found
    try:
        with _alone(found.folder.parent, say, seconds):
            found = status(environ, machine=machine)  # another install may have made it
            if not found.ready:
                _make(found.folder, environ, run, say, disk_usage, seconds)
        return status(environ, machine=machine)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise InstallFailed(_full(found.folder, error.strerror)) from error
        raise InstallFailed(
            f"The TPU compiler cannot be kept in {found.folder.parent}: {error.strerror or error}. "
            "Set ACCEL_TPU_COMPILER to a folder that can be written, and try again."
        ) from error


def remove(environ: Mapping[str, str] | None = None) -> Removed:
    """Delete the TPU compiler, of all versions, with what killed installs left, and the lock.

    Only folders that carry our marker, and unfinished ones, are deleted. The folder that held
    them goes too when it is empty and was made by an install.

    Parameters
    ----------
    environ : mapping of str to str, optional
        Variables that say where, as for `status`; by default those of this process.

    Returns
    -------
    Removed

    Raises
    ------
    InstallFailed
        If an install is under way.
    OSError
        If something cannot be deleted.

    Examples
    --------
    >>> print(remove({"ACCEL_TPU_COMPILER": "/no/such/folder"}))
    There is no TPU compiler to remove.
    """
    kept = kept_in(environ)
    if not kept.is_dir():
        return Removed()
    with _alone(kept, lambda _: None, 2.0):
        folders = [*_ours(kept), *_unfinished(kept)]
        size = sum(_size(folder) for folder in folders)
        for folder in folders:
            _delete(folder)
    return Removed(tuple(folders), size)


# ---------------------------------------------------------------------------------------------


def _make(folder: Path, environ, run, say, disk_usage, seconds) -> None:
    """Install into an unfinished folder beside the final one; rename it when it is whole."""
    kept = folder.parent
    for left in _unfinished(kept):
        _delete(left)
    if os.path.lexists(folder) and marker(folder) is None:
        raise InstallFailed(in_the_way(folder))
    free = disk_usage(kept).free
    if free < NEEDED:
        raise InstallFailed(_full(folder, f"{format_bytes(free)} are free"))
    say(
        f"Installing the TPU compiler (libtpu {PINS['libtpu']} with jax {PINS['jax']}) into "
        f"{folder}: {format_bytes(FETCHED)} to fetch, {format_bytes(TAKEN)} on disk, a minute or "
        "two. `python -m accel_helpers tpu-compiler remove` deletes it."
    )
    unfinished = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=kept))
    try:
        packages = unfinished / "packages"
        words = [sys.executable, "-I", "-S", "-c", _INSTALLER, *_installer(environ, packages)]
        child = _for_installer(environ, unfinished)
        done = run(words, seconds=seconds, environ=child, folder=unfinished)
        if done.kind != "finished":
            raise InstallFailed(_explain(done, folder))
        _check(packages, run, unfinished)
        mark(packages)
        if folder.exists():  # ours, and not whole
            _delete(folder)
        os.replace(packages, folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _installer(environ: Mapping[str, str], packages: Path) -> list[str]:
    pins = [f"{name}=={version}" for name, version in PINS.items()]
    uv = shutil.which("uv", path=environ.get("PATH"))
    if uv or importlib.util.find_spec("uv"):
        words = [uv] if uv else [sys.executable, "-m", "uv"]
        words += ["pip", "install", "--python", sys.executable, "--compile-bytecode"]
    elif importlib.util.find_spec("pip"):
        words = [sys.executable, "-m", "pip", "install", "--no-input", "--no-cache-dir"]
        words += ["--retries", "3"]  # with none, pip does not say that there is no network
    else:
        raise InstallFailed(
            f"There is neither uv nor pip for {sys.executable}. Install one of them, for example "
            f"with `{sys.executable} -m ensurepip`, and try again."
        )
    every = ["--no-deps", "--only-binary", ":all:", "--target", str(packages)]
    return [*words, *every, *pins]


def _for_installer(environ: Mapping[str, str], unfinished: Path) -> dict[str, str]:
    """Variables of the installer: all that it writes goes into the unfinished folder."""
    child = {name: value for name, value in environ.items() if not name.startswith(_DROPPED)}
    own = {"PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "LC_ALL": "C.UTF-8"}
    temporary = {"TMPDIR": str(unfinished), "UV_CACHE_DIR": str(unfinished / "cache")}
    return child | own | temporary


def _check(packages: Path, run, unfinished: Path) -> None:
    """Let a child import all of it, and compare the versions."""
    child = variables(os.environ, unfinished)
    words = [sys.executable, "-I", "-S", "-c", _CHECK, str(packages), *PINS]
    done = run(words, seconds=CHECK_SECONDS, environ=child, folder=unfinished)
    again = f"Try again; if it stays so, this system cannot run libtpu {PINS['libtpu']}."
    if done.kind != "finished":
        raise InstallFailed(f"What was installed cannot be used: its check {done.ending}. {again}")
    found = json.loads(done.output.splitlines()[-1])
    if found != PINS:
        wrong = ", ".join(f"{name} {found[name]}" for name in PINS if found[name] != PINS[name])
        raise InstallFailed(
            f"The installer brought other versions than asked for: {wrong}. {again}"
        )


def _explain(done: probe.Outcome, folder: Path) -> str:
    """Say in a sentence why the installer failed, with its last line."""
    if done.kind == "too slow":
        return (
            f"The installer was not done after {done.seconds:.0f} s, and was stopped. Try again "
            "where the network is faster."
        )
    lines = [line.strip() for line in done.output.splitlines() if line.strip()]
    last = f"The last line of the installer was: {lines[-1][:300] if lines else '(none)'}"
    if any(sign in done.output for sign in _NO_SPACE):
        return _full(folder, last)
    if any(sign in done.output for sign in _NO_NETWORK):
        return f"The packages could not be fetched: is there a network? {last}"
    return f"The packages could not be installed. {last}"


def _full(folder: Path, why: str) -> str:
    return (
        f"There is too little disk for the TPU compiler in {folder.parent}: it needs "
        f"{format_bytes(NEEDED)}. Free some, or set ACCEL_TPU_COMPILER to a folder on another "
        f"disk, and try again. ({why})"
    )


@contextmanager
def _alone(kept: Path, say: Callable | None, seconds: float) -> Iterator[None]:
    """Let one process at a time change the folder; delete the lock when nothing is left in it.

    The kernel opens the lock when its process ends, however it ends.
    """
    end, told = time.monotonic() + seconds, False
    made = not kept.exists()
    while (lock := _lock(kept)) is None:
        made = made or not kept.exists()
        if time.monotonic() > end:
            raise InstallFailed(
                f"Another install in {kept} is under way, and was not done after {seconds:.0f} s. "
                "Wait until it is, or end it, and try again."
            )
        if not told:
            say(f"Another install in {kept} is under way: waiting for it.")
            told = True
        time.sleep(0.1)
    with lock:
        try:
            if made:
                lock.write(_MADE)
                lock.flush()
            yield
        finally:
            if not _ours(kept) and not _unfinished(kept):
                lock.seek(0)
                made = lock.read().startswith(_MADE)
                (kept / LOCK).unlink(missing_ok=True)
                if made:
                    with suppress(OSError):  # something else is in it
                        kept.rmdir()


def _lock(kept: Path):
    """Take the lock; give its open file, or None where another process has it."""
    import fcntl  # not on Windows

    kept.mkdir(parents=True, exist_ok=True)
    try:
        lock = open(kept / LOCK, "a+", encoding="utf-8")
    except FileNotFoundError:  # a `remove` has just deleted the folder
        return None
    # Taken by another; or deleted by who had it, between our opening and our locking.
    with suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock.fileno()), os.stat(kept / LOCK)):
            return lock
    lock.close()
    return None


def _ours(kept: Path) -> list[Path]:
    return [path for path in sorted(kept.glob(NAME + "*")) if marker(path) is not None]


def _unfinished(kept: Path) -> list[Path]:
    found = sorted(kept.glob(UNFINISHED + "*"))
    return [path for path in found if path.is_dir() and not path.is_symlink()]


def _delete(folder: Path) -> None:
    """Delete a folder; give it the name of an unfinished one first, should we be stopped."""
    if folder.name.startswith(NAME):
        aside = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=folder.parent))
        os.replace(folder, aside)  # onto the empty folder
        folder = aside
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():  # an installer that was being killed has just written into it
        time.sleep(0.5)
        shutil.rmtree(folder)


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*"))
