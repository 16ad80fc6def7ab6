"""A notebook given to the doctor: its error, and the lines that no longer do what they did."""

import builtins
import json
import tomllib
from pathlib import Path

import pytest

from accel_helpers.machine import doctor, pages

HERE = Path(__file__).parent
EXAMPLES = tomllib.loads((HERE / "examples.toml").read_text("utf-8"))


def old_lines(source, accelerator="TPU"):
    """What the doctor says of the lines of a page with one cell of code."""
    page = {"cells": [{"cell_type": "code", "source": source}]}
    page["metadata"] = {"accelerator": accelerator}
    return [one.cause for one in doctor.diagnose(json.dumps(page)).lines]


def test_a_line_of_yesterday_is_found_with_what_it_does_today_and_no_right_one():
    for example, old in zip(EXAMPLES["old"], pages.YESTERDAY, strict=True):
        assert old_lines(f"x = 1\n{example['line']}\ny = 2\n") == [old["today"]]
    for lines in EXAMPLES["right"]["lines"]:
        assert old_lines(lines, accelerator="GPU") == [], lines


def test_what_is_said_of_them_happens(keras):
    """On the frameworks that are here; what pip and Colab's own commands do cannot be seen here."""
    for example in EXAMPLES["old"]:
        if "raises" in example:
            with pytest.raises(getattr(builtins, example["raises"])):
                exec(f"import keras, os, tensorflow as tf\n{example['line']}")


def test_the_error_of_the_cell_that_failed_last_is_diagnosed_with_what_was_printed_before():
    file = HERE / "logs" / "failed_page.json"
    told = doctor.diagnose(file)
    assert [one.id for one in told.findings] == ["tpu-node-address", "tensorflow-replaced"]
    assert [one.id for one in told.lines] == ["cell 5"]
    assert "tf.Session" in str(told)
    assert doctor.diagnose(file.read_text("utf-8")) == told
