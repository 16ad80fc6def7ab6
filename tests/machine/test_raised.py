"""An error that the doctor doesn't know: what is seen of it. And whose line it is that failed."""

import tomllib
from pathlib import Path

import pytest

from accel_helpers.machine import doctor

LOGS = Path(__file__).parent / "logs"
EXAMPLES = tomllib.loads(LOGS.with_name("examples.toml").read_text("utf-8"))


@pytest.mark.parametrize("log", EXAMPLES["seen"])
def test_of_an_unknown_error_is_seen_what_is_certain(log):
    told = doctor.diagnose(LOGS / f"{log}.txt")
    expected = EXAMPLES["seen"][log]
    assert {part: getattr(told.seen, part) for part in expected} == expected
    assert f"Last error: {told.seen.error[:40]}" in str(told)


def test_an_error_that_is_no_exceptions_last_line_is_seen():
    for form in EXAMPLES["form"]:
        told = doctor.diagnose(f"Epoch 1/5\n{form['text']}\n")
        error = told.seen.error
        assert told.findings or (error and error in form["text"]), form
        assert error == form.get("error", error), "and not what stands around it"


def test_where_no_error_is_seen_none_is_told_and_the_next_step_is_the_message_or_a_profile():
    texts = ["", "loss: nan", "Test error: 0.1"]
    for path in (LOGS / "healthy").glob("*.txt"):
        if not path.name.startswith(("traceback", "segfault", "pip_install")):
            texts.append(path.read_text("utf-8"))
    for text in texts:
        told = doctor.diagnose(text)
        assert told.seen.error == ""
        assert "ah.profile_fit(" in told.next_step
