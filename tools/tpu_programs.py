"""Makes the stored answers of the TPU compiler, or checks them against a fresh compile.

    python tools/tpu_programs.py                      writes accel_helpers/course/tpu_programs/
    python tools/tpu_programs.py --check [FILE ...]    says what differs, and leaves with 1

The steps are lowered by JAX, as Colab's TPU runtime would run them. What a program is must come
out the same: whether it compiles and fits, its operations, its instructions. What the compiler
makes of it may move a little with Keras and JAX, and is held to a tenth.
"""

import argparse
import itertools
import json
import os
import sys
import tempfile
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "accel_helpers" / "course" / "tpu_programs"
PRODUCTS = "products.json"
COUNTER = Path(__file__).with_name("count_products.py")
CHIPS = ("v5e", "v6e")
WIDTHS = (100, 128, 129, 256)  # of lesson 06's hidden layer
MOVES = 0.10  # how far the compiler's own figures may lie apart
EXACT = ("name", "batch_size", "chip", "chips", "policy", "verdict", "flops", "largest_batch",
         "loops", "collectives")  # fmt: skip
NEAR = ("bytes_accessed", "peak_memory", "needed", "logical_bytes", "padded_bytes",
        "estimated cycles")  # fmt: skip


def products() -> list[tuple[str, int, int, int]]:
    """The single products that lesson 06 speaks of: chip, m, k, n."""
    squares = (64, 100, 127, 128, 129, 192, 256, 257)
    rows = [(chip, size, size, size) for chip in CHIPS for size in squares]
    # One side 10 wide, as it is written and turned around; then many rows, where a loop hides
    # instructions, so that only the estimate is of use.
    odd = [(1024, 128, 128), (1024, 128, 10), (10, 128, 1024)]
    odd += [(16_384, 128, 128), (16_384, 129, 129)]
    return rows + [("v5e", *shape) for shape in odd]


def models():
    """The lessons' models: name, model maker, batch size and what else to ask for."""
    import keras

    from accel_helpers.course import quickstart, text

    def narrow(width):
        return lambda: quickstart.quickstart_model(width=width, dropout=0)

    def resnet50(policy):
        keras.config.set_dtype_policy(policy)
        try:
            model = keras.applications.ResNet50(weights=None, classifier_activation=None)
        finally:
            keras.config.set_dtype_policy("float32")
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer="adam", loss=loss, metrics=["accuracy"])
        return model

    characters = len(text.load_text().vocabulary)
    yield "quickstart", quickstart.quickstart_model, 32, {}
    for chips in (4, 8):  # lesson 09 shows what they tell each other
        yield f"quickstart-{chips}-chips", quickstart.quickstart_model, 32, {"chips": chips}
    yield "strategy", quickstart.quickstart_model, 64, {}  # lesson 04 writes it out
    yield "shakespeare", lambda: text.model(characters), text.SMALL.batch_size, {}
    # Both formats: what fits in one need not fit in the other.
    for name, policy, too_large in (
        ("resnet50", "mixed_bfloat16", 1024),
        ("resnet50-float32", "float32", 512),
    ):
        yield name, partial(resnet50, policy), 128, {}
        yield f"{name}-large", partial(resnet50, policy), too_large, {}
    for width in WIDTHS:
        yield f"width-{width}", narrow(width), 1024, {"thorough": True}


def make(names=(), say=print) -> dict[str, str]:
    """Compile everything, or what goes into the files of these names: each file's text."""
    from accel_helpers.tpu import compiler

    wanted = [PRODUCTS] if PRODUCTS in names or not names else []
    files = {name: _lines(_count()) for name in wanted}
    for name, build, batch_size, more in models():
        chips = [chip for chip in CHIPS if not names or f"{name}-{chip}.json" in names]
        model = build() if chips else None
        for chip in chips:
            answer = compiler.compile_training_step(model, batch_size, chip, **more)
            if answer.verdict == "unavailable":
                raise SystemExit(f"{name} for {chip}: {answer.why}")
            answer = replace(answer, name=name)
            files[f"{name}-{chip}.json"] = json.dumps(asdict(answer), indent=1) + "\n"
            say(answer)
    return files


def _count() -> list[dict]:
    from accel_helpers._values import probe
    from accel_helpers.tpu import environment

    found = environment.status()
    if not found.ready:
        raise SystemExit(found.why)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "products.json").write_text(json.dumps(products()))
        words, environ = found.command(COUNTER, folder, scratch=folder)
        done = probe.run_command(words, seconds=600, environ=environ)
        if done.kind != "finished":
            raise SystemExit(f"The products were not counted: it {done.ending}.")
        return json.loads(Path(folder, "counted.json").read_text())


def _lines(rows) -> str:
    return "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"


def differences(stored: dict[str, str], fresh: dict[str, str]) -> list[str]:
    """Say in a sentence each where stored files are no longer what the compiler says."""
    found = [f"{name} is not stored" for name in sorted(set(fresh) - set(stored))]
    found += [f"{name} is stored, and nobody makes it" for name in sorted(set(stored) - set(fresh))]
    for name in sorted(set(stored) & set(fresh)):
        old, new = json.loads(stored[name]), json.loads(fresh[name])
        if name == PRODUCTS:
            pairs = itertools.zip_longest(old, new)
            found += [f"{name}: {a} is now {b}" for a, b in pairs if a != b]
            continue
        for step in (old, new):
            step["estimated cycles"] = sum(count for _, count in step["cycles"])
        found += [
            f"{name}: {field} is {old[field]}, now {new[field]}"
            for field in EXACT + NEAR
            if _apart(old[field], new[field]) > (MOVES if field in NEAR else 0)
        ]
    return found


def _apart(old, new) -> float:
    if old == new:
        return 0.0
    numbers = isinstance(old, int | float) and isinstance(new, int | float)
    return abs(new - old) / max(abs(old), 1) if numbers else float("inf")


def main(argv=None) -> int:
    """Write the stored answers, or check them; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", nargs="*", metavar="FILE", help="compare, and write nothing")
    names = parser.parse_args(argv).check
    fresh = make(names or ())
    if names is not None:
        stored = {file.name: file.read_text() for file in DATA.glob("*.json")}
        stored = {name: stored[name] for name in names or stored if name in stored}
        found = differences(stored, fresh)
        print("\n".join(found) or "The stored answers are what the compiler says.")
        return 1 if found else 0
    DATA.mkdir(parents=True, exist_ok=True)
    for file in DATA.glob("*.json"):
        file.unlink()
    for name, text in fresh.items():
        (DATA / name).write_text(text)
    print(f"{len(fresh)} files written.")
    return 0


if __name__ == "__main__":
    os.environ["KERAS_BACKEND"] = "jax"
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
