"""A notebook given to the doctor: its error, and the lines that no longer do what they did."""

import json
import re
import tomllib
from pathlib import Path

import machines
import pytest

from accel_helpers.machine import doctor, pages

EXAMPLES = tomllib.loads(Path(__file__).with_name("examples.toml").read_text("utf-8"))["old"]
ERROR = {"output_type": "error", "ename": "KeyError", "evalue": "'COLAB_TPU_ADDR'",
         "traceback": ["\x1b[0;31mKeyError\x1b[0m: 'COLAB_TPU_ADDR'"]}  # fmt: skip
PIP = {"output_type": "stream", "name": "stdout", "text": ["Successfully installed ",
                                                           "tensorflow-2.12.0\n"]}  # fmt: skip
NO_GPU = {"output_type": "execute_result", "data": {"text/plain": ["Num GPUs: 0"]}}


def code(source, *outputs):
    return {"cell_type": "code", "source": source, "outputs": [*outputs]}


def page(*cells):
    return json.dumps({"cells": [*cells], "metadata": {}, "nbformat": 4})


def lines(source, accelerator="TPU"):
    asks = json.dumps(json.loads(page(code(source))) | {"metadata": {"accelerator": accelerator}})
    return [(one.id, one.cause) for one in doctor.diagnose(asks).lines]


@pytest.mark.parametrize(("number", "example"), [*enumerate(EXAMPLES)])
def test_a_line_of_yesterday_is_found_with_what_it_does_today(number, example):
    ((_, today),) = lines(f"x = 1\n{example['line']}\ny = 2\n")
    assert today == pages.YESTERDAY[number]["today"]
    assert len(EXAMPLES) == len(pages.YESTERDAY)


def test_what_is_said_of_them_happens():
    """On the frameworks that are here; what pip and Colab's own commands do cannot be seen here."""
    tried = {one["line"]: one["raises"] for one in EXAMPLES if "raises" in one}
    told = machines.python(
        "import builtins, json, os, sys\nimport jax, keras, numpy as np, tensorflow as tf\n"
        "for example, raises in json.loads(sys.argv[1]).items():\n"
        "    try: exec(example, dict(globals()))\n"
        "    except getattr(builtins, raises): continue\n"
        "    except Exception as error: print(example, repr(error))\n"
        "    else: print(example, 'still runs')\n",
        json.dumps(tried),
    )
    assert (told.returncode, told.stdout) == (0, ""), told.stderr[-2000:]
    assert len(tried) > 10


def test_today_and_comments_are_left_alone():
    assert lines("# tf.Session()\n   # !pip install tensorflow==1.15\n") == []
    assert lines("!pip install einops ./tensorflow_x.whl\nimport tensorflow\n", "GPU") == []
    assert lines("import tensorflow_datasets as tfds\nfrom flax import linen as nn") == []


@pytest.mark.parametrize(
    "source",
    ["import torch, keras\nSGD(model.parameters(), lr=0.1)", "import torch\nAdam(lr=0.1)",
     "from sklearn import svm\nfit_generator(x)", "import jax\noptax.adam(lr=0.1)\nAdam(lr=1)",
     "import keras\nLogisticRegression().predict_proba(x)",
     "import keras\nkeras.utils.PyDataset(workers=2, use_multiprocessing=True)",
     "import tensorflow as tf\ntf.losses.MeanSquaredError()\ntf.losses.mse(x, y)",
     "!pip install dm-haiku chex", 'grpc.insecure_channel("grpc://x")',
     "import keras\nalbumentations.Rotate(border_mode=0)"],
)  # fmt: skip
def test_the_right_line_of_another_library_is_left_alone(source):
    assert lines(source, "GPU") == []


def test_the_error_of_the_cell_that_failed_last_is_diagnosed_with_what_was_printed_before(tmp_path):
    text = {"cell_type": "markdown", "source": ["COLAB_TPU_ADDR"]}
    after = code("tf.Session()", {**PIP, "text": "Skipping registering GPU devices"})
    before = code("!pip install x", PIP), code("gpus()", NO_GPU)
    found = page(text, *before, code("f()", ERROR), after)
    (file := tmp_path / "page.ipynb").write_text(found, "utf-8")
    for told in (doctor.diagnose(found), doctor.diagnose(file)):
        assert [one.id for one in told.findings] == ["tpu-node-address", "tensorflow-replaced"]
        assert [one.id for one in told.lines] == ["cell 5"]
        assert "tf.Session" in str(told)
        assert told._repr_html_()
    assert file.read_text("utf-8") == found, "nothing is changed"


def test_a_page_without_an_error_says_that_and_its_lines():
    told = doctor.diagnose(page(code(["import keras\n", "model.fit_generator(x)"])))
    assert told.findings == ()
    assert told.next_step
    assert "model.fit_generator(x)" in str(told)


@pytest.mark.parametrize(
    "text",
    ["[]", "{}", '{"cells": 3}', '{"cells": [3]}', '{"cells": [{}]}', "[" * 100_000, "null",
     page({"cell_type": "code"}), page(code(None)), page(code([3])), page(code("x", 3)),
     page(code("x", {"output_type": "error", "traceback": [None]})), page(code("x", {"data": 3}))],
)  # fmt: skip
def test_what_is_hardly_a_notebook_does_no_harm(text):
    assert doctor.diagnose(text).findings == ()


def test_the_courses_own_pages_have_no_line_of_yesterday_and_print_no_failure():
    for file in sorted(Path(machines.ROOT, "notebooks").glob("*.ipynb")):
        lines = [one.evidence for one in doctor.diagnose(file).lines]
        # Lesson 01 calls an old line to show that it fails; others quote theirs as `old = …`.
        old = [
            line
            for line in lines
            if not re.search(r': old = |"!pip install tensorflow==2|print\("C:", tf', line)
        ]
        # Lesson 04 runs the lines of 2020 to show what they say today.
        assert old == [] or file.name.startswith("04_"), file.name
        for cell in json.loads(file.read_text("utf-8"))["cells"]:
            source = "".join(cell["source"])
            quotes = re.search("doctor|diagnose|lines = |cases|quiz|exam|except |!nvidia", source)
            if cell["cell_type"] == "code" and not quotes:
                failed = page(cell | {"outputs": [*cell["outputs"], {"output_type": "error"}]})
                assert doctor.diagnose(failed).findings == (), (file.name, cell["source"])
