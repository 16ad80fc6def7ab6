"""What the tests of the TPU compiler's folder install: small packages of the right names."""

import json
import os
import zipfile
from pathlib import Path

from accel_helpers import probe
from accel_helpers.tpu.environment import PINS, install

LIBRARY = 300_000  # bytes of the stand-in for libtpu.so


def make_wheels(folder, **replaced):
    """Packages with the right names and versions, and nothing in them."""
    folder.mkdir()
    for name, version in PINS.items():
        files = {f"{name}/__init__.py": replaced.get(name, "")}
        if name == "libtpu":
            files["libtpu/libtpu.so"] = "x" * LIBRARY
        info = f"{name}-{version}.dist-info"
        files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
        with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
            for path, text in files.items():
                wheel.writestr(path, text)
    return folder


def without_uv():
    """Give this process's variables, with a PATH on which there is no uv: pip does the work."""
    path = os.environ["PATH"].split(os.pathsep)
    path = [folder for folder in path if not os.path.exists(os.path.join(folder, "uv"))]
    dropped = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    kept = {k: v for k, v in os.environ.items() if not k.upper().startswith(dropped)}
    return {**kept, "PATH": os.pathsep.join(path), "PIP_CONFIG_FILE": os.devnull}


def using(wheels, kept):
    """Give variables with which pip takes these packages and asks no network."""
    own = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "ACCEL_TPU_COMPILER": str(kept)}
    return {**without_uv(), **own}


def asking(port, kept):
    """Give variables with which pip asks a port of this machine."""
    index = f"http://127.0.0.1:{port}/simple"
    own = {"PIP_INDEX_URL": index, "PIP_DEFAULT_TIMEOUT": "60", "ACCEL_TPU_COMPILER": str(kept)}
    return {**without_uv(), **own}


def quietly(environ, **options):
    return install(environ, say=lambda text: None, **options)


def never(*words, **options):
    raise AssertionError("nothing is to be run")


def pretend(words, **options):
    """Install and check as `probe.run_command` would, at once."""
    if "--target" in words:
        packages = Path(words[words.index("--target") + 1])
        (packages / "libtpu").mkdir(parents=True)
        (packages / "libtpu" / "libtpu.so").write_text("x")
        return probe.Outcome("finished", 0.0)
    return probe.Outcome("finished", 0.0, json.dumps(PINS))


def contents(folder):
    return sorted(path.name for path in folder.iterdir())
