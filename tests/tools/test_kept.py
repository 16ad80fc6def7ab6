"""What a lesson measures is kept on the learner's result card."""

import kept
import lesson
import pytest
from nbformat.v4 import new_code_cell, new_notebook

# Its sum is an exercise in measuring, and says nothing about a device.
PRACTICE = "00_start_here.ipynb"
LESSONS = [path for path in lesson.chosen([]) if path.name != PRACTICE]
VERBS = kept.verbs()
RECORD = 'ah.results.record({"a": first})'


def unkept(*sources, tag="nbval-ignore-output"):
    cells = [new_code_cell(source, metadata={"tags": [tag]}) for source in sources]
    return kept.unkept(new_notebook(cells=cells), VERBS)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem[:2])
def test_everything_that_a_lesson_measures_is_put_on_the_card(path):
    missing = kept.unkept(lesson.parse(lesson.read(path)), VERBS)
    # What is complained of wrongly shows here, too.
    where = [f"cell {place + 1}: {name}" for place, name in missing]
    assert not where, f"{path.name} measures this and keeps it on no card (ah.results.record)"


def test_a_verb_is_found_in_whatever_it_wraps_its_measurement():
    assert {"benchmark", "train_each", "time_fit", "from_samples"} <= VERBS
    assert not {"load_images", "ask", "record"} & VERBS


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("second = ah.timing.benchmark(run)", "second"),
        ("def f():\n    return ah.timing.benchmark(run)\n\n\ng = f()", "f"),
        ("model.fit(x, y)\nloss = model.history.history['loss']", "loss"),
        ("took = []\ntook.append(time.perf_counter() - start)", "took"),
        ("for m in [ah.timing.benchmark(run)]:\n    m\nah.results.record([m for m in x])", "m"),
        ("a = ah.timing.benchmark(run, keep='a')\nb = ah.timing.benchmark(run)", "b"),
        ("b = ah.timing.benchmark(run)\nah.results.record({f'{b}': first})", "b"),
        ("print(ah.timing.benchmark(run))", "ah.timing.benchmark(run)"),
        ("print(model.evaluate(x, y))", "model.evaluate(x, y)"),
    ],
)
def test_what_is_measured_and_not_kept_is_named(source, name):
    assert unkept("first = ah.timing.benchmark(run)", source, RECORD) == [(1, name)]


def test_a_cell_that_says_the_same_everywhere_measures_no_machine():
    source = "a = ah.timing.Measurement.from_samples([1.0, 2.0])"
    assert unkept(source, tag="exercise") == [] and unkept(source) == [(0, "a")]
