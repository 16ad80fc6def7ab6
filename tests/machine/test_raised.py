"""An error that the doctor doesn't know: what is seen of it, and no advice that destroys."""

import json
import tomllib
from pathlib import Path

import pytest

from accel_helpers.machine import doctor

LOGS = Path(__file__).parent / "logs"
HEALTHY = {path.stem: path.read_text("utf-8") for path in (LOGS / "healthy").glob("*.txt")}
ORDINARY = tomllib.loads((LOGS / "ordinary.toml").read_text("utf-8"))["error"]
RETRACING = HEALTHY["tf_function_retracing"]
SLOW_CALLBACK = (
    "WARNING:tensorflow:Callback method `on_train_batch_end` is slow compared to the batch time "
    "(batch time: 0.0012s vs `on_train_batch_end` time: 0.0500s). Check your callbacks.\n"
)
FORGETS_ALL = "Disconnect and delete runtime"
STACK = "ValueError: all input arrays must have the same shape"
MEAN = "return np.stack(rows).mean()"
SEEN = {
    "python_3.13": (STACK, f"/home/ada/stack.py, line 4: {MEAN}", "numpy"),
    "python_3.12_chained": (
        "RuntimeError: no mean of these rows",
        '/home/ada/stack.py, line 10: raise RuntimeError("no mean of these rows") from error',
        "your own code",
    ),
    "ipython_9": (STACK, f"cell [1], line 3: {MEAN}", "numpy"),
    "ipython_9_colours": (STACK, f"cell [1], line 3: {MEAN}", "numpy"),
    "ipython_7": (STACK, f"cell [1], line 3: {MEAN}", "numpy"),
    "ipython_9_syntax": (
        "SyntaxError: unmatched ')'",
        "cell [1], line 2: print(x))",
        "your own code",
    ),
    "python_3.12_group": (
        "ExceptionGroup: two files (2 sub-exceptions)",
        '/home/ada/two.py, line 2: raise ExceptionGroup("two files", [ValueError("the first"), '
        'OSError("the second")])',
        "your own code",
    ),
    "keras_graph": (
        "InvalidArgumentError: Received a label value of 7 which is outside the valid range of "
        "[0, 3).  Label values: 7 7 7 7 7 7 7 7",
        "/home/ada/train.py, line 8: return model_of(3).fit(x, y, verbose=0)",
        "tensorflow",
    ),
    "colab": (STACK, f"cell [1], line 3: {MEAN}", "numpy"),
}


def seen(text):
    told = doctor.diagnose(text)
    assert told.findings == ()
    assert json.loads(json.dumps(told.to_dict()))["seen"] == told.to_dict()["seen"]
    return told.seen


def in_colab(text):
    """Everything that is said of a text, in the words of Colab's menus."""
    told = doctor.diagnose(text, environ={"COLAB_RELEASE_TAG": "x"})
    assert told.findings == ()
    return told


@pytest.mark.parametrize("name", SEEN)
def test_the_last_error_the_deepest_line_of_ones_own_and_the_package_are_seen(name):
    text = (LOGS / "unknown" / f"{name}.txt").read_text("utf-8")
    it = seen(text)
    assert (it.error, it.your_line, it.package) == SEEN[name]
    for row in SEEN[name]:
        assert " ".join(row.split()) in " ".join(str(doctor.diagnose(text)).split())
    assert doctor.diagnose(text)._repr_html_().count("<li") == 1


def test_every_recorded_form_of_a_traceback_is_tried():
    assert SEEN.keys() == {path.stem for path in (LOGS / "unknown").glob("*.txt")}


def test_an_error_that_was_caught_is_seen_and_so_is_where_it_was_raised():
    try:
        try:
            json.loads("{")
        except ValueError as error:
            raise StopIteration("no page") from error
    except StopIteration as error:
        it = seen(error)
    assert it.error == "StopIteration: no page"
    assert it.package == "your own code"
    assert it.your_line.endswith('raise StopIteration("no page") from error')
    try:
        json.loads("{")
    except ValueError as error:
        it = seen(error)
    assert it.package == "Python's own library"
    assert 'json.loads("{")' in it.your_line
    assert seen(KeyError("never raised")).error == "KeyError: 'never raised'"


