"""Verdicts follow from the measurements, and say when they cannot tell."""

import random
import re
from itertools import product
from types import SimpleNamespace

import pytest

from accel_helpers.machine.runtime import Runtime, describe
from accel_helpers.measure import ceilings, scores, verdicts
from accel_helpers.measure.measurement import Speedup
from accel_helpers.measure.timing import Measurement, compare

SAME = "no measurable difference"


def about(level):
    return Measurement.from_samples([level * f for f in (1, 1.02, 0.99, 1.01, 0.98, 1.0)])


def ratio(value):
    return compare(about(value), about(1.0))


@pytest.mark.parametrize(
    ("ratios", "at_least", "verdict", "words"),
    [
        ({(16, 32): 0.5, (128, 32): 1.0}, 1, "nowhere",
         ("", "32 at width 16", "32 from width 128 on")),
        ({(16, 32): 1.0, (128, 32): 1.0}, 1, "cannot tell", ("", "", "32 at every width")),
        ({(16, 32): 0.5, (99, 32): 3, (512, 32): 9}, 1, "at some sizes",
         ("32 from width 99 on", "32 at width 16", "")),
        ({(16, 256): 2.0, (128, 32): 2.0}, 1, "everywhere",
         ("32 at every width; batches of 256 at every width", "", "")),
        ({(16, 32): 1.5, (128, 32): 1.5, (512, 32): 3.0}, 2, "at some sizes",
         ("32 from width 512 on", "32 up to width 128", "")),
        # a corner is no border: narrow widths pay in large batches, wide ones in small batches
        ({(16, 32): 1.5, (512, 32): 1.5, (2048, 32): 6, (16, 2048): 1.5, (512, 2048): 8,
          (2048, 2048): 30}, 2, "at some sizes",
         ("32 from width 2,048 on; batches of 2,048 from width 512 on",
          "32 up to width 512; batches of 2,048 at width 16", "")),
    ],
)  # fmt: skip
def test_where_it_pays_is_said_for_each_batch_size(ratios, at_least, verdict, words):
    speedups = {size: ratio(value) for size, value in ratios.items()}
    found = verdicts.where_it_pays(speedups, at_least=at_least)
    assert found.verdict == verdict
    said = found.pays, found.not_worth, found.untold
    assert said == tuple(f"batches of {each}" if each else "" for each in words)
    sizes_that_pay = [size for size, value in ratios.items() if value > at_least]
    assert found.largest == max(sizes_that_pay, key=ratios.get, default=None)


def widths_named(text, batch, widths):
    """The widths that a sentence names for a batch size: read by other means than it is written."""
    parts = [part for part in text.split("; ") if part.startswith(f"batches of {batch:,} ")]
    if not parts:
        return set()
    (part,) = parts
    where = part.removeprefix(f"batches of {batch:,} ")
    numbers = [int(number.replace(",", "")) for number in re.findall(r"[\d,]+", where)]
    if where == "at every width":
        return set(widths)
    if where.startswith("from width"):
        return {width for width in widths if width >= numbers[0]}
    if where.startswith("up to width"):
        return {width for width in widths if width <= numbers[0]}
    assert where.startswith("at width ")
    return set(numbers)


@pytest.mark.parametrize("at_least", [1, 2])
def test_the_sentences_of_a_sweep_never_contradict_its_table(at_least):
    rng = random.Random(20261123)
    widths, batches = (16, 128, 512, 2048), (32, 256, 2048)
    for _ in range(500):
        ratios = {}
        for size in product(widths, batches):
            middle, spread = rng.choice([0.4, 1, 1.5, 2, 3, 8, 31]), rng.choice([1.02, 1.2, 2])
            interval = (middle / spread, middle * spread)
            told = not interval[0] <= 1 <= interval[1]
            ratios[size] = Speedup(None, None, interval, told, middle if told else None)
        found = verdicts.where_it_pays(ratios, at_least=at_least)
        for (width, batch), speedup in ratios.items():
            groups = (found.pays, found.not_worth, found.untold)
            named = [width in widths_named(text, batch, widths) for text in groups]
            low, high = speedup.interval
            pays, not_worth = low > at_least, speedup.conclusive and high < at_least
            assert named == [pays and speedup.conclusive, not_worth, not (pays or not_worth)]
        count = sum(speedup.interval[0] > at_least for speedup in ratios.values())
        assert (found.verdict == "everywhere") == (count == len(ratios))
        assert (found.verdict in ("nowhere", "cannot tell")) == (count == 0)


@pytest.mark.parametrize(
    ("plain", "grouped", "products", "verdict", "parts"),
    [
        (1.0, 0.6, 0.2, "mostly other work", 3),
        (1.0, 1.1, 0.3, "mostly other work", 2),  # grouping made it slower: nothing to subtract
        (1.0, 0.9, 1.5, "cannot tell", 1),
    ],
)
def test_step_parts(plain, grouped, products, verdict, parts):
    found = verdicts.step_parts(about(plain), about(grouped), about(products))
    assert found.verdict == verdict and len(found.seconds) == parts
    assert sum(found.seconds.values()) == pytest.approx(plain)
    assert all(seconds > 0 for seconds in found.seconds.values())


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
    "how_much_longer": [verdicts.how_much_longer(ratio(x)) for x in LEVELS],
    "where_it_pays": [
        verdicts.where_it_pays({(1, 1): ratio(x), (2, 1): ratio(y)})
        for x, y in product(LEVELS, LEVELS)
    ],
    "step_parts": [verdicts.step_parts(about(2.0), about(x)) for x in LEVELS],
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
