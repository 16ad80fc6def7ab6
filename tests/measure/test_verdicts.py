"""Verdicts follow from the measurements, and say when they cannot tell."""

from itertools import product
from types import SimpleNamespace

import pytest

from accel_helpers.machine.runtime import Runtime, describe
from accel_helpers.measure import measurement, scores
from accel_helpers.measure.timing import Measurement, compare

SAME = "no measurable difference"


def about(level):
    return Measurement.from_samples([level * f for f in (1, 1.02, 0.99, 1.01, 0.98, 1.0)])


def ratio(value):
    return compare(about(value), about(1.0))


@pytest.mark.parametrize(
    ("environ", "smi", "verdict"),
    [
        ({}, None, "nothing here"),
        ({"COLAB_RELEASE_TAG": "r", "COLAB_TPU_1VM": ""}, None, "nothing in Colab"),
        ({"COLAB_RELEASE_TAG": "r", "COLAB_TPU_1VM": "1"}, None, "a TPU that is not there"),
        ({}, "Tesla T4, 15360, 550.54.15", "a GPU"),
        ({}, "Failed to initialize NVML", "a driver that does not answer"),
    ],
)
def test_what_is_attached_in_a_few_words(tmp_path, environ, smi, verdict):
    if smi:
        (tmp_path / "dev").mkdir()
        (tmp_path / "dev" / "nvidia0").touch()
    facts = {"environ": environ, "root": tmp_path, "versions": lambda _: None}
    assert describe(run=lambda *_: smi or "", **facts).verdict == verdict


LEVELS = (0.02, 0.5, 1.0, 1.5, 2.0, 4.0)


GIVEN = {  # what is declared, and what is said to many things
    "compare": (measurement.VERDICTS, [ratio(x) for x in LEVELS]),
    "scores": (scores.VERDICTS, [scores.Difference(None, 0, (x - 1.5, x - 1)) for x in LEVELS]),
}


@pytest.mark.parametrize("source", GIVEN)
def test_the_verdicts_that_are_declared_are_all_that_come(source):
    declared, results = GIVEN[source]
    said = {getattr(each, "verdict", each) for each in results}
    assert said == set(declared)


def test_what_is_attached_is_said_in_one_of_its_words():
    kinds, faults = (None, "GPU", "TPU"), ([], ["gpu-silent"], ["tpu-claimed"])
    said = {
        Runtime.verdict.fget(
            SimpleNamespace(
                accelerator=kind and SimpleNamespace(kind=kind), faults=fault, place=place
            )
        )
        for kind, fault, place in product(kinds, faults, ("colab", "local"))
    }
    assert said == set(Runtime.OUTCOMES)
