"""Build the browser lab, from package registries alone: JupyterLite, and a page for errors."""

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

from lesson import ROOT, chosen

TEMPLATES = ROOT / "tools" / "templates" / "lab"
KERNEL = "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension/static/pypi"
# What the kernel imports, and Jinja2 for our cards; each with what it needs, as Pyodide has them.
WANTED = ("ipython", "jedi", "micropip", "jinja2")
HERE = ("comm", "ipywidgets")  # as they are here: the page has the JavaScript of this version
NOT_PACKED = shutil.ignore_patterns(".*", "__pycache__", "build", "course_*", "dist", "notebooks")
BADGE = re.compile(r'^ *"\[!\[Open \d\d in Colab\].*\n', re.M)  # a picture from the network


def build(out: Path, cache: Path = ROOT / ".venv" / "cache" / "browser_lab") -> str | None:
    """Build the lab in a folder, anew; gives the reason where it cannot be built here."""
    with tempfile.TemporaryDirectory() as work:
        try:
            _build(Path(out).resolve(), Path(work).resolve(), cache)
        except (ImportError, OSError, RuntimeError) as reason:
            return str(reason)


def _build(out: Path, work: Path, cache: Path) -> None:
    from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION

    pyodide, files = _pyodide(PYODIDE_VERSION, cache), work / "static" / "pyodide"
    lock = json.loads((pyodide / "pyodide-lock.json").read_text("utf-8"))
    unused = shutil.ignore_patterns("console*", "*.d.ts", "*.map")
    for folder in (pyodide, _wheels(lock, cache), Path(sys.prefix) / KERNEL):  # the kernel's own
        shutil.copytree(folder, files, ignore=unused, dirs_exist_ok=True)
    _add_ours(work / "source", files)
    lock["packages"] = dict(map(_locked, sorted(files.glob("*.whl"))))
    (files / "pyodide-lock.json").write_text(json.dumps(lock), "utf-8")
    config = json.loads((TEMPLATES / "jupyter-lite.json").read_text("utf-8"))
    (kernel,) = config["jupyter-config-data"]["litePluginSettings"].values()
    kernel["loadPyodideOptions"]["packages"] = [*lock["packages"]]  # none is asked for later
    (work / "jupyter-lite.json").write_text(json.dumps(config), "utf-8")
    (lessons := work / "lessons").mkdir()
    for each in (*chosen([]), TEMPLATES / "ask_the_doctor.ipynb"):
        (lessons / each.name).write_text(BADGE.sub("", each.read_text("utf-8")), "utf-8")
    shutil.rmtree(out, ignore_errors=True)
    lite = [sys.executable, "-m", "jupyterlite_core", "build", "--no-sourcemaps"]
    lite += ["--apps=notebooks", "--apps=tree", "--no-unused-shared-packages"]  # fit a phone
    folders = [f"--lite-dir={work}", f"--contents={lessons}", f"--output-dir={out}"]
    _run([*lite, *folders], cwd=work)
    for name in ("index.html", "error.html", "lab.css"):
        shutil.copy(TEMPLATES / name, out)


def _run(command: list[str], **more) -> None:
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        said = (done.stderr or done.stdout).splitlines() or [f"{command[0]} failed"]
        reasons = [line for line in said if re.search("fail|Error:|ERROR", line)]  # advice follows
        raise RuntimeError((reasons or said)[-1])


def _pip(*words: str) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", words[0], "--no-deps", *words[1:]]
    _run(pip, env={**os.environ, "CC": "false"})  # nothing compiled runs in a browser


def _pyodide(version: str, cache: Path) -> Path:
    """The folder of Python for browsers, kept for the next time."""
    folder = cache / f"pyodide-{version}"
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        npm = ["npm", "pack", "--logs-max=0", "--fetch-retries=0", f"--pack-destination={cache}"]
        _run([*npm, f"pyodide@{version}"])
        shutil.unpack_archive(f"{folder}.tgz", folder)
    return folder / "package"


def _wheels(lock: dict, cache: Path) -> Path:
    """The folder of the other packages, as wheels of Python alone, kept for the next time."""
    found, todo = {name: importlib.metadata.version(name) for name in HERE}, [*WANTED]
    while todo:
        one = lock["packages"][todo.pop().replace("_", "-")]
        found[one["name"]] = one["version"]
        todo += [name for name in one["depends"] if name not in found]
    native = f"MarkupSafe=={found.pop('MarkupSafe')}"
    pinned = sorted(f"{name}=={version}" for name, version in found.items())
    folder = cache / f"wheels-{hashlib.sha256(' '.join(pinned).encode()).hexdigest()[:8]}"
    if not folder.exists():
        partial, python = cache / "partial", lock["info"]["python"].rpartition(".")[0]
        plain = ["--only-binary=:all:", "--platform=any", f"--python-version={python}"]
        _pip("download", *plain, f"--dest={partial}", *pinned)
        # No wheel of it is for browsers; where nothing compiles it becomes one of Python alone.
        _pip("wheel", "--no-binary=markupsafe", f"--wheel-dir={partial}", native)
        partial.rename(folder)
    return folder


def _add_ours(source: Path, folder: Path) -> None:
    """Build the course's wheel from a copy, with what the browser's Python runs first."""
    shutil.copytree(ROOT, source, ignore=NOT_PACKED)
    _pip("wheel", "--no-build-isolation", f"--wheel-dir={folder}", str(source))
    (wheel,) = folder.glob("accel_helpers-*.whl")
    with zipfile.ZipFile(wheel, "a") as file:
        file.write(TEMPLATES / "accel_lab_start.py", "accel_lab_start.py")


def _locked(wheel: Path) -> tuple[str, dict]:
    """A wheel as Pyodide lists it; its own list has the hashes of its own builds."""
    name, version = wheel.name.replace("_", "-").lower().split("-py")[0].rsplit("-", 1)
    entry = {"name": name, "version": version, "file_name": wheel.name, "install_dir": "site"}
    entry |= {"package_type": "package", "imports": [], "depends": [], "unvendored_tests": False}
    return name, entry | {"sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, metavar="OUT", help="a folder; what is there is replaced")
    out = parser.parse_args().out
    if reason := build(out):
        sys.exit(f"No browser lab: {reason}.")
    print(f"{out} needs python -m http.server, also on your own computer.")
