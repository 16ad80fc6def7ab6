"""Build the browser lab: the lessons in JupyterLite, and a page that an error is pasted into.

All of it comes from package registries, and once it is built it asks the network for nothing.
"""

import argparse
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = ROOT / "tools" / "templates" / "lab"
CACHE = ROOT / ".venv" / "cache" / "browser_lab"
PIP = [sys.executable, "-m", "pip", "--quiet"]
# The wheels that JupyterLite's kernel brings along.
KERNEL = "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension/static/pypi"
# What the kernel imports, and Jinja2 for our cards; each with what it needs, as Pyodide has them.
WANTED = ("ipython", "jedi", "micropip", "jinja2")
HERE = ("comm", "ipywidgets")  # as they are here: the page has the JavaScript of this version
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
NOT_PACKED = shutil.ignore_patterns(".*", "__pycache__", "build", "course_*", "docs", "notebooks")
BADGE = re.compile(r'^ *"\[!\[Open In Colab\].*\n', re.M)  # a picture from the network


class NotBuilt(Exception):
    """The lab cannot be built here, and why."""


def build(out: Path) -> str | None:
    """Build the lab in a folder, anew; gives the reason where it cannot be built here."""
    with tempfile.TemporaryDirectory() as work:
        try:
            _build(Path(out).resolve(), Path(work))
        except (NotBuilt, ImportError) as reason:
            return str(reason)
    return None


def _build(out: Path, work: Path) -> None:
    from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION

    pyodide, files = _pyodide(PYODIDE_VERSION), work / "static" / "pyodide"
    lock = json.loads((pyodide / "pyodide-lock.json").read_text("utf-8"))
    shutil.copytree(_wheels(lock), files)
    for each in (*(Path(sys.prefix) / KERNEL).glob("*.whl"), *(pyodide / n for n in RUNTIME)):
        shutil.copy(each, files)
    _add_ours(work / "source", files)
    lock["packages"] = dict(map(_locked, sorted(files.glob("*.whl"))))
    (files / "pyodide-lock.json").write_text(json.dumps(lock), "utf-8")
    config = json.loads((TEMPLATES / "jupyter-lite.json").read_text("utf-8"))
    (kernel,) = config["jupyter-config-data"]["litePluginSettings"].values()
    kernel["loadPyodideOptions"]["packages"] = [*lock["packages"]]  # none is asked for later
    (work / "jupyter-lite.json").write_text(json.dumps(config), "utf-8")
    shutil.copy(TEMPLATES / "overrides.json", work)
    lessons = work / "lessons"
    lessons.mkdir()
    for each in (*ROOT.glob("notebooks/*.ipynb"), TEMPLATES / "ask_the_doctor.ipynb"):
        (lessons / each.name).write_text(BADGE.sub("", each.read_text("utf-8")), "utf-8")
    shutil.rmtree(out, ignore_errors=True)
    lite = [sys.executable, "-m", "jupyterlite_core", "build", "--apps=lab", "--no-sourcemaps"]
    lite += ["--no-unused-shared-packages", f"--lite-dir={work}", f"--contents={lessons}"]
    _run([*lite, f"--output-dir={out}"], cwd=work)
    for name in ("index.html", "error.html", "lab.css"):
        shutil.copy(TEMPLATES / name, out)


def _run(command: list[str], **more) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, **more)
    except FileNotFoundError:
        raise NotBuilt(f"{command[0]} is not installed") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise NotBuilt(f"{' '.join(command)[-60:]} failed: {' '.join(said)}")


def _pyodide(version: str) -> Path:
    """The folder of Python for browsers, kept for the next time."""
    folder = CACHE / f"pyodide-{version}"
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        _run(["npm", "pack", "--silent", f"--pack-destination={CACHE}", f"pyodide@{version}"])
        shutil.unpack_archive(f"{folder}.tgz", folder, filter="data")
    return folder / "package"


def _wheels(lock: dict) -> Path:
    """The folder of the other packages, as wheels of Python alone, kept for the next time."""
    found, todo = {name: importlib.metadata.version(name) for name in HERE}, [*WANTED]
    while todo:
        one = lock["packages"][_canonical(todo.pop())]
        found[one["name"]] = one["version"]
        todo += [name for name in one["depends"] if name not in found]
    native = f"MarkupSafe=={found.pop('MarkupSafe')}"
    pinned = sorted(f"{name}=={version}" for name, version in found.items())
    folder = CACHE / f"wheels-{hashlib.sha256(' '.join(pinned).encode()).hexdigest()[:8]}"
    if not folder.exists():
        partial, python = CACHE / "partial", lock["info"]["python"].rpartition(".")[0]
        plain = ["--only-binary=:all:", "--platform=any", f"--python-version={python}"]
        _run([*PIP, "download", "--no-deps", *plain, f"--dest={partial}", *pinned])
        # No wheel of it is for browsers; without a compiler it becomes one of Python alone.
        build = [*PIP, "wheel", "--no-deps", "--no-binary=markupsafe", f"--wheel-dir={partial}"]
        _run([*build, native], env={**os.environ, "CC": "false"})
        partial.rename(folder)
    return folder


def _add_ours(source: Path, folder: Path) -> None:
    """Build the course's wheel from a copy, with what the browser's Python runs first."""
    shutil.copytree(ROOT, source, ignore=NOT_PACKED)
    pip = [*PIP, "wheel", "--no-deps", "--no-build-isolation", f"--wheel-dir={folder}"]
    _run([*pip, str(source)])
    (wheel,) = folder.glob("accel_helpers-*.whl")
    with zipfile.ZipFile(wheel, "a") as file:
        file.write(TEMPLATES / "accel_lab_start.py", "accel_lab_start.py")


def _locked(wheel: Path) -> tuple[str, dict]:
    """A wheel as Pyodide lists it; its own list has the hashes of its own builds."""
    name, version = wheel.name.split("-")[:2]
    entry = {"name": _canonical(name), "version": version, "file_name": wheel.name}
    entry |= {"sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(), "install_dir": "site"}
    entry |= {"package_type": "package", "imports": [], "depends": [], "unvendored_tests": False}
    return entry["name"], entry


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, metavar="OUT", help="a folder; what is there is replaced")
    out = parser.parse_args().out
    if reason := build(out):
        print(f"No browser lab: {reason}.")
        return 1
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"{out}: {size / 1e6:.0f} MB. It needs python -m http.server, also on your own computer.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
