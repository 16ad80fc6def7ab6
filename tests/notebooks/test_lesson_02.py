"""Lesson 02: its sentences fit what was found, and its cases are those that are graded."""

import ast
import re
from pathlib import Path

import nbformat
import pytest

import accel_helpers as ah
from accel_helpers.lessons import lesson_02 as practice_02

HERE = Path(__file__).parent
LESSON = HERE.parents[1] / "notebooks" / "02_verify_the_device.ipynb"
RECORDED = {p.stem: ah.results.load(p).measurements for p in (HERE / "recorded").glob("*.json")}
# three recorded result sets of one CPU, one of which plays the accelerator (see record.py)
SETS = {
    "faster": ("tensorflow_a", "jax"),
    "no measurable difference": ("tensorflow_a", "tensorflow_b"),
    "slower": ("jax", "tensorflow_a"),
}
MATERIAL = practice_02.material()


def all_cells():
    return nbformat.read(LESSON, as_version=4).cells


def cells(tag):
    return [cell for cell in all_cells() if tag in cell.metadata.get("tags", ())]


def verdict_cell(word):
    (found,) = [cell for cell in cells("verdict") if f"Markdown(say{word}" in cell.source]
    return found.source


def said(source, **names):
    """Run a verdict cell with the findings handed in; give its sentence."""
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if not isinstance(node, ast.ImportFrom)]
    last = ast.Expression(tree.body.pop().value)
    scope = {"ah": ah, "Markdown": lambda text: text, **names}
    exec(compile(tree, "cell", "exec"), scope)
    return eval(compile(last, "cell", "eval"), scope)


# --- a GPU that is not there ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "words", "not_words"),
    [
        ("cpu", "nobody said that the CPU", "You got an error"),
        ("", "You got an error", "got the right numbers"),
        ("gpu", "a result from a GPU", "You got an error"),
        ("tpu", "another device than you named", "You got an error"),
    ],
)
def test_the_missing_gpu_is_told_as_it_went(where, words, not_words):
    text = said(verdict_cell(".get(where"), where=where)
    assert words in text and not_words not in text


# --- faster -----------------------------------------------------------------------------------


def race(name):
    cpu, other = (RECORDED[run]["epoch"] for run in SETS[name])
    return ah.timing.compare(cpu, other, names=("CPU", "GPU"))


@pytest.mark.parametrize("name", SETS)
def test_the_race_is_told_as_it_went(name):
    result = race(name)
    text = said(verdict_cell("[kind]"), race=result, alone=False)
    # judged from the intervals themselves, not from the library's verdict
    (slow_low, slow_high), (fast_low, fast_high) = result.slow.interval, result.fast.interval
    if fast_high < slow_low:
        assert "accelerator is faster" in text and name == "faster"
    elif slow_high < fast_low:
        assert "accelerator is slower" in text and name == "slower"
    else:
        assert "No measurable difference" in text and name == "no measurable difference"


@pytest.mark.parametrize("name", SETS)
def test_the_control_claims_nothing_about_an_accelerator(name):
    text = said(verdict_cell("[kind]"), race=race(name), alone=True)
    assert "accelerator is" not in text and "the same work on the same CPU" in text
    assert ("A false alarm" in text) == (name != "no measurable difference")


# --- the four facts ---------------------------------------------------------------------------

TOLD = {
    (False, False, False, None): "no accelerator to verify here",
    (False, True, True, "faster"): "that the card does not know",
    (True, False, False, None): "the framework does not see it",
    (True, True, False, "faster"): "your result lies on the CPU",
    (True, True, True, None): "was not measured",
    (True, True, True, "slower"): "the CPU is faster at it",
    (True, True, True, "no measurable difference"): "no time saved can be measured",
    (True, True, True, "faster"): "All four facts hold here",
}


@pytest.mark.parametrize("facts", TOLD)
def test_the_four_facts_are_told_as_they_were_found(facts):
    attached, visible, placed, faster = facts
    mine = ah.verdicts.verified(attached=attached, visible=visible, placed=placed, faster=faster)
    text = said(verdict_cell("[mine.verdict]"), mine=mine)
    assert TOLD[facts] in text
    assert [words for words in TOLD.values() if words in text] == [TOLD[facts]]


def test_every_sentence_on_the_four_facts_is_used():
    said_of = {
        ah.verdicts.verified(attached=a, visible=v, placed=p, faster=f).verdict
        for a, v, p, f in TOLD
    }
    written = set(re.findall(r'^    "([^"]+)": ', verdict_cell("[mine.verdict]"), re.MULTILINE))
    assert written == said_of


# --- exercises --------------------------------------------------------------------------------


def told(number, case):
    """A case as the lesson shows it."""
    settings = f"`{case['settings']}`" if "=" in case["settings"] else case["settings"]
    return "\n".join(
        [
            f"#### Case {number}: {case['name']}",
            "",
            f"* **Wanted:** {case['wanted']}.",
            f"* **The machine's files show:** {case['attached']}.",
            f"* **Frameworks:** {case['frameworks']}.",
            f"* **Settings:** {settings}.",
            "",
            "```text",
            case["log"].strip(),
            "```",
            "",
            f"*{case['source']}*",
        ]
    )


def prose():
    return "\n".join(cell.source for cell in all_cells() if cell.cell_type == "markdown")


@pytest.mark.parametrize("number", range(1, 7))
def test_the_lesson_shows_the_case_that_is_graded(number):
    assert told(number, MATERIAL["case"][number - 1]) in prose()


def test_the_lesson_shows_the_lines_and_the_cures_that_are_graded():
    for line in MATERIAL["line"]:
        start, end = re.escape(f"* **{line['letter']}** ("), re.escape(f") `{line['text']}`")
        assert re.search(start + "[a-zA-Z, ]+" + end, prose()), "with what was asked for"
    for letter, cure in MATERIAL["cures"].items():
        assert f"* **{letter}** {cure['text']}" in prose()


def test_the_lesson_says_in_how_many_cases_the_doctor_knows_the_failure():
    known = sum(bool(ah.doctor.diagnose(case["log"]).findings) for case in MATERIAL["case"])
    assert known == 3 and "It knows the failure in three of the six" in prose()


def test_every_exercise_has_a_stub_that_is_told_to_be_empty_and_a_solution_that_passes():
    stubs, (solution,) = cells("exercise"), cells("solution")
    names = set(re.findall(r'checks\.check\("(02/[a-z]+)"', "".join(c.source for c in stubs)))
    assert names == set(practice_02.CHECKS)
    for stub in stubs:
        assert "Not yet." in stub.outputs[0].text and "still empty" in stub.outputs[0].text
    right = solution.outputs[0].text
    assert right.count("Right.") == len(names) and "Not yet" not in right


def test_only_one_of_the_three_lines_is_a_fault_to_the_doctor():
    (cell,) = [cell for cell in all_cells() if "ah.doctor.diagnose(line)" in cell.source]
    printed = cell.outputs[0].text.splitlines()
    quiet = [line[0] for line in printed if line.endswith("no failure that it knows")]
    assert quiet == ["A", "C"] and "What came out: B." in printed[3]


def test_no_accelerator_is_claimed_while_no_card_has_one():
    measured = any(card.machine.get("accelerator") for card in ah.results.reference_runs())
    assert ("without an accelerator, so this is the control" in LESSON.read_text("utf-8")) == (
        not measured
    )
