"""Compiles a model's training step for a TPU that is not there, by libtpu in a child process."""

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from accel_helpers._values import probe
from accel_helpers._values.records import whole
from accel_helpers.measure.layers import RULES
from accel_helpers.measure.work import count_step
from accel_helpers.tpu import child, report
from accel_helpers.tpu import environment as tpu_environment
from accel_helpers.tpu.answers import CompiledStep
from accel_helpers.tpu.lowering import NoProgram, lower

# Bytes of memory that a program may have, in the compiler's own words ("Used ... of 15.75G hbm");
# the tests ask it again.
MEMORY = {"v5e": int(15.75 * 2**30), "v6e": int(31.25 * 2**30)}
SECONDS, CHILD_MEMORY = 300.0, 12e9  # limits of one compilation
MOST_TRIES = 8  # compilations to find the batch that fits
# How the frameworks name an argument, or a copy of one; JAX writes x['a'] where there are several.
_GIVEN = re.compile(r"|XLA_Args|[xy](\[.*)?|state\[.*")

__all__ = ["compile_training_step"]


def compile_training_step(
    model, batch_size: int, chip: str = "v5e", *, chips: int = 1, sample=None,
    thorough: bool = False, seconds: float = SECONDS, memory: float = CHILD_MEMORY,
    environment=None, run: Callable = probe.run_command,
) -> CompiledStep:  # fmt: skip
    """Compile the training step that `fit` runs, for a TPU that is not there.

    It is lowered from shapes: no batch is allocated, and the model stays as it is. Where a batch
    does not fit, others are compiled, to find the largest power of two that does.

    Parameters
    ----------
    model : keras.Model
        Compiled, on the TensorFlow or the JAX backend.
    batch_size, chips : int
        Samples over all chips; 1, 4 or 8 chips, each with its part of the batch.
    chip : {"v5e", "v6e"}
    sample : (x, y), optional
        A few real samples with their targets, for models whose shapes cannot be read off.
    thorough : bool
        Give the compiler its full time, for its estimate of cycles by layer.
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
    for name, given, known in (("chip", chip, MEMORY), ("chips", chips, child.TOPOLOGIES)):
        if given not in known:
            raise ValueError(f"{name} must be {' or '.join(map(repr, known))}; got {given!r}.")
    batch_size = whole(batch_size, "batch_size", chips)
    if batch_size % chips:
        raise ValueError(f"batch_size must be a multiple of {chips}, the chips; got {batch_size}.")
    import keras

    blank = CompiledStep(
        name=getattr(model, "name", ""), backend=keras.config.backend(), batch_size=batch_size,
        chip=chip, chips=chips, memory=MEMORY[chip], policy=_policy(model), thorough=thorough,
    )  # fmt: skip
    environment = environment or tpu_environment.status()
    run = partial(run, seconds=seconds, memory=memory)

    def one(batch: int) -> CompiledStep:
        return _compile(model, replace(blank, batch_size=batch), sample, environment, run)

    answer = one(batch_size)
    return _with_batch_that_fits(answer, one) if answer.verdict == "too large" else answer


def _policy(model) -> str:
    """The dtype policy of the layers that have weights; several where they differ."""
    layers = [layer for layer in getattr(model, "layers", ()) if layer.weights]
    names = {layer.dtype_policy.name for layer in layers}
    return " and ".join(sorted(names)) or "float32"


def _compile(model, blank, sample, environment, run) -> CompiledStep:
    try:
        program = lower(model, blank.batch_size, sample, chips=blank.chips, memory=blank.memory)
        if not environment.ready:
            return replace(blank, why=environment.why)
        answer = _in_child(program, blank, environment, run)
    except NoProgram as reason:
        return replace(blank, **reason.fields)
    except OSError as error:
        return replace(blank, why=str(error))
    message, text = answer.pop("error"), answer.pop("program")
    found = replace(blank, flops=_products(model, blank.batch_size), **answer)
    layers = [layer.name for layer in model.layers]
    if not message:
        return replace(
            found,
            verdict="fits",
            logical_bytes=program.given,
            largest=_named(report.largest_arrays(text), layers, program),
            collectives=report.collectives(text),
            cycles=report.estimated_cycles(text, layers) if blank.thorough else (),
        )
    over = report.read_overflow(message)
    # For programs far too large the compiler says no more than that memory is exhausted.
    if over or message.startswith("RESOURCE_EXHAUSTED"):
        needed, largest = over or (None, ())
        largest = _named(largest, layers, program)
        return replace(found, verdict="too large", needed=needed, largest=largest)
    first = message.partition("\n")[0][:300]
    return replace(blank, why=f"the compiler failed: {first}")


def _products(model, batch_size: int) -> int | None:
    """Operations of the products in a step; None where a layer is of a kind that has no rule."""
    try:
        counted = count_step(model, batch_size)
    except Exception:  # whatever a model may be that this compiler has understood
        return None
    return counted.product_flops if all(row.kind in {"", *RULES} for row in counted.rows) else None


def _in_child(program, blank, environment, run) -> dict:
    """What the child says: fields of the answer, the compiled program, and an error."""
    job = {name: getattr(blank, name) for name in ("chip", "chips", "thorough")}
    job["shared"] = program.batch_arguments
    with tempfile.TemporaryDirectory(prefix="accel-tpu-") as folder:
        place = Path(folder)
        (place / "job.json").write_text(json.dumps(job))
        (place / "program.pb").write_bytes(program.data)
        # What the compiler itself leaves lying about stays in the folder, and goes with it.
        words, environ = environment.command(child.__file__, folder, scratch=folder)
        done = run(words, environ=environ, folder=folder)
        if done.kind != "finished" or not (place / "answer.json").exists():
            more = {"too slow": "; give seconds= more", "too large": "; give memory= more"}
            why = f"the compiler's process {done.ending}{more.get(done.kind, '')}"
            raise ChildProcessError(why)
        return json.loads((place / "answer.json").read_text())


def _named(rows, layers, program) -> tuple[report.Allocation, ...]:
    """The first five arrays, named for a learner: by layer, or by what the step is given."""
    given = {}
    for kind, array in program.arguments:
        given.setdefault(array, {})[kind] = True

    def name(row) -> str:
        if not _GIVEN.fullmatch(row.operation):
            return report.short_name(row.operation, layers)
        # Several arguments may look alike: a weight and the optimizer's two numbers for it.
        return " or ".join(given.get(row.array, ["an argument"]))

    return tuple(replace(row, operation=name(row)) for row in rows[:5])


def _with_batch_that_fits(answer: CompiledStep, one: Callable) -> CompiledStep:
    """Look for the largest power of two that fits, by compiling."""
    found, batch, tried = answer, answer.batch_size, {}
    while len(tried) < MOST_TRIES:
        if found.verdict == "fits":
            batch *= 2
        else:
            # What is needed grows at most with the batch: the share says how far to go down.
            share = found.memory / found.needed if found.needed else 0.5
            most = min(max(answer.chips, batch * share), batch - 1)
            batch = (1 << int(most).bit_length()) >> 1  # a power of two, or 0
        if batch in tried or not answer.chips <= batch < answer.batch_size:
            break
        found = one(batch)
        if found.verdict not in ("fits", "too large"):
            why = f"a batch of {batch} could not be asked: {found.why or found.verdict}"
            return replace(answer, why=why)
        tried[batch] = found.verdict == "fits"
    best = max((size for size, fits in tried.items() if fits), default=None)
    none = 0 if batch < answer.chips else None
    return replace(answer, largest_batch=best or none, tried=tuple(sorted(tried.items())))
