"""Makes the stored answers of the TPU compiler, or checks them against a fresh compile.

    python tools/tpu_programs.py                      writes accel_helpers/course/tpu_programs/
    python tools/tpu_programs.py --check [FILE ...]    says what differs, and leaves with 1

The steps are compiled by the library's own child, and again by `compiled_text.py` for what the
compiler says of cycles and arrays. What a program is must come out the same: whether it compiles
and fits, its operations, its instructions. What the compiler makes of it may move a little with
Keras and JAX, and is held to a tenth.
"""

import argparse
import itertools
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "accel_helpers" / "course" / "tpu_programs"
PRODUCTS = "products.json"
COUNTER = Path(__file__).with_name("count_products.py")
TEXT_SCRIPT = Path(__file__).with_name("compiled_text.py")
CHIPS = ("v5e", "v6e")
WIDTHS = (100, 128, 129, 256)  # of lesson 06's hidden layer
TOLERANCE = 0.10  # how far the compiler's own figures may lie apart
SECONDS = 600  # for counting all products
# Fields of an answer that must be the same, and those that may move a little.
EXACT = ("name", "batch_size", "chip", "chips", "policy", "verdict", "flops", "largest_batch",
         "collectives", "largest arrays")  # fmt: skip
NEAR = ("peak_memory", "needed", "logical_bytes", "padded_bytes")
MOST_ARRAYS = 5  # of the largest arrays are in an answer
# What stands in the place of an operation's path if an array is an argument of the step, or a copy
# of one: "", "data[0]" or "state[0][3]".
ARGUMENT = re.compile(r"|data\[.*|state\[.*")


def products() -> list[tuple[str, int, int, int]]:
    """The single products that lesson 06 speaks of: chip, m, k, n."""
    squares = (64, 100, 127, 128, 129, 192, 256, 257)
    rows = [(chip, size, size, size) for chip in CHIPS for size in squares]
    # One side 10 wide, as it is written and turned around; then many rows, where a loop hides
    # instructions, so that only the estimate is of use.
    odd = [(1024, 128, 128), (1024, 128, 10), (10, 128, 1024)]
    odd += [(16_384, 128, 128), (16_384, 129, 129)]
    return rows + [("v5e", *shape) for shape in odd]


@dataclass(frozen=True)
class Step:
    """A training step whose compiled form a lesson shows."""

    name: str
    make_model: Callable
    batch_size: int
    chips: int = 1
    thorough: bool = False  # with the compiler's estimate of cycles


def steps() -> list[Step]:
    """The lessons' training steps."""
    from accel_helpers.course import quickstart, text

    quickstart_model = quickstart.quickstart_model
    characters = len({*text.load_text().text})
    rows = [
        Step("quickstart", quickstart_model, 32),
        # Lesson 09 shows what the chips tell each other.
        Step("quickstart-4-chips", quickstart_model, 32, chips=4),
        Step("quickstart-8-chips", quickstart_model, 32, chips=8),
        # Lesson 04 writes it out.
        Step("strategy", quickstart_model, 64),
        Step("shakespeare", partial(shakespeare, characters), 64),
    ]
    # Both formats: what fits in one need not fit in the other.
    for name, policy, too_large in (
        ("resnet50", "mixed_bfloat16", 1024),
        ("resnet50-float32", "float32", 512),
    ):
        rows.append(Step(name, partial(resnet50, policy), 128))
        rows.append(Step(f"{name}-large", partial(resnet50, policy), too_large))
    for width in WIDTHS:
        narrow_model = partial(quickstart_model, width=width, dropout=0)
        rows.append(Step(f"width-{width}", narrow_model, 1024, thorough=True))
    return rows


def shakespeare(characters: int):
    """Make lesson 04's model, which predicts the next character after every character."""
    import keras

    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.Input((40,), dtype="int32"),
            keras.layers.Embedding(characters, 32),
            keras.layers.LSTM(96, return_sequences=True),
            keras.layers.Dense(characters),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    # Its outputs are logits; without XLA, Keras on JAX would run it operation by operation.
    is_jax = keras.config.backend() == "jax"
    adam = keras.optimizers.Adam(0.005)
    model.compile(optimizer=adam, loss=loss, metrics=["accuracy"], jit_compile=is_jax)
    return model


def resnet50(policy: str):
    """Make Keras's ResNet50 with numbers in this format."""
    import keras

    keras.config.set_dtype_policy(policy)
    try:
        model = keras.applications.ResNet50(weights=None, classifier_activation=None)
    finally:
        keras.config.set_dtype_policy("float32")
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="adam", loss=loss, metrics=["accuracy"])
    return model


