"""What learners meet with Keras 3 and JAX: the installed packages raise it, or warn of it."""

import json
from pathlib import Path

import pytest
from machines import python

ERRORS = Path(__file__).with_name("raise_today.py")
WARNINGS = Path(__file__).with_name("raise_slow.py")


@pytest.mark.night
@pytest.mark.parametrize("script", [ERRORS, WARNINGS], ids=["errors", "warnings"])
@pytest.mark.parametrize("framework", ["tensorflow", "jax"])
def test_what_todays_packages_raise_or_warn_of_is_known(framework, script):
    told = python(script, KERAS_BACKEND=framework, TF_CPP_MIN_LOG_LEVEL="0")
    assert told.returncode == 0, told.stderr[-2000:]
    said = json.loads(told.stdout.splitlines()[-1])
    assert said == {name: [name] * len(found) for name, found in said.items()}
    assert len(said) > 2
