"""Rows are forecast as a model is, constants are found again, and cards and rows are judged."""

import csv
import io
import json
import tomllib

import forecast as tool  # in tools/
import pytest

from accel_helpers.machine import hardware
from accel_helpers.measure import results, step_time
from accel_helpers.measure.measurement import Measurement
from accel_helpers.train import forecast, training
from benchmarks import forecast as judging

HEADER = tool.PUBLISHED.read_text("utf-8").partition("\n")[0].split(",")
RESNET = dict(zip(tool.COUNTS, (4.0892, 11.115, 25.557, 175, 54), strict=True))
T4 = {"id": "good", "chip": "NVIDIA T4", "mode": "train", "precision": "amp16", "execution": "xla"}
T4 |= {"batch_per_chip": 256, "step_ms": 1100, "net": "resnet50", **RESNET}


def written(path, *rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, HEADER, "")
        table.writeheader()
        table.writerows(rows)
    return path


def printed(capsys, *words):
    tool.main([str(word) for word in words])
    out, err = capsys.readouterr()
    return list(csv.DictReader(io.StringIO(out))), err


def test_a_row_gets_what_the_forecast_of_its_model_says(keras, tmp_path, capsys):
    net = [keras.Input((32, 32, 3)), keras.layers.Conv2D(16, 3, padding="same", activation="relu")]
    model = keras.Sequential([*net, keras.layers.Flatten(), keras.layers.Dense(10)])
    load, _ = forecast.load_of(model, 64)
    counts = load.product_flops / 2e9 / 64, load.made / 1e6 / 64, load.parameters / 1e6
    own = dict(zip(tool.COUNTS, (*counts, load.operations, 2), strict=True))
    rows, said = [], []
    for mode in ("train", "infer"):
        for dtype, precision in (("float32", "tf32"), ("float16", "fp16"), ("bfloat16", "bf16")):
            asked = {"training": mode == "train", "dtype": dtype, "seconds": 0}
            for of in forecast.forecast(model, 64, ("T4", "L4", "A100"), **asked).rows:
                full = {"mode": mode, "precision": precision, "batch_per_chip": 64, **own}
                name = step_time.FULL.get(of.chip, of.chip)
                rows.append({**T4, **full, "id": f"{len(rows)}", "chip": name})
                said.append([1e3 * each for each in of.step])
    strangers = [{**T4, "id": "strange", "chip": "T5000"}, {**T4, "id": "tpu", "chip": "TPU v2"}]
    table, err = printed(capsys, written(tmp_path / "rows.csv", strangers[0], *rows, strangers[1]))
    assert "strange" in err and "tpu" in err
    assert [row["id"] for row in table] == [row["id"] for row in rows]
    for row, expected in zip(table, said, strict=True):
        found = [float(row[name]) for name in ("forecast_ms", "low_ms", "high_ms")]
        assert found == pytest.approx(expected, rel=1e-3)


def test_a_fit_finds_the_constants_that_rows_were_made_from():
    import numpy as np

    dice, rows = np.random.default_rng(1), []
    known = {
        name: 1.4 * begin if begin > 1 else 0.8 * begin for name, (begin, _) in tool.START.items()
    }
    for n in range(600):
        chip = hardware.match(dice.choice(["T4", "V100-SXM2-16GB", "A100-SXM4-40GB"]))
        load = step_time.Load(*10 ** dice.uniform((9, 6, 6, 1), (13, 9, 10, 4)))
        dtype, casts = dice.choice(["float32", "tfloat32", "float16"]), n % 3 == 0
        args = {"load": load, "dtype": dtype, "training": n % 2 == 0, "casts": casts}
        rows.append(tool.Row(n, chip, args, 0.0, "made", "made"))
    seconds = tool.expected(rows, known) * np.exp(dice.normal(0, 0.05, len(rows)))
    rows = [row._replace(seconds=each) for row, each in zip(rows, seconds, strict=True)]
    assert tool.fit(rows) == pytest.approx(known, rel=0.05)


def test_the_committed_constants_are_those_of_the_published_rows():
    anew, kept = tomllib.loads(tool.constants()), tomllib.loads(tool.CONSTANTS.read_text("utf-8"))
    for name in ("constants", "width", "width_of_new_chips"):
        assert anew.pop(name) == pytest.approx(kept.pop(name), rel=0.01)
    assert anew.pop("made_on") >= kept.pop("made_on") and anew == kept


def test_a_card_of_a_gpu_becomes_rows_that_were_judged(keras, tmp_path, capsys):
    seconds = {"gpu/width 128/batch 32": 1e-3, "gpu/small CNN, 64 x 64/batch 32": 4e-3}
    seconds |= {"gpu/width 2048/batch 2048": 1e-6, "cpu/width 128/batch 32": 1e-3}
    taken = {f"03/step/{name}": Measurement.from_samples([s]) for name, s in seconds.items()}
    machine, path = {"accelerator": {"kind": "GPU", "name": "Tesla T4"}}, tmp_path / "theirs.json"
    card = results.Card("2027-01-02T10:00:00+00:00", "made for a test", machine, taken)
    results.save(card, path)
    table, err = printed(capsys, "--card", path)
    assert [*table[0]] == HEADER and [row["batch_per_chip"] for row in table] == ["32", "32"]
    assert [float(row["step_ms"]) for row in table] == [
        1,
        4,
    ] and "theirs/03/step/gpu/width 2048" in err
    rows, _ = tool.read(written(tmp_path / "rows.csv", *table))
    source = (tool.ROOT / "notebooks" / "03_time_a_keras_model.ipynb").read_text("utf-8")
    cells = ("".join(cell["source"]) for cell in json.loads(source)["cells"])
    exec(
        next(cell for cell in cells if "def make_cnn" in cell).partition("\nnets")[0],
        names := {"keras": keras},
    )
    for row, model in zip(rows, (training.quickstart_model(), names["make_cnn"]()), strict=True):
        assert row.args["load"] == pytest.approx(forecast.load_of(model, 32)[0]._replace(kept=0))


@pytest.mark.parametrize("path", sorted(results.RUNS.glob("*.json")), ids=lambda path: path.stem)
def test_a_card_of_a_cpu_gives_no_row_and_is_named(path, capsys):
    table, err = printed(capsys, "--card", path)
    assert table == [] and path.name in err


def test_a_row_is_left_out_by_the_written_rules_alone(tmp_path):
    bad = {
        "not waited": {"doubt": "Not waited for"},
        "too fast": {"step_ms": 20, "net": "of its own"},
        "stands still": {"batch_per_chip": 2048, "step_ms": 1110},
    }
    rows = [T4, *({**T4, "id": name, **of} for name, of in bad.items())]
    kept, _, others = judging.judged(written(tmp_path / "rows.csv", *rows))
    assert [row.id for row in kept] == ["good"] and {*others} == {*bad}
