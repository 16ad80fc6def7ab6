"""Build the browser lab, from package registries alone: JupyterLite, and a page for errors."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import lesson
import template

TEMPLATES = template.FOLDER / "lab"
KERNEL = Path(sys.prefix, "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension")
# What the kernel imports, and Jinja2 for our cards.
WANTED = ["ipython", "jedi", "micropip", "jinja2", "comm", "ipywidgets<9"]
PLAIN = ["--only-binary=:all:", "--platform=any"]  # nothing compiled runs in a browser
# No wheel of it is for browsers; where nothing compiles it becomes one of Python alone.
NATIVE = ["--no-deps", "--no-binary=markupsafe", "markupsafe"]
APPS = ["--apps=notebooks", "--apps=tree"]  # these fit a phone


def run(folder, *command, **environment):
    """Run a command that has to work; what it leaves behind is left in a folder."""
    subprocess.run(command, cwd=folder, check=True, env={**os.environ, **environment})


def download(folder):
    """Put Python for browsers, and what the kernel needs, into a folder; give Pyodide's list."""
    from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION

    above = folder.parent
    run(above, "npm", "install", "--silent", f"--prefix={above}", f"pyodide@{PYODIDE_VERSION}")
    (above / "node_modules" / "pyodide").rename(folder)
    lock = json.loads((folder / "pyodide-lock.json").read_text("utf-8"))
    versions = [f"{one['name']}=={one['version']}" for one in lock["packages"].values()]
    pins = above / "pins.txt"
    pins.write_text("\n".join(versions))
    pip = [above, sys.executable, "-m", "pip", "--quiet"]
    here = [f"--constraint={pins}", f"--find-links={folder}"]
    run(*pip, "wheel", *here, f"--wheel-dir={folder}", *NATIVE, CC="false")
    python = lock["info"]["python"].rpartition(".")[0]
    run(*pip, "download", *here, f"--dest={folder}", f"--python-version={python}", *PLAIN, *WANTED)
    return lock


def listed(wheel):
    """Give a wheel as Pyodide lists it; its own list has the hashes of its own builds."""
    name, version, *_ = wheel.name.lower().split("-")
    return {
        "name": name.replace("_", "-"),
        "version": version,
        "file_name": wheel.name,
        "install_dir": "site",
        "package_type": "package",
        "imports": [],
        "depends": [],
        "unvendored_tests": False,
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
    }


def build(out, wheel):
    """Build the lab in a folder with the course's wheel."""
    with tempfile.TemporaryDirectory() as work:
        python = Path(work, "lite", "static", "pyodide")
        python.parent.mkdir(parents=True)
        lock = download(python)
        shutil.copytree(KERNEL / "static" / "pypi", python, dirs_exist_ok=True)
        shutil.copy(wheel, python)
        with zipfile.ZipFile(python / wheel.name, "a") as archive:
            # What the browser's Python runs first.
            archive.write(TEMPLATES / "accel_lab_start.py", "accel_lab_start.py")
        packages = map(listed, sorted(python.glob("*.whl")))
        lock["packages"] = {package["name"]: package for package in packages}
        (python / "pyodide-lock.json").write_text(json.dumps(lock), "utf-8")
        # All are loaded at once: none is asked for later.
        config = lesson.read(TEMPLATES / "jupyter-lite.json")
        config = config.replace('"ALL"', json.dumps([*lock["packages"]]))
        Path(work, "lite", "jupyter-lite.json").write_text(config, "utf-8")
        given = [f"--lite-dir={work}/lite", f"--output-dir={out}", f"--contents={lesson.LESSONS}"]
        given.append(f"--contents={TEMPLATES}/ask_the_doctor.ipynb")
        small = ["--no-sourcemaps", "--no-unused-shared-packages"]
        lite = [sys.executable, "-m", "jupyterlite_core", "build"]
        run(work, *lite, *given, *small, *APPS)
    for name in ("index.html", "error.html", "lab.css"):
        shutil.copy(TEMPLATES / name, out)


if __name__ == "__main__":
    (wheel,) = lesson.ROOT.glob("dist/accel_helpers-*.whl")
    build(lesson.ROOT / "course_site" / "lab", wheel)
