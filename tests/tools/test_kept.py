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
    where = [f"cell {place + 1}: {name}" for place, name in missing]
    assert not where, f"{path.name} measures this and keeps it on no card (ah.results.record)"


def test_the_verbs_that_measure_are_found_by_what_they_give_back():
    assert {"benchmark", "compare", "time_fit", "time_steps", "train_each"} <= VERBS
    assert not {"same_loss", "step_parts", "measurements", "load", "quickstart_model"} & VERBS


def test_a_new_verb_is_found_in_whatever_it_wraps_its_measurement(tmp_path):
    (tmp_path / "one.py").write_text("class Race:\n    rounds: 'tuple[Measurement, ...]'\n")
    (tmp_path / "two.py").write_text(
        "class Day:\n    races: list[Race]\ndef run() -> Day: ...\ndef _run() -> Day: ...\n"
        "def train() -> keras.callbacks.History: ...\ndef name() -> str: ...\n"
    )
    assert kept.verbs(tmp_path) == {"from_samples", "run", "train"}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("second = ah.timing.benchmark(run)", ["second"]),
        ("race = ah.timing.compare(run, other, repeats=3)", ["race"]),
        ("t = {w: ah.training.time_steps(w) for w in (1, 2)}", ["t"]),
        ("if fast:\n    t = ah.training.time_fit(model, x, y)", ["t"]),
        ("def f():\n    return ah.timing.benchmark(run)\n\n\ng = f()", ["f"]),
        ("said = model.fit(x, y)", ["said"]),
        ("model.fit(x, y)\nloss = model.history.history['loss']", ["loss"]),
        ("took = time.perf_counter() - start", ["took"]),
        ("took = []\ntook.append(time.perf_counter() - start)", ["took"]),
        ("for m in [ah.timing.benchmark(run)]:\n    m\nah.results.record([m for m in x])", ["m"]),
        ("b = ah.timing.benchmark(run)\nah.results.record({f'{b}': first})", ["b"]),
        ("print(ah.timing.benchmark(run))", ["ah.timing.benchmark(run)"]),
        ("print(model.evaluate(x, y))", ["model.evaluate(x, y)"]),
    ],
)
def test_what_is_measured_and_not_kept_is_named(source, names):
    first = "first = ah.timing.benchmark(run)"
    assert unkept(first, source, RECORD) == [(1, name) for name in names]


@pytest.mark.parametrize(
    "source",
    [
        "print(ah.timing.compare(first, first).verdict)",  # nothing new is measured
        "pieces = ah.verdicts.step_parts(first, first, first)",
        "model.fit(x, y, verbose=0)",  # trains, and shows nothing
        "ah.results.record({'b': ah.timing.benchmark(run)})",
        "b = ah.timing.benchmark(run)\ncard = {'b': b}\ncard |= {}\nah.results.record(card)",
        "bs = []\nbs.append(ah.timing.benchmark(run))\nah.results.record({b.name: b for b in bs})",
        "b = ah.training.time_fit(m, x, y)\nah.results.record({}, numbers={'b': [b.accuracy]})",
        "%timeit run()\nstart = time.perf_counter()",
    ],
)
def test_what_is_kept_or_measures_nothing_is_not_complained_of(source):
    assert unkept("first = ah.timing.benchmark(run)", source, RECORD) == []


def test_a_cell_that_says_the_same_everywhere_measures_no_machine():
    source = "a = ah.timing.Measurement.from_samples([1.0, 2.0])"
    assert unkept(source, tag="exercise") == [] and unkept(source) == [(0, "a")]