def make(names=(), say=print) -> dict[str, str]:
    """Compile everything, or what goes into the files of these names; return each file's text."""
    files = {}
    if PRODUCTS in names or not names:
        files[PRODUCTS] = _lines(_count_products())
    for step in steps():
        chips = [chip for chip in CHIPS if not names or f"{step.name}-{chip}.json" in names]
        if not chips:
            continue
        model = step.make_model()
        for chip in chips:
            answer = _compile(step, model, chip)
            files[f"{step.name}-{chip}.json"] = _fields(asdict(answer))
            say(answer)
    return files


def _compile(step: Step, model, chip: str):
    """The compiler's answer for a step, under the step's own name, with all that it says."""
    import tpu_report

    from accel_helpers.tpu import child, compiler
    from accel_helpers.tpu.environment import PINS

    answer = compiler.compile_training_step(
        model, step.batch_size, chip, chips=step.chips, seconds=SECONDS
    )
    if answer.verdict == "unavailable":
        raise SystemExit(f"{step.name} for {chip}: {answer.why}")
    job = {
        "batch_size": step.batch_size,
        "batch": compiler.batch_of(model),
        "chip": chip,
        "chips": step.chips,
        "thorough": step.thorough,
        "beside": str(Path(child.__file__).parent),
    }
    said = compiler.ask(model, job, SECONDS, script=str(TEXT_SCRIPT))
    if "text" not in said:
        raise SystemExit(f"{step.name} for {chip}: {said['why']}")
    text = said["text"]
    layers = [layer.name for layer in model.layers]
    if answer.verdict == "fits":
        found = {
            "peak_memory": said["peak_memory"],
            "logical_bytes": said["logical_bytes"],
            "padded_bytes": said["padded_bytes"],
            "collectives": tpu_report.collectives(text),
        }
        arrays = tpu_report.largest_arrays(text)
        if step.thorough:
            found["cycles"] = tpu_report.estimated_cycles(text, layers)
    else:
        found = {"needed": said["needed"]}
        arrays = tpu_report.arrays_of_overflow(text)
    largest = tuple(_named(row, layers, said["arguments"]) for row in arrays[:MOST_ARRAYS])
    answer = replace(
        answer,
        **found,
        name=step.name,
        largest=largest,
        versions=f"jax {PINS['jax']}, libtpu {PINS['libtpu']}",
        made_by=f"the saved model, loaded by keras {keras_version()}",
    )
    return replace(answer, more=tuple(_more_rows(answer, said)))


def keras_version() -> str:
    """The version of the Keras that wrote a step down."""
    import keras

    return keras.__version__


def _named(row, layers: list[str], arguments: list):
    """An array with an operation that a learner understands.

    Such as "hidden, going back" for what a layer makes, or "weights or optimizer" for an argument
    of the step, since the optimizer keeps arrays of the weights' shapes.
    """
    import tpu_report

    name = tpu_report.short_name(row.operation, layers)
    if ARGUMENT.fullmatch(row.operation):
        kinds = [kind for kind, array in arguments if array == row.array]
        name = " or ".join(dict.fromkeys(kinds)) or "an argument"
    return replace(row, operation=name)


def _more_rows(answer, said: dict):
    """The rows of the card that only a stored answer has, each as (label, text)."""
    import tpu_report

    from accel_helpers._values.words import format_bytes, format_count

    # The compiler counts the body of a loop once, and its bytes are not those of a whole step.
    if answer.verdict == "fits" and " while(" not in said["text"]:
        moved = said["bytes_accessed"]
        per_chip = " by each chip" if answer.chips > 1 else ""
        yield "bytes", f"{format_bytes(moved)} read and written{per_chip}, as the compiler counts"
        yield "intensity", f"{answer.flops / answer.chips / moved:.3g} operations for each byte"
    if answer.padded_bytes:
        given, padded = format_bytes(answer.logical_bytes), format_bytes(answer.padded_bytes)
        yield "padding", f"{given} given to the step take {padded} on the chip"
    first = answer.largest[0]
    unpadded = tpu_report.array_bytes(first.array)
    text = f"{format_bytes(first.bytes)}: {first.operation}, {first.array}"
    if first.bytes > unpadded:
        text += f" ({format_bytes(unpadded)} without padding)"
    yield "largest array", text
    for found in answer.collectives:
        size = format_bytes(found.bytes)
        yield "between chips", f"{found.kind} of {found.arrays} arrays, {size} on each chip"
    if answer.cycles:
        total = sum(cycles for _, cycles in answer.cycles)
        layer, most = answer.cycles[0]
        share = f"{100 * most / total:.0f} % of them in {layer}"
        yield "estimate", f"{format_count(total)} clock cycles, {share}"


