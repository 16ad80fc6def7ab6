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
from lesson import ROOT

TEMPLATES = ROOT / "tools" / "templates" / "lab"
KERNEL = "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension/static/pypi"
# What the kernel imports, and Jinja2 for our cards.
WANTED = ("ipython", "jedi", "micropip", "jinja2", "comm", "ipywidgets<9")
PLAIN = ("--only-binary=:all:", "--platform=any")  # nothing compiled runs in a browser
LITE = ("jupyterlite_core", "build", "--no-sourcemaps", "--no-unused-shared-packages")
APPS = ("--apps=notebooks", "--apps=tree")  # these fit a phone


def pip(*words):
    """Run pip, without a compiler."""
    run(sys.executable, "-m", "pip", "--quiet", *words, env={**os.environ, "CC": "false"})


def run(*command, **how):
    """Run a command that has to work."""
    subprocess.run(command, check=True, **how)


def download_python(folder, version):
    """Put Python for browsers into a folder; give its list of packages."""
    run("npm", "pack", "--silent", f"pyodide@{version}", cwd=folder.parent)
    shutil.unpack_archive(folder.parent / f"pyodide-{version}.tgz", folder.parent)
    unused = shutil.ignore_patterns("console*", "*.d.ts", "*.map")
    shutil.copytree(folder.parent / "package", folder, ignore=unused)
    return json.loads((folder / "pyodide-lock.json").read_text("utf-8"))


def download_packages(folder, lock):
    """Put what the kernel needs into a folder, in the versions that Pyodide has."""
    known = lock["packages"].values()
    pins = folder.parent / "pins.txt"
    pins.write_text("\n".join(f"{one['name']}=={one['version']}" for one in known))
    here = (f"--constraint={pins}", f"--find-links={folder}")
    # No wheel of it is for browsers; where nothing compiles it becomes one of Python alone.
    native = ("--no-deps", "--no-binary=markupsafe", "markupsafe")
    pip("wheel", *here, f"--wheel-dir={folder}", *native)
    python = lock["info"]["python"].rpartition(".")[0]
    pip("download", *here, f"--dest={folder}", f"--python-version={python}", *PLAIN, *WANTED)


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
    """Build the lab in a folder, anew, with the course's wheel."""
    from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION

    with tempfile.TemporaryDirectory() as work:
        files = Path(work) / "static" / "pyodide"
        files.parent.mkdir()
        lock = download_python(files, PYODIDE_VERSION)
        download_packages(files, lock)
        shutil.copytree(Path(sys.prefix) / KERNEL, files, dirs_exist_ok=True)
        ours = shutil.copy(wheel, files)
        with zipfile.ZipFile(ours, "a") as archive:  # with what the browser's Python runs first
            archive.write(TEMPLATES / "accel_lab_start.py", "accel_lab_start.py")
        packages = [listed(path) for path in sorted(files.glob("*.whl"))]
        lock["packages"] = {package["name"]: package for package in packages}
        (files / "pyodide-lock.json").write_text(json.dumps(lock), "utf-8")
        # All are loaded at once: none is asked for later.
        config = lesson.read(TEMPLATES / "jupyter-lite.json")
        config = config.replace('"ALL"', json.dumps([*lock["packages"]]))
        (Path(work) / "jupyter-lite.json").write_text(config, "utf-8")
        shutil.rmtree(out, ignore_errors=True)
        folders = (f"--lite-dir={work}", f"--output-dir={out}", f"--contents={lesson.LESSONS}")
        contents = f"--contents={TEMPLATES / 'ask_the_doctor.ipynb'}"
        run(sys.executable, "-m", *LITE, *APPS, *folders, contents, cwd=work)
    for name in ("index.html", "error.html", "lab.css"):
        shutil.copy(TEMPLATES / name, out)


if __name__ == "__main__":
    (wheel,) = ROOT.glob("dist/accel_helpers-*.whl")
    build(ROOT / "course_site" / "lab", wheel)
    print("course_site/lab needs python -m http.server, also on your own computer.")
