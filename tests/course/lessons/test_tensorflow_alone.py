"""The converted lessons on a machine that has TensorFlow and no JAX.

That of JAX alone is Colab's TPU runtime: tests/colab runs every lesson in a replica of it.
"""

import importlib.util
from pathlib import Path

import lesson
import pytest
import run_lessons

# What Python runs when it starts, in every process of a lesson.
BLOCKED = """
import importlib.abc, importlib.metadata, importlib.util, sys

class Gone(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("jax", "jaxlib"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Gone())
real_spec, real_version = importlib.util.find_spec, importlib.metadata.version

def find_spec(name, package=None):
    return None if name in ("jax", "jaxlib") else real_spec(name, package)

def version(name):
    if name in ("jax", "jaxlib"):
        raise importlib.metadata.PackageNotFoundError(name)
    return real_version(name)

importlib.util.find_spec, importlib.metadata.version = find_spec, version
"""
LESSONS = lesson.chosen([])


@pytest.mark.night
@pytest.mark.timeout(3600)
def test_lessons_run_where_jax_is_not_installed(tmp_path, monkeypatch, required):
    if not importlib.util.find_spec("tensorflow"):
        required("TensorFlow is not installed")
    (tmp_path / "sitecustomize.py").write_text(BLOCKED)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(run_lessons.__file__).parents[1]}")
    done = run_lessons.run(LESSONS, tmp_path / "report", fast=True)
    assert [(ran.name, ran.status) for ran in done if not ran.ok] == []
