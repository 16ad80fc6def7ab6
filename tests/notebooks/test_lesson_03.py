"""Lesson 03: recorded results, replayed through its cells, and its broken benchmarks."""

import re

import pytest
from cells import RECORDED, SETS, prose, race, said, the_cell

import accel_helpers as ah

SIZES = [(width, batch) for width in (16, 128, 512) for batch in (32, 256)]


def steps(run, width, batch):
    return RECORDED[run][f"width {width}, batch {batch}"]


def check_sizes(text, ratios, wins, *, everywhere, nowhere):
    """The sizes in a sentence are those that the table shows."""
    named = [(int(w), int(b)) for w, b in re.findall(r"width (\d+) and batch size (\d+)", text)]
    assert (nowhere in text) == (not wins) and (everywhere in text) == (len(wins) == len(ratios))
    if not wins:
        assert not named
    elif len(wins) < len(ratios):
        smallest, largest = named
        assert smallest == min(wins, key=lambda size: size[0] * size[1])
        assert ratios[largest].ratio == max(r.ratio for r in ratios.values() if r.ratio)


@pytest.mark.parametrize("name", SETS)
def test_the_sweep_names_sizes_that_the_table_shows(name):
    cpu, gpu = SETS[name]
    ratios = {size: ah.timing.compare(steps(cpu, *size), steps(gpu, *size)) for size in SIZES}
    text = said(the_cell("03", "crossover =").source, ratios=ratios, devices=("cpu", "gpu"))
    wins = {size for size, r in ratios.items() if r.slow.interval[0] > r.fast.interval[1]}
    check_sizes(text, ratios, wins, everywhere="faster at every size", nowhere="At none")
    alt = ah.plots.heatmap(ratios, title="T", note="N.").alt
    for (width, batch), r in ratios.items():
        assert (f"{width} by {batch}: no difference" in alt) == (r.ratio is None)
    result = race(name)
    picture = ah.plots.measurements([result.slow, result.fast], title="One epoch")
    for m in (result.slow, result.fast):
        assert f"{m.name} {ah.timing.format_seconds(m.median)}" in picture.alt


@pytest.mark.parametrize("run", RECORDED)
def test_the_limit_names_sizes_that_the_table_shows(run):
    ratios = {
        (width, batch): ah.timing.compare(steps(run, width, batch), steps(run, 1, batch))
        for width, batch in SIZES
    }
    text = said(the_cell("03", "crossover =").source, ratios=ratios, devices=("cpu",))
    wins = {size for size, r in ratios.items() if r.conclusive and r.interval[0] > 2}
    check_sizes(text, ratios, wins, everywhere="At every size", nowhere="At none")
    assert "was faster" not in text and "2 times as" in text


@pytest.mark.parametrize("run", RECORDED)
def test_the_parts_are_told_as_the_bars_show_them(run):
    m = RECORDED[run]
    pieces = ah.verdicts.step_parts(m["step"], m["grouped"], m["products"])
    text = said(the_cell("03", "say[pieces.verdict]").source, pieces=pieces)
    share = m["products"].median / m["step"].median
    apart = m["products"].interval[1] < m["step"].interval[0]
    assert ("cannot be told" in text) == (not apart)
    assert ("two thirds of the step or more are not" in text) == (apart and share <= 1 / 3)
    assert ("are most of the step" in text) == (apart and share >= 2 / 3)
    assert (f"{100 * share:.2g} %" in text) == apart, "the reader's own share is named"
    assert ("two bars" in text) == ("everything else" in pieces.seconds)
    assert "**Two bars:** *everything else*" in prose("03") and "**Three bars:**" in prose("03")


@pytest.mark.parametrize("letter", "abcd")
def test_no_broken_benchmark_passes_its_check(letter):
    scope = {}
    exec(the_cell("03", "def broken_a").source, scope)
    assert not ah.checks.check(f"03/{letter}", scope[f"broken_{letter}"]).ok
