"""A notebook given to the doctor: its error, and the lines that no longer do what they did."""

import builtins
import json
import tomllib
from pathlib import Path

import pytest

from accel_helpers.machine import doctor, pages

EXAMPLES = tomllib.loads(Path(__file__).with_name("examples.toml").read_text("utf-8"))
ERROR = {
    "output_type": "error",
    "traceback": ["\x1b[0;31mKeyError\x1b[0m: 'COLAB_TPU_ADDR'"],
}
PIP = {"output_type": "stream", "text": ["Successfully installed ", "tensorflow-2.12.0\n"]}
NO_GPU = {"output_type": "execute_result", "data": {"text/plain": ["Num GPUs: 0"]}}


def code(source, *outputs):
    return {"cell_type": "code", "source": source, "outputs": [*outputs]}


def page(*cells, accelerator="TPU"):
    return json.dumps({"cells": [*cells], "metadata": {"accelerator": accelerator}})


def test_a_line_of_yesterday_is_found_with_what_it_does_today_and_no_right_one():
    for example, old in zip(EXAMPLES["old"], pages.YESTERDAY, strict=True):
        told = doctor.diagnose(page(code(f"x = 1\n{example['line']}\ny = 2\n")))
        assert [one.cause for one in told.lines] == [old["today"]], example["line"]
    for lines in EXAMPLES["right"]["lines"]:
        assert doctor.diagnose(page(code(lines), accelerator="GPU")).lines == (), lines


def test_what_is_said_of_them_happens(keras):
    """On the frameworks that are here; what pip and Colab's own commands do cannot be seen here."""
    for example in EXAMPLES["old"]:
        if "raises" in example:
            with pytest.raises(getattr(builtins, example["raises"])):
                exec(f"import keras, os, tensorflow as tf\n{example['line']}")


def test_the_error_of_the_cell_that_failed_last_is_diagnosed_with_what_was_printed_before(tmp_path):
    text = {"cell_type": "markdown", "source": ["COLAB_TPU_ADDR"]}
    before = code("!pip install x", PIP), code("gpus()", NO_GPU)
    after = code("tf.Session()", {"text": "Skipping registering GPU devices"})
    found = page(text, *before, code("f()", ERROR), after)
    file = tmp_path / "page.ipynb"
    file.write_text(found, "utf-8")
    for told in (doctor.diagnose(found), doctor.diagnose(file)):
        assert [one.id for one in told.findings] == ["tpu-node-address", "tensorflow-replaced"]
        assert [one.id for one in told.lines] == ["cell 5"]
        assert "tf.Session" in str(told)
        assert told._repr_html_()
    assert file.read_text("utf-8") == found, "nothing is changed"
    told = doctor.diagnose(page(after))
    assert told.findings == (), "without an error no failure is told"
    assert told.lines


def test_what_is_hardly_a_notebook_does_no_harm():
    texts = ["[]", "{}", '{"cells": 3}', '{"cells": [{}]}', "[" * 100_000, page(code(None))]
    for text in [*texts, page(code("x", 3)), page(code("x", {"traceback": [None]}))]:
        assert doctor.diagnose(text).findings == ()
