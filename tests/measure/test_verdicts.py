"""Verdicts follow from the measurements, and say when they cannot tell."""

from itertools import product
from types import SimpleNamespace

import pytest

from accel_helpers.machine.runtime import Runtime, describe
from accel_helpers.measure import ceilings, scores, verdicts
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


def test_say_shows_the_text_of_the_verdict_and_fills_in_that_alone():
    text = (
        "[faster] **{:.1f} times.**\nSee [this](there).\n\n[slower] {missing}\n[not measured] No."
    )
    assert verdicts.say(ratio(2.0), text, 2).data == "**2.0 times.**\nSee [this](there)."
    assert verdicts.say(None, text).data == "No."
    with pytest.raises(ValueError, match=r"\[equal\].*\[faster\], \[slower\]"):
        verdicts.say("equal", text)


LEVELS = (0.02, 0.5, 1.0, 1.5, 2.0, 4.0)


def roof(flops, moved):
    one = Measurement.from_samples([1.0])
    limits = ceilings.Ceilings(
        "", (ceilings.Ceiling("float32", 2, one),), ceilings.Ceiling("", 2, one)
    )
    return ceilings.bound_by(SimpleNamespace(flops=flops, bytes=moved), 1.0, limits)


GIVEN = {  # a source, and all that it says to many things
    "compare": [ratio(x) for x in LEVELS],
    "scores": [scores.verdict(x - 1.5, x - 1.0) for x in LEVELS],
    "bound_by": [roof(*pair) for pair in product(LEVELS, LEVELS)],
}


@pytest.mark.parametrize("source", GIVEN)
def test_the_labels_of_a_source_are_all_that_it_says(source):
    said = {getattr(each, "verdict", each) for each in GIVEN[source]}
    assert said == set(verdicts.LABELS[source])


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
