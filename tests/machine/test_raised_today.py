"""What learners meet with Keras 3 and JAX, raised by the packages that are installed."""

import json
from pathlib import Path

import pytest
from machines import python

SCRIPT = Path(__file__).with_name("raise_today.py")


@pytest.mark.parametrize("framework", [pytest.param("tensorflow", marks=pytest.mark.slow), "jax"])
def test_what_todays_packages_raise_is_known(framework):
    told = python(SCRIPT, KERAS_BACKEND=framework)
    assert told.returncode == 0, told.stderr[-2000:]
    said = json.loads(told.stdout.splitlines()[-1])
    assert said == {name: [name] * len(found) for name, found in said.items()}
    assert len(said) > 4
