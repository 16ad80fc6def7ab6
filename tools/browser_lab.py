"""Build the browser lab: the lessons in JupyterLite, and a page that an error is pasted into.

All of it comes from package registries, and asks the network for nothing once it is built.
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
# What the kernel imports, and Jinja2 for the cards; each with what it needs, as Pyodide has them.
PYODIDES = ("ipython", "jedi", "micropip", "jinja2")
HERE = ("comm", "ipywidgets")  # as they are here: the page has the JavaScript of this version
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
BADGE = re.compile(r'^ *"\[!\[Open In Colab\].*\n', re.M)  # a picture from the network
PIP = [sys.executable, "-m", "pip", "--quiet"]
BROWSER = ["--no-deps", "--only-binary=:all:", "--platform=any", "--python-version=3.14"]


class NotBuilt(Exception):
    """The lab cannot be built here, and why."""


def build(out: Path) -> str | None:
    """Build the lab in a folder, anew; gives the reason where it cannot be built here."""
    with tempfile.TemporaryDirectory() as name:
        try:
            _build(Path(out).resolve(), Path(name))
        except NotBuilt as reason:
            return str(reason)
    return None


def _build(out: Path, work: Path) -> None:
    try:
        from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION as version
    except ImportError:
        raise NotBuilt(
            "jupyterlite-pyodide-kernel is not installed: make site-environment"
        ) from None
    pyodide, files = _pyodide(version), work / "static" / "pyodide"
    lock = json.loads((pyodide / "pyodide-lock.json").read_text("utf-8"))
    shutil.copytree(_wheels(_pinned(lock["packages"])), files)
    for each in (*_kernel().glob("*.whl"), *(pyodide / name for name in RUNTIME)):
        shutil.copy(each, files)
    _own_wheel(work / "source", files)
    lock["packages"] = packages = dict(map(_locked, sorted(files.glob("*.whl"))))
    (files / "pyodide-lock.json").write_text(json.dumps(lock), "utf-8")
    for name in ("jupyter-lite.json", "overrides.json"):
        shutil.copy(TEMPLATES / name, work)
    config = json.loads((work / "jupyter-lite.json").read_text("utf-8"))
    (kernel,) = config["jupyter-config-data"]["litePluginSettings"].values()
    kernel["loadPyodideOptions"]["packages"] = [*packages]  # all: nothing is asked for later
    (work / "jupyter-lite.json").write_text(json.dumps(config), "utf-8")
    contents = work / "contents"
    contents.mkdir()
    for lesson in (*ROOT.glob("notebooks/*.ipynb"), TEMPLATES / "ask_the_doctor.ipynb"):
        text = BADGE.sub("", lesson.read_text("utf-8"))
        (contents / lesson.name).write_text(text, "utf-8")
    shutil.rmtree(out, ignore_errors=True)
    lite = ["jupyterlite_core", "build", "--apps=lab", "--no-sourcemaps", f"--lite-dir={work}"]
    lite += ["--no-unused-shared-packages", f"--contents={contents}", f"--output-dir={out}"]
    _run([sys.executable, "-m", *lite], "JupyterLite", cwd=work)
    for name in ("index.html", "error.html"):
        shutil.copy(TEMPLATES / name, out)


def _run(command: list[str], what: str, **more) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, **more)
    except FileNotFoundError:
        raise NotBuilt(f"{command[0]} is not installed, which {what} comes by") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise NotBuilt(f"{what} failed: {' '.join(said)}")


def _pyodide(version: str) -> Path:
    """The folder of Pyodide, kept for the next time."""
    folder = CACHE / f"pyodide-{version}"
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        what = ["npm", "pack", "--silent", f"--pack-destination={CACHE}", f"pyodide@{version}"]
        _run(what, "Pyodide")
        shutil.unpack_archive(CACHE / f"pyodide-{version}.tgz", folder, filter="data")
    return folder / "package"


def _pinned(known: dict) -> list[str]:
    """What pip is asked for: packages, and what they need, in the versions that fit."""
    found, todo = {}, [*PYODIDES]
    while todo:
        one = known[_canonical(todo.pop())]
        if one["name"] not in found:
            found[one["name"]] = one["version"]
            todo += one["depends"]
    found |= {name: importlib.metadata.version(name) for name in HERE}
    return sorted(f"{name}=={version}" for name, version in found.items())


def _wheels(pinned: list[str]) -> Path:
    """The folder of these packages as wheels of pure Python, kept for the next time."""
    folder = CACHE / f"wheels-{hashlib.sha256(' '.join(pinned).encode()).hexdigest()[:8]}"
    if not folder.exists():
        (native,) = (each for each in pinned if each.startswith("MarkupSafe"))
        others, partial = [each for each in pinned if each != native], CACHE / "partial"
        pip = [*PIP, "download", *BROWSER, f"--dest={partial}", *others]
        _run(pip, "Packages for the browser")
        # No wheel of it is for a browser; without a compiler it builds one of Python alone.
        pip = [*PIP, "wheel", "--no-binary=markupsafe", f"--wheel-dir={partial}", native]
        _run(pip, "MarkupSafe", env={**os.environ, "CC": "false"})
        partial.rename(folder)
    return folder


def _own_wheel(source: Path, folder: Path) -> None:
    """Build the course's wheel from a copy, with what the browser's Python runs first."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "accel_helpers", source / "accel_helpers", ignore=ignored)
    for name in ("setup.py", "pyproject.toml", "MANIFEST.in", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, source)
    pip = [*PIP, "wheel", "--no-deps", "--no-build-isolation", f"--wheel-dir={folder}", source]
    _run(pip, "The course's wheel")
    (wheel,) = folder.glob("accel_helpers-*.whl")
    with zipfile.ZipFile(wheel, "a") as file:
        file.write(TEMPLATES / "accel_lab_start.py", "accel_lab_start.py")


def _locked(wheel: Path) -> tuple[str, dict]:
    """A wheel as Pyodide's list has it: there the hashes are those of Pyodide's own builds."""
    name, version = wheel.name.split("-")[:2]
    entry = {"name": _canonical(name), "version": version, "file_name": wheel.name}
    entry |= {"sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(), "install_dir": "site"}
    entry |= {"package_type": "package", "imports": [], "depends": [], "unvendored_tests": False}
    return entry["name"], entry


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _kernel() -> Path:
    """The folder of wheels that the kernel brings along."""
    place = "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension/static/pypi"
    return Path(sys.prefix) / place


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, metavar="OUT", help="a folder; what is there is replaced")
    out = parser.parse_args().out
    if reason := build(out):
        print(f"No browser lab: {reason}.")
        return 1
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file()) / 1e6
    print(f"{out}: {size:.0f} MB. It needs a server: python -m http.server --directory {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
