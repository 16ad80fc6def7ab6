"""Lesson 06: its sentences fit what was measured and stored; its exercises grade what is typed."""

import ast
import json
import re
from pathlib import Path

import nbformat
import pytest

import accel_helpers as ah
from accel_helpers.measure.measurement import Measurement

LESSON = Path(__file__).parents[2] / "notebooks" / "06_inside_a_tpu.ipynb"


def cells(kind, words):
    notebook = nbformat.read(LESSON, as_version=4)
    return [c for c in notebook.cells if c.cell_type == kind and words in c.source]


def the_cell(words, kind="code"):
    (found,) = cells(kind, words)
    return found


def output_of(words):
    return "".join(out.get("text", "") for out in the_cell(words).outputs)


def said(word, **names):
    """Run a verdict cell with what was measured handed in; give its sentence."""
    tree = ast.parse(the_cell(f"Markdown(say[{word}]").source)
    last = ast.Expression(tree.body.pop().value)
    scope = dict(names)
    exec(compile(tree, "cell", "exec"), scope)
    scope["Markdown"] = lambda text: text
    return eval(compile(last, "cell", "eval"), scope)


def apart(factor, spread=0.01):
    base = [1.0 + spread * (i % 3) for i in range(16)]
    slow = Measurement.from_samples([factor * s for s in base], name="129")
    return ah.timing.compare(slow, Measurement.from_samples(base, name="128"), in_turns=True)


@pytest.mark.parametrize(
    ("factor", "verdict", "words"),
    [
        (1.0, "about as long", "about as long as 128"),
        (1.2, "a little longer", "less than twice"),
        (1.5, "a little longer", "more than 5 %"),
        (4.0, "twice or more", "at least twice as long"),
        (0.5, "less", "less time than 128"),
    ],
)
def test_what_came_out_here_is_told_as_it_is(factor, verdict, words):
    longer = ah.verdicts.how_much_longer(apart(factor))
    assert longer == verdict
    assert words in said("longer", longer=longer)


def test_an_interval_across_a_limit_is_no_answer():
    slow = [1.0, 1.6, 1.1, 1.5, 1.0, 1.6, 1.2, 1.5]
    found = ah.timing.compare(
        Measurement.from_samples(slow), Measurement.from_samples([1.0] * 8), in_turns=True
    )
    assert found.interval[0] < 1.1 < found.interval[1]
    assert ah.verdicts.how_much_longer(found) == "cannot tell"
    assert "too rough" in said("longer", longer="cannot tell")


def test_the_choices_are_words_that_can_come_out():
    (choices,) = re.findall(r"answers = (\(.*\))", the_cell('ask("06/here"').source)
    sentences = the_cell("Markdown(say[longer]").source
    assert all(f'"{choice}": (' in sentences for choice in ast.literal_eval(choices))


@pytest.mark.parametrize("padding", ["the same", "not the same"])
def test_padding_is_told_as_it_went(padding):
    assert ("changed nothing" in said("padding", padding=padding)) == (padding == "the same")


def test_the_instructions_in_the_text_are_those_that_are_stored():
    v5e = {n: ah.tpu_compiler.stored_product(n, n, n) for n in (128, 129)}
    text = the_cell("On the v5e, 129 takes", "markdown").source
    assert f"{v5e[129].instructions} instructions instead of {v5e[128].instructions}" in text
    grown = v5e[129].estimated_cycles / v5e[128].estimated_cycles
    assert 1.08 < grown < 1.12 and "grow by a tenth" in text
    many = [ah.tpu_compiler.stored_product(16_384, n, n).estimated_cycles for n in (128, 129)]
    assert f"with many rows by {100 * (many[1] / many[0] - 1):.0f} %" in text
    added = v5e[129].estimated_cycles - v5e[128].estimated_cycles
    each = added / (v5e[129].instructions - v5e[128].instructions)
    assert f"add {added} cycles, about {each:.0f} each" in text
    assert f"some {v5e[128].instructions * each:.0f} cycles of" in text
    rows = [line.split() for line in output_of("v6e: 256 x 256 cells").splitlines()[2:-1]]
    assert ["129", "36", "4,557"] == [row[:3] for row in rows if row[0] == "129"][0]
    steps = {int(row[0]): int(row[3]) for row in rows}
    assert steps[257] / steps[256] > 4 and steps[129] / steps[128] < 3


def test_the_growth_of_the_hidden_layer_in_the_text_is_the_stored_one():
    steps = {width: ah.tpu_compiler.stored(f"width-{width}") for width in (100, 128, 129)}
    cycles = {width: dict(step.cycles)["hidden"] for width, step in steps.items()}

    def more(values, a, b):
        return round(100 * (values(b) / values(a) - 1))

    flops, layer = (lambda w: steps[w].flops), cycles.get
    text = the_cell("From 100 to 128 the model", "markdown").source
    assert f"{more(flops, 100, 128)} % more operations" in text
    assert f"and the estimate grows by {more(layer, 100, 128)} %" in text
    assert f"{more(flops, 128, 129)} % more operations than 128" in text
    assert f"operations than 128, and the estimate grows by {more(layer, 128, 129)} %" in text
    (weights,) = {row.bytes for row in steps[100].largest if row.array == "f32[784,100]"}
    assert weights == 896 * 104 * 4 and f"{weights // 1000} kB are 896 x 104 numbers" in text


def test_the_model_and_its_pictures_say_128_and_129():
    table = output_of("unit.tiles(n, n)")
    rows = {int(line.split()[0]): line.split()[1:] for line in table.splitlines()[1:]}
    assert rows[128] == ["1", "510", "25.1", "%"] and rows[129] == ["4", "2,044", "6.4", "%"]
    alts = [
        out.metadata["image/png"]["alt"]
        for cell in cells("code", "ah.plots.unit_")
        for out in cell.outputs
        if "image/png" in out.get("metadata", {})
    ]
    assert len(alts) == 2 and "25.1 % at 128, but 6.4 % at 129" in alts[1]


def test_a_thousand_ones_end_at_256_in_bfloat16_and_not_in_the_unit():
    assert re.findall(r"[\d.]+$", output_of("import ml_dtypes"), re.M) == ["256.0", "1000.0"]


def test_every_exercise_has_a_stub_that_is_told_to_be_empty_and_a_solution_that_passes():
    for cell in cells("code", "ah.checks.check"):
        tags = cell.metadata.get("tags", ())
        printed = "".join(out.get("text", "") for out in cell.outputs)
        assert ("exercise" in tags) != ("solution" in tags)
        assert ("still empty" in printed) == ("exercise" in tags), printed
    assert len(cells("code", "raise NotImplementedError")) == 3


def test_the_record_uses_the_names_that_the_reference_cells_read():
    written = the_cell("ah.results.record(").source
    assert all(f'"06/product/{n}"' in written for n in (128, 129, "size"))
    card = ah.results.reference_runs()[-1]
    assert {"06/product/128", "06/product/129"} <= set(card.measurements)


def test_no_tpu_is_said_to_have_been_used():
    text = LESSON.read_text("utf-8")
    assert "Nobody measured it" in text and "that compiler runs on a computer without a TPU" in text


def test_a_tpu_is_asked_for_in_colab():
    metadata = json.loads(LESSON.read_text("utf-8"))["metadata"]
    assert metadata["accelerator"] == "TPU" and metadata["colab"]["gpuType"] == "V5E1"
