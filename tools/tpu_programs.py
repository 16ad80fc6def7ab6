"""Makes the stored answers of the TPU compiler, or checks them against a fresh compile.

    python tools/tpu_programs.py                      writes accel_helpers/course/tpu_programs/
    python tools/tpu_programs.py --check [NAME ...]    says what differs, and leaves with 1

The steps are compiled by the library's own child, and again by `tpu_report.py` for what the
compiler says of cycles and arrays. What a program is must come out the same: whether it compiles
and fits, its operations, its instructions. What the compiler makes of it may move a little with
Keras and JAX, and is held to a tenth.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "accel_helpers" / "course" / "tpu_programs"
COUNTER = Path(__file__).with_name("count_products.py")
REPORT = Path(__file__).with_name("tpu_report.py")
CHIPS = ("v5e", "v6e")
TOLERANCE = 0.10  # how far the compiler's own figures may lie apart
SECONDS = 600  # for one compile, and for counting all products
# Fields of an answer that must be the same, and those that may move a little.
EXACT = ("batch_size", "policy", "verdict", "flops", "largest_batch", "collectives")
NEAR = ("peak_memory", "needed", "logical_bytes", "padded_bytes")

# The single products that lesson 06 speaks of: chip, m, k, n. Some have one side 10 wide, as it is
# written and turned around; some many rows, where only the estimate is of use.
SQUARES = (64, 100, 127, 128, 129, 192, 256, 257)
ODD = [(1024, 128, 128), (1024, 128, 10), (10, 128, 1024), (16_384, 128, 128), (16_384, 129, 129)]
PRODUCTS = [(chip, size, size, size) for chip in CHIPS for size in SQUARES]
PRODUCTS += [("v5e", *shape) for shape in ODD]


def steps():
    """The lessons' training steps, by name: model, batch size, chips, with estimates of cycles."""
    from accel_helpers.course.quickstart import quickstart_model

    mixed, single = partial(resnet50, "mixed_bfloat16"), partial(resnet50, "float32")
    found = {
        "quickstart": (quickstart_model, 32),
        # Lesson 09 shows what the chips tell each other.
        "quickstart-4-chips": (quickstart_model, 32, 4),
        "quickstart-8-chips": (quickstart_model, 32, 8),
        # Lesson 04 writes it out.
        "strategy": (quickstart_model, 64),
        "shakespeare": (shakespeare, 64),
        # Both formats: what fits in one need not fit in the other.
        "resnet50": (mixed, 128),
        "resnet50-large": (mixed, 1024),
        "resnet50-float32": (single, 128),
        "resnet50-float32-large": (single, 512),
    }
    for width in (100, 128, 129, 256):
        found[f"width-{width}"] = partial(quickstart_model, width=width, dropout=0), 1024, 1, True
    return found


def shakespeare():
    """Make lesson 04's model, which predicts the next character after every character."""
    import keras

    from accel_helpers.course.text import load_text

    characters = len(set(load_text().text))
    model = keras.Sequential(
        [
            keras.Input((40,), dtype="int32"),
            keras.layers.Embedding(characters, 32),
            keras.layers.LSTM(96, return_sequences=True),
            keras.layers.Dense(characters),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.005), loss, metrics=["accuracy"], jit_compile=True)
    return model


def resnet50(policy):
    """Make Keras's ResNet50 with numbers in this format."""
    import keras

    keras.config.set_dtype_policy(policy)
    model = keras.applications.ResNet50(weights=None, classifier_activation=None)
    keras.config.set_dtype_policy("float32")
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    return model


def make(names):
    """Compile what goes into the files of these names, all without any; give each file's rows."""
    if not names or "products" in names:
        yield "products", _count_products()
    for name, (make_model, *how) in steps().items():
        for chip in CHIPS:
            if not names or f"{name}-{chip}" in names:
                yield f"{name}-{chip}", _compiled(name, make_model(), chip, *how)


