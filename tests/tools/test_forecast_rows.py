"""Rows are forecast as a model is, constants are found again, and cards and rows are judged."""

import csv
import io
import tomllib

import forecast as tool  # in tools/
import numpy as np
import pytest

from accel_helpers.machine import hardware
from accel_helpers.worth import step_time
from accel_helpers.worth.model_load import load_of
from benchmarks import forecast as judging
from benchmarks import forecast_page, forecast_variants

HEADER = tool.PUBLISHED.read_text("utf-8").partition("\n")[0].split(",")
T4 = {"id": "good", "chip": "NVIDIA T4", "mode": "train", "precision": "amp16", "execution": "xla"}
T4 |= dict(zip(tool.COUNTS, (4.0892, 11.115, 25.557, 175, 54), strict=True))  # ResNet-50
T4 |= {"batch_per_chip": 256, "step_ms": 1100, "net": "resnet50"}


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


MODES = [("train", "float32", "tf32"), ("infer", "bfloat16", "bf16"), ("infer", "float16", "fp16")]


@pytest.mark.parametrize("mode, dtype, precision", MODES)
def test_a_row_gets_what_the_forecast_of_its_model_says(
    keras, tmp_path, capsys, mode, dtype, precision
):
    layer, options = keras.layers.Conv2D, {"padding": "same", "activation": "relu"}
    model = keras.Sequential([keras.Input((32, 32, 3)), layer(16, 3, **options)])
    counts = 32**2 * 27 * 16 / 1e9, 32**2 * 16 / 1e6, 28 * 16 / 1e6, 2, 1  # padding and all
    of = dict(zip(tool.COUNTS, counts, strict=True)) | {"mode": mode, "precision": precision}
    names = {"T4": "NVIDIA T4", "L4": "NVIDIA L4", "A100": "NVIDIA A100-SXM4-40GB"}
    rows = [T4 | of | {"id": each, "chip": name} for each, name in names.items()]
    strange = {**T4, "id": "strange", "chip": "T5000"}, {**T4, "id": "tpu", "chip": "TPU v2"}
    table, err = printed(capsys, written(tmp_path / "rows.csv", *strange, *rows))
    load, _ = load_of(model, 256)
    for row, name in zip(table, names, strict=True):
        said = step_time.row_of_chip(load, name, dtype, training=mode == "train")
        assert row.pop("id") == said.chip
        assert [*row] == ["forecast_ms", "low_ms", "high_ms"]
        times = [float(each) / 1e3 for each in row.values()]
        assert times == pytest.approx(said.step, rel=1e-3)
    assert "strange" in err
    assert "tpu" in err


def test_a_fit_finds_the_constants_that_rows_were_made_from():
    dice, rows, start = np.random.default_rng(1), [], tool.START.items()
    known = {name: begin * (0.8 if "share" in name else 1.4) for name, (begin, _) in start}
    for n in range(600):
        chip = hardware.match(dice.choice(["T4", "V100-SXM2-16GB", "A100-SXM4-40GB"]))
        load = step_time.Load(*10 ** dice.uniform((9, 6, 6, 1), (13, 9, 10, 4)))
        args = {"load": load, "dtype": dice.choice(["float32", "tfloat32", "float16"])}
        args |= {"training": n % 2 == 0, "casts": n % 3 == 0}
        seconds = tool.expected([tool.Row(n, chip, args, 0, "", "")], known)[0]
        rows.append(tool.Row(n, chip, args, seconds * np.exp(dice.normal(0, 0.05)), "", ""))
    assert tool.fit(rows) == pytest.approx(known, rel=0.1)


def test_the_committed_constants_are_those_of_the_published_rows():
    anew, kept = tomllib.loads(tool.constants()), tomllib.loads(tool.CONSTANTS.read_text("utf-8"))
    assert anew.pop("constants") == pytest.approx(kept.pop("constants"), rel=0.01)
    assert anew == kept | {"made_on": anew["made_on"]}


def test_the_committed_score_is_that_of_the_measured_rows():
    assert forecast_page.printed_score() == step_time.SCORE.read_text("utf-8")


def test_a_forecast_of_half_the_time_is_half_off_and_so_is_one_of_half_more():
    chip = hardware.match("T4")
    args = {"load": step_time.Load(1e12, 1e8, 1e6, 50), "dtype": "float32", "training": True}
    (seconds,) = tool.expected([tool.Row("", chip, args, 0, "", "")])
    rows = [tool.Row("", chip, args, seconds / ratio, "one", "") for ratio in (0.5, 1.5, 1.5)]
    pairs = [(row, seconds) for row in rows]
    assert judging.error(pairs) == pytest.approx(0.5)
    assert ("median error", "50%") in judging.score(rows)


def test_light_models_and_those_on_jax_are_told_apart():
    _, given, _ = judging.judged(judging.MEASURED)
    rows, _ = tool.read(judging.MEASURED)
    light = judging.light(rows, given)
    assert all(row.args["training"] for row in light)
    assert max(float(given[row.id]["gmac_example"]) for row in light) < judging.LIGHT
    on_jax = {given[row.id]["framework"] for row in judging.on_jax(rows, given)}
    assert all("JAX" in name or "Flax" in name for name in on_jax)


def test_traffic_was_counted_of_every_net_that_was_fitted():
    rows, _ = tool.read(tool.PUBLISHED)
    moved = forecast_variants.read_and_written(rows)
    numbers = [row.args["load"].made for row in moved]
    made = [row.args["load"].made for row in rows]
    assert all(one > other for one, other in zip(numbers, made, strict=True))


def test_what_torch_compiles_is_no_engine():
    rows, given, _ = judging.judged(judging.MEASURED)
    compiled = [row for row in rows if given[row.id]["execution"] == "compiled"]
    kinds = {(given[row.id]["framework"], judging.how(row, given)) for row in compiled}
    engines = {framework for framework, kind in kinds if kind == "engine"}
    assert engines == {"PaddlePaddle+TensorRT", "TensorRT", "FasterTransformer"}


def test_a_row_is_left_out_by_the_written_rules_alone(tmp_path):
    one = {**T4, "id": "one", "net": "small", "batch_per_chip": 1, "step_ms": 90}
    rows = [T4, one, {**one, "id": "eight", "batch_per_chip": 8}]  # mostly operations: it may be
    rows.append({**T4, "id": "not waited", "doubt": "Not waited for"})
    rows.append({**T4, "id": "too fast", "step_ms": 20, "net": "of its own"})
    rows.append({**T4, "id": "stands still", "batch_per_chip": 2048, "step_ms": 1110})
    kept, _, others = judging.judged(written(tmp_path / "rows.csv", *rows))
    assert [row.id for row in kept] == ["good", "one", "eight"]
    assert [*others] == ["not waited", "too fast", "stands still"]
