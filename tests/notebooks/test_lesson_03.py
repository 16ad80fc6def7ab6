"""Lesson 03: its sentences fit what was measured, and its exercises grade what is typed.

Three recorded result sets are replayed through the lesson's own cells. All three were measured on
one CPU (see record.py); one of them plays the accelerator: much faster, equal, slower.
"""

import ast
import re
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

import accel_helpers as ah

HERE = Path(__file__).parent
LESSON = HERE.parents[1] / "notebooks" / "03_time_a_keras_model.ipynb"
RECORDED = {p.stem: ah.results.load(p).measurements for p in (HERE / "recorded").glob("*.json")}
SETS = {
    "much faster": ("tensorflow_a", "jax"),
    "equal": ("tensorflow_a", "tensorflow_b"),
    "slower": ("jax", "tensorflow_a"),
}
WIDTHS, BATCH_SIZES = (16, 128, 512), (32, 256)


def cells(tag):
    notebook = nbformat.read(LESSON, as_version=4)
    return [cell for cell in notebook.cells if tag in cell.metadata.get("tags", ())]


def verdict_cell(word):
    (found,) = [cell for cell in cells("verdict") if f"Markdown(say[{word}" in cell.source]
    return found.source


def said(source, **names):
    """Run a verdict cell with the measurements handed in; give its sentence."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value)
    scope = {"ah": ah, "Markdown": lambda text: text, **names}
    exec(compile(tree, "cell", "exec"), scope)
    return eval(compile(last, "cell", "eval"), scope)


def race(name):
    cpu, other = (RECORDED[run]["epoch"] for run in SETS[name])
    return ah.timing.compare(cpu, other, names=("CPU", "GPU"))


def sweep(name):
    cpu, other = (RECORDED[run] for run in SETS[name])
    keys = [(w, b) for w in WIDTHS for b in BATCH_SIZES]
    return {
        (w, b): ah.timing.compare(
            cpu[f"width {w}, batch {b}"], other[f"width {w}, batch {b}"], names=("CPU", "GPU")
        )
        for w, b in keys
    }


def limits(run):
    steps = RECORDED[run]
    return {
        (w, b): ah.timing.compare(steps[f"width {w}, batch {b}"], steps[f"width 1, batch {b}"])
        for w in WIDTHS
        for b in BATCH_SIZES
    }


@pytest.mark.parametrize("name", SETS)
def test_the_race_is_told_as_it_went(name):
    result = race(name)
    text = said(verdict_cell("race_verdict"), race=result)
    # judged from the intervals themselves, not from the library's verdict
    (slow_low, slow_high), (fast_low, fast_high) = result.slow.interval, result.fast.interval
    if fast_high < slow_low:
        assert "accelerator was faster" in text and "slower" not in text
        assert name == "much faster"
    elif slow_high < fast_low:
        assert "accelerator was slower" in text and "was faster" not in text
        assert name == "slower"
    else:
        assert "No measurable difference" in text and "was faster" not in text
        assert not re.search(r"\d", text), "no number where nothing can be told"
        assert name == "equal"
    picture = ah.plots.measurements([result.slow, result.fast], title="One epoch")
    for m in (result.slow, result.fast):
        assert f"{m.name} {ah.timing.format_seconds(m.median)}" in picture.alt


def test_without_an_accelerator_nothing_is_claimed():
    text = said(verdict_cell("race_verdict"), race=None)
    assert "no accelerator" in text and "faster" not in text and "slower" not in text


def sizes(text):
    found = re.findall(r"width (\d+) and batch size (\d+)", text)
    return [(int(w), int(b)) for w, b in found]


@pytest.mark.parametrize("name", SETS)
def test_the_sweep_names_sizes_that_the_table_shows(name):
    ratios = sweep(name)
    text = said(verdict_cell("kind"), ratios=ratios, devices=("cpu", "gpu"))
    wins = {size for size, r in ratios.items() if r.slow.interval[0] > r.fast.interval[1]}
    check_sizes(text, ratios, wins, everywhere="faster at every size", nowhere="At none")
    alt = ah.plots.heatmap(ratios, title="T", note="N.").alt
    for size, r in ratios.items():
        cell = f"{size[0]} by {size[1]}: "
        assert (cell + "no difference" in alt) == (r.ratio is None)


@pytest.mark.parametrize("run", RECORDED)
def test_the_limit_names_sizes_that_the_table_shows(run):
    ratios = limits(run)
    text = said(verdict_cell("kind"), ratios=ratios, devices=("cpu",))
    wins = {size for size, r in ratios.items() if r.conclusive and r.interval[0] > 2}
    check_sizes(text, ratios, wins, everywhere="At every size", nowhere="At none")
    assert "was faster" not in text, "a limit is no measurement of an accelerator"
    assert "certain" not in text, "the most that there is to gain makes no gain certain"
    claims = re.findall(r"[^.]*a better chip could[^.]*", text)
    assert len(claims) == 1 and "2 times as" in " ".join(claims[0].split())


def check_sizes(text, ratios, wins, *, everywhere, nowhere):
    if not wins:
        assert nowhere in text and not sizes(text)
        return
    assert nowhere not in text
    if len(wins) == len(ratios):
        assert everywhere in text
        return
    assert everywhere not in text
    smallest, largest = sizes(text)
    assert smallest == min(wins, key=lambda size: size[0] * size[1])
    assert ratios[largest].ratio == max(r.ratio for r in ratios.values() if r.ratio)


@pytest.mark.parametrize("run", RECORDED)
def test_the_parts_are_told_as_the_bars_show_them(run):
    m = RECORDED[run]
    pieces = ah.verdicts.step_parts(m["step"], m["grouped"], m["products"])
    text = said(verdict_cell("pieces.verdict"), pieces=pieces)
    share = m["products"].median / m["step"].median
    if "cannot be told" in text:
        assert m["products"].interval[1] >= m["step"].interval[0]
    elif "two thirds of the step or more are not" in text:
        assert share <= 1 / 3
    elif "are most of the step" in text:
        assert share >= 2 / 3
    else:
        assert "a part of the step, and not most" in text and 1 / 3 < share < 2 / 3
    if pieces.verdict != "cannot tell":
        assert f"{100 * share:.2g} %" in text, "the reader's own share is named"


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("mostly other work", "are not matrix products"),
        ("mixed", "and not most of it"),
        ("mostly arithmetic", "are most of the step"),
        ("cannot tell", "cannot be told apart"),
    ],
)
def test_every_sentence_on_the_parts_belongs_to_its_verdict(verdict, words):
    bars = {"one step": 1.0} if verdict == "cannot tell" else {"the matrix products": 1.0}
    pieces = SimpleNamespace(verdict=verdict, seconds=bars)
    assert words in said(verdict_cell("pieces.verdict"), pieces=pieces)


@pytest.mark.parametrize(
    ("others", "is_joined"),
    [
        ({"everything else": 0.95}, True),
        ({"the rest of the step": 0.4, "Python between steps": 0.55}, False),
    ],
)
def test_two_bars_are_explained_as_two_and_three_as_three(others, is_joined):
    bars = {"the matrix products": 0.05} | others
    pieces = SimpleNamespace(verdict="mostly other work", seconds=bars)
    text = said(verdict_cell("pieces.verdict"), pieces=pieces)
    assert "are 5 % of a step" in text and ("two bars" in text) == is_joined
    notebook = nbformat.read(LESSON, as_version=4)
    (explain,) = [c.source for c in notebook.cells if "the first bar, the products" in c.source]
    assert "**Two bars:** *everything else*" in explain and "**Three bars:**" in explain


@pytest.mark.parametrize(
    ("first", "words", "not_words"),
    [(9.0, "took longer than every other", "not stand out"), (1.0, "not stand out", "took longer")],
)
def test_the_first_epoch_is_told_as_it_was(first, words, not_words):
    epochs = ah.timing.Measurement.from_samples([1.0, 1.1, 1.2, 1.0, 1.1], first_call=first)
    timing = ah.training.FitTiming(epochs, 10)
    text = said(verdict_cell("cpu.first_epoch"), cpu=timing)
    assert words in text and not_words not in text


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.01, "missed the work"), (1.0, "No measurable difference"), (9.0, "came out longer")],
)
def test_the_missing_wait_is_told_as_it_went(seconds, words):
    def about(level):
        return ah.timing.Measurement.from_samples([level * f for f in (1, 1.1, 0.9, 1.05, 0.95)])

    gap = ah.timing.compare(about(1.0), about(seconds))
    assert words in said(verdict_cell("gap.verdict"), gap=gap)


def stage(name, seconds, accuracy, batch_size):
    samples = [seconds * f for f in (1, 1.02, 0.98, 1.01, 0.99)]
    epoch = ah.timing.Measurement.from_samples(samples, name=name)
    return ah.climb.Stage(name, batch_size, 8, epoch, accuracy)


@pytest.mark.parametrize(
    ("last", "words", "not_words"),
    [
        (0.1, "times as fast as default fit", "slower"),
        (3.0, "was slower than default fit", "Less work"),
        (1.0, "cannot be told apart", "Less work"),
    ],
)
def test_the_climb_is_told_as_it_went(last, words, not_words):
    climb = ah.climb.Climb((stage("default fit", 1.0, (0.9,), 32), stage("end", last, (0.9,), 32)))
    (cell,) = [cell for cell in cells("verdict") if "say[climb.verdict]" in cell.source]
    text = said(cell.source, climb=climb)
    assert words in text and not_words not in text
    assert "cannot be told** from these trainings" in text


@pytest.mark.parametrize(
    ("large", "words"),
    [
        ((0.6, 0.7), "came with lower accuracy"),
        ((0.95, 0.99), "came with higher accuracy"),
        ((0.6, 0.95), "cannot be told** from these trainings"),
    ],
)
def test_the_bigger_batch_is_told_as_all_its_trainings_went(large, words):
    small = stage("default fit", 1.0, (0.8, 0.9), 32)
    climb = ah.climb.Climb((small, stage("bigger batches", 0.5, large, 256)))
    (cell,) = [cell for cell in cells("verdict") if "of_the_batch[climb" in cell.source]
    assert words in said(cell.source, climb=climb)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (10.0, "less than half"),
        (0.6, "half or more, so the arithmetic"),
        (0.1, "faster than the limit that was measured"),
    ],
)
def test_the_roofline_is_told_as_the_points_lie(seconds, words):
    one = ah.timing.Measurement.from_samples([1.0])
    product = ah.ceilings.Ceiling("matrix product", "float32", "cpu", 2e9, one)
    copy = ah.ceilings.Ceiling("copy", "float32", "cpu", 1e9, one)
    ceilings = ah.ceilings.Ceilings("cpu", (product,), copy)
    (cell,) = [cell for cell in cells("verdict") if "bound_by(" in cell.source]
    work = {"a step": SimpleNamespace(flops=1e9, bytes=1e8)}
    text = said(cell.source, ceilings=ceilings, work=work, seconds={"a step": seconds})
    assert words in text
    assert f"**a step** reaches {50 / seconds:.0f} % of what the roof allows" in text


# --- exercises --------------------------------------------------------------------------------


def test_every_exercise_has_a_stub_that_is_told_to_be_empty_and_a_solution_that_passes():
    stubs, (solution,) = cells("exercise"), cells("solution")
    names = set(re.findall(r'checks\.check\("(03/[a-z]+)"', "".join(c.source for c in stubs)))
    assert names == {"03/diagnosis", *ah.practice.TRUTH}
    for stub in stubs:
        assert "Not yet." in stub.outputs[0].text and "Hint:" in stub.outputs[0].text
    right = solution.outputs[0].text
    assert right.count("Right.") == len(names) and "Not yet" not in right


def broken_functions():
    notebook = nbformat.read(LESSON, as_version=4)
    (source,) = [cell.source for cell in notebook.cells if "def broken_a" in cell.source]
    scope = {}
    exec(source, scope)
    return {letter: scope[f"broken_{letter}"] for letter in "abcd"}


@pytest.mark.parametrize("letter", list("abcd"))
def test_no_broken_benchmark_passes_its_check(letter):
    result = ah.checks.check(f"03/{letter}", broken_functions()[letter])
    assert not result.ok and result.hint


def test_every_layer_that_is_printed_has_a_sentence_before_it():
    notebook = nbformat.read(LESSON, as_version=4)
    (i,) = [i for i, c in enumerate(notebook.cells) if 'numbers to learn")' in c.source]
    layers = set(re.findall(r"^(\w+) +[\d,]+ numbers", notebook.cells[i].outputs[0].text, re.M))
    assert layers and all(f"**{name}** " in notebook.cells[i - 1].source for name in layers)


def test_the_reference_tables_ends_do_not_touch_1_where_a_difference_is_known():
    (cell,) = [c for c in cells("reference-run") if "To be gained at" in c.source]
    printed = cell.outputs[0].text
    assert "a factor" in printed and not re.search(r"a factor[^(]*\(1 to", printed)


def test_no_gpu_is_said_to_be_missing_once_there_is_one_and_none_is_claimed_before():
    """The lesson and the README say that no GPU has been measured: true while no card has one."""
    measured = any(card.machine.get("accelerator") for card in ah.results.reference_runs())
    readme = (HERE.parents[1] / "README.md").read_text("utf-8")
    assert ("No GPU has been" in LESSON.read_text("utf-8")) == (not measured)
    assert ("no GPU or TPU yet" in readme) == (not measured)
