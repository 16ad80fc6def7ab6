"""An error that the doctor doesn't know: what is seen of it. And whose line it is that failed."""

import tomllib
from pathlib import Path

import pytest

from accel_helpers.machine import doctor

LOGS = Path(__file__).parent / "logs"
EXAMPLES = tomllib.loads(LOGS.with_name("examples.toml").read_text("utf-8"))


@pytest.mark.parametrize("log", EXAMPLES["seen"])
def test_the_last_error_the_deepest_line_of_ones_own_and_the_package_are_seen(log):
    told = doctor.diagnose(LOGS / f"{log}.txt")
    expected = EXAMPLES["seen"][log]
    assert {part: getattr(told.seen, part) for part in expected} == expected
    assert f"Last error: {told.seen.error[:40]}" in str(told)


def test_of_code_that_tensorflow_recorded_the_inner_error_is_seen():
    text = """
Traceback (most recent call last)
  File "x.py", line 9, in g
ValueError: in user code:

    File "x.py", line 4, in f  *
        return 1 / 0

    ValueError: too long
"""
    seen = doctor.diagnose(text).seen
    assert seen.error == "ValueError: too long"
    assert seen.your_line == "x.py, line 4: return 1 / 0"


def test_an_error_that_is_no_exceptions_last_line_is_seen():
    for form in EXAMPLES["form"]:
        told = doctor.diagnose(f"Epoch 1/5\n{form['text']}\n")
        error = told.seen.error
        assert told.findings or (error and error in form["text"]), form
        assert error == form.get("error", error), "and not what stands around it"


def test_what_to_search_for_has_the_words_of_the_message_and_no_values():
    text = "OSError: no <zip object at 0x7f21> of dense_3 (2, 4) in /content/My/a.zip or b.csv, 12"
    assert doctor.diagnose(text).seen.search == "OSError no of dense in or"


def test_where_no_error_is_seen_none_is_told_and_the_next_step_is_the_message_or_a_profile():
    texts = ["", "loss: nan", "Test error: 0.1"]
    for path in (LOGS / "healthy").glob("*.txt"):
        if not path.name.startswith(("traceback", "segfault", "pip_install")):
            texts.append(path.read_text("utf-8"))
    for text in texts:
        told = doctor.diagnose(text)
        assert told.seen.error == ""
        assert "ah.profile_fit(" in told.next_step
