"""Makes the stored answers of the TPU compiler.

    python tools/tpu_programs.py FOLDER [NAME ...]    all of them, or those of these names

FOLDER is accel_helpers/course/tpu_programs, where git then shows what has changed. What a program
is must come out the same: whether it compiles and fits, its operations, its exchanges. What the
compiler makes of it may move a little with Keras and JAX.

The steps are compiled by the library's own child, and again by `tpu_report.py` for what the
compiler says of arrays and exchanges.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHIPS = ("v5e", "v6e")
SECONDS = 600  # for one compile, and for counting all products
# The single products that lesson 06 speaks of: chip, m, k, n. Some have one side 10 wide, as it is
# written and turned around; some many rows, where only the estimate is of use.
SQUARES = (64, 100, 127, 128, 129, 192, 256, 257)
ODD = [(1024, 128, 128), (1024, 128, 10), (10, 128, 1024), (16_384, 128, 128), (16_384, 129, 129)]
PRODUCTS = [(chip, size, size, size) for chip in CHIPS for size in SQUARES]
PRODUCTS += [("v5e", *shape) for shape in ODD]


def steps():
    """The lessons' training steps, by name: model, batch size, chips."""
    from accel_helpers.course.quickstart import quickstart_model

    mixed = partial(resnet50, "mixed_bfloat16")
    return {
        "quickstart": (quickstart_model, 32),
        # Lesson 09 shows what the chips tell each other.
        "quickstart-4-chips": (quickstart_model, 32, 4),
        "quickstart-8-chips": (quickstart_model, 32, 8),
        # Lesson 04 draws these.
        "shakespeare": (shakespeare, 64),
        "resnet50": (mixed, 128),
        "resnet50-large": (mixed, 1024),
        "resnet50-float32": (partial(resnet50, "float32"), 128),
    }


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
    model.compile("adam", loss, metrics=["accuracy"])
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


def compiled(name, model, chip, batch_size, chips=1):
    """The compiler's answer for a step, under the step's own name, with all that it says."""
    import keras

    from accel_helpers.tpu import child, compiler, environment

    found = compiler.compile_training_step(model, batch_size, chip, chips=chips, seconds=SECONDS)
    job = {
        "batch_size": batch_size,
        "batch": compiler.described_batch(model),
        "chip": chip,
        "chips": chips,
        "beside": str(Path(child.__file__).parent),
    }
    said = compiler.ask(model, job, SECONDS, script=str(HERE / "tpu_report.py"))
    if why := found.why or said.get("why"):
        raise SystemExit(f"{name} for {chip}: {why}")
    answer = {**asdict(found), **said, "name": name}
    answer["more"] = list(rows_of(answer, answer.pop("moved", None)))
    answer["versions"] = "jax {jax}, libtpu {libtpu}".format(**environment.PINS)
    answer["made_by"] = f"the saved model, loaded by keras {keras.__version__}"
    return {field: value for field, value in answer.items() if value not in (None, "", (), [])}


def rows_of(answer, moved):
    """The rows of the card that only a stored answer has, each as (label, text)."""
    import tpu_report

    from accel_helpers._values.words import format_bytes

    chips = answer["chips"]
    if moved:
        each = " by each chip" if chips > 1 else ""
        yield "bytes", f"{format_bytes(moved)} read and written{each}, as the compiler counts"
        yield "intensity", f"{answer['flops'] / chips / moved:.3g} operations for each byte"
    if answer["padded_bytes"]:
        given = format_bytes(answer["logical_bytes"])
        padded = format_bytes(answer["padded_bytes"])
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


def count_products():
    """What the compiler makes of the single products, by `count_products.py` beside it."""
    from accel_helpers.tpu import environment

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "products.json").write_text(json.dumps(PRODUCTS))
        script = str(HERE / "count_products.py")
        command, variables = environment.status().command(script, folder, scratch=folder)
        subprocess.run(command, env=variables, check=True, timeout=SECONDS)
        return json.loads((place / "counted.json").read_text())


def main(folder, *names):
    """Write the stored answers of these names into a folder, all of them without any."""
    place = Path(folder)
    if not names or "products" in names:
        rows = map(json.dumps, count_products())
        text = ",\n".join(rows)
        (place / "products.json").write_text(f"[\n{text}\n]\n")
    for (step, (make_model, *how)), chip in itertools.product(steps().items(), CHIPS):
        name = f"{step}-{chip}"
        if not names or name in names:
            answer = compiled(step, make_model(), chip, *how)
            # a field on each line
            lines = [f"{json.dumps(field)}: {json.dumps(answer[field])}" for field in answer]
            text = ",\n".join(lines)
            (place / f"{name}.json").write_text(f"{{\n{text}\n}}\n")


if __name__ == "__main__":
    os.environ["KERAS_BACKEND"] = "jax"
    sys.path.insert(0, str(HERE.parent))
    main(*sys.argv[1:])
