"""Every `say` of a lesson has a text for each verdict that its source can give, and for no other.

A source is what the first argument says, in the lesson that says it.
"""

import ast

import pytest
from cells import PATHS, cells

from accel_helpers.measure.verdicts import LABELS, labelled

# (lesson, first argument of `say`): a name in LABELS, or the words that a lesson's module declares
SOURCES = {
    ("06", "longer"): "how_much_longer",
    ("07", "race.verdict"): "compare",
    ("07", "gap.verdict"): "compare",
}


def problems(number, code, sources=SOURCES):
    """What is off in the calls of `say` in a cell, a sentence for each."""
    found = []
    for call in ast.walk(ast.parse(code)):
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != "ah.verdicts.say":
            continue
        source, text = ast.unparse(call.args[0]), call.args[1]
        if (number, source) not in sources:
            found.append(f"{number}, say({source}): test_say.py does not know this source")
            continue
        words = sources[number, source]
        can = {*LABELS.get(words, words)} if isinstance(words, str) else {*words}
        there = {*labelled(ast.literal_eval(text))}
        missing, never = can - there, there - can - {"not measured"}
        found += [f"{number}, say({source}): no text for [{label}]" for label in sorted(missing)]
        found += [f"{number}, say({source}): [{label}] cannot come" for label in sorted(never)]
    return found


@pytest.mark.parametrize("number", PATHS)
def test_each_verdict_has_its_text(number):
    said = [cell.source for cell in cells(number, "ah.verdicts.say(")]
    assert [problem for code in said for problem in problems(number, code)] == []


def test_a_label_that_is_missing_or_cannot_come_is_seen():
    sources = {("03", "race"): "compare"}
    start = 'ah.verdicts.say(race, """[faster] A\n[slower] B, see\n[so](https://example.org)\n'
    assert (
        problems("03", start + '[no measurable difference] C\n[not measured] D""")', sources) == []
    )
    assert len(problems("03", start + '[equal] C""")', sources)) == 2
    assert len(problems("04", start + '""")', sources)) == 1
