"""What the texts of the lessons show and claim is what is graded, stored or printed there."""

import re

from cells import PATHS, cells, printed, said, the_cell

import accel_helpers as ah


def text_with(number, words):
    return the_cell(number, words, kind="markdown").source


def test_the_tolerance_in_the_sentence_of_lesson_04_is_the_one_that_is_used():
    text = said(the_cell("04", "say[agreement]").source, agreement="the same")
    (share,) = re.findall(r"1 part in ([\d,]+) apart", text)
    used = re.search(r"tolerance=([\de.-]+)", the_cell("04", "ah.replicas.train_each").source)
    assert float(used[1]) == 1 / int(share.replace(",", ""))


def test_what_lesson_04_says_of_the_compiled_step_is_what_is_stored():
    small, middle, large = (
        ah.tpu_compiler.stored(name) for name in ("strategy", "resnet50", "resnet50-large")
    )
    assert small.peak_memory / small.memory < 1 / 1000  # the answer that is revealed
    assert the_cell("04", 'reveal("04/memory", shares[2])')
    text = PATHS["04"].read_text("utf-8")
    chip = ah.hardware.match("v5e")
    ridge = 1e3 * chip.peak_bf16_tflops_dense / chip.mem_bw_gb_s
    assert "about 240" in text and 235 < ridge < 246
    assert f"With {small.intensity:.0f}, the memory" in text
    assert large.verdict == "too large" and large.largest_batch == 512
    given, peak = (f"{size:.3g}" for size in (middle.logical_bytes / 1e6, middle.peak_memory / 1e9))
    assert f"takes {given} MB of {peak} GB" in text
    assert "batch of 64 pictures" in text and small.batch_size == 64


def test_the_figures_in_lesson_06_are_those_that_are_stored():
    v5e = {n: ah.tpu_compiler.stored_product(n, n, n) for n in (128, 129)}
    text = text_with("06", "On the v5e, 129 takes")
    assert f"{v5e[129].instructions} instructions instead of {v5e[128].instructions}" in text
    grown = v5e[129].estimated_cycles / v5e[128].estimated_cycles
    assert 1.08 < grown < 1.12 and "a tenth longer" in text
    narrow, padded = (ah.tpu_compiler.stored(f"width-{width}") for width in (100, 128))
    text = text_with("06", "From 100 to 128 the model")
    more = round(100 * (padded.flops / narrow.flops - 1))
    longer = round(100 * (dict(padded.cycles)["hidden"] / dict(narrow.cycles)["hidden"] - 1))
    assert f"{more} % more operations, and the estimate grows by {longer} %" in text


def test_what_lesson_10_says_of_leakage_is_what_its_cell_has_shown():
    shown = printed(*cells("10", "closest ="))
    rows = re.findall(r"^(.*first) +([\d.]+) % +([\d.]+) %$", shown, re.M)
    found = {name: (float(claimed), float(really)) for name, claimed, really in rows}
    claimed, really = found["shuffled labels, copies first"]
    assert claimed > 80 and really < 15
    assert all(5 < value < 15 for value in found["shuffled labels, split first"])
    near = [found[f"true labels, {way} first"] for way in ("copies", "split")]
    assert all(abs(claimed - really) < 1 for claimed, really in near)
    ((there, closest),) = re.findall(r"^copies first +([\d.]+) % +([\d.]+) % +[\d,]+$", shown, re.M)
    assert there == "100.0" and 75 < float(closest) < 85
    text = text_with("10", "called **leakage**")
    for words in ("more than 80 %", "about four in five", "within one point"):
        assert words in text
