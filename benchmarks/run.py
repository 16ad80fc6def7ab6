"""Measure the course's claims on this machine: ``python benchmarks/run.py`` (`make benchmarks`).

Not a test: it takes minutes, wants a machine with nothing else to do, and asserts nothing. What it
finds goes to ``benchmarks/results/``; ``docs/benchmarks.md`` and its pictures are made from there.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("training", "harness", "samples")
ENVIRONMENT = ROOT / ".benchmarks"
RESULTS = ROOT / "benchmarks" / "results"
SCHEMA = 1


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; 1 if a part failed."""
    # here, and not above: started as a file, Python finds them only from now on
    from accel_helpers.machine import runtime
    from benchmarks import harness, page, samples, training

    args = _parser().parse_args(arguments)
    if args.page:
        page.write(RESULTS, ROOT / "docs")
        return 0
    machine = runtime.describe().to_dict()
    out = args.out or (ENVIRONMENT / "quick" if args.quick else RESULTS) / f"{slug(machine)}.json"
    result = _earlier(out) | {"schema": SCHEMA, "machine": machine}
    python, why = "", ""
    if {"training", "harness"} & set(args.parts):
        python, why = torch_python(args.torch_python)
    shared = {"quick": args.quick, "progress": _say(time.monotonic())}
    with tempfile.TemporaryDirectory(prefix="accel-benchmarks-") as folder:
        for part in args.parts:
            start = time.monotonic()
            if part == "samples":
                found = samples.run(folder, **shared)
            elif part == "harness":
                found = harness.run(torch_python=python, why_no_torch=why, **shared)
            else:
                found = training.run(folder, torch_python=python, why_no_torch=why, **shared)
            found |= {
                "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                "command": "python benchmarks/run.py" + (" --quick" if args.quick else ""),
                "minutes": round((time.monotonic() - start) / 60, 1),
            }
            result[part] = found
            save(result, out)
    page.write(out.parent, out.parent if out.parent != RESULTS else ROOT / "docs")
    errors = list(errors_in(result))
    for error in errors:
        print(f"Failed: {error}", file=sys.stderr)
    print(f"Written: {out}")
    return 1 if errors else 0


def torch_python(given: str | None, *, environment: Path = ENVIRONMENT, call=subprocess.run):
    """The Python that has PyTorch and pyperf, made where it is missing.

    Parameters
    ----------
    given : str or None
        One that is there already.
    environment : path-like, optional
        Where it is made from ``benchmarks/requirements.txt``.
    call : callable, optional
        As `subprocess.run`.

    Returns
    -------
    tuple of str
        Its path, and why there is none; one of the two is empty.
    """
    if given:
        return str(given), ""
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    wanted = ROOT / "benchmarks" / "requirements.txt"
    stamp = environment / "made-from.txt"
    if stamp.exists() and stamp.read_text() == wanted.read_text():
        return str(python), ""
    try:
        call([sys.executable, "-m", "venv", str(environment)], check=True)
        call([str(python), "-m", "pip", "install", "--quiet", "-r", str(wanted)], check=True)
        call([str(python), "-c", "import torch, pyperf"], check=True)
        stamp.write_text(wanted.read_text())
    except (OSError, subprocess.CalledProcessError):
        return "", "PyTorch could not be installed"
    return str(python), ""


def slug(machine: dict) -> str:
    """A file name for a machine.

    Examples
    --------
    >>> slug({"accelerator": None, "cpu_name": "AMD EPYC", "cores": 2})
    'cpu-amd-epyc-2-cores'
    """
    accelerator = machine.get("accelerator") or {}
    words = [accelerator.get("kind", "cpu"), accelerator.get("name")]
    if not accelerator:
        words = ["cpu", machine.get("cpu_name"), machine.get("cores"), "cores"]
    return re.sub("[^a-z0-9]+", "-", " ".join(str(w) for w in words if w).lower()).strip("-")


def save(result: dict, path: Path) -> None:
    """Write a result, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(beside, path)


def errors_in(result, where: str = ""):
    """Every error in a result, with the place where it stands.

    Examples
    --------
    >>> list(errors_in({"training": {"32": {"fit": {"error": "ended"}}}, "harness": {}}))
    ['training, 32, fit: ended']
    """
    for key, value in result.items() if isinstance(result, dict) else ():
        if key == "error":
            yield f"{where}: {value}"
        else:
            yield from errors_in(value, f"{where}, {key}" if where else str(key))


def _earlier(path: Path) -> dict:
    """Parts that are not run again are kept."""
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def _say(start: float):
    def say(text: str) -> None:
        print(f"{time.monotonic() - start:5.0f} s  {text}", file=sys.stderr, flush=True)

    return say


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python benchmarks/run.py", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="only these")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, to see that it works; kept apart"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the result is written")
    parser.add_argument(
        "--torch-python", metavar="PATH", help="a Python that has torch and pyperf; by default "
        "one is made in .benchmarks/"
    )  # fmt: skip
    parser.add_argument(
        "--page", action="store_true", help="measure nothing, make docs/benchmarks.md again"
    )
    return parser


if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # instead of this folder
    sys.exit(main())
