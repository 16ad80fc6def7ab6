"""The built site, once for all workers, and the browser that looks at it."""

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "browser"))  # for lab and axe


@pytest.fixture(scope="session")
def site(tmp_path_factory, worker_id):
    """The folder of the site: the first worker that asks builds it, the others wait for it."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared if worker_id == "master" else shared.parent
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "course_site" / "index.html").exists():
            command = [sys.executable, ROOT / "tools" / "make_site.py"]
            command += ["--out", shared / "course_site"]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
    return shared / "course_site"


@pytest.fixture(scope="session")
def browser(required):
    import lab

    try:
        lab.find_browser()
    except lab.LabError as reason:
        required(str(reason))
    with lab.launched() as browser:
        yield browser