def _count_products() -> list[dict]:
    """What the compiler makes of the single products, by `count_products.py` beside it."""
    from accel_helpers._values import probe
    from accel_helpers.tpu import environment

    compiler = environment.status()
    if compiler.why:
        raise SystemExit(compiler.why)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "products.json").write_text(json.dumps(products()))
        command, variables = compiler.command(str(COUNTER), folder, scratch=folder)
        outcome = probe.run_command(command, seconds=SECONDS, environ=variables)
        if outcome.kind != "finished":
            raise SystemExit(f"The products were not counted: it {outcome.ending}.")
        return json.loads(Path(folder, "counted.json").read_text())


def _fields(answer: dict) -> str:
    """A JSON object with a field on each line; those without a value are left out."""
    known = {name: value for name, value in answer.items() if value not in (None, "", (), [])}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(known[name])}" for name in known)
    return f"{{\n{lines}\n}}\n"


def _lines(rows: list[dict]) -> str:
    """A JSON list with a row on each line."""
    lines = ",\n".join(json.dumps(row) for row in rows)
    return f"[\n{lines}\n]\n"


def differences(stored: dict[str, str], fresh: dict[str, str]) -> list[str]:
    """Say in a sentence each where stored files are no longer what the compiler says."""
    sentences = [f"{name} is not stored" for name in sorted(set(fresh) - set(stored))]
    for name in sorted(set(stored) - set(fresh)):
        sentences.append(f"{name} is stored, and nobody makes it")
    for name in sorted(set(stored) & set(fresh)):
        old = json.loads(stored[name])
        new = json.loads(fresh[name])
        changes = _changes_of_products(old, new) if name == PRODUCTS else _changes(old, new)
        sentences += [f"{name}: {change}" for change in changes]
    return sentences


def _changes_of_products(old: list[dict], new: list[dict]) -> list[str]:
    """Which rows are no longer the same."""
    pairs = itertools.zip_longest(old, new)
    return [f"{before} is now {after}" for before, after in pairs if before != after]


def _changes(old: dict, new: dict) -> list[str]:
    """Which fields of an answer lie further apart than they may."""
    for answer in (old, new):
        # Of arrays of one size it is chance which come first, and what of them is named.
        answer["largest arrays"] = sorted(row["array"] for row in answer["largest"])
    changes = []
    for field in EXACT + NEAR:
        tolerance = TOLERANCE if field in NEAR else 0
        before, after = old.get(field), new.get(field)
        if _distance(before, after) > tolerance:
            changes.append(f"{field} is {before}, now {after}")
    before, after = dict(old.get("cycles", [])), dict(new.get("cycles", []))
    for layer in {**before, **after}:
        if _distance(before.get(layer), after.get(layer)) > TOLERANCE:
            changes.append(f"cycles of {layer} is {before.get(layer)}, now {after.get(layer)}")
    return changes


def _distance(old, new) -> float:
    """By what share two numbers lie apart; what is no number is the same, or infinitely far."""
    if old == new:
        return 0.0
    if isinstance(old, int | float) and isinstance(new, int | float):
        return abs(new - old) / max(abs(old), 1)
    return float("inf")


def main(argv=None) -> int:
    """Write the stored answers, or check them; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", nargs="*", metavar="FILE", help="compare, and write nothing")
    names = parser.parse_args(argv).check
    only_check = names is not None
    fresh = make(names or ())
    if only_check:
        return _check(names, fresh)
    DATA.mkdir(parents=True, exist_ok=True)
    for file in DATA.glob("*.json"):
        file.unlink()
    for name, text in fresh.items():
        (DATA / name).write_text(text)
    print(f"{len(fresh)} files written.")
    return 0


def _check(names: list[str], fresh: dict[str, str]) -> int:
    """Compare the stored files of these names, or all; the exit code."""
    stored = {}
    for file in DATA.glob("*.json"):
        if not names or file.name in names:
            stored[file.name] = file.read_text()
    sentences = differences(stored, fresh)
    if sentences:
        print("\n".join(sentences))
        return 1
    print("The stored answers are what the compiler says.")
    return 0


if __name__ == "__main__":
    os.environ["KERAS_BACKEND"] = "jax"
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
