"""Cells run as they stand where they never run here: another machine, another outcome."""

import ast
import contextlib
import re
from types import SimpleNamespace

import numpy as np
import pytest
from cells import said, the_cell

import accel_helpers as ah
from accel_helpers.measure import scores


@pytest.mark.parametrize("name", ["03/a", "03/b", "03/c", "03/d"])
def test_what_is_to_be_mended_does_not_pass_as_it_is(name):
    function = f"broken_{name[3:]}"
    scope = {"np": np}
    exec(the_cell(name[:2], f"def {function}(").source, scope)
    assert not ah.checks.check(name, scope[function]).ok


def test_a_new_session_is_seen_by_its_lost_variable(capsys):
    now, told = SimpleNamespace(accelerator="a GPU"), []
    library = SimpleNamespace(runtime=SimpleNamespace(describe=lambda: now))
    for names in ({}, {"before": now}, {"before": SimpleNamespace(accelerator=None)}):
        assert said(the_cell("01", '"before" not in').source, ah=library, **names) is now
        told.append(capsys.readouterr().out)
    assert len(set(told)) == 3 and ["gone" in text for text in told] == [True, False, False]


@pytest.mark.parametrize(
    ("chip", "words"), [("Tesla T4", "NVIDIA T4: 16 GB"), ("NVIDIA L40S", "not in the table")]
)
def test_a_gpu_is_measured_beside_the_cpu_and_its_published_row_if_there_is_one(
    chip, words, capsys
):
    """Keras has a GPU of that name, played by NumPy; the products are made, the times recorded."""
    placed, seconds = [], {"CPU": 5e-5, "GPU": 1e-5}

    def compare(*runs, names, **_):
        samples = []
        for run, name in zip(runs, names, strict=True):
            run()
            times = [seconds[name] * f for f in (1, 1.02, 0.99, 1.01, 0.98, 1.0)]
            samples.append(ah.timing.Measurement.from_samples(times, name=name))
        return ah.timing.compare(*samples)

    library = SimpleNamespace(hardware=ah.hardware, plots=ah.plots, predict=ah.predict)
    library.training = SimpleNamespace(fast=lambda: True)
    library.timing = SimpleNamespace(compare=compare)
    library.backend = SimpleNamespace(
        choose=lambda: "NumPy",
        devices=lambda: ("cpu", "gpu"),
        device_name=lambda device: chip,
        on=lambda device: contextlib.nullcontext(placed.append(device)),
    )
    keras = SimpleNamespace(ops=SimpleNamespace(convert_to_tensor=np.array, matmul=np.matmul))
    scope = {"ah": library, "keras": keras}
    shown = ast.parse(the_cell("01", "def show_row").source).body[0]
    exec(compile(ast.Module([shown], []), "cell", "exec"), scope)
    picture = said(the_cell("01", "def product_on").source.replace("import keras\n", ""), **scope)
    text = capsys.readouterr().out
    assert set(placed) == {"cpu", "gpu"} and "CPU" in picture.alt and "GPU" in picture.alt
    rows = re.findall(r"^(.PU): ([\d,]+) billion.*\(([\d,]+) to ([\d,]+)\)$", text, re.M)
    for name, *numbers in rows:
        middle, low, high = (int(n.replace(",", "")) for n in numbers)
        assert low < middle < high
        assert middle == pytest.approx(2 * 256**3 / seconds[name] / 1e9, abs=1)
    assert len(rows) == 2 and words in text and ("Source:" in text) == (chip == "Tesla T4")


@pytest.mark.parametrize(
    ("verdicts", "chosen"),
    [
        ({"layer": "better", "more": "worse"}, "layer"),
        ({"layer": "better", "more": "better"}, "more"),
        ({"layer": "no measurable difference", "more": "worse"}, "baseline"),
    ],
)
def test_the_model_for_the_test_is_the_last_with_a_measurable_gain(verdicts, chosen):
    """Chosen before the test images are used, and those are used in one cell alone."""
    tree = ast.parse(the_cell("10", "x[test]").source).body
    (at,) = [i for i, line in enumerate(tree) if ast.unparse(line).startswith("chosen =")]
    assert not any("x[test]" in ast.unparse(line) for line in tree[: at + 1])
    gains = {name: SimpleNamespace(verdict=verdict) for name, verdict in verdicts.items()}
    scope = {"gains": gains, "scores": scores}
    exec(compile(ast.Module(tree[at - 1 : at + 1], []), "cell", "exec"), scope)
    assert scope["chosen"] == chosen
