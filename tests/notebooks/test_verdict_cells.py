"""Every cell "What this means" tells what came out, and each of its sentences can come out."""

import ast
import re
from types import SimpleNamespace

import pytest
from cells import PATHS, SETS, cells, race, said, the_cell

import accel_helpers as ah


def about(level, name=""):
    return ah.timing.Measurement.from_samples(
        [level * f for f in (1, 1.02, 0.99, 1.01, 0.98, 1.0)], name=name
    )


def ratio(value):
    return ah.timing.compare(about(value), about(1.0))


FASTER, SAME, SLOWER = ratio(2.0), ratio(1.0), ratio(0.5)


def machine(kind=None, fault=None, place="local"):
    faults = (fault,) if fault else ()
    return SimpleNamespace(
        accelerator=kind and SimpleNamespace(kind=kind), faults=faults, place=place
    )


def facts(*found):
    return {"mine": ah.verdicts.verified(**dict(zip(FACTS, found, strict=True)))}


FACTS = ("attached", "visible", "placed", "faster")


def sweep(small, large, devices):
    return {"ratios": {(16, 32): ratio(small), (512, 32): ratio(large)}, "devices": devices}


def parts(*levels):
    return {"pieces": ah.verdicts.step_parts(*map(about, levels))}


def first_epoch(seconds):
    epochs = ah.timing.Measurement.from_samples([1.0, 1.1, 1.2, 1.0, 1.1], first_call=seconds)
    return {"cpu": ah.training.FitTiming(epochs, 10)}


def climb(last=1.0, large=(0.6, 0.95)):
    def stage(name, seconds, accuracy, batch_size):
        return ah.climb.Stage(name, batch_size, 8, about(seconds, name), accuracy)

    stages = (
        stage("default fit", 1.0, (0.8, 0.9), 32),
        stage("bigger batches", 0.5, large, 256),
        stage("end", last, (0.8, 0.9), 32),
    )
    return {"climb": ah.climb.Climb(stages)}


def roof(flops, seconds):
    """A step that moves 100 MB on a chip of 2 GFLOP/s and 1 GB/s."""
    one = ah.timing.Measurement.from_samples([1.0])
    product = ah.ceilings.Ceiling("float32", 2e9, one)
    copy = ah.ceilings.Ceiling("float32", 1e9, one)
    ceilings = ah.ceilings.Ceilings("cpu", (product,), copy)
    work = {"a step": SimpleNamespace(flops=flops, bytes=1e8)}
    return {"ceilings": ceilings, "work": work, "seconds": {"a step": seconds}}


def losses(*last):
    return {"agreement": ah.verdicts.same_loss({str(n): [2.0, x] for n, x in enumerate(last)})}


def longer(value):
    return {"longer": ah.verdicts.how_much_longer(ratio(value))}


GPU, CPU = {"now": machine("GPU")}, {"now": machine()}
# lesson and words of a verdict cell: what it must say of what
TOLD = {
    "00 say[again.verdict]": [
        ("measurably faster", {"again": FASTER}),
        ("measurably slower", {"again": SLOWER}),
        ("no measurable difference", {"again": SAME}),
    ],
    "03 say[cpu.first_epoch]": [
        ("took longer than every other", first_epoch(9.0)),
        ("does not stand out", first_epoch(1.0)),
    ],
    "03 say[race_verdict]": [
        ("accelerator was faster", {"race": race("faster")}),
        ("accelerator was slower", {"race": race("slower")}),
        ("No measurable difference", {"race": race("no measurable difference")}),
        ("no accelerator here to compare", {"race": None}),
    ],
    "03 say[gap.verdict]": [
        ("missed the work", {"gap": FASTER}),
        ("No measurable difference", {"gap": SAME}),
        ("came out longer", {"gap": SLOWER}),
    ],
    "03 crossover = ": [
        ("was faster at every size", sweep(3, 9, ("cpu", "gpu"))),
        ("width 512 and batch size 32. It gains", sweep(1, 9, ("cpu", "gpu"))),
        ("At none of these sizes was", sweep(0.5, 1, ("cpu", "gpu"))),
        ("At every size in the table a better", sweep(3, 9, ("cpu",))),
        ("width 512 and batch size 32. Most is", sweep(1.5, 9, ("cpu",))),
        ("At none of these sizes is it sure", sweep(1, 1.5, ("cpu",))),
    ],
    "03 say[pieces.verdict]": [
        ("are 20 % of a step. So two thirds", parts(1.0, 0.6, 0.2)),
        ("are 50 % of a step: a part", parts(1.0, 0.9, 0.5)),
        ("are most of the step:** 80 %", parts(1.0, 0.9, 0.8)),
        ("cannot be told apart here", parts(1.0, 0.9, 1.0)),
        ("are 30 % of a step. So two thirds", parts(1.0, 1.0, 0.3)),
    ],
    "03 say[climb.verdict]": [
        ("Less work around the arithmetic", climb(0.1)),
        ("was slower than default fit", climb(3.0)),
        ("default fit cannot be told apart", climb()),
    ],
    "03 of_the_batch[climb": [
        ("came with lower accuracy", climb(large=(0.6, 0.7))),
        ("came with higher accuracy", climb(large=(0.95, 0.99))),
        ("cannot be told** from these trainings", climb()),
    ],
    "03 bound_by(": [
        ("reaches 5 % of what the roof allows at its place. That is less", roof(1e9, 10.0)),
        ("so the arithmetic of this chip", roof(1e9, 0.6)),
        ("so the memory of this chip", roof(1e7, 0.11)),
        ("faster than the limit", roof(1e9, 0.1)),
    ],
}
ALL = [(cell, words, names) for cell, cases in TOLD.items() for words, names in cases]


def source_of(cell):
    return the_cell(cell[:2], cell[3:], tag="verdict").source


@pytest.mark.parametrize(("cell", "words", "names"), ALL, ids=[f"{c}: {w}" for c, w, _ in ALL])
def test_what_came_out_is_told_as_it_came_out(cell, words, names):
    text = said(source_of(cell), **names)
    assert words in text
    assert not [other for other, _ in TOLD[cell] if other != words and other in text]


def sentences(source):
    """The longest piece without a field of each sentence that a cell could say."""
    for node in ast.walk(ast.parse(source)):
        for value in node.values if isinstance(node, ast.Dict) else ():
            texts = [part.value for part in ast.walk(value) if isinstance(part, ast.Constant)]
            pieces = [piece for text in texts for piece in re.split(r"\{.*?\}", text)]
            yield max(pieces, key=len)


@pytest.mark.parametrize("number", PATHS)
def test_every_sentence_belongs_to_something_that_can_come_out(number):
    for cell in cells(number, tag="verdict"):
        keys = [key for key in TOLD if key[:2] == number and key[3:] in cell.source]
        texts = [said(cell.source, **names) for key in keys for _, names in TOLD[key]]
        for sentence in sentences(cell.source):
            assert any(sentence in text for text in texts), sentence


@pytest.mark.parametrize("name", SETS)
def test_the_recorded_runs_are_as_far_apart_as_their_intervals_say(name):
    result = race(name)
    (slow_low, slow_high), (fast_low, fast_high) = result.slow.interval, result.fast.interval
    assert (fast_high < slow_low) == (name == "faster")
    assert (slow_high < fast_low) == (name == "slower")
