"""An error that the doctor doesn't know: what is seen of it. And whose line it is that failed."""

import json
import tomllib
from pathlib import Path

import pytest

from accel_helpers.machine import doctor, symptoms

LOGS = Path(__file__).parent / "logs"
EXAMPLES = tomllib.loads(LOGS.with_name("examples.toml").read_text("utf-8"))


@pytest.mark.parametrize("log", EXAMPLES["seen"])
def test_the_last_error_the_deepest_line_of_ones_own_and_the_package_are_seen(log):
    text = (LOGS / f"{log}.txt").read_text("utf-8")
    told = doctor.diagnose(text)
    expected = EXAMPLES["seen"][log]
    assert {part: getattr(told.seen, part) for part in expected} == expected
    assert f"Last error: {told.seen.error[:40]}" in str(told)
    output = {"output_type": "error", "traceback": text.split("\n")}
    cell = {"cell_type": "code", "source": "mean_of(rows)", "outputs": [output]}
    assert doctor.diagnose(json.dumps({"cells": [cell]})).seen == told.seen


def test_an_error_that_was_caught_is_seen_with_its_line():
    with pytest.raises(StopIteration) as raised:
        raise StopIteration("no page")
    seen = doctor.diagnose(raised.value).seen
    assert seen.error == "StopIteration: no page"
    assert seen.your_line.endswith('raise StopIteration("no page")')


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


def test_advice_for_ones_own_code_counts_only_where_ones_own_line_failed():
    own = symptoms.Symptom("own", ("bool of a tracer",), "c", "f", "https://x", "1", own=True)
    packages = "/usr/local/lib/python3.12/dist-packages"
    deepest = {
        "/home/ada/train.py": True,
        f"{packages}/keras/src/layers/layer.py": False,
        f"{packages}/jax/_src/core.py": True,  # JAX checks what the line above it does
    }
    for file, counts in deepest.items():
        frames = f'  File "/home/ada/train.py", line 3, in f\n  File "{file}", line 9, in g\n'
        text = f"Traceback (most recent call last)\n{frames}TypeError: bool of a tracer"
        assert bool(symptoms.find(text, among=[own])) == counts
