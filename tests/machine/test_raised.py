"""An error that the doctor doesn't know: what is seen of it. And whose line it is that failed."""

import json
from pathlib import Path

import pytest

from accel_helpers.machine import doctor, symptoms

LOGS = Path(__file__).parent / "logs"


def texts(kind):
    paths = (LOGS / kind).glob("*.txt")
    return {path.stem: path.read_text("utf-8") for path in paths}


HEALTHY = texts("healthy")
UNKNOWN = texts("unknown")
STACK = "ValueError: all input arrays must have the same shape"
MEAN = "return np.stack(rows).mean()"
PACKAGES = "/usr/local/lib/python3.12/dist-packages"
SEEN = {
    "python_3.13": (STACK, f"/home/ada/stack.py, line 4: {MEAN}", "numpy"),
    "python_3.12_chained": (
        "RuntimeError: no mean of these rows",
        '/home/ada/stack.py, line 10: raise RuntimeError("no mean of these rows") from error',
        "",
    ),
    "ipython_9": (STACK, f"cell [1], line 3: {MEAN}", "numpy"),
    "ipython_9_colours": (STACK, f"cell [1], line 3: {MEAN}", "numpy"),
    "ipython_7": (STACK, f"cell [1], line 3: {MEAN}", "numpy"),
    "ipython_9_syntax": ("SyntaxError: unmatched ')'", "cell [1], line 2: print(x))", ""),
    "python_3.12_group": (
        "ExceptionGroup: two files (2 sub-exceptions)",
        '/home/ada/two.py, line 2: raise ExceptionGroup("two files", [ValueError("the first"), '
        'OSError("the second")])',
        "",
    ),
    "keras_graph": (
        "InvalidArgumentError: Received a label value of 7 which is outside the valid range of "
        "[0, 3).  Label values: 7 7 7 7 7 7 7 7",
        "/home/ada/train.py, line 8: return model_of(3).fit(x, y, verbose=0)",
        "tensorflow",
    ),
    "colab": (STACK, f"cell [1], line 3: {MEAN}", "numpy"),
}
# Of each form of an error that is no exception's last line, a text; the line of it that is shown.
DIED = "F0000 00:00:1782111956.268559    4123 x.cc:12] Check failed: rank is 3 and 4"
FORMS = [
    f"W0000 a warning, before it died\n{DIED}\n*** Check failure stack trace: ***",
    "RuntimeError: caught\nLLVM ERROR: no such rule\nAborted (core dumped)",
    "Fatal Python error: Bus error",
    "terminate called after throwing an instance of 'std::rare'\n  what():  rare",
    "(mpsFileLoc): /AppleInternal/x.mm:233:0: error: 'mps.rare' op operands don't fit",
    "-[MTLRare foo]:788: failed assertion `the buffer is rare'",
    "python: /x/y.cpp:12: void f(): Assertion `rare > 0' failed.",
    'x.cu(12): error: identifier "rare" is undefined',
    "/x/y.cpp:12:3: fatal error: rare.h: not found",
    "ptxas fatal   : Value 'sm_999' is not defined",
    "zsh: segmentation fault  python x.py",
    "Segmentation fault (core dumped)",
    "[rank0]: RareError: in a process of several",
    "module 'rare' has no attribute 'rarer'",
    'Traceback (most recent call last):\n  File "x.py", line 3, in f',
]


@pytest.mark.parametrize("name", UNKNOWN)
def test_the_last_error_the_deepest_line_of_ones_own_and_the_package_are_seen(name):
    told = doctor.diagnose(UNKNOWN[name])
    error, your_line, package = SEEN[name]
    assert told.seen.error == error
    assert told.seen.your_line == your_line
    assert told.seen.package == package
    assert f"Last error: {error[:40]}" in str(told)
    output = {"output_type": "error", "traceback": UNKNOWN[name].split("\n")}
    cell = {"cell_type": "code", "source": "mean_of(rows)", "outputs": [output]}
    assert doctor.diagnose(json.dumps({"cells": [cell]})).seen == told.seen


def test_an_error_that_was_caught_is_seen_with_its_line():
    with pytest.raises(StopIteration) as raised:
        raise StopIteration("no page")
    seen = doctor.diagnose(raised.value).seen
    assert seen.error == "StopIteration: no page"
    assert seen.your_line.endswith('raise StopIteration("no page")')


def test_of_code_that_tensorflow_recorded_the_inner_error_is_seen():
    outer = (
        'Traceback (most recent call last)\n  File "x.py", line 9, in g\nValueError: in user code:'
    )
    inner = '    File "x.py", line 4, in f  *\n        return 1 / 0\n\n    ValueError: too long'
    seen = doctor.diagnose(f"{outer}\n\n{inner}\n").seen
    assert seen.error == "ValueError: too long"
    assert seen.your_line == "x.py, line 4: return 1 / 0"


@pytest.mark.parametrize("form", FORMS)
def test_an_error_that_is_no_exceptions_last_line_is_seen(form):
    told = doctor.diagnose(f"Epoch 1/5\n{form}\n")
    assert told.findings or (told.seen.error and told.seen.error in form)


def test_a_process_that_died_shows_what_it_said_and_the_line_that_it_was_in():
    seen = doctor.diagnose(HEALTHY["segfault_of_another_program"]).seen
    assert seen.error == "Fatal Python error: Segmentation fault"
    assert seen.your_line.startswith("/content/x14.py, line 2")


@pytest.mark.parametrize(
    ("text", "error"), [(FORMS[0], DIED), ("AssertionError\nEpoch 2/5", "AssertionError")]
)
def test_what_stands_around_an_error_is_not_shown_as_one(text, error):
    assert doctor.diagnose(text).seen.error == error


def test_what_to_search_for_has_the_words_of_the_message_and_no_values():
    text = "OSError: no <zip object at 0x7f21> of dense_3 (2, 4) in /content/My/a.zip or b.csv, 12"
    assert doctor.diagnose(text).seen.search == "OSError no of dense in or"


@pytest.mark.parametrize("name", HEALTHY)
def test_in_a_healthy_log_no_error_is_seen(name):
    seen = doctor.diagnose(HEALTHY[name]).seen
    assert bool(seen.error) == name.startswith(("traceback", "segfault", "pip_install"))


@pytest.mark.parametrize("text", ["", "loss: nan", "Test error: 0.1", HEALTHY["deprecations"]])
def test_where_no_error_is_seen_the_whole_message_or_a_profile_is_the_next_step(text):
    told = doctor.diagnose(text)
    assert not told.seen.error
    assert str(told).count("ah.profile_fit(") == 1
    assert bool(told.slow) == (text == HEALTHY["deprecations"])


@pytest.mark.parametrize(
    ("deepest", "counts"),
    [
        ("/home/ada/train.py", True),
        (f"{PACKAGES}/keras/src/layers/layer.py", False),
        (f"{PACKAGES}/jax/_src/core.py", True),  # JAX checks what the line above it does
    ],
)
def test_advice_for_ones_own_code_counts_only_where_ones_own_line_failed(deepest, counts):
    own = symptoms.Symptom("own", ("bool of a tracer",), "c", "f", "https://x", "1", own=True)
    frames = f'  File "/home/ada/train.py", line 3, in f\n  File "{deepest}", line 9, in g\n'
    text = f"Traceback (most recent call last)\n{frames}TypeError: bool of a tracer"
    assert bool(symptoms.find(text, among=[own])) == counts
