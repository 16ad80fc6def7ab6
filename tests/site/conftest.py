"""The built site, once for all workers, and the browser that looks at it."""

import fcntl
import subprocess
import sys

import chromium
import lesson
import pytest


@pytest.fixture(scope="session")
def site(tmp_path_factory, worker_id):
    """The folder of the site: the first worker that asks builds it, the others wait for it."""
    shared = tmp_path_factory.getbasetemp()
    out = (shared if worker_id == "master" else shared.parent) / "course_site"
    with out.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (out / "index.html").exists():
            for tool, *words in ["questions_out.py", out / "take"], ["make_site.py", "--out", out]:
                subprocess.run([sys.executable, lesson.HERE / tool, *words], check=True)
    return out


@pytest.fixture(scope="module")
def browser(needed):
    with chromium.launched() as browser:
        yield browser
