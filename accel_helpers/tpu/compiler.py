"""Compiles a model's training step for a TPU that is not there, by libtpu in a child process."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from accel_helpers import probe
from accel_helpers._records import whole
from accel_helpers.measure.layers import RULES
from accel_helpers.measure.work import count_step
from accel_helpers.tpu import environment as tpu_environment
from accel_helpers.tpu import report
from accel_helpers.tpu.answers import NOT_WRITTEN, CompiledStep, stored, stored_product
from accel_helpers.tpu.lowering import CannotLower, NotForTPU, TooLarge, lower

# Bytes of memory that a program may have, in the compiler's own words ("Used ... of 15.75G hbm");
# the tests ask it again.
MEMORY = {"v5e": int(15.75 * 2**30), "v6e": int(31.25 * 2**30)}
CHIPS = (1, 4, 8)
SECONDS, CHILD_MEMORY = 300.0, 12e9  # limits of one compilation
MOST_TRIES = 8  # compilations to find the batch that fits
_XLA_TYPES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64",
              "int32": "s32", "int64": "s64", "uint8": "u8", "int8": "s8"}  # fmt: skip
# How the frameworks name an argument, or a copy of one; JAX writes x['a'] where there are several.
_GIVEN = re.compile(r"|XLA_Args|[xy](\[.*)?|state\[.*")
CHILD = Path(__file__).with_name("child.py")

__all__ = ["compile_training_step", "stored", "stored_product"]


def compile_training_step(
    model, batch_size: int, chip: str = "v5e", *, chips: int = 1, sample=None,
    thorough: bool = False, find_batch: bool = True, seconds: float = SECONDS,
    memory: float = CHILD_MEMORY, environment=None, run: Callable = probe.run_command,
) -> CompiledStep:  # fmt: skip
    """Compile the training step that `fit` runs, for a TPU that is not there.

    It is lowered from shapes: no batch is allocated, and the model stays as it is.

    Parameters
    ----------
    model : keras.Model
        Compiled, on the TensorFlow or the JAX backend.
    batch_size, chips : int
        Samples over all chips; 1, 4 or 8 chips, each with its part of the batch.
    chip : {"v5e", "v6e"}
    sample : (x, y), optional
        A few real samples with their targets, for models whose shapes cannot be read off.
    thorough, find_batch : bool
        Give the compiler its full time, for its estimate of cycles by layer; where the step does
        not fit, look for a batch that does, by compiling.
    seconds, memory : float
        Limits of each compilation; the memory in bytes.
    environment, run : optional
        Where the compiler is installed, and what runs it, as `probe.run_command`.

    Returns
    -------
    CompiledStep
        Where the compiler is missing or fails, one that says so, and why.

    Examples
    --------
    >>> compile_training_step(None, 32, chip="v4")
    Traceback (most recent call last):
    ...
    ValueError: chip must be 'v5e' or 'v6e'; got 'v4'.
    """
    for name, given, known in (("chip", chip, MEMORY), ("chips", chips, CHIPS)):
        if given not in known:
            raise ValueError(f"{name} must be {' or '.join(map(repr, known))}; got {given!r}.")
    if whole(batch_size, "batch_size", chips) % chips:
        raise ValueError(f"batch_size must be a multiple of {chips}, the chips; got {batch_size}.")
    import keras

    blank = CompiledStep(
        name=getattr(model, "name", ""), backend=keras.config.backend(), batch_size=int(batch_size),
        chip=chip, chips=chips, memory=MEMORY[chip], thorough=thorough,
    )  # fmt: skip

    def one(batch: int) -> CompiledStep:
        asked = replace(blank, batch_size=batch)
        return _compile(model, asked, sample, seconds, memory, environment, run)

    answer = one(blank.batch_size)
    if answer.verdict != "too large" or not find_batch:
        return answer
    return with_batch_that_fits(answer, one)


def _compile(model, blank, sample, seconds, memory, environment, run) -> CompiledStep:
    """Ask for one batch size."""
    try:
        program = lower(model, blank.batch_size, sample, chips=blank.chips, memory=blank.memory)
    except TooLarge as error:  # no compiler is needed to say no
        return replace(blank, fits=False, needed=error.args[0], at_least=True)
    except NotForTPU as refused:
        return replace(blank, compiles=False, operation=refused.args[0], layer=refused.args[1])
    except CannotLower as error:
        hint = "If you train with other shapes or types, hand some in: sample=(x[:1], y[:1])"
        return _unavailable(blank, f"{NOT_WRITTEN}: {str(error).rstrip('. ')}. {hint}")
    environment = environment or tpu_environment.status()
    if not environment.ready:
        return _unavailable(blank, environment.why)
    try:
        answer, text = _in_child(program, blank, seconds, memory, environment, run)
    except OSError as error:
        return _unavailable(blank, str(error))
    message = answer.pop("error", None)
    named = _namer(model, program, blank.chips)
    answered = replace(blank, flops=_products(model, blank.batch_size), **answer)
    if message is None:
        cycles = report.estimated_cycles(text, [layer.name for layer in model.layers])
        return replace(
            answered, compiles=True, fits=True, logical_bytes=program.given,
            largest=named(report.largest_arrays(text)), collectives=report.collectives(text),
            cycles=cycles if blank.thorough else (),
        )  # fmt: skip
    over = report.read_overflow(message)
    # For programs far too large the compiler says no more than that memory is exhausted.
    if over or message.startswith("RESOURCE_EXHAUSTED"):
        needed, largest = over or (None, ())
        return replace(
            answered, compiles=True, fits=False, needed=needed, largest=named(largest[:5])
        )
    first = message.partition("\n")[0][:300]
    return _unavailable(blank, f"the compiler failed: {first}")


def _products(model, batch_size: int) -> int | None:
    """Operations of the products in a step; None where a layer is of a kind that has no rule."""
    try:
        counted = count_step(model, batch_size)
    except Exception:  # whatever a model may be that this compiler has understood
        return None
    return counted.product_flops if all(row.kind in RULES for row in counted.layers) else None


def _in_child(program, blank, seconds, memory, environment, run) -> tuple[dict, str]:
    job = {name: getattr(blank, name) for name in ("chip", "chips", "thorough")}
    job["shared"] = program.batch_arguments
    with tempfile.TemporaryDirectory(prefix="accel-tpu-") as folder:
        place = Path(folder)
        (place / "job.json").write_text(json.dumps(job))
        (place / "program.pb").write_bytes(program.data)
        # What the compiler itself leaves lying about stays in the folder, and goes with it.
        words, environ = environment.command(CHILD, folder, scratch=folder)
        done = run(words, seconds=seconds, memory=memory, environ=environ, folder=folder)
        if done.kind != "finished" or not (place / "answer.json").exists():
            more = {"too slow": "; give seconds= more", "too large": "; give memory= more"}
            why = f"the compiler's process {done.ending}{more.get(done.kind, '')}"
            raise ChildProcessError(why)
        return json.loads((place / "answer.json").read_text()), (place / "compiled.txt").read_text()


def _namer(model, program, chips) -> Callable:
    """What names arrays for a learner: by layer, or by what the step is given."""
    layers, given = [layer.name for layer in model.layers], {}
    for kind, shape, dtype in program.arguments:
        if kind in ("inputs", "targets"):
            shape = (shape[0] // chips, *shape[1:])
        array = f"{_XLA_TYPES.get(dtype, dtype)}[{','.join(map(str, shape))}]"
        given.setdefault(array, {})[kind] = True

    def name(row) -> str:
        if not _GIVEN.fullmatch(row.operation):
            return report.short_name(row.operation, layers)
        # Several arguments may look alike: a weight and the optimizer's two numbers for it.
        return " or ".join(given.get(row.array, ["an argument"]))

    return lambda rows: tuple(replace(row, operation=name(row)) for row in rows)


def _unavailable(blank: CompiledStep, why: str) -> CompiledStep:
    return replace(blank, available=False, why=why.rstrip(". "))


def with_batch_that_fits(answer: CompiledStep, one: Callable) -> CompiledStep:
    """Look for the largest power of two that fits, by compiling."""

    def below(found):
        # What is needed grows at most with the batch: the share says how far to go down.
        share = found.memory / found.needed if found.needed else 0.5
        most = max(answer.chips, found.batch_size * share)
        return _power_of_two(min(most, found.batch_size - 1))

    batch, tried = below(answer), {}
    below_it = range(answer.chips, answer.batch_size)
    while len(tried) < MOST_TRIES and batch in below_it and batch not in tried:
        found = one(batch)
        if found.verdict not in ("fits", "too large"):
            why = f"a batch of {batch} could not be asked: {found.why or found.verdict}"
            return replace(answer, why=why)
        tried[batch] = bool(found.fits)
        batch = 2 * batch if found.fits else below(found)
    best = max((size for size, fits in tried.items() if fits), default=None)
    none = 0 if batch < answer.chips else None
    return replace(
        answer, compiles=True if best else answer.compiles, largest_batch=best or none,
        tried=tuple(sorted(tried.items())),
    )  # fmt: skip


def _power_of_two(number: float) -> int:
    """The largest power of two that is not above a number; 0 where that is below 1."""
    return (1 << int(number).bit_length()) >> 1
