"""The page of the verbs: every line of it runs, with TensorFlow and with JAX."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import accel_helpers as ah

PAGE = Path(__file__).parents[1] / "docs" / "library.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def test_every_verb_is_on_the_page():
    called = set(re.findall(r"\bah\.(\w+)\(", "\n".join(BLOCKS)))
    assert called == set(ah.__all__) - {"tpu", "course", "__version__"}


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("framework", ["tensorflow", pytest.param("jax", marks=pytest.mark.night)])
def test_the_page_runs_from_top_to_bottom(framework, tmp_path):
    pytest.importorskip(framework)
    environment = {**os.environ, "KERAS_BACKEND": framework}
    command = [sys.executable, "-c", "\n".join(BLOCKS)]
    ran = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert list(tmp_path.iterdir()) == [], "a verb writes nothing that was not asked for"