def _compiled(name, model, chip, batch_size, chips=1, thorough=False):
    """The compiler's answer for a step, under the step's own name, with all that it says."""
    import keras

    from accel_helpers.tpu import child, compiler
    from accel_helpers.tpu.environment import PINS

    found = compiler.compile_training_step(model, batch_size, chip, chips=chips, seconds=SECONDS)
    job = {
        "batch_size": batch_size,
        "batch": compiler.described_batch(model),
        "chip": chip,
        "chips": chips,
        "thorough": thorough,
        "beside": str(Path(child.__file__).parent),
    }
    said = compiler.ask(model, job, SECONDS, script=str(REPORT))
    if why := found.why or said.get("why"):
        raise SystemExit(f"{name} for {chip}: {why}")
    answer = {**asdict(found), **said, "name": name}
    answer["more"] = list(_more_rows(answer, answer.pop("moved", None)))
    answer["versions"] = f"jax {PINS['jax']}, libtpu {PINS['libtpu']}"
    answer["made_by"] = f"the saved model, loaded by keras {keras.__version__}"
    return {field: value for field, value in answer.items() if value not in (None, "", (), [])}


def _more_rows(answer, moved):
    """The rows of the card that only a stored answer has, each as (label, text)."""
    import tpu_report

    from accel_helpers._values.words import format_bytes, format_count

    chips = answer["chips"]
    if moved:
        each = " by each chip" if chips > 1 else ""
        yield "bytes", f"{format_bytes(moved)} read and written{each}, as the compiler counts"
        yield "intensity", f"{answer['flops'] / chips / moved:.3g} operations for each byte"
    if answer["padded_bytes"]:
        given, padded = (format_bytes(answer[field]) for field in ("logical_bytes", "padded_bytes"))
        yield "padding", f"{given} given to the step take {padded} on the chip"
    first = answer["largest"][0]
    text = f"{format_bytes(first['bytes'])}: {first['operation']}, {first['array']}"
    unpadded = tpu_report.array_bytes(first["array"])
    if first["bytes"] > unpadded:
        text += f" ({format_bytes(unpadded)} without padding)"
    yield "largest array", text
    for found in answer["collectives"]:
        size = format_bytes(found["bytes"])
        yield "between chips", f"{found['kind']} of {found['arrays']} arrays, {size} on each chip"
    if answer["cycles"]:
        total = sum(cycles for _, cycles in answer["cycles"])
        layer, most = answer["cycles"][0]
        share = f"{100 * most / total:.0f} % of them in {layer}"
        yield "estimate", f"{format_count(total)} clock cycles, {share}"


def _count_products():
    """What the compiler makes of the single products, by `count_products.py` beside it."""
    from accel_helpers.tpu import environment

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "products.json").write_text(json.dumps(PRODUCTS))
        command, variables = environment.status().command(str(COUNTER), folder, scratch=folder)
        subprocess.run(command, env=variables, check=True, timeout=SECONDS)
        return json.loads(Path(folder, "counted.json").read_text())


def _text(rows):
    """JSON with a row, or a field, on each line."""
    if isinstance(rows, list):
        return "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n"
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in rows.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def differences(old, new):
    """Name the figures of a stored answer that are no longer what the compiler says."""
    found = [name for name in EXACT if old.get(name) != new.get(name)]
    # Of arrays of one size it is chance which come first, and what of them is named.
    stored, arrays = (sorted(row["array"] for row in each["largest"]) for each in (old, new))
    if stored != arrays:
        found.append("largest")
    before, after = _moving(old), _moving(new)
    for name in before | after:
        if not math.isclose(before.get(name) or 0, after.get(name) or 0, rel_tol=TOLERANCE):
            found.append(name)
    return found


def _moving(answer):
    return {name: answer.get(name) for name in NEAR} | dict(answer.get("cycles", []))


def main(argv=None):
    """Write the stored answers, or check them; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", nargs="*", metavar="NAME", help="compare, and write nothing")
    names = parser.parse_args(argv).check
    failed = 0
    for name, rows in make(names):
        file = DATA / f"{name}.json"
        if names is None:
            file.write_text(_text(rows))
            continue
        # As it is read back: a file knows no tuples.
        old, new = json.loads(file.read_text()), json.loads(_text(rows))
        found = ["rows"] * (old != new) if name == "products" else differences(old, new)
        failed = failed or int(bool(found))
        print(f"{name}: {', '.join(found) or 'nothing'} differs from what is stored", flush=True)
    return failed


if __name__ == "__main__":
    os.environ["KERAS_BACKEND"] = "jax"
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
