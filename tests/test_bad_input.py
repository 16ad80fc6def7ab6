"""What each verb says to input that it cannot use: what was given, what is accepted, what to do.

python -m tests.test_bad_input    stores what they say now, for a reader to compare
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import traceback
from functools import partial
from pathlib import Path

import pytest

import accel_helpers as ah
from accel_helpers.measure.measurement import Measurement

np = pytest.importorskip("numpy")

KEPT = Path(__file__).with_name("bad_input.json")
LIBRARY = Path(ah.__file__).parent
X, Y = np.zeros((64, 4), "float32"), np.zeros(64, "int32")
SHORT = {"seconds": 0.3}


class Folder:
    """Files that are cut, empty, or none, under one folder."""

    def __init__(self, path):
        self.path = path
        (path / "cut.ipynb").write_text('{"cells": [{"cell_ty')
        (path / "empty.log").write_text("")
        (path / "picture.png").write_bytes(b"\x89PNG\r\n\x00\xff")

    def __getattr__(self, name):
        return self.path / name.replace("_", ".")


def small(units=2, compiled=True):
    import keras

    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(units)])
    if compiled:
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def used_up():
    """A generator of which nothing is left."""
    batches = iter([(X[:32], Y[:32])])
    next(batches)
    return batches


def with_nan():
    return np.full_like(X, np.nan)


def machine_calls(files):
    """Of the verbs on the machine and on what somebody pasted."""
    yield (
        "describe",
        {
            "an unknown name": lambda: ah.describe(colour="red"),
            "a wrong type": lambda: ah.describe(root=7),
            "a list for a mapping": lambda: ah.describe(environ=["A=1"]),
            "an empty root": lambda: ah.describe(root=files.path / "none"),
            "a file as a root": lambda: ah.describe(root=files.empty_log),
            "one thing too many": lambda: ah.describe("here"),
            "no function to run commands": lambda: ah.describe(run=7),
            "no function for versions": lambda: ah.describe(versions=7),
        },
    )
    yield (
        "diagnose",
        {
            "a wrong type": lambda: ah.diagnose(7),
            "bytes": lambda: ah.diagnose(b"OOM when allocating"),
            "an empty text": lambda: ah.diagnose(""),
            "a list": lambda: ah.diagnose(["OOM"]),
            "a folder": lambda: ah.diagnose(files.path),
            "a file that is not there": lambda: ah.diagnose(files.path / "none.ipynb"),
            "a file that is cut": lambda: ah.diagnose(files.cut_ipynb),
            "a picture": lambda: ah.diagnose(files.picture_png),
        },
    )
    yield (
        "use_backend",
        {
            "an unknown name": lambda: ah.use_backend("theano"),
            "a wrong type": lambda: ah.use_backend(7),
            "a list": lambda: ah.use_backend(["jax"]),
            "bytes": lambda: ah.use_backend(b"jax"),
            "a name in capitals": lambda: ah.use_backend("JAX"),
            "a name with a space": lambda: ah.use_backend(" jax"),
            "an unknown keyword": lambda: ah.use_backend("jax", colour="red"),
            "one thing too many": lambda: ah.use_backend("jax", "tensorflow"),
        },
    )
    yield (
        "pick_strategy",
        {
            "an unknown keyword": lambda: ah.pick_strategy(colour="red"),
            "a name": lambda: ah.pick_strategy("mirrored"),
            "a wrong type": lambda: ah.pick_strategy(root=7),
            "a list for a mapping": lambda: ah.pick_strategy(environ=["A=1"]),
            "a file as a root": lambda: ah.pick_strategy(root=files.empty_log),
            "an empty root": lambda: ah.pick_strategy(root=files.path / "none"),
            "no function to run commands": lambda: ah.pick_strategy(run=7),
            "no function for versions": lambda: ah.pick_strategy(versions=7),
        },
    )
    yield (
        "judge",
        {
            "nothing": lambda: ah.judge(),
            "a wrong type": lambda: ah.judge(flops="many", seconds=1, accelerator="T4"),
            "no work": lambda: ah.judge(seconds=1, accelerator="T4"),
            "no time": lambda: ah.judge(flops=1e9, seconds=0, accelerator="T4"),
            "a negative time": lambda: ah.judge(flops=1e9, seconds=-1, accelerator="T4"),
            "NaN": lambda: ah.judge(flops=float("nan"), seconds=1, accelerator="T4"),
            "an unknown chip": lambda: ah.judge(flops=1e9, seconds=1, accelerator="T5000"),
            "an unknown dtype": lambda: ah.judge(
                flops=1e9, seconds=1, accelerator="T4", dtype="float12"
            ),
        },
    )


def timing_calls(files):
    """Of the verbs that time."""
    sound = Measurement.from_samples([1.0] * 5)

    def broken():
        raise RuntimeError("mine")

    yield (
        "benchmark",
        {
            "a wrong type": lambda: ah.benchmark(7),
            "a result for a function": lambda: ah.benchmark(sum([1])),
            "a function with arguments": lambda: ah.benchmark(lambda x: x),
            "a function that fails": lambda: ah.benchmark(broken),
            "no time": lambda: ah.benchmark(lambda: None, seconds=0),
            "a time that is a text": lambda: ah.benchmark(lambda: None, seconds="3"),
            "NaN": lambda: ah.benchmark(lambda: None, seconds=float("nan")),
            "an unknown name": lambda: ah.benchmark(lambda: None, rounds=3),
        },
    )
    yield (
        "compare",
        {
            "a wrong type": lambda: ah.compare(7, lambda: None),
            "one alone": lambda: ah.compare(lambda: None),
            "a function and a timing": lambda: ah.compare(sound, lambda: None),
            "a function that fails": lambda: ah.compare(broken, lambda: None),
            "one name": lambda: ah.compare(lambda: None, lambda: None, names="cpu", **SHORT),
            "no time": lambda: ah.compare(lambda: None, lambda: None, seconds=0),
            "a time that is a text": lambda: ah.compare(lambda: None, lambda: None, seconds="3"),
            "an unknown name": lambda: ah.compare(lambda: None, lambda: None, rounds=3),
        },
    )
    yield (
        "plot",
        {
            "nothing": lambda: ah.plot(),
            "a wrong type": lambda: ah.plot(7),
            "none": lambda: ah.plot(None),
            "a text": lambda: ah.plot("worth it"),
            "an empty list": lambda: ah.plot([]),
            "numbers": lambda: ah.plot([1.0, 2.0]),
            "a model": lambda: ah.plot(small()),
            "an unknown name": lambda: ah.plot(sound, colour="red"),
        },
    )


def of_training(verb, given):
    """The same eight of a verb that takes a model, or a function that makes one, and data."""
    return {
        "a wrong type": lambda: verb(7, X, Y),
        "no data": lambda: verb(given(), X[:0], Y[:0]),
        "targets of another length": lambda: verb(given(), X, Y[:60]),
        "data of another shape": lambda: verb(given(), X[:, :3], Y),
        "not compiled": lambda: verb(given(compiled=False), X, Y),
        "a generator that is used up": lambda: verb(given(), used_up(), None),
        "NaN": lambda: verb(given(), with_nan(), Y),
        "a batch of none": lambda: verb(given(), X, Y, batch_size=0),
    }


def maker(compiled=True):
    return partial(small, compiled=compiled)


def training_calls(files):
    """Of the verbs that train, and of the forecast."""
    yield "time_fit", of_training(partial(ah.time_fit, **SHORT), small)
    yield "fit_resident", of_training(partial(ah.fit_resident, verbose=0), small)
    yield "profile_fit", of_training(partial(ah.profile_fit, seconds=2), maker)
    yield "worth_it", of_training(partial(ah.worth_it, seconds=2), maker)
    on = partial(ah.forecast, seconds=0)
    yield (
        "forecast",
        {
            "a wrong type": lambda: on(7, 32),
            "a batch of none": lambda: on(small, 0),
            "a batch that is a text": lambda: on(small, "32"),
            "an unknown chip": lambda: on(small, 32, ("T5000",)),
            "one chip as a text": lambda: on(small, 32, "T4"),
            "not compiled": lambda: on(maker(compiled=False), 32),
            "targets of another length": lambda: on(small, 32, x=X, y=Y[:60]),
            "an unknown name": lambda: on(small, 32, rounds=3),
        },
    )


GROUPS = {"machine": machine_calls, "timing": timing_calls, "training": training_calls}


def said(call):
    """The error and, where it is the library's own, its text; or what came back without one."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            result = call()
    except Exception as error:
        *_, last = traceback.extract_tb(error.__traceback__)
        is_ours = LIBRARY in Path(last.filename).parents and last.line.startswith("raise ")
        return [type(error).__name__, str(error) if is_ours else ""]
    return ["no error", type(result).__name__]


def in_process(group):
    """What the verbs of a group say, in a process that has not imported Keras yet."""
    command = [sys.executable, "-m", "tests.test_bad_input", group]
    environ = {**os.environ, "KERAS_BACKEND": "tensorflow", "PYTHONPATH": str(LIBRARY.parent)}
    ran = subprocess.run(command, cwd=LIBRARY.parent, env=environ, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.mark.parametrize("group", GROUPS)
def test_bad_input_hears_what_it_heard(group):
    kept, now = json.loads(KEPT.read_text("utf-8"))[group], in_process(group)
    assert [*now] == [*kept]
    changed = {name: (kept[name], now[name]) for name in kept if kept[name] != now[name]}
    assert changed == {}


if __name__ == "__main__":
    if sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            calls = dict(GROUPS[sys.argv[1]](Folder(Path(folder))))
            found = {f"{v}: {kind}": said(call) for v in calls for kind, call in calls[v].items()}
        print(json.dumps(found))
    else:
        told = json.dumps({group: in_process(group) for group in GROUPS}, indent=1)
        KEPT.write_text(told + "\n", "utf-8")
