"""What a forecast reads of sixty models is what it read: products, launches, frozen parts.

python -m tests.worth.test_loads_stay    stores what is read now
"""

import json
from pathlib import Path

import pytest

pytest.importorskip("keras")
from counted_models import LARGE, MODELS, SMALL

from accel_helpers.worth.model_load import load_of

KEPT = Path(__file__).with_name("loads.json")
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in LARGE]


def read(name):
    """The load of a batch of 32, parts that are frozen within it, as lists."""
    load, _ = load_of(MODELS[name](), 32)
    return json.loads(json.dumps(load))


@pytest.mark.parametrize("name", [*SMALL, *SLOW])
def test_a_model_asks_for_what_it_asked_for(name):
    assert read(name) == json.loads(KEPT.read_text("utf-8"))[name]


def test_sixty_are_kept():
    assert [*json.loads(KEPT.read_text("utf-8"))] == [*MODELS]
    assert len(MODELS) >= 60


if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(read(name))}" for name in MODELS]
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
