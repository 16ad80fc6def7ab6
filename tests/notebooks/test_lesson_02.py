"""Lesson 02: the cases that it shows are those that are graded."""

import re

import pytest
from cells import prose

import accel_helpers as ah
from accel_helpers.lessons import lesson_02

MATERIAL = lesson_02.material()
CASE = """\
#### Case {number}: {name}

* **Wanted:** {wanted}.
* **The machine's files show:** {attached}.
* **Frameworks:** {frameworks}.
* **Settings:** {shown}.

```text
{text}
```

*{source}*"""


@pytest.mark.parametrize(("number", "case"), [*enumerate(MATERIAL["case"], 1)])
def test_the_lesson_shows_the_case_that_is_graded(number, case):
    settings = case["settings"]
    shown = f"`{settings}`" if "=" in settings else settings
    assert CASE.format(number=number, shown=shown, text=case["log"].strip(), **case) in prose("02")


def test_the_lesson_shows_the_lines_and_the_cures_that_are_graded():
    for line in MATERIAL["line"]:
        start, end = re.escape(f"* **{line['letter']}** ("), re.escape(f") `{line['text']}`")
        assert re.search(start + "[a-zA-Z, ]+" + end, prose("02")), "with what was asked for"
    for letter, cure in MATERIAL["cures"].items():
        assert f"* **{letter}** {cure['text']}" in prose("02")


def test_the_lesson_says_in_how_many_cases_the_doctor_knows_the_failure():
    known = sum(bool(ah.doctor.diagnose(case["log"]).findings) for case in MATERIAL["case"])
    assert known == 3 and "It knows the failure in three of the six" in prose("02")