def test_the_error_of_a_notebook_is_seen_with_its_cell():
    text = (LOGS / "unknown" / "ipython_9_colours.txt").read_text("utf-8")
    output = {"output_type": "error", "traceback": text.split("\n")}
    cell = {"cell_type": "code", "source": "mean_of(rows)", "outputs": [output]}
    assert seen(json.dumps({"cells": [cell]})).your_line == f"cell [1], line 3: {MEAN}"


@pytest.mark.parametrize(
    ("text", "concerns"),
    [
        ("RuntimeError: CUDA error: an unheard-of state of the device", "GPU or TPU"),
        ("jax.errors.JaxRuntimeError: INTERNAL: libtpu gave up", "GPU or TPU"),
        ("MemoryError: Unable to allocate 8.00 GiB for an array", "memory"),
        ("urllib.error.HTTPError: HTTP Error 503: Service Unavailable", "network"),
        ("ImportError: cannot import name 'spam' from 'eggs'", "installation"),
        ("ERROR: pip's solver gave up for a reason of its own", "installation"),
        ("OSError: [Errno 28] No space left on device", "disk"),
        ("ValueError: shapes (3,4) and (5,6) not aligned", ""),
        (
            "InvalidArgumentError: {{function_node __wrapped__MatMul_device_"
            "/job:localhost/replica:0/task:0/device:GPU:0}} Matrix size-incompatible",
            "",
        ),
    ],
)
def test_whether_it_speaks_of_the_machine_and_only_then_what_forgets_all(text, concerns):
    told = in_colab(text)
    assert concerns in told.seen.concerns
    assert bool(concerns) == bool(told.seen.concerns)
    assert (FORGETS_ALL in str(told)) == (concerns == "GPU or TPU")


@pytest.mark.parametrize(
    ("text", "search"),
    [
        (
            "ValueError: Exception encountered when calling Sequential.call().\n\n"
            "Input 0 with name 'None' of layer 'conv2d_3' has shape (4, 28, 28, 3). "
            "Full shape received: (None, 9)",
            "ValueError Input with name None of layer conv2d has shape",
        ),
        (
            "TypeError: Tower.build_up() got an unexpected keyword argument 'floors'",
            "TypeError Tower.build_up got an unexpected keyword argument floors",
        ),
        (
            "OSError: no <zip object at 0x7f21> at 0x33 in /content/drive/My/a.zip or data.csv, 12",
            "OSError no at in or",
        ),
    ],
)
def test_what_to_search_for_has_the_words_of_the_message_and_no_values(text, search):
    assert seen(text).search == search


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_log_or_an_unrelated_error_is_told_nothing_that_destroys(name):
    told = in_colab(HEALTHY[name])
    assert FORGETS_ALL not in str(told)
    assert (told.seen is not None) == name.startswith(("traceback", "segfault", "pip_install"))
    assert ("No error is seen" in str(told)) == (told.seen is None)


def test_ordinary_errors_are_seen_and_none_is_told_to_delete_the_runtime():
    for error in ORDINARY:
        told = doctor.diagnose(error["text"], environ={"COLAB_RELEASE_TAG": "x"})
        assert FORGETS_ALL not in str(told), error["text"]
        raised = "Traceback (most recent call last)" in error["text"]
        assert told.findings or told.seen or not raised, error["text"]


@pytest.mark.parametrize(
    ("text", "word"), [(RETRACING, "again and again"), (SLOW_CALLBACK, "waits for it")]
)
def test_what_is_only_slow_is_said_with_what_it_means_and_that_it_is_no_error(text, word):
    told = in_colab(text)
    assert "No error is seen" in told.unknown
    assert str(told).count("ah.profile_fit(") == 1, "said once, not with each warning"
    assert told.seen is None
    assert word in told.slow[0].cause
    assert word in " ".join(str(told).split())
    assert FORGETS_ALL not in str(told)
    raised = doctor.diagnose(f"{text}ValueError: 3")
    assert raised.slow == (), "the error comes first"
    assert raised.seen.error == "ValueError: 3", "the error comes first"


@pytest.mark.parametrize("text", ["my training does not work", "es geht nicht", "loss: nan"])
def test_a_description_without_a_message_is_asked_for_the_message(text):
    told = in_colab(text)
    assert "No error is seen" in told.unknown
    assert "ah.profile_fit(" in told.unknown, "if it is only slow"


def test_what_is_promised_is_said_where_nothing_is_known():
    unknown = doctor.diagnose("ValueError: 3").unknown
    assert "the machine, the installation, versions, Colab and Kaggle" in unknown
